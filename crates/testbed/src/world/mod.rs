//! The testbed as the network that the lab's engine drives.

mod flow;
mod management;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_fabric::Histogram;
use tresse_lab::network::{Ahead, FlowRecord, FlowSpec, Network, PortNow, SubflowNow};
use tresse_path_manager::{Action, Memories};
use tresse_units::{BitsPerSecond, NEVER, Time};

use crate::agent::{Ask, Carriage, HostReport};
use crate::bed::Bed;
use crate::truth::{Truth, Watch};
use crate::virtual_switch::Places;
use crate::world::flow::{Carrier, Flow, Managed, OwnSubflow, began_after};

/// The longest time that the engine is away from other work.
const STEP: Duration = Duration::from_millis(50);
/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Real hosts around a fabric, with flows on it.
#[derive(Debug)]
pub struct World<'a> {
    case: &'a Case,
    bed: Bed,
    flows: BTreeMap<u64, Flow>,
    memories: Memories<[u32; 3]>,
    /// Flows whose last byte has arrived, with the time.
    complete: VecDeque<(u64, Time)>,
    /// Bytes of flows that have ended.
    ended: u64,
    /// The engine's time: the fabric's time when it was last read.
    now: Time,
    /// How late the last flow began.
    begun_late: Time,
    /// Subflows that a kernel refused.
    refused: u64,
    /// Why it refused the first of them.
    why_refused: Option<String>,
    /// Connections that fell back to TCP.
    fell_back: u64,
    /// Why it cannot continue.
    broken: Option<String>,
    /// Ends the run, which then has no results.
    stop: &'a AtomicBool,
}

impl<'a> World<'a> {
    /// On a testbed that was built for `case`. It sets `stop` if it breaks.
    pub(crate) fn new(case: &'a Case, bed: Bed, stop: &'a AtomicBool) -> Self {
        Self {
            case,
            bed,
            flows: BTreeMap::new(),
            memories: Memories::new(),
            complete: VecDeque::new(),
            ended: 0,
            now: 0,
            begun_late: 0,
            refused: 0,
            why_refused: None,
            fell_back: 0,
            broken: None,
            stop,
        }
    }

    /// Its accuracy.
    pub fn truth(&self, watch: &Watch, seed: u64) -> Truth {
        let own = Truth {
            case: self.case.label(),
            seed,
            scale: self.bed.wires.clock().scale().to_string(),
            begun_late_max_ns: self.begun_late / 1000,
            subflows_refused: self.refused,
            why_refused: self.why_refused.clone(),
            fell_back: self.fell_back,
            repairs: self.bed.repairs(),
            ..Truth::default()
        };
        watch.end(&self.bed.wires, own)
    }

