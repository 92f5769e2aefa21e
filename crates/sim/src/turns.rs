//! How time passes in a part: turn by turn, a turn being a window or what is left of it.
//!
//! Where no message ends and no flow starts, the sites are gone through one after the other. The end of a message has an
//! effect at other hosts at once: its sender stops, and flows start. But it has none in a switch before the window is over.
//! So hosts lead otherwise: they are gone through in the order of time, at one time packets first, and the switches follow,
//! one after the other, when the window ends or somebody looks at them.

use tresse_fabric::{Ends, Happening, Timer};
use tresse_transport::Wire;
use tresse_units::{NEVER, Time};

use crate::fair_queue::FAIR;
use crate::flow::{Receiving, SUBFLOW, SUBFLOW_BITS, Sending};
use crate::part::{Open, Part, RETRANSMISSION, Turn};

/// With more messages near their end than this, it is not looked at which packets arrive: a window in which none ends is
/// rare then, and the look takes longer than such windows save. The results are the same.
const MOST_NEAR: u32 = 16;

/// The halves of connections, where packets end, for prefetching.
pub(crate) struct PacketEnds<'a> {
    pub sendings: &'a [Sending],
    pub receivings: &'a [Receiving],
}

impl Ends<Wire> for PacketEnds<'_> {
    #[inline(always)]
    fn address(&self, wire: &Wire) -> *const u8 {
        let slot = (wire.subflow >> SUBFLOW_BITS) as usize;
        let sending = self.sendings.as_ptr().wrapping_add(slot);
        let receiving = self.receivings.as_ptr().wrapping_add(slot);
        if wire.body.is_ack() { sending.cast() } else { receiving.cast() }
    }

    #[inline(always)]
    fn fetch(&self, wire: &Wire) {
        let (slot, i) = ((wire.subflow >> SUBFLOW_BITS) as usize, (wire.subflow & SUBFLOW) as usize);
        if wire.body.is_ack() {
            self.sendings.get(slot).into_iter().for_each(|half| half.fetch(i));
        } else {
            self.receivings.get(slot).into_iter().for_each(|half| half.fetch(i));
        }
    }
}

impl Part {
    /// Advances time until a message is complete, `until` is reached, or at least `budget` packets were handled.
    pub fn advance(&mut self, until: Time, budget: u64) -> Turn {
        let handled = |own: &Self| own.packets.delivered + own.packets.dropped;
        let last = handled(self).saturating_add(budget);
        let goes_by_sites = self.goes_by_sites();
        while let Some(lost) = self.fabric.take_spilt() {
            self.handle_arrival(&lost);
        }
        while handled(self) < last {
            if let Open::Hosts(end) = self.open {
                match self.advance_by_time(end.min(until), last - handled(self)) {
                    Turn::Reached if until < end => return Turn::Reached,
                    Turn::Reached => self.follow_to_end(end),
                    turn @ (Turn::Complete(_) | Turn::Budget) => return turn,
                }
                continue;
            }
            let next = self.earliest();
            if next > until || next == NEVER {
                if until != NEVER {
                    self.fabric.set_now(until);
                }
                return Turn::Reached;
            }
            if !goes_by_sites {
                return self.advance_by_time(until, last - handled(self));
            }
            let end = self.fabric.turn_end(next);
            if end <= until && !self.may_end(next) {
                self.advance_to_turn_end(end);
            } else if self.fabric.hosts_can_lead() {
                self.lead_to(end);
            } else {
                match self.advance_by_time(end.min(until), last - handled(self)) {
                    Turn::Reached => {}
                    turn @ (Turn::Complete(_) | Turn::Budget) => return turn,
                }
            }
        }
        Turn::Budget
    }

    /// Hosts lead from now on, to `end`, the end of a turn.
    pub fn lead_to(&mut self, end: Time) {
        self.fabric.lead(end);
        self.open = Open::Hosts(end);
    }

    /// Hosts have been gone through to `end`; the switches follow.
    pub fn follow_to_end(&mut self, end: Time) {
        self.fabric.end_leading();
        self.open = Open::Nothing;
        self.fabric.open_window(end, std::iter::empty());
        self.go_through_sites();
        self.fabric.set_now(end);
    }

    /// Brings the switches up to the hosts, for somebody who looks at them; of what happens now up to this rank, or all.
    pub fn settle(&mut self, rank: Option<u32>) {
        if let Open::Hosts(_) = self.open {
            let leaders = self.fabric.follow(rank);
            self.go_through_sites();
            self.fabric.lead_again(leaders);
        }
        self.fabric.settle();
    }

    /// Whether windows are gone through site by site, where no message ends.
    pub fn goes_by_sites(&self) -> bool {
        self.fabric.goes_by_sites() && !self.recorder.is_on()
    }

    /// Whether a message may end in what is left of the window of `time`.
    pub fn may_end(&self, time: Time) -> bool {
        self.first_end(time).is_some()
    }

