//! The testbed as the network that the lab's engine turns.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use tresse_controllers::State;
use tresse_experiment::plan::Case;
use tresse_fabric::Histogram;
use tresse_lab::network::{Network, OpenSubflow, PortNow, SubflowNow};
use tresse_sim::{FlowRecord, FlowSpec, Paths, Step};
use tresse_transport::Counters;
use tresse_units::{BitsPerSecond, MICROSECOND, Time};

use crate::agent::{Ask, How, Subflow, TcpState, Told};
use crate::bed::{Bed, address};
use crate::emulator::Lateness;
use crate::switch::Way;

/// How long the engine is away from other work at most.
const STEP: Duration = Duration::from_millis(50);
/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The first port that flows listen at.
const PORTS: u16 = 10_000;

/// Real hosts around an emulated fabric, with flows on it.
#[derive(Debug)]
pub struct World<'a> {
    case: &'a Case,
    bed: Bed,
    flows: BTreeMap<u64, Flow>,
    /// Flows whose last byte has arrived, with the time.
    complete: VecDeque<(u64, Time)>,
    /// Of flows that have ended, bytes.
    ended: u64,
    /// The engine's time: that of the fabric, when it was last looked at.
    now: Time,
    /// Why it cannot go on.
    broken: Option<String>,
    /// Ends the run, which then has no results.
    stop: &'a AtomicBool,
}

#[derive(Debug)]
struct Flow {
    hosts: [u32; 2],
    listens: SocketAddrV4,
    start: Time,
    bytes: u64,
    arrived: u64,
    /// As they were seen last, by their addresses; closed ones too.
    subflows: Vec<(Subflow, bool)>,
}

impl<'a> World<'a> {
    /// On a testbed that was built for `case`. It sets `stop` if it breaks.
    pub(crate) fn new(case: &'a Case, bed: Bed, stop: &'a AtomicBool) -> Self {
        Self {
            case,
            bed,
            flows: BTreeMap::new(),
            complete: VecDeque::new(),
            ended: 0,
            now: 0,
            broken: None,
            stop,
        }
    }

    /// How true the fabric is.
    pub fn lateness(&self) -> Lateness {
        self.bed.emulator.lateness()
    }

