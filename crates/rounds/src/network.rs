//! Links with connections on them: how they start, and how time advances for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_controllers::trace::Hosts;
use tresse_controllers::{Group, State, Subflow};
use tresse_fabric::{Fabric, Histogram, PortConfig, PortCounters, prefetch_line};
use tresse_path_manager::Memory;
use tresse_sim::{FlowRecord, FlowSpec, Mechanisms, Step};
use tresse_transport::{Config, Counters};
use tresse_units::{BitsPerSecond, NEVER, Stream, Time};

use crate::connection::{Connection, Passed};
use crate::events::{Event, Events, Kind};
use crate::lasting::Messages;
use crate::links::Links;
use crate::managing::Before;
use crate::sending::Place;

/// A subflow as it is now.
#[derive(Debug, Clone, Copy)]
pub struct SubflowState<'a> {
    /// Its payload that has arrived, bytes.
    pub arrived: u64,
    /// What it has counted.
    pub counters: Counters,
    /// What it is while it may send.
    pub open: Option<OpenState>,
    /// The links that its data flows through, if that is one path.
    pub path: Option<&'a [u32]>,
}

/// A subflow that may send.
#[derive(Debug, Clone, Copy)]
pub struct OpenState {
    /// Its window, packets.
    pub cwnd: u32,
    /// Its smoothed RTT, 1/8 us; 0 before there is one.
    pub srtt: u32,
    /// The state of its congestion control.
    pub state: State,
}

/// Which connections are in which slots.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    free: Vec<u32>,
    /// That of the connection that has ended last, which may still be looked at, and the subflow of its last packet, if that is
    /// known.
    ended: Option<(u32, Option<usize>)>,
    /// By the caller's names for connections and their messages.
    pub named: BTreeMap<u64, u32>,
}

/// Links with connections on them.
#[derive(Debug)]
pub struct Rounds {
    pub(crate) now: Time,
    seed: u64,
    /// Bytes of a packet whose number a queue's length is.
    pub(crate) packet: f64,
    /// Knows where paths lead. Nothing is sent on it.
    pub(crate) fabric: Fabric<()>,
    pub(crate) links: Links,
    /// The RTTs of packets by group, ps, if they are recorded.
    pub(crate) rtts: Vec<Histogram>,
    pub(crate) events: Events,
    pub(crate) connections: Vec<Option<Connection>>,
    /// Connections that have been started.
    started: u32,
    /// The transport of the last one: many have the same and share it.
    config: Option<Arc<Config>>,
    pub(crate) slots: Slots,
    /// What connections of one memory know about their paths.
    pub(crate) memories: BTreeMap<[u32; 3], Memory>,
    /// Payload that has arrived, bytes.
    arrived: u64,
    pub(crate) hops: u64,
    pub(crate) mechanisms: Mechanisms,
}

impl Rounds {
    /// The links of `fabric`, without connections. Thresholds in packets stand for packets of `packet` bytes.
    pub fn new(fabric: Fabric<()>, packet: u32, seed: u64) -> Self {
        let configs: Vec<PortConfig> = fabric.ports().iter().map(|port| *port.config()).collect();
        Self {
            now: 0,
            seed,
            packet: packet.into(),
            links: Links::new(configs.iter(), packet.into()),
            rtts: Vec::new(),
            fabric,
            arrived: 0,
            events: Events::new(),
            connections: Vec::new(),
            started: 0,
            config: None,
            slots: Slots::default(),
            memories: BTreeMap::new(),
            hops: 0,
            mechanisms: Mechanisms::default(),
        }
    }

    /// It records the RTTs of this many groups' packets.
    pub fn with_rtts(mut self, groups: usize) -> Self {
        self.rtts = vec![Histogram::new(); groups];
        self
    }

    /// These links, which leave hosts, serve subflows in turn.
    pub fn with_fair_ports(mut self, links: &[u32]) -> Self {
        self.links.serve_in_turn(links);
        self
    }

    /// Its time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets time pass until `until`, until a connection has finished, or for `budget` packet-hops.
    pub fn advance(&mut self, until: Time, budget: u64) -> Step {
        self.forget();
        let enough = self.hops.saturating_add(budget);
        while let Some((time, event)) = self.events.next(until) {
            self.now = time;
            if let Some(record) = self.happen(event) {
                return Step::Finished(record);
            }
            if self.hops >= enough {
                return Step::Budget;
            }
        }
        if until != NEVER {
            self.now = self.now.max(until);
        }
        Step::Reached
    }

