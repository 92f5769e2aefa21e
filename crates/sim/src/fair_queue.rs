//! Hosts' ports with a queue for each subflow, served in turn, which hold a subflow back when enough of its packets
//! wait: Linux's fq qdisc with TCP small queues, or the queue pairs of a network card.
//!
//! The link has its usual port, into which a packet goes when the link is free. So that port has no queue but of ACKs
//! and packets of handshakes, which do not wait here (fq serves new flows first).

use std::collections::{BTreeMap, VecDeque};

use tresse_fabric::{Fabric, FirstHop, Header, Rank, Ties, Timer, Timers};
use tresse_transport::Wire;
use tresse_units::Time;

use crate::flow::SUBFLOW;
use crate::part::Part;

/// In the number of a timer: it is that of the fair port in the place that the other bits name.
pub(crate) const FAIR: u32 = 1 << 31;

/// In the list of ports: it is not fair.
const PLAIN: u32 = u32::MAX;

/// The fair ports of hosts.
#[derive(Debug)]
pub(crate) struct FairQueues {
    /// By port: its place among the fair ones; empty if there are none.
    places: Vec<u32>,
    ports: Vec<FairPort>,
    /// When the links of ports at which packets wait are free, by place.
    timers: Timers,
}

#[derive(Debug)]
struct FairPort {
    port: u32,
    /// Its timer is set.
    is_armed: bool,
    /// The subflows with packets, in the order of service.
    turn: VecDeque<Name>,
    /// Their packets.
    queues: BTreeMap<Name, Queue>,
}

/// A subflow: the connection's id and its own number. Slots are reused, and in parts not as in a whole world.
type Name = (u64, u32);

/// The packets of a subflow that wait.
#[derive(Debug)]
struct Queue {
    /// Where its connection's sending half is.
    slot: u32,
    packets: VecDeque<Waiting>,
    bytes: u64,
}

/// A packet that waits in its host.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    hop: FirstHop,
    header: Header,
    wire: Wire,
}

impl FairQueues {
    pub fn none(ties: Ties) -> Self {
        Self { places: Vec::new(), ports: Vec::new(), timers: Timers::new(ties) }
    }

    /// Makes these ports fair.
    pub fn serve(&mut self, ports: &[u32]) {
        self.places = vec![PLAIN; ports.iter().max().map_or(0, |&last| last as usize + 1)];
        for (&port, place) in ports.iter().zip(0..) {
            self.places[port as usize] = place;
            self.ports.push(FairPort {
                port,
                is_armed: false,
                turn: VecDeque::new(),
                queues: BTreeMap::new(),
            });
        }
    }

    /// Whether no port is fair.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// When the next timer fires; [`NEVER`] if none does.
    #[inline]
    pub fn next(&self) -> Time {
        self.timers.next()
    }

    /// When the next timer fires, and its place among those that fire then.
    pub fn first(&self) -> Option<(Time, u64)> {
        self.timers.first()
    }

    /// The packets that wait at a port.
    pub fn waiting(&self, port: u32) -> u64 {
        let queues = self.place(port).map(|place| self.ports[place].queues.values());
        queues.into_iter().flatten().map(|queue| queue.packets.len() as u64).sum()
    }

    fn place(&self, port: u32) -> Option<usize> {
        self.places.get(port as usize).filter(|&&place| place != PLAIN).map(|&place| place as usize)
    }

    /// Removes the first timer, if it fires by `limit`: when, its rank, and the place of its port.
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, u64, u32)> {
        self.timers.pop_until(limit)
    }

    /// The port in this place.
    pub fn port(&self, place: usize) -> u32 {
        self.ports[place].port
    }

    /// Lets a packet of the subflow `name` of the half in `slot` wait in the port of this place, if other packets wait or
    /// its link is busy. Returns how many bytes of the subflow then wait, and when to serve the port if its timer is not
    /// set; `None` if the packet may leave now.
    fn push(
        &mut self,
        fabric: &mut Fabric<Wire>,
        place: usize,
        (name, slot): (Name, u32),
        packet: Waiting,
    ) -> Option<(u64, Option<Time>)> {
        let own = &mut self.ports[place];
        let free_at = fabric.free_at(own.port, packet.header.bytes.into());
        if own.turn.is_empty() && free_at <= fabric.now() {
            return None;
        }
        let turn = &mut own.turn;
        let queue = own.queues.entry(name).or_insert_with(|| {
            turn.push_back(name);
            Queue { slot, packets: VecDeque::new(), bytes: 0 }
        });
        queue.packets.push_back(packet);
        queue.bytes += u64::from(packet.header.bytes);
        Some((queue.bytes, (!own.is_armed).then_some(free_at)))
    }
}

