//! Ports, routes and packets under one clock.

mod ahead;
mod build;
mod deadlock;
mod empty_path;
mod feedback;
mod fixed_routes;
mod late;
mod links;
mod onward;
mod parts;
mod pause_frames;
mod pfc;
mod site_by_site;
mod telemetry;
mod view;

pub use deadlock::Deadlock;
pub use feedback::PathCongestion;
pub use parts::Mail;
pub use pfc::{PAUSE_FRAME, PfcConfig, PfcCounters, headroom};
pub use site_by_site::{Delivery, Happening};
pub use telemetry::Hop;

use std::sync::Arc;

use tresse_units::Time;

use crate::agenda::{Agenda, Event};
use crate::carried::{Carried, Moving};
use crate::entity::ARRIVALS;
use crate::flag::FlagConfig;
use crate::forward::{Forwarding, Next};
use crate::packet::{Header, Packet, Packets};
use crate::port::Port;
use crate::prefetch::Ends;
use crate::queued_port::{Pool, QueuedPort};
use crate::sites::Sites;
use crate::ties::Ties;

/// A route: the ports that a packet leaves by, one after the other, or its destination host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteId(u32);

/// How a packet leaves its host: see [`Fabric::first_hop`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstHop {
    port: u32,
    next: u32,
    cursor: u32,
}

impl FirstHop {
    /// The host's port.
    #[inline]
    pub fn port(self) -> u32 {
        self.port
    }
}

/// The fate of a packet.
#[derive(Debug, Clone, Copy)]
pub enum Arrival<P> {
    /// It is at the end of its route.
    Delivered(Packet<P>),
    /// A port had no room for it, or lost it, or its link failed, or no port leads on.
    Dropped(Packet<P>),
}

/// In the table of routes: marks the end of a route.
const END: u32 = u32::MAX;
/// In a packet: its link has failed.
const GONE: u32 = u32::MAX - 1;
/// Set in the number of a host: from here on the nodes decide.
const FORWARD: u32 = 1 << 31;
/// In the list of queued ports: the port is not one of them.
const NOT_QUEUED: u32 = u32::MAX;
/// Anything above is not a port.
const LAST_PORT: u32 = FORWARD - 1;

/// Ports, routes and packets under one clock.
#[derive(Debug)]
pub struct Fabric<P> {
    now: Time,
    ports: Vec<Port>,
    packets: Packets<P>,
    agenda: Agenda,
    sites: Arc<Sites>,
    /// The latest event of a window that is gone through site by site.
    latest: Time,
    /// Every route: its ports, then `END`, then unused places up to `stride`; or the host that
    /// it leads to, with `FORWARD`, and the node where it begins.
    routes: Vec<u32>,
    stride: usize,
    free_routes: Vec<u32>,
    hops: u64,
    forwarding: Option<Box<Forwarding>>,
    queued_ports: Vec<QueuedPort>,
    /// By port: its place among the queued ones, [`NOT_QUEUED`] if it has none; empty if no port is queued.
    queued_of: Vec<u32>,
    /// The ports whose departures are late.
    late: late::Late,
    /// Choices of nodes about packets that are about to arrive, by the packet's id.
    foreseen: [ahead::Foreseen; ahead::FORESEEN],
    pools: Vec<Pool>,
    flags: Option<FlagConfig>,
    /// When HOLNET's balancers update their shares next.
    next_update: Time,
    /// Packets whose queue is gone with its link.
    spilt: Vec<u32>,
    /// If the fabric is a part of a network.
    part: Option<Box<parts::Part<P>>>,
    /// If switches write into packets.
    telemetry: Option<Box<telemetry::Telemetry>>,
    /// If switches pause ports.
    pfc: Option<Box<pfc::Pfc>>,
    kind: Kind,
}

/// What events have to be ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All routes are fixed, and all ports plain.
    Fixed,
    /// All ports are plain.
    Plain,
    /// Some ports are queued.
    Queued,
}

impl Kind {
    const FIXED: u8 = 0;
    const PLAIN: u8 = 1;
    const QUEUED: u8 = 2;
}

/// A port's decision about a packet.
enum Entry {
    /// It will be at the far end then.
    Arrives(Time),
    /// Its arrival has been scheduled, or it waits in a queued port.
    Settled,
    /// It is dropped or lost.
    Dropped,
}