    fn happen(&mut self, event: Event) -> Option<FlowRecord> {
        self.fetch_ahead();
        let Event { slot, generation, subflow, kind } = event;
        let connection = self.connections.get_mut(slot as usize)?.as_mut()?;
        if connection.generation != generation {
            return None; // it has ended, and another one is in its place
        }
        let i = usize::from(subflow);
        let arrived = connection.delivered();
        let s = &connection.subflows[i];
        let before = if connection.observed { Some(Before::of(s)) } else { None };
        let mut place = Place {
            links: &mut self.links,
            events: &mut self.events,
            rtts: &mut self.rtts,
            now: self.now,
            slot,
            i,
        };
        let sent = match kind {
            Kind::Sent => place.sent(connection),
            Kind::Acked(number) => place.acked(connection, number),
            Kind::Timeout(timer) => place.timeout(connection, timer),
            Kind::Established => place.establish(connection, &mut self.fabric),
            Kind::Joinable | Kind::Manager => 0,
            Kind::Finished if connection.messages.is_some() => return self.end_message(slot),
            Kind::Finished => return (connection.passed.last <= self.now).then(|| self.end(slot)),
        };
        let s = &connection.subflows[i];
        self.hops += u64::from(sent) * s.way.length();
        self.arrived += connection.delivered() - arrived;
        match kind {
            Kind::Established if s.is_open => self.establish(event),
            Kind::Joinable => self.manage(slot, |m, now, memory| m.handle_established(now, memory, i)),
            Kind::Manager => self.serve_manager(slot),
            _ => {}
        }
        if let Some(before) = before {
            self.report_to_manager(event, &before);
        }
        None
    }

    /// Fetches what the next events will touch: the connection first, then its subflow, what the controller reads, and the
    /// links.
    #[inline]
    fn fetch_ahead(&self) {
        let find = |event: Event| self.connections[event.slot as usize].as_ref();
        let subflow = |event: Event| find(event)?.subflows.get(usize::from(event.subflow));
        if let Some(event) = self.events.ahead(5) {
            fetch(&self.connections[event.slot as usize]);
        }
        if let Some(subflow) = self.events.ahead(3).and_then(subflow) {
            fetch(subflow);
        }
        if let Some(event) = self.events.ahead(2)
            && let (Some(connection), Some(subflow)) = (find(event), subflow(event))
            && subflow.is_open
        {
            fetch(&connection.group[subflow.place]);
            fetch(connection.hosts.host(subflow.place));
            fetch(&*connection.spec);
        }
        if let Some(subflow) = self.events.ahead(1).and_then(subflow) {
            subflow.way.links.iter().for_each(|&link| fetch(&self.links[link]));
            subflow.batches.front().into_iter().for_each(fetch);
        }
    }

    /// Starts a connection, with its whole message.
    pub fn start(&mut self, spec: FlowSpec) {
        self.begin(spec, false);
    }

    /// The same, but the connection stays when its message has arrived: [`Rounds::append`] adds further messages, each with
    /// its own record.
    pub fn start_lasting(&mut self, spec: FlowSpec) {
        self.begin(spec, true);
    }

