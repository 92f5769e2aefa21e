//! Parts that advance together, in windows no longer than the lookahead between them.
//!
//! A packet that leaves a part within a window arrives in another part after the window. So each part can advance
//! to the window's end on its own thread, and events happen in the order of time, and within one instant in the
//! model's order, as they do in one part (conservative windows; Nicol, "The cost of conservative synchronization in
//! parallel discrete event simulations", 1993).
//!
//! Only the end of a message has an immediate effect at a distance: its sender stops, and the caller may start
//! other connections at that instant. In a window in which a message may end, or in which the caller acts, hosts lead:
//! those of each part by themselves up to where a message may end, then all of them event by event, in the order of time.
//! Switches follow, those of each part by themselves.

use std::sync::Arc;

use tresse_fabric::Cut;
use tresse_units::{NEVER, Time};

use crate::part::{Part, Post, Turn};
use crate::threads::Mode;
use crate::world::{Step, World};

/// The number of packet-hops for which the number of threads stays the same before it is reconsidered.
pub(crate) const STRETCH: u64 = 1 << 16;

/// How the parts of a world advance.
#[derive(Debug)]
pub(crate) struct Windows {
    cut: Arc<Cut>,
    mode: Mode,
    clock: fn() -> f64,
    /// The post between two parts, kept to reuse its memory.
    post: Post,
}

/// Why the parts have stopped.
pub(crate) enum Stop {
    /// The requested time is reached.
    Reached,
    /// A message is complete: the part and the slot of its receiving half.
    Complete(usize, u32),
    /// The budget of hops is used up.
    Hops,
}

impl Windows {
    pub fn new(cut: Arc<Cut>, clock: fn() -> f64) -> Self {
        Self { cut, mode: Mode::new(), clock, post: Post::default() }
    }

    pub fn cut(&self) -> &Cut {
        &self.cut
    }
}

impl World {
    pub(crate) fn advance_parts(&mut self, until: Time, budget: u64) -> Step {
        let handled = |world: &Self| {
            let packets = world.packets();
            packets.delivered + packets.dropped
        };
        let last = handled(self).saturating_add(budget);
        loop {
            self.exchange();
            self.release_closed();
            if handled(self) >= last {
                return Step::Budget;
            }
            let windows = self.windows.as_mut().expect("parts have windows");
            let Windows { cut, mode, clock, post } = &mut **windows;
            match mode.run(&mut self.parts, post, cut, *clock, until) {
                Stop::Reached => {
                    if until != NEVER {
                        self.set_now(until);
                    }
                    return Step::Reached;
                }
                Stop::Complete(part, slot) => {
                    self.set_now(self.parts[part].fabric.now());
                    let record = self.complete(part, slot);
                    self.exchange();
                    return Step::Finished(record);
                }
                Stop::Hops => {}
            }
        }
    }

    /// Delivers to each part what the others have for it.
    pub(crate) fn exchange(&mut self) {
        exchange(&mut self.parts, &mut self.windows.as_mut().expect("parts have windows").post);
    }

    fn set_now(&mut self, now: Time) {
        for part in self.parts.iter_mut().filter(|part| part.fabric.now() < now) {
            part.fabric.set_now(now);
        }
    }
}

/// Delivers to each part what the others have for it; `post` is empty before and after.
pub(crate) fn exchange(parts: &mut [Box<Part>], post: &mut Post) {
    for from in 0..parts.len() {
        for to in (0..parts.len()).filter(|&to| to != from) {
            parts[from].post(to, post);
            parts[to].take_in(post);
        }
    }
}

/// Processes the events of all parts up to `end` in their order, until a message is complete.
pub(crate) fn in_order(parts: &mut [Box<Part>], end: Time) -> Option<Stop> {
    loop {
        // No event of a part comes earlier.
        let (mut part, mut first, mut second) = (0, NEVER, NEVER);
        for (other, earliest) in parts.iter().map(|part| part.earliest()).enumerate() {
            if earliest < first {
                (part, first, second) = (other, earliest, first);
            } else {
                second = second.min(earliest);
            }
        }
        if first > end {
            return None;
        }
        let complete = if first < second {
            // All that it has before the others' first.
            match parts[part].advance_by_time(end.min(second - 1), u64::MAX) {
                Turn::Complete(slot) => Some(slot),
                Turn::Budget | Turn::Reached => None,
            }
        } else {
            // Only what no event can precede may be looked into.
            let keys = parts.iter_mut().enumerate().filter_map(|(part, p)| Some((p.peek(first)?, part)));
            // If there is none, the first bucket has been opened, and is known to begin later.
            let Some((_, next)) = keys.min() else { continue };
            part = next;
            parts[part].step(first)
        };
        if let Some(slot) = complete {
            return Some(Stop::Complete(part, slot));
        }
    }
}

impl Part {
    /// Time, kind (packet or timer) and place of the next event, if it comes at `limit`.
    fn peek(&mut self, limit: Time) -> Option<(Time, bool, u64)> {
        if let Some((time, rank)) = self.fabric.peek(limit) {
            return Some((time, false, rank.into()));
        }
        let (time, place) = self.first_timer()?;
        (time <= limit).then_some((time, true, place))
    }

    /// Processes that event.
    fn step(&mut self, limit: Time) -> Option<u32> {
        if self.fabric.peek(limit).is_some() {
            let arrival = self.fabric.step(limit)?;
            return self.handle_arrival(&arrival);
        }
        self.fabric.set_now(limit);
        self.handle_timer();
        None
    }
}