    fn give_up(&mut self, why: impl FnOnce() -> String) {
        self.broken.get_or_insert_with(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Why it cannot continue, if it cannot.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    fn begin(&mut self, spec: FlowSpec, bytes: u64) {
        let FlowSpec { id, hosts, ref scheme, .. } = spec;
        let is_it = |own: &&BoundScheme| Arc::ptr_eq(&own.controllers, scheme);
        let bound = self.case.bound_schemes.iter().find(is_it);
        let multipath = bound.is_some_and(|own| own.subflows.is_none_or(|count| count > 1));
        let how = Carriage { control: self.bed.control(scheme).to_owned(), multipath, class: spec.class };
        let listens = management::listens(id, hosts[1]);
        let (start, places) = self.add_ways(&spec, listens);
        let (carrier, first) = match multipath {
            true => {
                let named = spec.manager.memory(hosts, spec.paths.count());
                let memory = self.memories.id(named);
                let opening = spec.paths.opening(start, spec.stream);
                let mut manager = spec.manager.open(&opening, &mut self.memories[memory]);
                let Some(Action::Open { path, .. }) = manager.poll_action() else {
                    unreachable!("a path manager begins with a subflow");
                };
                let look_at = if manager.observes() { start } else { NEVER };
                let managed = Managed { manager, memory, look_at, is_asked: false };
                (Carrier::Mptcp(managed), management::ends(hosts, places.as_ref(), path, listens))
            }
            false => (Carrier::Tcp, management::first(hosts, places.as_ref(), listens)),
        };
        let subflows = vec![OwnSubflow::new(first.0, first.1)];
        let flow = Flow {
            hosts,
            listens,
            start,
            bytes: spec.bytes,
            arrived: 0,
            carrier,
            places,
            subflows,
            fell_back: false,
        };
        self.flows.insert(id, flow);
        let ask = Ask::Listen { flow: id, at: listens, how: how.clone(), bytes: spec.bytes };
        self.have_listen(id, &ask);
        let from = SocketAddrV4::new(first.0, 0);
        self.ask(hosts[0], &Ask::Connect { flow: id, from, to: first.1, how, bytes });
    }

    fn begin_datagrams(&mut self, spec: &FlowSpec) {
        let FlowSpec { id, hosts, .. } = *spec;
        let listens = management::listens(id, hosts[1]);
        let (start, places) = self.add_ways(spec, listens);
        let (from, listens) = management::first(hosts, places.as_ref(), listens);
        let from = SocketAddrV4::new(from, 0);
        let flow = Flow {
            hosts,
            listens,
            start,
            bytes: u64::MAX,
            arrived: 0,
            carrier: Carrier::Datagrams(0),
            places,
            subflows: Vec::new(),
            fell_back: false,
        };
        self.flows.insert(id, flow);
        let how = Carriage { control: String::new(), multipath: false, class: spec.class };
        self.have_listen(id, &Ask::ListenDatagrams { flow: id, at: listens, how: how.clone() });
        self.ask(hosts[0], &Ask::ConnectDatagrams { flow: id, from, to: listens, how });
    }

    /// Announces a flow to the fabric. Returns the fabric's time, and the places of its paths.
    fn add_ways(&mut self, spec: &FlowSpec, listens: SocketAddrV4) -> (Time, Option<Places>) {
        let hosts = self.case.setting.fabric.hosts();
        let (start, places) = self.bed.wires.add_flow(spec, listens.port(), hosts).unwrap_or_else(|why| {
            self.give_up(|| format!("flow {}: {why}", spec.id));
            (self.now, None)
        });
        self.begun_late = self.begun_late.max(start.saturating_sub(self.now));
        (start, places)
    }

    /// Makes the receiver of a flow listen, and waits until it does.
    fn have_listen(&mut self, id: u64, ask: &Ask) {
        let host = self.flows[&id].hosts[1];
        self.ask(host, ask);
        self.hear_until(
            |told| matches!(told, HostReport::Listens { flow } | HostReport::Broken { flow, .. } if *flow == id),
        );
    }

    fn ask(&mut self, host: u32, ask: &Ask) {
        if let Err(error) = self.bed.ask(host, ask) {
            self.give_up(|| format!("host {host} no longer listens: {error}"));
        }
    }

    /// Waits for an answer, and processes other reports meanwhile.
    fn hear_until(&mut self, is_it: impl Fn(&HostReport) -> bool) {
        loop {
            match self.bed.told.recv_timeout(PATIENCE) {
                Ok((_, told)) => {
                    let found = is_it(&told);
                    self.hear(told);
                    if found {
                        return;
                    }
                }
                Err(_) => {
                    self.give_up(|| "a host does not answer".to_owned());
                    return;
                }
            }
        }
    }

    fn hear(&mut self, told: HostReport) {
        match told {
            HostReport::Ready | HostReport::Listens { .. } => {}
            HostReport::Arrived { flow, bytes, .. } => {
                if let Some(own) = self.flows.get_mut(&flow) {
                    own.arrived = own.arrived.max(bytes);
                }
            }
            HostReport::Complete { flow, bytes, at } => {
                if let Some(own) = self.flows.get_mut(&flow) {
                    own.arrived = bytes;
                    self.complete.push_back((flow, self.bed.wires.clock().at(at)));
                }
            }
            HostReport::Seen { flow, subflows } => self.seen(flow, subflows),
            HostReport::Established { flow } => {
                self.manage(flow, |manager, now, memory| manager.handle_established(now, memory, 0));
            }
            HostReport::Joined { flow, from, .. } => self.joined(flow, from),
            HostReport::Gone { flow, from } => {
                let number = self.flows.get_mut(&flow).and_then(|own| own.number(from));
                self.gone(flow, number);
            }
            HostReport::Refused { flow, subflow, why } => {
                self.refused += u64::from(self.flows.contains_key(&flow));
                self.why_refused.get_or_insert(why);
                self.gone(flow, Some(subflow));
            }
            HostReport::Broken { flow, why } => {
                if self.flows.contains_key(&flow) {
                    self.give_up(|| format!("flow {flow}: {why}"));
                }
            }
        }
    }

    /// Requests the subflows of a flow from its sender, and waits for the answer.
    fn look(&mut self, id: u64) {
        let Some(flow) = self.flows.get(&id) else { return };
        let host = flow.hosts[0];
        self.ask(host, &Ask::Look { flow: id });
        self.hear_until(|told| matches!(told, HostReport::Seen { flow, .. } if *flow == id));
    }

    /// A flow ends. Returns its record.
    fn remove(&mut self, id: u64, end: Time) -> FlowRecord {
        self.look(id);
        let flow = self.flows.remove(&id).expect("a flow that was started");
        for host in flow.hosts {
            self.ask(host, &Ask::Stop { flow: id });
        }
        self.bed.wires.remove_flow((flow.hosts[1], flow.listens.port()));
        self.ended += flow.brought();
        self.fell_back += u64::from(flow.fell_back);
        // Its rate would have no meaning.
        if let Some(why) = began_after(flow.start, end).filter(|_| !self.stop.load(Ordering::Relaxed)) {
            let slower = self.bed.wires.clock().scale().half();
            self.give_up(|| format!("flow {id} {why}\n\nhint: end what else runs here, or --scale {slower}"));
        }
        FlowRecord {
            id,
            bytes: flow.brought(),
            complete: flow.arrived >= flow.bytes,
            start: flow.start,
            end: end.max(flow.start + 1),
            opened: flow.subflows.len() as u32,
            closed: flow.closed(),
            counters: flow.counters(),
        }
    }
}

impl Network for World<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn advance(&mut self, until: Time, _: u64) -> Ahead {
        let began = self.now;
        loop {
            if let Some((id, end)) = self.complete.pop_front() {
                self.now = self.now.max(end);
                return Ahead::Ended(id, Some(self.remove(id, end)));
            }
            let (clock, scale) = (self.bed.wires.clock().now(), self.bed.wires.clock().scale());
            if clock >= until {
                self.now = until.max(self.now);
                if self.case.setting.samples.is_some() {
                    let flows: Vec<u64> = self.flows.keys().copied().collect();
                    flows.into_iter().for_each(|id| self.look(id));
                }
                return Ahead::Reached;
            }
            self.now = self.now.max(clock);
            if self.bed.wires.has_ended() {
                self.give_up(|| "the fabric has ended: see stderr".to_owned());
            }
            if self.broken.is_some() || scale.wall(clock - began) > STEP {
                return Ahead::Budget;
            }
            let next = self.serve(clock).min(until);
            let left = scale.wall(next.saturating_sub(clock)).min(STEP);
            match self.bed.told.recv_timeout(left) {
                Ok((_, told)) => self.hear(told),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.give_up(|| "all hosts have ended".to_owned());
                }
            }
        }
    }

