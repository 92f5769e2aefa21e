//! What happens next, in the order of time; at one instant in the order in which it was planned.
//!
//! A wheel of short spans of time. Only the span that is open is sorted: so an event costs the same however many are
//! planned, and what the next ones need is known, and fetched, before they happen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tresse_units::Time;

/// A span is 2^20 ps, about 1 us.
const SPAN: u32 = 20;
/// Spans on the wheel, 4.3 ms; later events wait in a heap.
const SPANS: u64 = 4096;

/// Something that happens to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The batch that the subflow sends is out.
    Sent,
    /// The first ACK of the subflow's batch of this number arrives.
    Acked(u32),
    /// The subflow's retransmission timer of this number expires.
    Timeout(u32),
    /// The subflow's handshake is complete.
    Established,
    /// The first ACK of data arrives: the others may join.
    Joinable,
    /// The path manager's timer.
    Manager,
    /// The last byte arrives.
    Finished,
}

/// An event of the connection in `slot`, if that is still the one of this `generation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub slot: u32,
    pub generation: u32,
    pub subflow: u16,
    pub kind: Kind,
}

/// An event, when it happens, and its place among those of this instant.
type Planned = (Time, u64, Event);

/// The events to come.
#[derive(Debug)]
pub(crate) struct Events {
    /// The events until the end of the open span that were planned before it was opened, the next one last.
    open: Vec<Planned>,
    /// Those that were planned since: of many at one instant, each would move all that come before it.
    late: BinaryHeap<Reverse<Planned>>,
    /// The number of the open span.
    span: u64,
    /// By the number of a span on the wheel: its events, in no order, and a bit if it has any.
    wheel: Vec<Vec<Planned>>,
    occupied: [u64; SPANS as usize / 64],
    /// The memory of spans that are over, for those that get their first event: otherwise each of the wheel would keep room
    /// for the most events that it ever had.
    spare: Vec<Vec<Planned>>,
    /// Events beyond the wheel when they were planned.
    far: BinaryHeap<Reverse<Planned>>,
    planned: u64,
}

impl Events {
    /// No events, at time 0.
    pub fn new() -> Self {
        Self {
            open: Vec::new(),
            late: BinaryHeap::new(),
            span: 0,
            wheel: (0..SPANS).map(|_| Vec::new()).collect(),
            occupied: [0; SPANS as usize / 64],
            spare: Vec::new(),
            far: BinaryHeap::new(),
            planned: 0,
        }
    }

    /// Plans an event.
    #[inline]
    pub fn plan(&mut self, time: Time, event: Event) {
        self.planned += 1;
        let planned = (time, self.planned, event);
        let span = time >> SPAN;
        if span <= self.span {
            self.late.push(Reverse(planned));
        } else if span < self.span + SPANS {
            let place = (span % SPANS) as usize;
            if self.occupied[place / 64] >> (place % 64) & 1 == 0 {
                self.occupied[place / 64] |= 1 << (place % 64);
                self.wheel[place] = self.spare.pop().unwrap_or_default();
            }
            self.wheel[place].push(planned);
        } else {
            self.far.push(Reverse(planned));
        }
    }

    /// The next event, if it happens before `until` or then.
    #[inline]
    pub fn next(&mut self, until: Time) -> Option<(Time, Event)> {
        if self.open.is_empty() && self.late.is_empty() {
            self.open_next();
        }
        let open = self.open.last().copied();
        let late = self.late.peek().map(|Reverse(planned)| *planned);
        let is_late = match (open, late) {
            (Some(open), Some(late)) => late < open,
            (open, _) => open.is_none(),
        };
        let (time, _, event) = if is_late { late? } else { open? };
        if time > until {
            return None;
        }
        if is_late {
            self.late.pop();
        } else {
            self.open.pop();
        }
        Some((time, event))
    }

    /// The event that comes `n` events after the next one, if that is known already.
    #[inline]
    pub fn ahead(&self, n: usize) -> Option<Event> {
        self.open.len().checked_sub(n + 1).map(|place| self.open[place].2)
    }

    /// Opens the next span that has events.
    fn open_next(&mut self) {
        let far = self.far.peek().map(|Reverse((time, ..))| time >> SPAN);
        let Some(span) = self.next_on_wheel().into_iter().chain(far).min() else { return };
        self.span = span;
        let place = (span % SPANS) as usize;
        if self.occupied[place / 64] >> (place % 64) & 1 == 1 {
            self.occupied[place / 64] &= !(1 << (place % 64));
            let over = std::mem::replace(&mut self.open, std::mem::take(&mut self.wheel[place]));
            self.spare.push(over);
        }
        while self.far.peek().is_some_and(|Reverse((time, ..))| time >> SPAN <= span) {
            self.open.extend(self.far.pop().map(|Reverse(planned)| planned));
        }
        self.open.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// The first span on the wheel that has events, after the open one.
    fn next_on_wheel(&self) -> Option<u64> {
        let first = self.span + 1;
        let words = SPANS / 64;
        // The word that the first span is in comes twice: its upper bits now, its lower ones at the end.
        (0..=words).find_map(|n| {
            let word = first / 64 + n;
            let mut bits = self.occupied[(word % words) as usize];
            if n == 0 {
                bits &= u64::MAX << (first % 64);
            } else if n == words {
                bits &= !(u64::MAX << (first % 64));
            }
            (bits != 0).then(|| word * 64 + u64::from(bits.trailing_zeros()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tresse_units::Stream;

    /// The order is that of a heap, whatever is planned while events happen.
    #[test]
    fn events_happen_in_the_order_of_time() {
        let mut stream = Stream::new(1, "events", 0);
        let (mut events, mut heap) = (Events::new(), BinaryHeap::new());
        let (mut now, mut planned, mut happened) = (0, 0, 0);
        for turn in 0..20_000 {
            for _ in 0..stream.below(4) {
                // Now, within the span, on the wheel, and beyond it.
                let within = [1, 1 << SPAN, 1 << 28, SPANS << SPAN, 1 << 40][stream.below(5) as usize];
                let time = now + stream.below(within);
                planned += 1;
                let event = Event { slot: planned, generation: 0, subflow: 0, kind: Kind::Sent };
                events.plan(time, event);
                heap.push(Reverse((time, planned)));
            }
            let until = if turn % 3 == 0 { now + stream.below(1 << 22) } else { Time::MAX };
            match events.next(until) {
                Some((time, event)) => {
                    assert_eq!(heap.pop(), Some(Reverse((time, event.slot))));
                    assert!(time <= until);
                    now = time;
                    happened += 1;
                }
                None => assert!(heap.peek().is_none_or(|Reverse((time, _))| *time > until)),
            }
        }
        assert!(happened > 10_000, "{happened}");
    }

    /// Many events at one instant after the other, as where all hosts are in step: only those that are planned need room.
    #[test]
    fn spans_that_are_over_leave_their_room_to_others() {
        let (mut events, many) = (Events::new(), 1000);
        for turn in 0..SPANS {
            (0..many).for_each(|slot| {
                let event = Event { slot, generation: 0, subflow: 0, kind: Kind::Sent };
                events.plan((2 * turn + 2) << SPAN, event);
            });
            (0..many).for_each(|_| assert!(events.next(Time::MAX).is_some()));
        }
        let room =
            events.wheel.iter().chain(&events.spare).chain([&events.open]).map(Vec::capacity).sum::<usize>();
        assert!(room < 10 * many as usize, "room for {room} events");
    }
}