impl<P: Copy> Fabric<P> {
    /// Simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Adds a route.
    ///
    /// # Panics
    /// If it is empty or longer than the fabric was configured for.
    pub fn add_route(&mut self, ports: &[u32]) -> RouteId {
        assert!(!ports.is_empty() && ports.len() < self.stride, "a route of {} ports", ports.len());
        self.add_row(ports)
    }

    /// Adds a route from a node to a host on which the nodes decide.
    ///
    /// # Panics
    /// If the fabric has no nodes.
    pub fn add_forwarded(&mut self, from: u32, to: u32) -> RouteId {
        assert!(self.forwarding.is_some(), "nodes forward in a fabric with forwarding only");
        self.add_row(&[FORWARD | to, from])
    }

    fn add_row(&mut self, entries: &[u32]) -> RouteId {
        let start = self.free_routes.pop().unwrap_or_else(|| {
            u32::try_from(self.next_row()).expect("fewer than 2^32 places in the table of routes")
        });
        self.set_row(start, entries);
        self.tell_route(start, entries);
        RouteId(start)
    }

    fn set_row(&mut self, start: u32, entries: &[u32]) {
        let end = start as usize + self.stride;
        if end > self.routes.len() {
            self.routes.resize(end, END);
        }
        let row = &mut self.routes[start as usize..end];
        row.fill(END);
        row[..entries.len()].copy_from_slice(entries);
    }

    /// Gives a route back. No packet may be on it.
    pub fn remove_route(&mut self, route: RouteId) {
        self.free_routes.push(route.0);
    }

    /// The ports of a route; none if the nodes decide.
    pub fn route(&self, route: RouteId) -> &[u32] {
        let row = &self.routes[route.0 as usize..][..self.stride];
        &row[..row.iter().position(|&p| p > LAST_PORT).unwrap_or(row.len())]
    }

    /// Sends a packet now, from the start of `route`. False if the first port drops or loses it. After
    /// [`Fabric::advance`] returned `None`, call [`Fabric::set_now`] first.
    #[inline]
    pub fn send(&mut self, route: RouteId, header: Header, payload: P) -> bool {
        self.first_hop(route, &header).is_some_and(|hop| self.send_by(hop, header, payload))
    }

    /// How a packet will leave its host: decided now, if the host decides. `None` if no port leads on.
    #[inline]
    pub fn first_hop(&mut self, route: RouteId, header: &Header) -> Option<FirstHop> {
        let row = &self.routes[route.0 as usize..][..2];
        let cursor = route.0 + 2;
        let (first, second) = (row[0], row[1]);
        if first <= LAST_PORT {
            return Some(FirstHop { port: first, next: second, cursor });
        }
        match self.choose(second, first & !FORWARD, header.hash) {
            Next::Port(port) => Some(FirstHop { port, next: first, cursor }),
            Next::Here | Next::Nowhere => None,
        }
    }

    /// Sends a packet now, by a first hop that was chosen before. False if its port drops or loses it.
    #[inline]
    pub fn send_by(&mut self, hop: FirstHop, header: Header, payload: P) -> bool {
        let FirstHop { port, next, cursor } = hop;
        let id = self.packets.insert(Packet { next, cursor, header, payload });
        if let Some(telemetry) = &mut self.telemetry {
            telemetry.begin(id);
        }
        let mut moving = self.moving(id);
        match self.enter::<true>(port, &mut moving) {
            Entry::Arrives(time) => self.leave(port, moving, time),
            Entry::Settled => {}
            Entry::Dropped => {
                self.packets.remove(id);
                return false;
            }
        }
        true
    }

    /// Moves packets on until one arrives or is dropped, or until nothing is left to happen up to and
    /// including `limit`: then the caller's own next event comes first.
    ///
    /// `ends` says what the caller will touch when packets arrive; `&()` if it does not matter.
    #[inline]
    pub fn advance(&mut self, limit: Time, ends: &impl Ends<P>) -> Option<Arrival<P>> {
        match self.kind {
            Kind::Fixed => self.advance_with::<{ Kind::FIXED }>(limit, |own| own.prefetch_fixed(ends)),
            Kind::Plain => self.advance_with::<{ Kind::PLAIN }>(limit, |own| own.prefetch::<false>(ends)),
            Kind::Queued => self.advance_queued(limit, ends),
        }
    }

