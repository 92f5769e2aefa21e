//! Sites that lead: their events of a window are taken first, in the order of time, and the other sites follow.
//!
//! When somebody looks at the others in the middle of the window, they follow up to there, and those that lead go on later.

use std::ops::Range;

use tresse_units::Time;

use super::line::Line;
use super::word::ALL;
use super::{Agenda, Order};

/// The events of the sites that lead, while the others are brought up to them.
#[derive(Debug)]
pub struct Leaders {
    line: Line,
    last: u32,
}

impl Agenda {
    /// Opens what is left of the window of `limit` up to then in the order of time, at these sites alone: they lead. No other
    /// site has districts in common with them. Nothing comes before this window, and after it nothing may be pushed before
    /// `limit`.
    pub fn open_leading(&mut self, limit: Time, leaders: Range<u32>) {
        debug_assert!(self.order.is_none(), "a window is gone through in one order");
        self.ring.turn_to(limit);
        self.order = Some(Order::Leading);
        let mut words = self.emptied();
        let mut taking = self.ring.begin_to_take_of(limit, leaders.clone());
        (self.last, self.last_place, self.leaders) = (taking.last(), ALL, leaders);
        while self.take(&mut taking, &mut words) {}
        (self.line.words, self.line.next) = (words, 0);
        if self.sorter.by_time(&mut self.line.words) {
            self.settle_ties();
        }
    }

    /// The sites that lead are through; the others may follow.
    pub fn end_leading(&mut self) {
        debug_assert!(self.order == Some(Order::Leading) && self.line.is_empty(), "all that leads is done");
        self.order = None;
    }

    /// The other sites are to follow up to where those are that lead, which go on later: up to `limit`, and of that instant
    /// up to this rank, if there is one. Then go through the window site by site, and call [`Self::lead_again`].
    pub fn follow(&mut self, limit: Time, rank: Option<u32>) -> Leaders {
        debug_assert!(self.order == Some(Order::Leading), "some sites lead");
        let leaders = Leaders { line: std::mem::take(&mut self.line), last: self.last };
        self.order = None;
        self.open_sites(limit, std::iter::empty());
        self.last_place = rank.map_or(ALL, |rank| (0, rank.into(), u32::MAX));
        leaders
    }

    /// The rank of the last event.
    pub fn last_rank(&self, now: Time) -> u32 {
        self.ties.rank(now, self.entity)
    }

    /// Whether some sites lead.
    #[inline]
    pub fn is_led(&self) -> bool {
        self.order == Some(Order::Leading)
    }

    /// The others have followed.
    pub fn lead_again(&mut self, leaders: Leaders) {
        debug_assert!(self.order.is_none(), "the others have followed");
        self.order = Some(Order::Leading);
        (self.line, self.last, self.last_place) = (leaders.line, leaders.last, ALL);
    }
}
