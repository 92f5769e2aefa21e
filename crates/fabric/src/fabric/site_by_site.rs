//! A window of time, site by site.

use tresse_units::Time;

use super::{Arrival, Fabric, Kind};
use crate::agenda::{Event, TIMERS, Timer};
use crate::carried::CarriedHeader;
use crate::prefetch::{Ends, prefetch};

/// What happens in a window.
#[derive(Debug, Clone, Copy)]
pub enum Happening<P> {
    /// To a packet.
    Arrival(Arrival<P>),
    /// A timer with this number fires.
    Timer(u32),
}

/// A packet that arrives at a host.
#[derive(Debug, Clone, Copy)]
pub struct Delivery {
    event: Event,
    header: CarriedHeader,
    /// The site of the host.
    pub site: u32,
}

impl Delivery {
    /// When it arrives.
    pub fn time(&self) -> Time {
        self.event.time
    }

    /// Whether it is delivered whole: it is not trimmed, and its link has not failed.
    #[inline]
    pub fn is_whole(&self) -> bool {
        !self.header.is_trimmed() && !self.header.is_gone()
    }
}

impl<P: Copy> Fabric<P> {
    /// Whether windows may be gone through site by site: there are several sites.
    pub fn goes_by_sites(&self) -> bool {
        self.sites.are_several()
    }

    /// The length of a window, ps. The first one begins at 0.
    pub fn window(&self) -> Time {
        self.agenda.window()
    }

    /// The last instant of the window of `time`.
    pub fn window_end(&self, time: Time) -> Time {
        self.agenda.window_end(time)
    }

    /// The last instant up to which the network may be gone through site by site; `next` is the time of the next event.
    /// It is the end of the window, or an update of HOLNET's shares, which comes after all else of its instant.
    pub fn turn_end(&mut self, next: Time) -> Time {
        if next > self.next_update {
            self.update_shares(next);
        }
        self.agenda.window_end(next).min(self.next_update)
    }

    /// The site of a host.
    pub fn site_of_host(&self, host: u32) -> u32 {
        self.sites.of_host(host)
    }

    /// The site of a host's port.
    pub fn site_of_port(&self, port: u32) -> u32 {
        self.sites.own[port as usize]
    }

    /// Packets of at least `bytes`, but for the last one, that may arrive at a host within a window.
    pub fn within_reach(&self, bytes: u32) -> u32 {
        self.sites.within_reach(bytes)
    }

    /// Whether all that arrives at hosts in a window is known when it begins: links delay it.
    pub fn knows_deliveries(&self) -> bool {
        self.sites.know_deliveries()
    }

    /// Whether the window of `time` is so far ahead that it is not known what happens in it.
    pub fn is_far(&self, time: Time) -> bool {
        self.agenda.is_far(time)
    }

    /// Nothing happens before the window of `time`: it is far ahead no longer.
    pub fn come_near(&mut self, time: Time) {
        self.agenda.come_near(time);
    }

    /// The packets that arrive in what is left of the window of `time` at hosts where their routes end, in no order.
    ///
    /// # Panics
    /// Unless [`Self::knows_deliveries`], or if the window is far ahead ([`Self::is_far`]).
    pub fn deliveries(&self, time: Time) -> impl Iterator<Item = Delivery> {
        assert!(self.knows_deliveries(), "what arrives at hosts is known");
        let arrivals = self.agenda.arrivals(time, self.sites.only_hosts()).expect("a window that comes soon");
        let ends = arrivals.filter(|(.., carried)| carried.header.is_at_end());
        ends.map(|(site, event, carried)| Delivery { event, header: carried.header, site })
    }

    /// Fetches the packet into the cache.
    #[inline]
    pub fn fetch(&self, delivery: &Delivery) {
        prefetch(self.packets.get(delivery.event.id));
    }

    /// What the packet carries.
    #[inline]
    pub fn payload(&self, delivery: &Delivery) -> &P {
        &self.packets.get(delivery.event.id).payload
    }

    /// Its rank among the packets of its instant.
    pub fn rank(&self, delivery: &Delivery) -> u32 {
        self.agenda.ties().rank(delivery.event.time, delivery.event.entity)
    }

    /// Opens the window that `limit` lies in up to then, with these timers, which must be all up to then; of what happens
    /// at `limit`, only what packets of at most this `rank` do and the timers that come after these, if there is a rank.
    /// Nothing may come before this window, and [`Fabric::take_spilt`] has nothing. Then call [`Fabric::next_of_site`].
    pub fn open_window(&mut self, limit: Time, rank: Option<u32>, timers: impl Iterator<Item = Timer>) {
        debug_assert!(self.spilt.is_empty(), "what was lost is told before the window");
        self.latest = self.now;
        self.agenda.open_sites(limit, rank, timers);
    }

    /// The rank of what has happened last, among all that happens at that time.
    pub fn last_rank(&self) -> u32 {
        self.agenda.last_rank(self.now)
    }

    /// Adds a timer to the site that something has just happened at; it fires in this window.
    pub fn push_timer(&mut self, timer: Timer) {
        self.agenda.push_timer(timer);
    }

    /// Moves packets on until something happens; `None` at the window's end. Time advances from event to event of a
    /// site, and begins anew with each site. `ends` as for [`Fabric::advance`].
    #[inline]
    pub fn next_of_site(&mut self, ends: &impl Ends<P>) -> Option<Happening<P>> {
        match self.kind {
            Kind::Fixed => self.next_of_site_with::<{ Kind::FIXED }>(|own| own.prefetch_fixed(ends)),
            Kind::Plain => self.next_of_site_with::<{ Kind::PLAIN }>(|own| own.prefetch::<false>(ends)),
            Kind::Queued => self.next_of_site_queued(ends),
        }
    }

    #[inline(never)]
    fn next_of_site_queued(&mut self, ends: &impl Ends<P>) -> Option<Happening<P>> {
        self.next_of_site_with::<{ Kind::QUEUED }>(|own| own.prefetch::<true>(ends))
    }

    #[inline(always)]
    fn next_of_site_with<const KIND: u8>(&mut self, prefetch: impl Fn(&mut Self)) -> Option<Happening<P>> {
        while let Some((event, carried)) = self.agenda.next_carried() {
            if KIND == Kind::QUEUED && self.has_left_site() {
                self.leave_site();
            }
            self.now = event.time;
            self.latest = self.latest.max(event.time);
            prefetch(self);
            if (TIMERS..2 * TIMERS).contains(&event.entity) {
                return Some(Happening::Timer(event.id));
            }
            let arrival = self.handle_as::<KIND>(event, carried);
            if let Some(arrival) = arrival {
                return Some(Happening::Arrival(arrival));
            }
        }
        self.leave_site();
        self.now = self.latest;
        None
    }
}
