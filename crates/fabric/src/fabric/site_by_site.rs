//! A window of time, site by site.

use tresse_units::Time;

use super::{Arrival, Fabric, Kind};
use crate::agenda::{Leaders, TIMERS, Timer};
use crate::prefetch::Ends;

/// What happens in a window.
#[derive(Debug, Clone, Copy)]
pub enum Happening<P> {
    /// To a packet.
    Arrival(Arrival<P>),
    /// A timer with this number fires.
    Timer(u32),
}

impl<P: Copy> Fabric<P> {
    /// Whether windows may be gone through site by site: there are several sites.
    pub fn goes_by_sites(&self) -> bool {
        self.sites.are_several()
    }

    /// Whether a window has begun in the order of time and is not over.
    #[inline]
    pub fn is_open_by_time(&self) -> bool {
        self.agenda.is_open_by_time()
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

    /// The packets that arrive at hosts in what is left of the window of `time`, and when; `None` if that is not known yet.
    pub fn arrivals_at_hosts(&self, time: Time) -> Option<impl Iterator<Item = (Time, &P)>> {
        let hosts = Some(self.sites.only_hosts()).filter(|hosts| !hosts.is_empty())?;
        let arrivals = self.agenda.arrivals(time, hosts)?;
        Some(arrivals.map(|(time, id)| (time, &self.packets.get(id).payload)))
    }

    /// Opens the window that `limit` lies in up to then, with these timers, which must be all up to then. Nothing may
    /// come before this window, and [`Fabric::take_spilt`] has nothing. Then call [`Fabric::next_of_site`].
    pub fn open_window(&mut self, limit: Time, timers: impl Iterator<Item = Timer>) {
        debug_assert!(self.spilt.is_empty(), "what was lost is told before the window");
        self.latest = self.now;
        self.agenda.open_sites(limit, timers);
    }

    /// Whether hosts can lead: be gone through first, in the order of time, so that what happens at one may have an effect
    /// at another at once. All links delay packets then.
    pub fn hosts_can_lead(&self) -> bool {
        self.sites.all_delay && !self.sites.only_hosts().is_empty()
    }

    /// Opens what is left of the window of `limit` up to then at hosts alone: [`Fabric::advance`] goes through them in the order
    /// of time. Then call [`Fabric::end_leading`], and go through the window site by site.
    pub fn lead(&mut self, limit: Time) {
        self.agenda.open_leading(limit, self.sites.only_hosts());
    }

    /// Hosts have been gone through to the end of what was opened.
    pub fn end_leading(&mut self) {
        self.agenda.end_leading();
    }

    /// Hosts lead and have come to this time, and of what happens then to what has this rank, or to the end. Opens the window
    /// up to there for what is not a host: call [`Fabric::next_of_site`] until nothing happens, then [`Fabric::lead_again`].
    pub fn follow(&mut self, rank: Option<u32>) -> Leaders {
        self.latest = self.now;
        self.agenda.follow(self.now, rank)
    }

    /// Hosts go on.
    pub fn lead_again(&mut self, leaders: Leaders) {
        self.agenda.lead_again(leaders);
    }

    /// The rank of what has happened last, among all that happens at that time.
    pub fn last_rank(&self) -> u32 {
        self.agenda.last_rank(self.now)
    }

    /// Packet-hops until now, at most: what is on its way to a switch may have arrived.
    pub fn most_hops(&self) -> u64 {
        self.hops() + self.agenda.len() as u64
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
            Kind::Plain => self.next_of_site_with::<{ Kind::PLAIN }>(|own| own.prefetch(ends)),
            Kind::Queued => self.next_of_site_queued(ends),
        }
    }

    #[inline(never)]
    fn next_of_site_queued(&mut self, ends: &impl Ends<P>) -> Option<Happening<P>> {
        self.next_of_site_with::<{ Kind::QUEUED }>(|own| own.prefetch_queued(ends))
    }

    #[inline(always)]
    fn next_of_site_with<const KIND: u8>(&mut self, prefetch: impl Fn(&mut Self)) -> Option<Happening<P>> {
        while let Some((event, carried)) = self.agenda.next_carried() {
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
        self.end_sites(self.agenda.last());
        self.now = self.latest;
        None
    }
}