impl FairPort {
    /// The size of the packet to send next, bytes.
    fn next_bytes(&self) -> Option<u32> {
        let queue = &self.queues[self.turn.front()?];
        queue.packets.front().map(|packet| packet.header.bytes.into())
    }

    /// The packet to send next; its subflow, the slot of its sending half, and how many bytes of the subflow still
    /// wait.
    fn pop(&mut self) -> Option<(Name, u32, Waiting, u64)> {
        let name = self.turn.pop_front()?;
        let queue = self.queues.get_mut(&name)?;
        let packet = queue.packets.pop_front()?;
        queue.bytes -= u64::from(packet.header.bytes);
        let (slot, left) = (queue.slot, queue.bytes);
        if left > 0 {
            self.turn.push_back(name);
        } else {
            self.queues.remove(&name);
        }
        Some((name, slot, packet, left))
    }
}

impl Part {
    /// Lets a packet wait in its host's port if that is fair and cannot send it now. False if the packet may leave now.
    #[inline(never)]
    pub(crate) fn wait_in_turn(
        &mut self,
        slot: u32,
        hop: Option<FirstHop>,
        header: Header,
        wire: Wire,
    ) -> bool {
        let Some(hop) = hop else { return false };
        let half = &mut self.sendings[slot as usize];
        let subflow = wire.subflow & SUBFLOW;
        let packet = Waiting { hop, header, wire };
        let owner = ((half.id, subflow), slot);
        let Some(place) = self.fair_queues.place(hop.port()) else { return false };
        let Some((waiting, time)) = self.fair_queues.push(&mut self.fabric, place, owner, packet) else {
            return false;
        };
        if waiting >= half.sender.port_limit(subflow as usize) {
            half.sender.hold(subflow as usize, true);
        }
        if let Some(time) = time {
            self.arm_fair_port(place, time);
        }
        true
    }

    /// Serves the fair port in this place when its link is free. Ports have the last names of timers.
    fn arm_fair_port(&mut self, place: usize, time: Time) {
        let own = &mut self.fair_queues.ports[place];
        own.is_armed = true;
        let (port, name) = (own.port, u64::MAX - u64::from(own.port));
        if !self.is_gone_through(time) {
            return self.fair_queues.timers.set(place as u32, name, time);
        }
        let (rank, site) = (self.fabric.ties().timer(time, name), self.fabric.site_of_port(port));
        let rank = Rank::Timer(rank);
        self.fabric.push_timer(Timer { time, rank, number: FAIR | place as u32, site });
    }

    /// The link of a fair port whose timer comes first is free.
    pub(crate) fn serve_first_in_turn(&mut self) {
        if let Some(place) = self.fair_queues.timers.pop() {
            self.serve_in_turn(place as usize);
        }
    }

    /// The link of the fair port in this place is free.
    pub(crate) fn serve_in_turn(&mut self, place: usize) {
        self.fair_queues.ports[place].is_armed = false;
        while let Some(bytes) = self.fair_queues.ports[place].next_bytes() {
            let free_at = self.fabric.free_at(self.fair_queues.ports[place].port, bytes);
            if free_at > self.fabric.now() {
                return self.arm_fair_port(place, free_at);
            }
            let Some(((id, subflow), slot, packet, left)) = self.fair_queues.ports[place].pop() else {
                return;
            };
            let half = &mut self.sendings[slot as usize];
            if half.id != id || !half.is_open {
                continue; // its message has arrived: this one was sent again for nothing
            }
            let has_room = left < half.sender.port_limit(subflow as usize);
            self.put_on_wire(slot, Some(packet.hop), packet.header, packet.wire);
            if has_room {
                self.sendings[slot as usize].sender.hold(subflow as usize, false);
                self.transmit(slot);
            }
        }
    }
}
