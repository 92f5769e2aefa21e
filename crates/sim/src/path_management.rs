//! Path managers at work: subflows that come and go, and links that change.

use std::mem;

use tresse_controllers::Hop;
use tresse_fabric::{Fabric, RouteId};
use tresse_path_manager::{Ack, Action, Memory, PathChoice, PathManager, Priority, Sent};
use tresse_transport::spray::Spraying;
use tresse_transport::tcp::Step;
use tresse_transport::{Body, Config, Fate, Join, Origin, Sender, Wire};
use tresse_units::{BitsPerSecond, Time};

use crate::flow::{Duties, SUBFLOW, Way};
use crate::part::{Note, Part};
use crate::spec::{Manager, Paths, Sprayed};
use crate::world::{Mechanisms, World};

/// The data sent since the path manager was last notified, by subflow; few are in use at a time.
#[derive(Debug, Default)]
pub(crate) struct SentPackets(Vec<Sent>);

impl SentPackets {
    /// Notes a packet.
    pub fn note(&mut self, subflow: usize, origin: Origin, payload: u32) {
        if origin == Origin::Handshake {
            return;
        }
        let at = self.0.iter().position(|s| s.subflow == subflow).unwrap_or_else(|| {
            self.0.push(Sent { subflow, packets: 0, retransmissions: 0, new_bytes: 0 });
            self.0.len() - 1
        });
        let sent = &mut self.0[at];
        sent.packets += 1;
        sent.retransmissions += u64::from(origin == Origin::Retransmitted);
        sent.new_bytes += if origin == Origin::New { payload.into() } else { 0 };
    }
}

/// What a connection's path manager is opened with.
#[derive(Debug)]
pub(crate) struct Unopened {
    pub manager: Manager,
    /// Its hosts, from and to.
    pub hosts: [u32; 2],
    /// See [`FlowSpec::stream`](crate::FlowSpec::stream).
    pub stream: u64,
}

impl Part {
    /// Notifies the path manager of the connection in `slot` and carries out its requests. Returns whether it made
    /// any. The connection may then have something to transmit, which also arms the timers.
    pub(crate) fn manage(
        &mut self,
        slot: u32,
        tell: impl FnOnce(&mut dyn PathManager, Time, &mut Memory),
    ) -> bool {
        let now = self.fabric.now();
        let (manager, memory) = self.manager(slot);
        tell(manager, now, memory);
        let mut acted = false;
        while let Some(action) = self.manager(slot).0.poll_action() {
            self.act(slot, action);
            acted = true;
        }
        acted
    }

    /// The path manager of a connection that was launched, and what it remembers.
    fn manager(&mut self, slot: u32) -> (&mut dyn PathManager, &mut Memory) {
        let own = self.sendings[slot as usize].managed.manager.as_mut();
        let (manager, memory) = own.expect("a connection that was launched");
        (&mut **manager, &mut self.memories[*memory])
    }

    /// A connection gets its path manager.
    pub(crate) fn give_manager(&mut self, slot: u32, unopened: &Unopened) {
        let Unopened { manager, hosts, stream } = unopened;
        let half = &mut self.sendings[slot as usize];
        let memory = self.memories.id(manager.memory(*hosts, half.managed.paths.count()));
        let opening = half.managed.paths.opening(self.fabric.now(), *stream);
        let manager = manager.open(&opening, &mut self.memories[memory]);
        half.duties.set(Duties::MANAGE, manager.observes());
        self.mechanisms = self.mechanisms
            + Mechanisms {
                share_moves: None,
                path_shifts: manager.silence().is_some().then_some(0),
                tuned_flows: manager.limits().map(u64::from),
            };
        half.managed.manager = Some((manager, memory));
    }

    fn act(&mut self, slot: u32, action: Action) {
        let half = &mut self.sendings[slot as usize];
        match action {
            Action::Open { subflow, path: choice } => {
                assert!(subflow <= SUBFLOW as usize, "a connection opens at most {} subflows", SUBFLOW + 1);
                let mut way = Way::new(&mut self.fabric, &half.managed.paths, choice);
                // Packets of a sprayed subflow overtake each other by up to a packet a path.
                let duplicates = if choice == PathChoice::Spray { half.managed.paths.count() } else { 3 };
                let spraying = half.managed.sprayed.take().map(|(sprayed, stream)| {
                    // A sprayed connection has one subflow, and its paths are routes from here on: a lot of memory less.
                    let paths = mem::replace(&mut half.managed.paths, Paths::Fixed(Vec::new()));
                    way.spread_over(&mut self.fabric, &paths);
                    spraying(&self.fabric, &way, half.sender.config(), sprayed, stream)
                });
                let opened = Note::Opened { slot: half.peer, way: way.back() };
                let to = half.peer_part.into();
                half.ways.reserve_exact(1);
                half.ways.push(way);
                match (&mut half.sender, spraying) {
                    (Sender::Tcp(sender), _) => {
                        assert_eq!(sender.open(duplicates.into()), subflow, "subflows count up");
                    }
                    (Sender::Sprayed(sender), Some(spraying)) => sender.open(spraying),
                    (Sender::Sprayed(_) | Sender::Datagrams(_), _) => panic!("there is one subflow"),
                }
                if half.duties.has(Duties::RECORD) {
                    self.recorder.open(self.fabric.now(), half.id, subflow as u32, choice);
                }
                let is_open = half.sender.is_open(subflow);
                self.tell(to, opened);
                if is_open {
                    self.manage(slot, |m, now, memory| m.handle_established(now, memory, subflow));
                }
            }
            Action::Close { subflow } => {
                half.subflows().close(subflow);
                half.managed.closed |= 1 << subflow;
            }
            Action::SetPriority { subflow, priority } => {
                if let (Some(shifts), Some((manager, _))) =
                    (&mut self.mechanisms.path_shifts, &half.managed.manager)
                {
                    *shifts += u64::from(manager.silence().is_some() && priority != Priority::Normal);
                }
                half.subflows().set_takes_data(subflow, priority == Priority::Normal);
            }
            Action::Reinject { subflow } => half.subflows().reinject(subflow),
        }
    }

