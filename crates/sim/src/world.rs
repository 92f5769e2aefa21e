//! Connections on a fabric: how they start, and how time advances for them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tresse_controllers::Signal;
use tresse_fabric::{AFTER_PACKETS, Cut, Fabric, Header, Histogram, PortConfig};
use tresse_transport::{Config, Receiver, Sender, Wire, spray, tcp};
use tresse_units::Time;

use crate::deeds::{Deed, What};
use crate::flow::{Duties, Managed, Receiving, SUBFLOW_BITS, Sending};
use crate::part::{Part, Parts};
use crate::path_management::Unopened;
use crate::spec::{FlowRecord, FlowSpec, Paths};
use crate::threads::Cutting;
use crate::windows::Window;

/// Where the packets have gone; always, `sent = delivered + dropped + in flight`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packets {
    /// Passed to the first port of their route.
    pub sent: u64,
    /// Arrived at the other end.
    pub delivered: u64,
    /// Dropped by a port.
    pub dropped: u64,
}

/// How often mechanisms that may have nothing to do have acted; `None` of those that are not there, or not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mechanisms {
    /// Updates of HOLNET's balancers that moved shares.
    pub share_moves: Option<u64>,
    /// How often a path manager has taken new data off a subflow because of its path.
    pub path_shifts: Option<u64>,
    /// Connections for which a path manager chose fewer subflows than there were paths, by what it knew of losses.
    pub tuned_flows: Option<u64>,
}

impl std::ops::Add for Mechanisms {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a + b.unwrap_or(0)));
        Self {
            share_moves: sum(self.share_moves, other.share_moves),
            path_shifts: sum(self.path_shifts, other.path_shifts),
            tuned_flows: sum(self.tuned_flows, other.tuned_flows),
        }
    }
}

/// Why [`World::advance`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A connection has finished.
    Finished(FlowRecord),
    /// The budget is used up.
    Budget,
    /// The requested time is reached, or nothing will ever happen again.
    Reached,
}

/// Why [`World::advance_ahead`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The connection of this name has finished, or its message has arrived. Its record, if that is known by now.
    Ended(u64, Option<FlowRecord>),
    /// The budget is used up.
    Budget,
    /// The requested time is reached, or nothing will ever happen again.
    Reached,
}

impl From<Step> for Ahead {
    fn from(step: Step) -> Self {
        match step {
            Step::Finished(record) => Self::Ended(record.id, Some(record)),
            Step::Budget => Self::Budget,
            Step::Reached => Self::Reached,
        }
    }
}

/// The places of the halves of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halves {
    /// Part and slot of the sending one.
    pub sending: (usize, u32),
    /// Part and slot of the receiving one.
    pub receiving: (usize, u32),
}

/// The numbers of timers have no room for more.
const MOST_SLOTS: u32 = AFTER_PACKETS >> (SUBFLOW_BITS + 1);

/// A fabric with connections on it.
#[derive(Debug)]
pub struct World {
    /// A single part, or those of `cutting`.
    pub(crate) parts: Parts,
    pub(crate) cutting: Option<Box<Cutting>>,
    /// Simulated time, as the caller sees it.
    pub(crate) now: Time,
    /// Where that stands between two events of one instant: the last one's rank; `None` if all of the instant is over.
    pub(crate) last_rank: Option<u32>,
    /// The window that this time lies in, if it has not been gone through.
    pub(crate) window: Option<Window>,
    /// Whether all is carried out until now.
    pub(crate) is_settled: bool,
    /// The packet-hops before the window that ends then.
    pub(crate) hops_before: (Time, u64),
    /// The records of messages that have ended, until the caller takes them.
    pub(crate) records: VecDeque<FlowRecord>,
    /// The halves of connections, by the callers' names for them.
    pub(crate) halves: BTreeMap<u64, Halves>,
    /// Finished connections that may have packets in the fabric; only in a divided world.
    pub(crate) closing: Vec<Halves>,
    /// How many of them had packets there when they were last looked at.
    pub(crate) kept_closing: usize,
    /// Persistent connections of which a further message was complete at the same time as the previous one.
    pub(crate) ready: Vec<Halves>,
    /// The transport of the last started connection: many have the same one and share it.
    config: Option<Arc<Config>>,
    pub(crate) live: usize,
}

impl World {
    /// A fabric without connections, of ports with fixed paths of at most `longest_route` ports. `seed` decides the
    /// order of events at the same instant.
    pub fn new(ports: &[PortConfig], longest_route: usize, seed: u64) -> Self {
        Self::on(Fabric::new(ports, longest_route, seed))
    }

    /// This fabric, without connections.
    pub fn on(fabric: Fabric<Wire>) -> Self {
        Self::of(vec![Part::new(fabric.with_late_departures(), 0, 1)], None)
    }