    fn give_up(&mut self, why: impl FnOnce() -> String) {
        self.broken.get_or_insert_with(why);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Why it cannot go on, if it cannot.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    fn begin(&mut self, spec: FlowSpec, bytes: u64) {
        let FlowSpec { id, hosts: [from, to], scheme, paths, .. } = spec;
        let listens = SocketAddrV4::new(address(to, 0), PORTS + (id % u64::from(u16::MAX - PORTS)) as u16);
        let bound =
            self.case.bound_schemes.iter().find(|own| std::sync::Arc::ptr_eq(&own.controllers, &scheme));
        let multipath = bound.and_then(|own| own.subflows).is_some_and(|count| count > 1);
        let how = How { control: self.bed.control(&scheme).to_owned(), multipath };
        let mut ways = Vec::new();
        let start = self.bed.emulator.with(|switch| {
            let fabric = &mut switch.fabric;
            match &paths {
                Paths::Fixed(paths) => {
                    let way = |path: &tresse_fabric::Path| {
                        [fabric.add_route(&path.there), fabric.add_route(&path.back)]
                    };
                    ways.extend(paths.iter().map(way));
                }
                Paths::Forwarded { from, to, .. } => {
                    let way = |&node: &u32| -> Way {
                        [fabric.add_forwarded(node, to[0]), fabric.add_forwarded(to[0], node)]
                    };
                    ways.extend(from.iter().map(way));
                }
            }
            switch.add_flow((*listens.ip(), listens.port()), ways);
            switch.fabric.now()
        });
        let flow =
            Flow { hosts: [from, to], listens, start, bytes: spec.bytes, arrived: 0, subflows: Vec::new() };
        self.flows.insert(id, flow);
        self.ask(to, &Ask::Listen { flow: id, at: listens, how: how.clone(), bytes: spec.bytes });
        self.hear_until(
            |told| matches!(told, Told::Listens { flow } | Told::Broken { flow, .. } if *flow == id),
        );
        let from_address = SocketAddrV4::new(address(from, 0), 0);
        self.ask(from, &Ask::Connect { flow: id, from: from_address, to: listens, how, bytes });
    }

    fn ask(&mut self, host: u32, ask: &Ask) {
        if let Err(error) = self.bed.ask(host, ask) {
            self.give_up(|| format!("host {host} does not listen any more: {error}"));
        }
    }

    /// Waits for an answer; what else is told meanwhile is taken in.
    fn hear_until(&mut self, is_it: impl Fn(&Told) -> bool) {
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

    fn hear(&mut self, told: Told) {
        match told {
            Told::Ready | Told::Listens { .. } => {}
            Told::Arrived { flow, bytes, .. } => {
                if let Some(own) = self.flows.get_mut(&flow) {
                    own.arrived = own.arrived.max(bytes);
                }
            }
            Told::Complete { flow, bytes, at } => {
                if let Some(own) = self.flows.get_mut(&flow) {
                    own.arrived = bytes;
                    self.complete.push_back((flow, self.bed.emulator.at(at)));
                }
            }
            Told::Seen { flow, subflows } => {
                if let Some(own) = self.flows.get_mut(&flow) {
                    own.see(subflows);
                }
            }
            Told::Broken { flow, why } => {
                if self.flows.contains_key(&flow) {
                    self.give_up(|| format!("flow {flow}: {why}"));
                }
            }
        }
    }

    /// Asks the sender of a flow for its subflows, and waits for the answer.
    fn look(&mut self, id: u64) {
        let Some(flow) = self.flows.get(&id) else { return };
        let host = flow.hosts[0];
        self.ask(host, &Ask::Look { flow: id });
        self.hear_until(|told| matches!(told, Told::Seen { flow, .. } if *flow == id));
    }

    /// A flow ends: what was known of it.
    fn remove(&mut self, id: u64, end: Time) -> FlowRecord {
        self.look(id);
        let flow = self.flows.remove(&id).expect("a flow that was started");
        for host in flow.hosts {
            self.ask(host, &Ask::Stop { flow: id });
        }
        self.bed.emulator.with(|switch| switch.remove_flow((*flow.listens.ip(), flow.listens.port())));
        self.ended += flow.arrived;
        let mut counters = Counters::default();
        flow.subflows.iter().for_each(|(subflow, _)| counters += self::counters(subflow));
        let closed =
            (0..).zip(&flow.subflows).filter(|(_, (_, open))| !open).map(|(place, _)| 1_u64 << (place % 64));
        FlowRecord {
            id,
            bytes: flow.arrived,
            complete: flow.arrived >= flow.bytes,
            start: flow.start,
            end: end.max(flow.start + 1),
            opened: flow.subflows.len() as u32,
            closed: closed.sum(),
            counters,
        }
    }
}

impl Flow {
    fn see(&mut self, subflows: Vec<Subflow>) {
        self.subflows.iter_mut().for_each(|(_, open)| *open = false);
        for subflow in subflows {
            match self.subflows.iter_mut().find(|(own, _)| own.from == subflow.from) {
                Some(own) => *own = (subflow, true),
                None => self.subflows.push((subflow, true)),
            }
        }
    }
}

fn counters(subflow: &Subflow) -> Counters {
    Counters {
        sent: subflow.segments.saturating_sub(subflow.again),
        retransmissions: subflow.again,
        timeouts: subflow.timeouts,
        marks: subflow.marks,
        ..Counters::default()
    }
}

fn state(state: TcpState) -> State {
    match state {
        TcpState::Open => State::Open,
        TcpState::Disorder => State::Disorder,
        TcpState::Cwr => State::Cwr,
        TcpState::Recovery => State::Recovery,
        TcpState::Loss => State::Loss,
    }
}

impl Network for World<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn advance(&mut self, until: Time, _: u64) -> Step {
        let began = self.now;
        loop {
            if let Some((id, end)) = self.complete.pop_front() {
                self.now = self.now.max(end);
                return Step::Finished(self.remove(id, end));
            }
            let clock = self.bed.emulator.now();
            if clock >= until {
                self.now = until.max(self.now);
                if self.case.setting.samples.is_some() {
                    let flows: Vec<u64> = self.flows.keys().copied().collect();
                    flows.into_iter().for_each(|id| self.look(id));
                }
                return Step::Reached;
            }
            self.now = self.now.max(clock);
            if self.bed.emulator.has_ended() {
                self.give_up(|| "the fabric has ended: see stderr".to_owned());
            }
            if self.broken.is_some() || Duration::from_nanos((clock - began) / 1000) > STEP {
                return Step::Budget;
            }
            let left = Duration::from_nanos((until - clock) / 1000).min(STEP);
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

    fn start_unwritten(&mut self, spec: FlowSpec) {
        self.begin(spec, 0);
    }

    fn write(&mut self, id: u64, bytes: u64) {
        let host = self.flows[&id].hosts[0];
        self.ask(host, &Ask::Write { flow: id, bytes });
    }

    fn start_datagrams(&mut self, _: FlowSpec) {
        self.give_up(|| "it has flows of datagrams, which no testbed has yet".to_owned());
    }

    fn send_datagram(&mut self, _: u64, _: u32) {}

    fn stop(&mut self, id: u64) -> FlowRecord {
        self.complete.retain(|(other, _)| *other != id);
        self.remove(id, self.now)
    }

    fn delivered(&self, id: u64) -> u64 {
        self.flows.get(&id).map_or(0, |flow| flow.arrived)
    }

    fn received(&self, _: u64) -> Option<u64> {
        None
    }

    fn subflows(&self, id: u64) -> Vec<SubflowNow> {
        let Some(flow) = self.flows.get(&id) else { return Vec::new() };
        let subflow = |(own, open): &(Subflow, bool)| SubflowNow {
            arrived: own.acked,
            counters: counters(own),
            open: open.then(|| OpenSubflow {
                cwnd: own.cwnd,
                srtt: (own.srtt > 0).then(|| u64::from(own.srtt) * MICROSECOND),
                state: state(own.state),
            }),
            path: None,
        };
        flow.subflows.iter().map(subflow).collect()
    }

    fn delivered_bytes(&self) -> u64 {
        self.ended + self.flows.values().map(|flow| flow.arrived).sum::<u64>()
    }

    fn hops(&self) -> u64 {
        self.bed.emulator.with(|switch| switch.fabric.hops())
    }

    fn ports(&self) -> Vec<PortNow> {
        self.bed.emulator.with(|switch| {
            let fabric = &switch.fabric;
            let port = |(number, port): (u32, &tresse_fabric::Port)| PortNow {
                rate: port.config().rate,
                counters: port.counters(),
                busy: fabric.busy(number),
            };
            (0..).zip(fabric.ports()).map(port).collect()
        })
    }

    fn waiting(&self, port: u32) -> u64 {
        self.bed.emulator.with(|switch| switch.fabric.waiting(port))
    }

    fn rtts(&self) -> Vec<Histogram> {
        Vec::new()
    }

    fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.bed.emulator.with(|switch| switch.fabric.set_rate(port, rate));
    }

    fn set_link(&mut self, port: u32, up: bool) {
        self.bed.emulator.with(|switch| switch.fabric.set_link(port, up));
    }

    fn reroute(&mut self) {
        self.bed.emulator.with(|switch| switch.fabric.reroute());
    }
}