    /// The same where ports are queued. Out of line, so that hops through plain ports stay as short as they are.
    #[inline(never)]
    fn advance_queued(&mut self, limit: Time, ends: &impl Ends<P>) -> Option<Arrival<P>> {
        self.advance_with::<{ Kind::QUEUED }>(limit, |own| own.prefetch::<true>(ends))
    }

    #[inline(always)]
    fn advance_with<const KIND: u8>(
        &mut self,
        limit: Time,
        prefetch: impl Fn(&mut Self),
    ) -> Option<Arrival<P>> {
        if let spilt @ Some(_) = self.take_spilt() {
            return spilt;
        }
        while let Some((event, carried)) = self.agenda.pop_carried(limit) {
            self.set_now(event.time);
            prefetch(self);
            let arrival = self.handle_as::<KIND>(event, carried);
            if arrival.is_some() {
                return arrival;
            }
        }
        None
    }

    /// A packet that was lost with its link, and of which nobody has been told.
    #[inline]
    pub fn take_spilt(&mut self) -> Option<Arrival<P>> {
        let id = self.spilt.pop()?;
        Some(Arrival::Dropped(self.packets.remove(id)))
    }

    #[inline(always)]
    fn handle_as<const KIND: u8>(&mut self, event: Event, carried: Carried) -> Option<Arrival<P>> {
        match KIND {
            Kind::FIXED => self.handle_fixed(event, carried),
            Kind::PLAIN => self.handle::<false>(event, carried),
            _ => self.handle::<true>(event, carried),
        }
    }

    /// One event: the packet that has arrived at the end of its route, or was dropped.
    #[inline(always)]
    fn handle<const QUEUED: bool>(&mut self, event: Event, carried: Carried) -> Option<Arrival<P>> {
        if QUEUED && event.entity < ARRIVALS {
            self.depart(event.entity, event.id);
            return None;
        }
        let mut moving = Moving { id: event.id, carried };
        let site = self.agenda.site();
        // A port of a switch that is a site of its own, or a node.
        let port = if site < self.sites.ports && carried.header.goes_on() {
            site
        } else {
            match self.next_port(&event, &moving) {
                Next::Port(port) => port,
                Next::Here => {
                    if let Some(telemetry) = &mut self.telemetry {
                        telemetry.end(event.id);
                    }
                    return Some(Arrival::Delivered(self.take(moving)));
                }
                Next::Nowhere => return Some(Arrival::Dropped(self.take(moving))),
            }
        };
        moving.carried.key += u32::from(!carried.header.is_forwarded());
        match self.enter::<QUEUED>(port, &mut moving) {
            Entry::Arrives(time) => self.leave(port, moving, time),
            Entry::Settled => {}
            Entry::Dropped => return Some(Arrival::Dropped(self.take(moving))),
        }
        None
    }

    /// A packet enters a port. This runs once per hop, and a call would take a twentieth of an event's time.
    #[inline(always)]
    fn enter<const QUEUED: bool>(&mut self, number: u32, moving: &mut Moving) -> Entry {
        // First of all, so that a packet of a queued port touches as little as possible of the plain one.
        if QUEUED
            && let Some(&place) = self.queued_of.get(number as usize)
            && place != NOT_QUEUED
        {
            return self.enter_queued_port(number, place as usize, moving);
        }
        let port = &mut self.ports[number as usize];
        let bytes = u32::from(moving.carried.header.bytes());
        if port.must_examine(self.now) {
            let mut ecn = moving.carried.header.ecn();
            let enters = port.examine(self.now, bytes, &mut ecn);
            moving.carried.header.set_ecn(ecn);
            if !enters {
                return Entry::Dropped;
            }
            self.hops += 1;
            let time = port.let_in(self.now, bytes);
            return Entry::Arrives(port.processed(time, bytes));
        }
        self.hops += 1;
        Entry::Arrives(port.let_in(self.now, bytes))
    }
}

impl<P: Copy> Fabric<P> {
    /// Sets the clock for an event of the caller's own, which must come before the next arrival.
    #[inline]
    pub fn set_now(&mut self, now: Time) {
        debug_assert!(now >= self.now, "time runs backwards");
        if now > self.next_update {
            self.update_shares(now);
        }
        self.now = now;
    }

    /// The order of events at one instant.
    pub fn ties(&self) -> Ties {
        self.agenda.ties()
    }
}
