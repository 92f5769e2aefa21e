//! The event loop: packets and timers, in the order of time; at one time packets first.

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_controllers::Signal;
use tresse_fabric::{Arrival, Ecn, Fabric, Histogram, Packet, PortConfig, Timers};
use tresse_path_manager::Memories;
use tresse_transport::{Config, Receiver, Sender, Wire};
use tresse_units::{NEVER, Time};

use crate::flow::{Flow, Managed, SUBFLOW, SUBFLOW_BITS};
use crate::path_management::SentPackets;
use crate::spec::{FlowRecord, FlowSpec};

/// Where the packets have gone; `sent = delivered + dropped + in flight`, always.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packets {
    /// Handed to the first port of their route.
    pub sent: u64,
    /// Arrived at the other end.
    pub delivered: u64,
    /// Dropped by a port.
    pub dropped: u64,
}

/// Why [`World::advance`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A connection has finished.
    Finished(FlowRecord),
    /// The budget is used up.
    Budget,
    /// The time asked for is reached, or nothing will ever happen again.
    Reached,
}

/// Each subflow has two timers: the sender's (handshake, retransmission, probe, pacing; the first one's is the
/// path manager's too) and the receiver's.
pub(crate) const RETRANSMISSION: u32 = 0;
pub(crate) const DELAYED_ACK: u32 = 1;

/// A fabric with connections on it.
#[derive(Debug)]
pub struct World {
    pub(crate) fabric: Fabric<Wire>,
    pub(crate) timers: Timers,
    pub(crate) flows: Vec<Flow>,
    /// The slots of connections by the callers' names for them.
    slots: BTreeMap<u64, u32>,
    /// What path managers know of the paths between two hosts.
    pub(crate) memories: Memories<[u32; 3]>,
    /// The transport of the connection that was started last: many have the same one, and share it.
    config: Option<Arc<Config>>,
    /// Slots of `flows` that may be used again.
    free: Vec<u32>,
    pub(crate) live: usize,
    pub(crate) packets: Packets,
    pub(crate) delivered_bytes: u64,
    /// By group of connections: the RTT of every ACK; empty if nobody wants to know.
    pub(crate) rtts: Vec<Histogram>,
}

impl World {
    /// A fabric without connections, of ports with fixed paths of at most `longest_route` ports. `seed`
    /// decides in which order things happen that do so at one instant.
    pub fn new(ports: &[PortConfig], longest_route: usize, seed: u64) -> Self {
        Self::on(Fabric::new(ports, longest_route, seed))
    }

    /// This fabric, without connections.
    pub fn on(fabric: Fabric<Wire>) -> Self {
        Self {
            timers: Timers::new(fabric.ties()),
            fabric,
            flows: Vec::new(),
            slots: BTreeMap::new(),
            memories: Memories::new(),
            config: None,
            free: Vec::new(),
            live: 0,
            packets: Packets::default(),
            delivered_bytes: 0,
            rtts: Vec::new(),
        }
    }

    /// Records the RTT of every ACK, by the groups that connections are in: [`FlowSpec::group`] is below `groups`. To be
    /// called before the first connection is started.
    pub fn with_rtts(mut self, groups: usize) -> Self {
        self.rtts = vec![Histogram::new(); groups];
        self
    }

    /// By group: the RTTs, ps, from when the first packet that an ACK answers was sent until the ACK arrived.
    pub fn rtts(&self) -> &[Histogram] {
        &self.rtts
    }

    /// Starts a connection now; it returns from [`World::advance`] under its id.
    ///
    /// # Panics
    /// If its path manager sprays packets over fixed paths, or asks for more than 64 subflows in all.
    pub fn start(&mut self, spec: FlowSpec) {
        let slot = self.open(spec);
        self.launch(slot);
    }

    pub(crate) fn open(&mut self, spec: FlowSpec) -> u32 {
        let memory = self.memories.id(spec.manager.memory(spec.hosts, spec.paths.count()));
        let opening = spec.paths.opening(self.now(), spec.stream);
        let manager = spec.manager.open(&opening, &mut self.memories[memory]);
        let config = self.share(&spec.config);
        let hears = spec.scheme.controller().signals().contains(&Signal::NextHop);
        self.place(Flow {
            id: spec.id,
            bytes: spec.bytes,
            start: self.now(),
            sender: Sender::new(Arc::clone(&config), spec.scheme, 0, spec.bytes),
            receiver: Receiver::new(config, 0, spec.bytes),
            paths: Vec::new(),
            in_fabric: 0,
            done: false,
            class: spec.class,
            special: manager.observes() || hears || spec.config.plb.is_some() || !self.rtts.is_empty(),
            observed: manager.observes(),
            hears,
            rehashes: spec.config.plb.is_some(),
            datagrams: false,
            managed: Box::new(Managed {
                manager,
                memory,
                paths: spec.paths,
                group: spec.group,
                closed: 0,
                datagrams: Default::default(),
            }),
        })
    }

    pub(crate) fn launch(&mut self, slot: u32) {
        self.live += 1;
        self.manage(slot, |_, _, _| ());
        self.transmit(slot);
    }

    pub(crate) fn share(&mut self, config: &Config) -> Arc<Config> {
        let config = match self.config.take() {
            Some(shared) if *shared == *config => shared,
            _ => Arc::new(*config),
        };
        self.config = Some(Arc::clone(&config));
        config
    }

