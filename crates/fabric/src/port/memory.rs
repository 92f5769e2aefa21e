//! A port's memory of departures.

use tresse_units::{NEVER, Time};

use super::Port;

/// Departures that a port itself remembers: at most this many are watched.
pub(super) const RECENT: usize = 16;

/// A transmission this long makes a port slow. If a port is not slow, the recent departures of a streak are
/// within 2^32 ps, so their lowest 32 bits suffice. 1500 bytes take this long below 45 Mbit/s.
pub(super) const SLOW: Time = (1 << 32) / RECENT as Time;

impl Port {
    /// The n-th last departure, for n from 1 to [`RECENT`], or 0 if it came before the port was last idle.
    /// Not for a slow port.
    #[inline]
    pub(super) fn departure(&self, n: u8) -> Time {
        let recent = self.recent[usize::from(self.tail.wrapping_sub(n)) % RECENT];
        let departure = self.busy_until.wrapping_sub((self.busy_until as u32).wrapping_sub(recent).into());
        if n > self.streak { 0 } else { departure }
    }

    /// The n-th last departure, for n above 0; if it is over, 0 or its time.
    pub(super) fn nth_departure(&self, n: u64) -> Time {
        let recent = if self.examine_all != 0 && self.rare.is_slow { 0 } else { RECENT as u64 };
        if n <= recent {
            return self.departure(n as u8);
        }
        let older = &self.rare.older;
        (older.len() as u64).checked_sub(n - recent).map_or(0, |at| older[at as usize])
    }

    /// Whether more than `n` packets have not left at `now`. It reads the rarely used data only if there are
    /// many.
    pub(super) fn has_more(&self, n: u64, now: Time) -> bool {
        let are_few = self.examine_all == 0 && self.departure(RECENT as u8) <= now;
        (n < RECENT as u64 || !are_few) && self.nth_departure(n + 1) > now
    }

    /// Packets that wait at `now`, without the one in transmission. Only for a port that is not queued; for
    /// any port use [`Fabric::waiting`](crate::Fabric::waiting).
    pub fn waiting(&self, now: Time) -> u64 {
        if self.busy_until <= now {
            return 0; // most ports are idle, and need not fetch their memory to know
        }
        let (mut present, mut end) = (0, (RECENT + self.rare.older.len()) as u64 + 1); // departures go down with n
        while present + 1 < end {
            let n = present.midpoint(end);
            if self.nth_departure(n) > now {
                present = n;
            } else {
                end = n;
            }
        }
        present.saturating_sub(1)
    }

    /// A packet of `bytes` is about to be let in: keeps the departure that it pushes out of the recent ones,
    /// if it is still in the future. A slow port keeps the packet's own departure.
    pub(super) fn keep(&mut self, now: Time, bytes: u32) {
        let kept = if self.examine_all != 0 && self.rare.is_slow {
            self.busy_until.max(now) + self.transmission(bytes)
        } else {
            self.departure(RECENT as u8)
        };
        if kept > now {
            let older = &mut self.rare.older;
            while older.front().is_some_and(|&departure| departure <= now) {
                older.pop_front();
            }
            older.push_back(kept);
        }
    }

    /// The packet that is let in takes so long, until `departure`, that the bits of the recent departures
    /// would no longer suffice: from now on all are kept.
    #[cold]
    pub(super) fn slow_down(&mut self, now: Time, departure: Time) {
        if self.rare.is_slow {
            return; // it is kept
        }
        let recent = (1..=RECENT as u8).rev().map(|n| self.departure(n)).collect::<Vec<Time>>();
        let older = &mut self.rare.older;
        older.retain(|&d| d < recent[0]); // the first of the recent ones may have been kept already
        older.extend(recent.into_iter().filter(|&d| d > now).chain([departure]));
        self.rare.is_slow = true;
        self.examine_all = NEVER;
    }
}