    /// The network of the fabrics that `make` returns, which are all equal, cut into parts that run on as many
    /// threads, or on fewer if that is faster by `clock`, which returns seconds. The results are those of a single
    /// part.
    ///
    /// Its links do not change, there are no congestion flags, and links to hosts delay packets.
    pub fn in_parts(cut: Cut, clock: fn() -> f64, make: impl Fn() -> Fabric<Wire>) -> Self {
        let cut = Arc::new(cut);
        let fabric = |own| make().into_part(Arc::clone(&cut), own).with_late_departures();
        let part = |own| Part::new(fabric(own), own, cut.parts());
        Self::of((0..cut.parts()).map(part).collect(), Some(Box::new(Cutting::new(Arc::clone(&cut), clock))))
    }

    fn of(parts: Vec<Part>, cutting: Option<Box<Cutting>>) -> Self {
        Self {
            parts: parts.into_iter().map(Box::new).collect(),
            cutting,
            now: 0,
            last_rank: None,
            window: None,
            is_settled: true,
            hops_before: (0, 0),
            records: VecDeque::new(),
            halves: BTreeMap::new(),
            closing: Vec::new(),
            kept_closing: 0,
            ready: Vec::new(),
            config: None,
            live: 0,
        }
    }

    /// The only part.
    ///
    /// # Panics
    /// If there are several.
    pub(crate) fn whole(&mut self) -> &mut Part {
        assert_eq!(self.parts.len(), 1, "a world that is not cut into parts");
        self.assert_settled();
        &mut self.parts[0]
    }

    /// Records the RTT of every ACK, by the groups that connections are in: [`FlowSpec::group`] is below `groups`. To be
    /// called before the first connection is started.
    pub fn with_rtts(mut self, groups: usize) -> Self {
        self.parts.iter_mut().for_each(|part| part.rtts = vec![Histogram::new(); groups]);
        self
    }

    /// Makes these ports of hosts fair: each has a queue for every subflow, serves them in turn, and holds back a
    /// subflow of which as much waits as its transport allows ([`Config::port_limit`]). Datagrams, ACKs and
    /// handshakes go first. To be called before the first connection is started.
    #[must_use]
    pub fn with_fair_ports(mut self, ports: &[u32]) -> Self {
        self.parts.iter_mut().for_each(|part| part.fair_queues.serve(ports));
        self
    }

    /// The RTTs by group, ps: from the sending of the first packet that an ACK answers until the arrival of the
    /// ACK.
    pub fn rtts(&self) -> Vec<Histogram> {
        let mut rtts = self.parts[0].rtts.clone();
        for part in &self.parts[1..] {
            rtts.iter_mut().zip(&part.rtts).for_each(|(sum, own)| sum.merge(own));
        }
        rtts
    }

    /// Starts a connection now; [`World::advance`] returns its id when it finishes.
    ///
    /// # Panics
    /// If its path manager sprays packets over fixed paths, or asks for more than 64 subflows in all.
    pub fn start(&mut self, spec: FlowSpec) {
        let opened = self.open(spec);
        self.launch(opened);
    }

    pub(crate) fn open(&mut self, spec: FlowSpec) -> (Halves, Unopened) {
        let config = self.share(&spec.config);
        let scheme = Arc::clone(&spec.scheme);
        let (sender, receiver) = match spec.sprayed {
            Some(_) => (
                Sender::Sprayed(Box::new(spray::Sender::new(Arc::clone(&config), scheme, spec.bytes))),
                Receiver::Sprayed(Box::new(spray::Receiver::new(config, spec.bytes))),
            ),
            None => (
                Sender::Tcp(tcp::Sender::new(Arc::clone(&config), scheme, 0, spec.bytes)),
                Receiver::Tcp(tcp::Receiver::new(config, 0, spec.bytes)),
            ),
        };
        self.join(spec, sender, receiver)
    }

