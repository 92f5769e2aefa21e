//! Ports, routes and packets under one clock.

use crate::packet::{Ecn, Packet, Packets};
use crate::port::{Port, PortConfig};
use crate::prefetch::prefetch;
use crate::queue::{Event, EventQueue, NAMES};
use crate::units::{Entity, Time};

/// A route: the ports that a packet leaves by, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteId(u32);

/// What became of a packet.
#[derive(Debug, Clone, Copy)]
pub enum Arrival<P> {
    /// It is at the end of its route.
    Delivered(Packet<P>),
    /// A port had no room for it, or lost it.
    Dropped(Packet<P>),
}

/// Marks the end of a route in the table.
const END: u32 = u32::MAX;

/// Ports, routes and packets under one clock.
#[derive(Debug)]
pub struct Fabric<P> {
    now: Time,
    ports: Vec<Port>,
    packets: Packets<P>,
    queue: EventQueue,
    /// Every route: its ports, then `END`, then unused places up to `stride`.
    routes: Vec<u32>,
    stride: usize,
    free_routes: Vec<u32>,
    hops: u64,
}

impl<P: Copy> Fabric<P> {
    /// A fabric of these ports, with routes of at most `longest_route` ports.
    pub fn new(ports: &[PortConfig], longest_route: usize) -> Self {
        assert!(ports.len() < NAMES as usize, "fewer than 2^24 ports");
        // A port that is busy with full packets causes this many events; half of them may be ACKs.
        let events: f64 = ports.iter().map(|p| p.rate as f64 / (8.0 * 1500.0)).sum();
        let horizon = ports.iter().map(PortConfig::longest_stay).max();
        Self {
            now: 0,
            ports: ports.iter().map(|&config| Port::new(config)).collect(),
            packets: Packets::new(),
            queue: EventQueue::new(events, horizon.unwrap_or(0)),
            routes: Vec::new(),
            stride: longest_route + 1,
            free_routes: Vec::new(),
            hops: 0,
        }
    }

    /// Simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Adds a route.
    ///
    /// # Panics
    /// If it is empty or longer than the fabric was told.
    pub fn add_route(&mut self, ports: &[u32]) -> RouteId {
        assert!(!ports.is_empty() && ports.len() < self.stride, "a route of {} ports", ports.len());
        let start = self.free_routes.pop().unwrap_or_else(|| {
            let start = self.routes.len();
            self.routes.resize(start + self.stride, END);
            u32::try_from(start).expect("fewer than 2^32 places in the table of routes")
        });
        let row = &mut self.routes[start as usize..][..self.stride];
        row.fill(END);
        row[..ports.len()].copy_from_slice(ports);
        RouteId(start)
    }

    /// Gives a route back. No packet may be on it.
    pub fn remove_route(&mut self, route: RouteId) {
        self.free_routes.push(route.0);
    }

    /// The ports of a route.
    pub fn route(&self, route: RouteId) -> &[u32] {
        let row = &self.routes[route.0 as usize..][..self.stride];
        &row[..row.iter().position(|&p| p == END).unwrap_or(row.len())]
    }

    /// Sends a packet now, from the start of `route`. False if the first port drops or loses it. After
    /// [`Fabric::advance`] returned `None`, call [`Fabric::set_now`] first.
    #[inline]
    pub fn send(&mut self, route: RouteId, bytes: u32, mut ecn: Ecn, payload: P) -> bool {
        let first = self.routes[route.0 as usize];
        let Some(time) = self.ports[first as usize].admit(self.now, bytes, &mut ecn) else {
            return false;
        };
        self.hops += 1;
        let id = self.packets.insert(Packet { cursor: route.0 + 1, bytes, ecn, payload });
        self.queue.push(Event { time, entity: first, id });
        true
    }

    /// Moves packets on until one arrives or is dropped, or until nothing happens before `limit`:
    /// then the caller's own next event comes first.
    ///
    /// `soon` is told of packets that are about to arrive, so that the caller can fetch what it will
    /// touch; it changes nothing but speed.
    #[inline]
    pub fn advance(&mut self, limit: (Time, Entity), soon: impl Fn(&P)) -> Option<Arrival<P>> {
        while let Some(event) = self.queue.pop_before(limit) {
            debug_assert!(event.time >= self.now, "time runs backwards");
            self.now = event.time;
            self.prefetch(&soon);
            let packet = self.packets.get_mut(event.id);
            let next = self.routes[packet.cursor as usize];
            if next == END {
                return Some(Arrival::Delivered(self.packets.remove(event.id)));
            }
            packet.cursor += 1;
            match self.ports[next as usize].admit(event.time, packet.bytes, &mut packet.ecn) {
                Some(time) => {
                    self.hops += 1;
                    self.queue.push(Event { time, entity: next, id: event.id });
                }
                None => return Some(Arrival::Dropped(self.packets.remove(event.id))),
            }
        }
        None
    }

    /// Fetches what the events after the next one will touch: the packet, then the port that it
    /// will enter, then that port's ring, each a step earlier than the next needs it.
    #[inline]
    fn prefetch(&self, soon: &impl Fn(&P)) {
        if let Some(id) = self.queue.upcoming(6) {
            prefetch(self.packets.get(id));
        }
        if let Some(id) = self.queue.upcoming(4) {
            let packet = self.packets.get(id);
            match self.ports.get(self.routes[packet.cursor as usize] as usize) {
                Some(port) => prefetch(port),
                None => soon(&packet.payload),
            }
        }
        if let Some(id) = self.queue.upcoming(2) {
            let next = self.routes[self.packets.get(id).cursor as usize];
            if let Some(port) = self.ports.get(next as usize) {
                port.prefetch_ring();
            }
        }
    }

    /// Sets the clock for an event of the caller's own, which must come before the next arrival.
    #[inline]
    pub fn set_now(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time runs backwards");
        self.now = now;
    }

    /// Packets that have entered a port, each once for every port.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// Packets on their way.
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// The ports, by number.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Packets that wait in a port now.
    pub fn waiting(&self, port: u32) -> u64 {
        self.ports[port as usize].waiting(self.now)
    }
}
