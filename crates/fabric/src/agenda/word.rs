//! An event as the agenda keeps it, and its place among those of one time.

use super::{Carried, TIMERS};
use crate::entity::{ARRIVALS, Entity};

/// An event of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Word {
    /// From the window's start, ps.
    pub offset: u32,
    pub site: u32,
    pub entity: Entity,
    pub id: u32,
    pub carried: Carried,
}

/// The order at one time: departures and arrivals, timers, timers that come last; then by rank, then by id.
pub(super) type Place = (u8, u64, u32);

/// No event comes later.
pub(super) const ALL: Place = (u8::MAX, 0, 0);

/// An event that was added to a window that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Added {
    pub place: Place,
    pub word: Word,
}

impl Ord for Added {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.word.offset, self.place).cmp(&(other.word.offset, other.place))
    }
}

impl PartialOrd for Added {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether these two events of one time, which are next to each other, have no defined order.
pub(super) fn collide(one: &Word, other: &Word) -> bool {
    let is_arrival = one.entity >= ARRIVALS;
    let departs_first = one.id == 0 && other.id != 0;
    one.entity == other.entity && one.entity < TIMERS && (is_arrival || !departs_first)
}