    pub(crate) fn place(&mut self, flow: Flow) -> u32 {
        let id = flow.id;
        let slot = match self.free.pop() {
            Some(slot) => {
                let before = std::mem::replace(&mut self.flows[slot as usize], flow);
                self.slots.remove(&before.id);
                slot
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        self.slots.insert(id, slot);
        slot
    }

    /// The connection of this name, if it has a slot.
    pub(crate) fn flow(&self, id: u64) -> Option<(u32, &Flow)> {
        let slot = *self.slots.get(&id)?;
        Some((slot, &self.flows[slot as usize]))
    }

    /// Turns time until a connection finishes, `until` is reached, or `budget` packets and timers
    /// were handled.
    pub fn advance(&mut self, until: Time, budget: u64) -> Step {
        for _ in 0..budget {
            let timer = self.timers.next();
            let limit = timer.min(until);
            let flows = &self.flows;
            let soon =
                |wire: &Wire| flows.as_ptr().wrapping_add((wire.subflow >> SUBFLOW_BITS) as usize).cast();
            match self.fabric.advance(limit, soon) {
                Some(Arrival::Delivered(packet)) => {
                    if let Some(record) = self.handle_packet(&packet) {
                        return Step::Finished(record);
                    }
                }
                Some(Arrival::Dropped(packet)) => {
                    self.packets.dropped += 1;
                    self.leave_fabric(packet.payload.subflow >> SUBFLOW_BITS);
                }
                None if timer == limit && timer != NEVER => {
                    self.fabric.set_now(timer);
                    self.handle_timer();
                }
                None => {
                    if until != NEVER {
                        self.fabric.set_now(until);
                    }
                    return Step::Reached;
                }
            }
        }
        Step::Budget
    }

    #[inline]
    fn handle_packet(&mut self, packet: &Packet<Wire>) -> Option<FlowRecord> {
        self.packets.delivered += 1;
        let wire = &packet.payload;
        let (slot, i) = (wire.subflow >> SUBFLOW_BITS, wire.subflow & SUBFLOW);
        let now = self.fabric.now();
        let flow = &mut self.flows[slot as usize];
        if flow.done {
            if flow.datagrams {
                self.handle_datagram(slot, packet.header.bytes.into());
            }
            self.leave_fabric(slot);
            return None;
        }
        flow.in_fabric -= 1;
        if wire.is_handshake() {
            self.handle_handshake(packet);
            return None;
        }
        if wire.is_ack() {
            if flow.special {
                self.handle_special_ack(slot, i, wire);
            } else {
                flow.sender.handle_ack(now, i as usize, wire);
            }
            self.transmit(slot);
            self.arm(slot, i, RETRANSMISSION);
            return None;
        }
        self.delivered_bytes += u64::from(packet.header.bytes) - u64::from(flow.receiver.config().header);
        let acks = flow.receiver.handle_data(now, i as usize, wire, packet.header.ecn == Ecn::Ce);
        if flow.receiver.complete() {
            return Some(self.finish(slot));
        }
        for ack in acks.0.into_iter().flatten() {
            self.send_ack(slot, i, ack);
        }
        self.arm(slot, i, DELAYED_ACK);
        None
    }

    fn handle_timer(&mut self) {
        let Some(timer) = self.timers.pop() else { return };
        let (name, kind) = (timer / 2, timer % 2);
        let (slot, i) = (name >> SUBFLOW_BITS, name & SUBFLOW);
        let now = self.fabric.now();
        let flow = &mut self.flows[slot as usize];
        flow.paths[i as usize].armed[kind as usize] = NEVER;
        if kind == RETRANSMISSION {
            let (managers, own) = (flow.managers_deadline(i), flow.sender.deadline(i as usize));
            if own <= now {
                flow.sender.handle_timeout(now, i as usize);
                flow.rehash_if_asked(i as usize);
            }
            if managers <= now {
                self.manage(slot, |m, now, memory| m.handle_timeout(now, memory));
            }
            if own.min(managers) <= now {
                self.transmit(slot);
            }
        } else if flow.receiver.deadline(i as usize) <= now
            && let Some(ack) = flow.receiver.handle_timeout(i as usize, name)
        {
            self.send_ack(slot, i, ack);
        }
        self.arm(slot, i, kind);
    }

    /// Sends what the connection has to send; an ACK on one subflow may let another one send.
    #[inline]
    pub(crate) fn transmit(&mut self, slot: u32) {
        let mut sent = SentPackets::default();
        let mut used = self.send_packets(slot, &mut sent);
        if self.flows[slot as usize].observed {
            while self.tell_sent(slot, &std::mem::take(&mut sent)) {
                used |= self.send_packets(slot, &mut sent);
            }
            used |= 1; // the path manager's timer is subflow 0's
        }
        while used != 0 {
            self.arm(slot, used.trailing_zeros(), RETRANSMISSION);
            used &= used - 1;
        }
    }

    /// A packet of the connection in `slot` is no longer in the fabric.
    fn leave_fabric(&mut self, slot: u32) {
        self.flows[slot as usize].in_fabric -= 1;
        self.release_if_empty(slot);
    }

    /// Frees the slot of a connection that has finished and has no packet on its routes.
    pub(crate) fn release_if_empty(&mut self, slot: u32) {
        let flow = &self.flows[slot as usize];
        if flow.done && flow.in_fabric == 0 && !flow.managed.datagrams.on {
            for path in &flow.paths {
                self.fabric.remove_route(path.there);
                self.fabric.remove_route(path.back);
            }
            self.free.push(slot);
        }
    }
}
