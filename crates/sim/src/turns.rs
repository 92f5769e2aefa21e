//! How time passes in a part: window by window, and within a window site by site. Where that is impossible, because a
//! host may hear of something at once, in the order of time.

use tresse_fabric::{AFTER_PACKETS, Ends, Happening, Rank, Timer};
use tresse_transport::Wire;
use tresse_units::{NEVER, Time};

use crate::fair_queue::FAIR;
use crate::flow::{Receiving, SUBFLOW, SUBFLOW_BITS, Sending};
use crate::part::{Part, RETRANSMISSION, Turn};

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
    /// Whether windows are gone through site by site, and the messages that end in one are known when it begins.
    pub fn goes_by_sites(&self) -> bool {
        self.fabric.goes_by_sites() && self.fabric.knows_deliveries()
    }

    /// Finds out which messages end in the next window, or in what is left of it, up to `end`. Nothing happens before it.
    #[inline]
    pub fn foresee(&mut self, end: Time) {
        let next = self.earliest();
        if self.foresight.near == 0 || next > end {
            return self.foresight.clear(end);
        }
        if self.fabric.is_far(next) {
            self.fabric.come_near(next);
        }
        self.foresight.look(&self.fabric, &self.receivings, next, end);
    }

    /// The same for the part's own next window, others of which may come before it. Returns its end if messages end in it;
    /// [`NEVER`] if that is not known yet.
    pub fn foresee_own(&mut self) -> Option<Time> {
        let next = self.earliest();
        let end = self.fabric.window_end(next);
        if self.foresight.near == 0 || next == NEVER {
            self.foresight.clear(end);
        } else if self.fabric.is_far(next) {
            return Some(NEVER);
        } else {
            self.foresight.look(&self.fabric, &self.receivings, next, end);
        }
        (!self.foresight.ends.is_empty()).then_some(end)
    }

    /// Goes through a window, or what is left of it, if anything happens in it: see [`Self::go_through`].
    pub fn run(&mut self, limit: Time, rank: Option<u32>) {
        if self.earliest() <= limit || !self.deeds.is_empty() {
            self.go_through(limit, rank);
        }
        self.fabric.set_now(limit);
    }

    /// Goes through the window that `limit` lies in, or what is left of it, up to then; of what happens at `limit`, only what
    /// packets of at most this `rank` do and what comes right after them, if there is a rank.
    pub fn go_through(&mut self, limit: Time, rank: Option<u32>) {
        let Self { timers, fair_queues, sendings, receivings, fabric, deeds, recorder, .. } = self;
        // Timers come after packets.
        deeds.open = if rank.is_some() { limit } else { limit + 1 };
        let last = deeds.open.checked_sub(1);
        let mut fair = Vec::new();
        while let Some((time, rank, place)) = last.and_then(|last| fair_queues.pop_until(last)) {
            let site = fabric.site_of_port(fair_queues.port(place as usize));
            fair.push(Timer { time, rank: Rank::Timer(rank), number: FAIR | place, site });
        }
        let due = std::iter::from_fn(|| timers.pop_until(last?)).map(|(time, rank, number)| {
            let slot = ((number / 2) >> SUBFLOW_BITS) as usize;
            let site = if number % 2 == RETRANSMISSION { sendings[slot].site } else { receivings[slot].site };
            Timer { time, rank: Rank::Timer(rank), number, site }
        });
        recorder.keep_until(limit);
        let deeds_due = deeds.timers(|slot| sendings[slot as usize].site);
        fabric.open_window(limit, rank, due.chain(fair).chain(deeds_due));
        self.go_through_sites();
        self.deeds.open = 0;
        self.deeds.clear();
    }

    /// Goes through the sites of what was opened of a window.
    fn go_through_sites(&mut self) {
        loop {
            let halves = PacketEnds { sendings: &self.sendings, receivings: &self.receivings };
            match self.fabric.next_of_site(&halves) {
                Some(Happening::Arrival(arrival)) => {
                    if let Some((_, messages)) = self.handle_arrival(&arrival) {
                        self.deeds.ended += messages;
                    }
                }
                Some(Happening::Timer(number @ FAIR..)) => self.serve_in_turn((number & !FAIR) as usize),
                Some(Happening::Timer(number @ AFTER_PACKETS..)) => self.do_deed(number),
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

    /// Whether this time is in what is being gone through site by site.
    pub fn is_gone_through(&self, time: Time) -> bool {
        time < self.deeds.open
    }

    /// Sets a timer, which a half has for itself.
    pub fn set_timer(&mut self, number: u32, name: u64, site: u32, time: Time) {
        if !self.is_gone_through(time) {
            return self.timers.set(number, name, time);
        }
        self.timers.clear(number);
        let rank = Rank::Timer(self.fabric.ties().timer(time, name));
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
            if let Some((slot, messages)) = complete {
                return Turn::Complete(slot, messages);
            }
        }
        Turn::Budget
    }
}