    fn start(&mut self, spec: FlowSpec) {
        let bytes = spec.bytes;
        self.begin(spec, bytes);
    }

    fn start_lasting(&mut self, _: FlowSpec) {
        unreachable!("`bed::check` refuses connections that stay");
    }

    fn append(&mut self, _: u64, _: u64, _: u64) {
        unreachable!("`bed::check` refuses connections that stay");
    }

    fn start_unwritten(&mut self, spec: FlowSpec) {
        self.begin(spec, 0);
    }

    fn write(&mut self, id: u64, bytes: u64) {
        let host = self.flows[&id].hosts[0];
        self.ask(host, &Ask::Write { flow: id, bytes });
    }

    fn start_datagrams(&mut self, spec: FlowSpec) {
        self.begin_datagrams(&spec);
    }

    fn send_datagram(&mut self, id: u64, payload: u32) {
        let flow = self.flows.get_mut(&id).expect("a flow that was started");
        if let Carrier::Datagrams(sent) = &mut flow.carrier {
            *sent += 1;
        }
        let host = flow.hosts[0];
        self.ask(host, &Ask::Datagram { flow: id, bytes: payload });
    }

    fn stop(&mut self, id: u64) -> FlowRecord {
        self.complete.retain(|(other, _)| *other != id);
        self.remove(id, self.now)
    }

    fn delivered(&self, id: u64) -> u64 {
        self.flows.get(&id).map_or(0, Flow::brought)
    }

    fn received(&self, id: u64) -> Option<u64> {
        let flow = self.flows.get(&id)?;
        matches!(flow.carrier, Carrier::Datagrams(_)).then_some(flow.arrived)
    }

    fn subflows(&self, id: u64) -> Vec<SubflowNow> {
        let scale = self.bed.wires.clock().scale();
        let Some(flow) = self.flows.get(&id) else { return Vec::new() };
        flow.subflows.iter().map(|own| own.now(scale)).collect()
    }

    fn delivered_bytes(&self) -> u64 {
        self.ended + self.flows.values().map(Flow::brought).sum::<u64>()
    }

    fn hops(&self) -> u64 {
        self.bed.wires.hops()
    }

    fn ports(&self) -> Vec<PortNow> {
        self.bed.wires.ports()
    }

    fn waiting(&self, port: u32) -> u64 {
        self.bed.wires.waiting(port)
    }

    fn rtts(&self) -> Vec<Histogram> {
        Vec::new()
    }

    fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.bed.wires.change(|switch| switch.fabric.set_rate(port, rate));
    }

    fn set_link(&mut self, port: u32, up: bool) {
        self.bed.wires.change(|switch| switch.fabric.set_link(port, up));
    }

    fn reroute(&mut self) {
        self.bed.wires.change(|switch| switch.fabric.reroute());
    }
}
