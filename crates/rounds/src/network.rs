//! Links with connections on them: how they start, and how time advances for them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tresse_controllers::trace::Hosts;
use tresse_controllers::{Group, State};
use tresse_fabric::{Fabric, PortCounters, prefetch_line};
use tresse_path_manager::{Action, Memory, PathChoice, Priority};
use tresse_sim::{FlowRecord, FlowSpec, Step};
use tresse_transport::{Config, Counters, Join};
use tresse_units::{BitsPerSecond, NEVER, Stream, Time};

use crate::connection::{Connection, Echo, Repair, Rtt, Subflow, Way};
use crate::events::{Event, Events, Kind};
use crate::link::{Link, Record};
use crate::sending::{Place, admit};

/// A subflow as it is now.
#[derive(Debug, Clone, Copy)]
pub struct SubflowState<'a> {
    /// Its payload that has arrived, bytes.
    pub arrived: u64,
    /// What it has counted.
    pub counters: Counters,
    /// Its window, packets.
    pub cwnd: u32,
    /// Its smoothed RTT, 1/8 us; 0 before there is one.
    pub srtt: u32,
    /// The state of its congestion control.
    pub state: State,
    /// The links that its data flows through.
    pub path: &'a [u32],
}

/// Links with connections on them.
#[derive(Debug)]
pub struct Rounds {
    now: Time,
    seed: u64,
    /// Bytes of a packet whose number a queue's length is.
    packet: f64,
    /// Knows where paths lead. Nothing is sent on it.
    fabric: Fabric<()>,
    links: Vec<Link>,
    /// By link.
    records: Vec<Record>,
    events: Events,
    connections: Vec<Option<Connection>>,
    /// Connections that have been started.
    started: u32,
    /// The transport of the last one: many have the same and share it.
    config: Option<Arc<Config>>,
    free: Vec<u32>,
    /// By the caller's names for them.
    slots: BTreeMap<u64, u32>,
    /// What connections of one memory know about their paths.
    memories: BTreeMap<[u32; 3], Memory>,
    /// Payload that has arrived, bytes.
    arrived: u64,
    hops: u64,
}

impl Rounds {
    /// The links of `fabric`, without connections. Thresholds in packets stand for packets of `packet` bytes.
    pub fn new(fabric: Fabric<()>, packet: u32, seed: u64) -> Self {
        Self {
            now: 0,
            seed,
            packet: packet.into(),
            links: fabric.ports().iter().map(|port| Link::new(&port.config(), packet.into())).collect(),
            records: fabric.ports().iter().map(|port| Record::new(&port.config())).collect(),
            fabric,
            arrived: 0,
            events: Events::new(),
            connections: Vec::new(),
            started: 0,
            config: None,
            free: Vec::new(),
            slots: BTreeMap::new(),
            memories: BTreeMap::new(),
            hops: 0,
        }
    }

    /// Its time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets time pass until `until`, until a connection has finished, or for `budget` packet-hops.
    pub fn advance(&mut self, until: Time, budget: u64) -> Step {
        let enough = self.hops + budget;
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
        let (links, records, events) = (&mut self.links[..], &mut self.records[..], &mut self.events);
        let mut place = Place { links, records, events, now: self.now, slot, i };
        let sent = match kind {
            Kind::Sent => place.sent(connection),
            Kind::Acked(number) => place.acked(connection, number),
            Kind::Timeout(timer) => place.timeout(connection, timer),
            Kind::Established => {
                connection.subflows[i].is_open = true;
                self.hops += place.send(connection) as u64 * connection.subflows[i].way.links.len() as u64;
                if connection.config.handshake && i == 0 && connection.config.join == Join::FirstAck {
                    let round = connection.subflows[0].way.base.iter().sum::<f64>() as Time;
                    self.events.plan(self.now + round, Event { kind: Kind::Joinable, ..event });
                } else {
                    self.manage(slot, |m, now, memory| m.handle_established(now, memory, i));
                }
                return None;
            }
            Kind::Joinable => {
                self.manage(slot, |m, now, memory| m.handle_established(now, memory, i));
                return None;
            }
            Kind::Manager => {
                self.manage(slot, |m, now, memory| m.handle_timeout(now, memory));
                return None;
            }
            Kind::Finished => return (connection.last <= self.now).then(|| self.end(slot)),
        };
        self.hops += u64::from(sent) * connection.subflows[i].way.links.len() as u64;
        self.arrived += connection.delivered() - arrived;
        None
    }