    /// No message ends before this in what is left of the window of `time`; `None` if none ends there at all, 0 if nobody
    /// knows.
    pub fn first_end(&self, time: Time) -> Option<Time> {
        if self.near == 0 || self.near > MOST_NEAR {
            return (self.near > 0).then_some(0);
        }
        let Some(arrivals) = self.fabric.arrivals_at_hosts(time) else { return Some(0) };
        let data = arrivals.filter(|(_, wire)| !wire.body.is_ack());
        let data = data.map(|(time, wire)| (wire.subflow >> SUBFLOW_BITS, time));
        let mut data: Vec<(u32, Time)> =
            data.filter(|&(slot, _)| self.receivings[slot as usize].is_near).collect();
        data.sort_unstable();
        let end = |own: &[(u32, Time)]| {
            let half = &self.receivings[own[0].0 as usize];
            (1..).zip(own).find(|&(count, _)| half.may_end_with(count)).map(|(_, &(_, time))| time)
        };
        data.chunk_by(|a, b| a.0 == b.0).filter_map(end).min()
    }

    /// Advances to `end`, the end of a turn in which no message ends.
    pub fn advance_to_turn_end(&mut self, end: Time) {
        if self.fabric.is_open_by_time() {
            let turn = self.advance_by_time(end, u64::MAX);
            assert_eq!(turn, Turn::Reached, "no message ends in such a window");
        } else {
            self.advance_by_sites(end);
        }
    }

    /// Goes through the window that ends at `end`, or its beginning until then, site by site.
    fn advance_by_sites(&mut self, end: Time) {
        let Self { timers, fair_queues, sendings, receivings, fabric, .. } = self;
        let mut fair = Vec::new();
        while let Some((time, rank, place)) = fair_queues.pop_until(end) {
            let site = fabric.site_of_port(fair_queues.port(place as usize));
            fair.push(Timer { time, rank, number: FAIR | place, site });
        }
        let due = std::iter::from_fn(|| timers.pop_until(end)).map(|(time, rank, number)| {
            let slot = ((number / 2) >> SUBFLOW_BITS) as usize;
            let site = if number % 2 == RETRANSMISSION { sendings[slot].site } else { receivings[slot].site };
            Timer { time, rank, number, site }
        });
        self.fabric.open_window(end, due.chain(fair));
        self.open = Open::Sites(end);
        self.go_through_sites();
        self.open = Open::Nothing;
    }

    /// Goes through the sites of what was opened of a window.
    fn go_through_sites(&mut self) {
        loop {
            let halves = PacketEnds { sendings: &self.sendings, receivings: &self.receivings };
            match self.fabric.next_of_site(&halves) {
                Some(Happening::Arrival(arrival)) => {
                    let complete = self.handle_arrival(&arrival);
                    assert_eq!(
                        complete, None,
                        "no message ends in a window that is gone through site by site"
                    );
                }
                Some(Happening::Timer(number @ FAIR..)) => self.serve_in_turn((number & !FAIR) as usize),
                Some(Happening::Timer(number)) => self.fire_if_due(number),
                None => break,
            }
        }
    }

    /// A timer fires that was set for now, unless it has been moved since.
    fn fire_if_due(&mut self, number: u32) {
        let name = number / 2;
        let (slot, i) = ((name >> SUBFLOW_BITS) as usize, (name & SUBFLOW) as usize);
        let armed = if number % 2 == RETRANSMISSION {
            self.sendings[slot].ways[i].armed
        } else {
            self.receivings[slot].ways[i].armed
        };
        if armed == self.fabric.now() {
            self.fire(number);
        }
    }

    /// Whether this time is in the window that is being gone through site by site.
    pub fn is_gone_through(&self, time: Time) -> bool {
        matches!(self.open, Open::Sites(until) if time <= until)
    }

    /// Sets a timer, which a half has for itself.
    pub fn set_timer(&mut self, number: u32, name: u64, site: u32, time: Time) {
        if !self.is_gone_through(time) {
            return self.timers.set(number, name, time);
        }
        self.timers.clear(number);
        let rank = self.fabric.ties().timer(time, name);
        self.fabric.push_timer(Timer { time, rank, number, site });
    }

    /// Advances in the order of time, until a message is complete, `until` is reached, or `budget` packets and timers
    /// were handled.
    pub fn advance_by_time(&mut self, until: Time, budget: u64) -> Turn {
        for _ in 0..budget {
            let timer = self.next_timer();
            let limit = timer.min(until);
            let halves = PacketEnds { sendings: &self.sendings, receivings: &self.receivings };
            let complete = match self.fabric.advance(limit, &halves) {
                Some(arrival) => self.handle_arrival(&arrival),
                None if timer == limit && timer != NEVER => {
                    self.fabric.set_now(timer);
                    self.handle_timer();
                    None
                }
                None => {
                    if until != NEVER {
                        self.fabric.set_now(until);
                    }
                    return Turn::Reached;
                }
            };
            if let Some(slot) = complete {
                return Turn::Complete(slot);
            }
        }
        Turn::Budget
    }

    /// Advances to the end of a window in which no message ends.
    pub(crate) fn run(&mut self, end: Time) {
        let next = self.earliest();
        if next <= end {
            if self.goes_by_sites() && self.fabric.turn_end(next) == end {
                self.advance_to_turn_end(end);
            } else {
                let turn = self.advance_by_time(end, u64::MAX);
                assert_eq!(turn, Turn::Reached, "no message ends in such a window");
            }
        }
        self.fabric.set_now(end);
    }
}