    /// Puts the two ends of a flow that begins now in place.
    pub(crate) fn join(&mut self, spec: FlowSpec, sender: Sender, receiver: Receiver) -> (Halves, Unopened) {
        let [from, to] = self.parts_of(&spec.paths);
        let sites = spec.hosts.map(|host| self.parts[from].fabric.site_of_host(host));
        let has_rtts = !self.parts[from].rtts.is_empty();
        let recorded = spec.hosts.map(|host| self.records(host));
        let signals = spec.scheme.controller().signals();
        let duties = Duties::of(&[
            (Duties::HEAR, signals.contains(&Signal::NextHop)),
            (Duties::REHASH, spec.config.plb.is_some()),
            (Duties::READ_HOPS, signals.contains(&Signal::Telemetry)),
            (Duties::RECORD_RTTS, has_rtts),
            (Duties::RECORD, recorded.contains(&true)),
        ]);
        let Config { mss, header, .. } = spec.config;
        let within_reach = match &sender {
            Sender::Datagrams(_) => 0,
            Sender::Tcp(_) | Sender::Sprayed(_) => self.parts[to].fabric.within_reach(mss + header),
        };
        let sending = Sending {
            in_fabric: 0,
            peer: 0,
            peer_part: to as u8,
            is_open: true,
            class: spec.class,
            duties,
            ways: Vec::new(),
            sender,
            id: spec.id,
            bytes: spec.bytes,
            start: self.now,
            site: sites[0],
            managed: Box::new(Managed {
                manager: None,
                paths: spec.paths,
                group: spec.group,
                recorded: recorded[0].then_some(spec.hosts[0]),
                closed: 0,
                messages: None,
                sprayed: spec.sprayed.map(|sprayed| (sprayed, spec.stream)),
            }),
        };
        let receiving = Receiving {
            in_fabric: 0,
            peer: 0,
            peer_part: from as u8,
            is_open: true,
            class: if matches!(receiver, Receiver::Sprayed(_)) { Header::LAST_CLASS } else { spec.class },
            stays: false,
            is_near: false,
            recorded: recorded[1],
            within_reach,
            ways: Vec::new(),
            receiver,
            id: spec.id,
            host: spec.hosts[1],
            site: sites[1],
        };
        let halves = self.place([from, to], sending, receiving);
        let part = &mut self.parts[to];
        part.receivings[halves.receiving.1 as usize].look(&mut part.foresight.near);
        (halves, Unopened { manager: spec.manager, hosts: spec.hosts, stream: spec.stream })
    }

    /// The part in which a connection sends, and the one in which it receives.
    pub(crate) fn parts_of(&self, paths: &Paths) -> [usize; 2] {
        let Some(cutting) = &self.cutting else { return [0, 0] };
        let cut = cutting.cut();
        match paths {
            Paths::Fixed(paths) => [&paths[0].there, &paths[0].back].map(|ports| cut.of_port(ports[0])),
            Paths::Forwarded { from, to, .. } => [from, to].map(|addresses| cut.of_node(addresses[0])),
        }
    }

    /// A connection begins now, or when its host's turn comes in the window that is open.
    pub(crate) fn launch(&mut self, (halves, unopened): (Halves, Unopened)) {
        self.live += 1;
        let (part, slot) = halves.sending;
        if self.window.is_some() {
            let deed = Deed { time: self.now, rank: self.rank(), slot, what: What::Launch(unopened) };
            self.parts[part].deeds.add(deed);
        } else {
            self.come_to_now();
            self.parts[part].launch(slot, &unopened);
            self.exchange();
        }
    }

    /// Sends the data that a connection has to send now. Its other half learns about subflows that are opened, wherever
    /// it is.
    pub(crate) fn transmit(&mut self, part: usize, slot: u32) {
        self.parts[part].transmit(slot);
        self.exchange();
    }

    pub(crate) fn share(&mut self, config: &Config) -> Arc<Config> {
        let config = match self.config.take() {
            Some(shared) if *shared == *config => shared,
            _ => Arc::new(*config),
        };
        self.config = Some(Arc::clone(&config));
        config
    }

    pub(crate) fn place(
        &mut self,
        [from, to]: [usize; 2],
        mut sending: Sending,
        mut receiving: Receiving,
    ) -> Halves {
        let id = sending.id;
        let slot = |free: &mut Vec<u32>, slots: usize| free.pop().unwrap_or(slots as u32);
        let part = &mut self.parts[from];
        let sending_slot = slot(&mut part.free_sendings, part.sendings.len());
        assert!(sending_slot < MOST_SLOTS, "fewer than {MOST_SLOTS} connections at a time");
        let part = &mut self.parts[to];
        let receiving_slot = slot(&mut part.free_receivings, part.receivings.len());
        sending.peer = receiving_slot;
        receiving.peer = sending_slot;
        if let Some(before) = put(&mut self.parts[from].sendings, sending_slot, sending) {
            self.halves.remove(&before.id);
        }
        if let Some(before) = put(&mut self.parts[to].receivings, receiving_slot, receiving) {
            self.halves.remove(&before.id);
        }
        let halves = Halves { sending: (from, sending_slot), receiving: (to, receiving_slot) };
        self.halves.insert(id, halves);
        halves
    }

    /// Who looks at the network, or changes it, does so now, not at some time before.
    pub(crate) fn assert_settled(&self) {
        assert!(self.is_settled, "`settle` comes before a look at the network");
    }
}

/// Puts a half in its slot and returns the previous one.
fn put<T>(slots: &mut Vec<T>, slot: u32, half: T) -> Option<T> {
    match slots.get_mut(slot as usize) {
        Some(place) => Some(std::mem::replace(place, half)),
        None => {
            slots.push(half);
            None
        }
    }
}