    /// Fetches what the next events will touch: the connection first, then its subflow, then the links.
    #[inline]
    fn fetch_ahead(&self) {
        let find = |event: Event| self.connections[event.slot as usize].as_ref();
        if let Some(event) = self.events.ahead(5) {
            fetch(&self.connections[event.slot as usize]);
        }
        let subflow = |event: Event| find(event)?.subflows.get(usize::from(event.subflow));
        if let Some(subflow) = self.events.ahead(3).and_then(subflow) {
            fetch(subflow);
        }
        if let Some(subflow) = self.events.ahead(1).and_then(subflow) {
            subflow.way.links.iter().for_each(|&link| fetch(&self.links[link as usize]));
        }
    }

    /// Starts a connection, with its whole message.
    ///
    /// # Panics
    /// If nodes choose paths for each packet, or it is sprayed.
    pub fn start(&mut self, spec: FlowSpec) {
        assert!(spec.sprayed.is_none(), "packets are not sprayed");
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
        let wire = f64::from(spec.config.header) + spec.bytes as f64 / packets as f64;
        let connection = Connection {
            generation: self.started,
            config,
            start: self.now,
            group: Group::new(Arc::clone(&spec.scheme), 0, spec.config.initial_window),
            hosts: Hosts::new(0, spec.config.initial_window),
            manager,
            named,
            subflows: Vec::new(),
            unsent: packets,
            packets,
            arrived: 0,
            passed: 0,
            last: 0,
            wire,
            stream: Stream::new(self.seed, "rounds", spec.id),
            spec: Box::new(spec),
        };
        let id = connection.spec.id;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() as u32 - 1
        });
        self.connections[slot as usize] = Some(connection);
        self.slots.insert(id, slot);
        self.manage(slot, |_, _, _| {});
    }

    /// Notifies the path manager and does what it asks for.
    fn manage(
        &mut self,
        slot: u32,
        tell: impl FnOnce(&mut dyn tresse_path_manager::PathManager, Time, &mut Memory),
    ) {
        let now = self.now;
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let named = c.named;
        let mut memory = self.memories.remove(&named).unwrap_or_default();
        tell(&mut *c.manager, now, &mut memory);
        self.memories.insert(named, memory);
        loop {
            let Some(c) = self.connections[slot as usize].as_mut() else { return };
            let Some(action) = c.manager.poll_action() else { break };
            match action {
                Action::Open { path, .. } => self.open(slot, path),
                Action::SetPriority { subflow, priority } => {
                    c.subflows[subflow].takes_data = priority == Priority::Normal;
                }
                // Data in flight there arrives; nothing new is sent.
                Action::Close { subflow } => c.subflows[subflow].takes_data = false,
                Action::Reinject { .. } => {}
            }
        }
        let Some(c) = self.connections[slot as usize].as_ref() else { return };
        let due = c.manager.deadline();
        if due != NEVER {
            let event = Event { slot, generation: c.generation, subflow: 0, kind: Kind::Manager };
            self.events.plan(due.max(now), event);
        }
    }

    fn open(&mut self, slot: u32, choice: PathChoice) {
        let Some(c) = self.connections[slot as usize].as_mut() else { return };
        let path = c.spec.paths.chosen(&mut self.fabric, choice).expect("a subflow keeps to one path");
        let config = Arc::clone(&c.config);
        let base = |ports: &[u32], bytes: f64| -> f64 {
            let link = |&port: &u32| {
                let port = port as usize;
                self.records[port].delay as f64 + self.links[port].transmission(bytes)
            };
            ports.iter().map(link).sum()
        };
        let (data, ack) = (base(&path.there, c.wire), base(&path.back, config.ack.into()));
        let slowest = path.there.iter().map(|&l| self.links[l as usize].transmission(c.wire));
        let i = c.subflows.len();
        let handshake = match (config.handshake, i) {
            (false, _) => 0.0,
            (true, 0) => 1.0,
            // The other host must have heard the third packet (RFC 8684 §3.2).
            (true, _) => 2.0,
        };
        let shake = base(&path.there, config.ack.into()) + ack;
        let way = Way {
            links: path.there.iter().chain(&path.back).copied().collect(),
            hops: path.there.len(),
            base: [data, ack],
            least_gap: slowest.fold(0.0, f64::max),
            loses: path.there.iter().any(|&l| self.records[l as usize].random_loss > 0.0),
        };
        let subflow = Subflow {
            way,
            is_open: handshake == 0.0,
            takes_data: true,
            limited: false,
            echo: Echo::default(),
            in_flight: 0,
            rtt: Rtt::default(),
            next: 0,
            gap: 0.0,
            last_sent: self.now,
            acked_at: 0,
            arrived: 0,
            outgoing: None,
            batches: VecDeque::new(),
            repair: Repair::default(),
            counters: Counters::default(),
        };
        c.subflows.push(subflow);
        admit(&mut c.group, &mut c.hosts, i, &config);
        let established = self.now + (handshake * shake) as Time;
        let event = Event { slot, generation: c.generation, subflow: i as u16, kind: Kind::Established };
        self.events.plan(established, event);
    }

    /// Ends the connection in `slot`.
    fn end(&mut self, slot: u32) -> FlowRecord {
        let mut c = self.connections[slot as usize].take().expect("it is live");
        for i in 0..c.subflows.len() {
            if let Some(out) = c.subflows[i].outgoing.take() {
                let (links, records, events) = (&mut self.links[..], &mut self.records[..], &mut self.events);
                let mut place = Place { links, records, events, now: self.now, slot, i };
                place.release(&c.subflows[i].way, &out);
            }
        }
        self.free.push(slot);
        self.arrived += c.record(self.now).bytes - c.delivered();
        self.slots.remove(&c.spec.id);
        c.record(self.now)
    }

    /// Ends a connection.
    ///
    /// # Panics
    /// If it has ended before.
    pub fn stop(&mut self, id: u64) -> FlowRecord {
        self.end(self.slots[&id])
    }

    fn connection(&self, id: u64) -> Option<&Connection> {
        self.connections[*self.slots.get(&id)? as usize].as_ref()
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

    /// The subflows of a connection.
    pub fn subflows(&self, id: u64) -> Vec<SubflowState<'_>> {
        let Some(c) = self.connection(id) else { return Vec::new() };
        let mut all = Vec::with_capacity(c.subflows.len());
        for (s, own) in c.subflows.iter().zip(c.group.subflows()) {
            all.push(SubflowState {
                arrived: s.arrived * u64::from(c.config.mss),
                counters: s.counters,
                cwnd: own.cwnd,
                srtt: own.srtt,
                state: own.state,
                path: s.way.there(),
            });
        }
        all
    }

    /// Of each link: its rate, its counters, and how long it has been busy, ps.
    pub fn links(&self) -> Vec<(BitsPerSecond, PortCounters, Time)> {
        self.links.iter().zip(&self.records).map(|(link, record)| record.observe(link, self.now)).collect()
    }

    /// Packets that wait in front of a link.
    pub fn waiting(&self, link: u32) -> u64 {
        (self.links[link as usize].backlog(self.now) / self.packet) as u64
    }

    /// The rate of a link changes.
    pub fn set_rate(&mut self, link: u32, rate: BitsPerSecond) {
        let (record, link) = (&mut self.records[link as usize], &mut self.links[link as usize]);
        link.advance(self.now);
        record.set_rate(link, rate);
    }
}

/// Fetches a value, which may be needed soon, into the cache.
#[inline]
fn fetch<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    (0..size_of::<T>().min(512)).step_by(64).for_each(|offset| prefetch_line(start.wrapping_add(offset)));
}