    /// An ACK for a subflow about which others than its sender must be notified too.
    pub(crate) fn handle_special_ack(&mut self, slot: u32, i: u32, wire: &Wire) {
        let now = self.fabric.now();
        let half = &mut self.sendings[slot as usize];
        let stamp = match &wire.body {
            Body::Ack(ack) => Some(ack.stamp),
            Body::Answer(answer) if matches!(answer.fate, Fate::Arrived { .. }) => Some(answer.stamp),
            _ => None,
        };
        if let Some(stamp) = stamp
            && let Some(rtts) = self.rtts.get_mut(half.managed.group as usize)
        {
            rtts.record(now - stamp.time());
        }
        if half.duties.has(Duties::HEAR) {
            let way = &half.ways[i as usize];
            let heard = self.fabric.heard(way.there, way.hashes[0]);
            half.sender.hear(i as usize, heard.local, heard.next_hop);
        }
        if half.duties.has(Duties::READ_HOPS) {
            half.sender.hear_hops(self.fabric.hops_of_delivered().iter().map(hop));
        }
        half.sender.handle_ack(now, i as usize, wire);
        half.rehash_if_asked(i as usize);
        if i == 0 && half.duties.has(Duties::JOIN) {
            half.duties.set(Duties::JOIN, false);
            self.manage(slot, |m, now, memory| m.handle_established(now, memory, 0));
        }
        if self.sendings[slot as usize].duties.has(Duties::MANAGE) {
            self.tell_ack(slot, i as usize, wire);
        }
    }

    /// Notifies the path manager of an ACK on subflow `i`.
    fn tell_ack(&mut self, slot: u32, i: usize, wire: &Wire) {
        let sender = &self.sendings[slot as usize].sender;
        if sender.is_open(i) {
            let outstanding = sender.outstanding(i).into();
            let marked = match &wire.body {
                Body::Ack(ack) => ack.ce > 0,
                Body::Answer(answer) => answer.fate == Fate::Arrived { ce: true },
                _ => false,
            };
            let ack = Ack { subflow: i, outstanding, marked: marked.into(), srtt: sender.srtt(i) };
            self.manage(slot, |m, now, memory| m.handle_ack(now, memory, &ack));
        }
    }

    /// Notifies the path manager of the sent data; returns whether it made any requests.
    pub(crate) fn tell_sent(&mut self, slot: u32, sent: &SentPackets) -> bool {
        let mut acted = false;
        for sent in &sent.0 {
            acted |= self.manage(slot, |m, now, memory| m.handle_sent(now, memory, sent));
        }
        acted
    }

    /// An answer to a packet of a subflow's handshake, sent at `stamp`, has arrived.
    #[cold]
    pub(crate) fn handle_handshake_answer(&mut self, slot: u32, i: u32, step: Step, stamp: Time) {
        let now = self.fabric.now();
        let half = &mut self.sendings[slot as usize];
        if half.subflows().handle_handshake(now, i as usize, step, stamp) {
            if i == 0 && half.sender.config().join == Join::FirstAck {
                half.duties.set(Duties::JOIN, true);
            } else {
                self.manage(slot, |m, now, memory| m.handle_established(now, memory, i as usize));
            }
        }
        self.transmit(slot);
        self.arm_sender(slot, i);
    }
}

/// Changes of links, as in [`tresse_fabric::Fabric`].
impl World {
    /// The rate of a queued port changes now.
    ///
    /// # Panics
    /// If the port is not queued, or the rate is 0, or the world is cut into parts.
    pub fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.whole().fabric.set_rate(port, rate);
    }

    /// The link of a queued port fails now, or comes back. The fabric reports the lost packets one by one as
    /// dropped.
    ///
    /// # Panics
    /// If the port is not queued, or the world is cut into parts.
    pub fn set_link(&mut self, port: u32, up: bool) {
        self.whole().fabric.set_link(port, up);
    }

    /// The nodes recompute their shortest paths over the links that are up.
    ///
    /// # Panics
    /// If the world is cut into parts.
    pub fn reroute(&mut self) {
        self.whole().fabric.reroute();
    }
}

/// A hop as controllers see it.
fn hop(hop: &tresse_fabric::Hop) -> Hop {
    Hop {
        bytes: hop.bytes,
        time: hop.time / 1000,
        queue: u32::try_from(hop.queue).unwrap_or(u32::MAX),
        rate: u32::try_from(hop.rate / 1_000_000).unwrap_or(u32::MAX),
    }
}

/// What a sprayed connection on `way` learns about its path.
fn spraying(fabric: &Fabric<Wire>, way: &Way, config: &Config, sprayed: Sprayed, stream: u64) -> Spraying {
    let there = fabric.empty_path(way.there, config.mss + config.header);
    let back = fabric.empty_path(way.back, config.ack);
    let mut routes: Vec<RouteId> = way.routes.iter().map(|&[there, _]| there).collect();
    routes.push(way.there);
    let (base_rtt, line_rate) = match (there, back) {
        (Some(there), Some(back)) => (there + back, fabric.first_rate(&routes)),
        _ => (0, 0), // no path leads there now
    };
    Spraying { balancer: sprayed.balancer, paths: sprayed.paths, stream, base_rtt, line_rate }
}