    fn begin(&mut self, spec: FlowSpec, stays: bool) {
        self.forget();
        let packets = spec.bytes.div_ceil(spec.config.mss.into()).max(1);
        let config = match self.config.take() {
            Some(shared) if *shared == spec.config => shared,
            _ => Arc::new(spec.config),
        };
        self.config = Some(Arc::clone(&config));
        self.started += 1;
        let opening = spec.paths.opening(self.now, spec.stream);
        let named = spec.manager.memory(spec.hosts, spec.paths.count());
        let mut memory = self.memories.remove(&named).unwrap_or_default();
        let manager = spec.manager.open(&opening, &mut memory);
        self.memories.insert(named, memory);
        self.mechanisms = self.mechanisms
            + Mechanisms {
                share_moves: None,
                path_shifts: manager.silence().is_some().then_some(0),
                tuned_flows: manager.limits().map(u64::from),
            };
        let wire = f64::from(spec.config.header) + spec.bytes as f64 / packets as f64;
        let connection = Connection {
            generation: self.started,
            config,
            start: self.now,
            group: Group::new(Arc::clone(&spec.scheme), 0, spec.config.initial_window),
            hosts: Hosts::new(0, spec.config.initial_window),
            observed: manager.observes(),
            due: NEVER,
            manager,
            named,
            subflows: Vec::new(),
            closed: 0,
            messages: stays.then(|| Box::new(Messages::beginning_with(&spec, packets, self.now))),
            sprayed: None,
            runs: Vec::new(),
            unsent: packets,
            packets,
            arrived: 0,
            passed: Passed::default(),
            wire,
            stream: Stream::new(self.seed, "rounds", spec.id),
            spec: Box::new(spec),
        };
        let id = connection.spec.id;
        let slot = self.slots.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() as u32 - 1
        });
        self.connections[slot as usize] = Some(connection);
        self.slots.named.insert(id, slot);
        self.manage(slot, |_, _, _| {});
    }

    /// Ends the connection in `slot`, which can be looked at until time goes on or another one starts.
    fn end(&mut self, slot: u32) -> FlowRecord {
        self.forget();
        let mut c = self.connections[slot as usize].take().expect("it is live");
        for i in 0..c.subflows.len() {
            if let Some(mut out) = c.subflows[i].outgoing.take() {
                self.place(slot, i).release(&c.subflows[i].way, &mut out);
            }
        }
        let record = c.record(self.now);
        self.arrived += record.bytes - c.delivered();
        let last = if record.complete { c.arrive(self.now) } else { None };
        self.connections[slot as usize] = Some(c);
        self.slots.ended = Some((slot, last));
        record
    }

    /// Frees the slot of the connection that has ended last.
    pub(crate) fn forget(&mut self) {
        if let Some((slot, _)) = self.slots.ended.take()
            && let Some(c) = self.connections[slot as usize].take()
        {
            self.slots.free.push(slot);
            self.slots.named.remove(&c.spec.id);
        }
    }

    /// Ends a connection.
    ///
    /// # Panics
    /// If it has ended before.
    pub fn stop(&mut self, id: u64) -> FlowRecord {
        let slot = self.slots.named[&id];
        self.give_up(slot, id).unwrap_or_else(|| self.end(slot))
    }

    fn connection(&self, id: u64) -> Option<&Connection> {
        self.connections[*self.slots.named.get(&id)? as usize].as_ref()
    }

    /// Payload of a connection that was delivered, bytes.
    pub fn delivered(&self, id: u64) -> u64 {
        self.connection(id).map_or(0, Connection::delivered)
    }

    /// Payload of all connections that was delivered, bytes.
    pub fn delivered_bytes(&self) -> u64 {
        self.arrived
    }

    /// The packet-hops that packets would have made until now.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// How often mechanisms have acted.
    pub fn mechanisms(&self) -> Mechanisms {
        self.mechanisms
    }

    /// The subflows of a connection.
    pub fn subflows(&self, id: u64) -> Vec<SubflowState<'_>> {
        let Some(c) = self.connection(id) else { return Vec::new() };
        let mut all = Vec::with_capacity(c.subflows.len());
        for (i, s) in c.subflows.iter().enumerate() {
            let open = |own: &Subflow| OpenState { cwnd: own.cwnd, srtt: own.srtt, state: own.state };
            all.push(SubflowState {
                arrived: s.arrived_by(self.now) * u64::from(c.config.mss),
                counters: s.counters,
                open: s.is_open.then(|| open(c.own(i))),
                path: s.way.shares.is_empty().then(|| s.way.there()),
            });
        }
        // The last packet of a message is shorter.
        if let Some((slot, Some(i))) = self.slots.ended
            && self.slots.named.get(&id) == Some(&slot)
        {
            all[i].arrived -= c.packets * u64::from(c.config.mss) - c.spec.bytes;
        }
        all
    }

    /// Of each link: its rate, its counters, and how long it has been busy, ps.
    pub fn links(&self) -> Vec<(BitsPerSecond, PortCounters, Time)> {
        self.links.observe(self.now)
    }

    /// The RTTs of each group's packets, ps, if they are recorded.
    pub fn rtts(&self) -> Vec<Histogram> {
        self.rtts.clone()
    }

    /// Packets that wait in front of a link.
    pub fn waiting(&self, link: u32) -> u64 {
        (self.links.backlog(link, self.now) / self.packet) as u64
    }
}

/// Fetches a value, which may be needed soon, into the cache.
#[inline]
fn fetch<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    (0..size_of::<T>().min(512)).step_by(64).for_each(|offset| prefetch_line(start.wrapping_add(offset)));
}
