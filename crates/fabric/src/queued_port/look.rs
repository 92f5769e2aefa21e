//! The observable state of a queued port.

use tresse_units::{BitsPerSecond, NEVER, Time};

use super::{Class, QueuedPort};
use crate::flag::Flag;

impl QueuedPort {
    /// How long it has had nothing to send.
    pub fn idle(&self, now: Time) -> Time {
        if self.paused && self.waiting() > 0 { 0 } else { now.saturating_sub(self.departure) }
    }

    /// How long it has been sending until `now`.
    pub fn busy(&self, now: Time) -> Time {
        self.begun - self.departure.saturating_sub(now)
    }

    /// See [`Fabric::free_at`](crate::Fabric::free_at).
    pub fn free_at(&self, now: Time, bytes: u32) -> Time {
        let busy_until = self.departure.max(now);
        match self.waiting_bytes() {
            0 => busy_until,
            waiting => busy_until + self.pace.total(waiting.max(bytes.into())),
        }
    }

    /// Packets that wait, of all classes.
    pub fn waiting(&self) -> u64 {
        self.classes().map(|c| c.queue.len() as u64).sum()
    }

    /// Bytes that wait, of all classes.
    pub fn waiting_bytes(&self) -> u64 {
        self.classes().map(|c| c.bytes).sum()
    }

    /// Bytes that wait or are not yet on the wire, of all classes.
    pub fn backlog(&self, now: Time) -> u64 {
        self.waiting_bytes() + self.rest(now)
    }

    /// The rate of transmissions that begin now, bit/s.
    pub fn rate(&self) -> BitsPerSecond {
        self.rare.rate
    }

    /// Until when a class's queue is long enough to keep `flag` up, if nothing arrives, leaves or fails; not
    /// later than now if no queue is.
    pub fn congested_until(&self, now: Time, flag: &Flag) -> Time {
        let until = |(number, class): (usize, &Class)| {
            let threshold = flag.threshold(class.limit);
            if !threshold.is_bytes() {
                return if class.queue.len() as u64 >= threshold.value() { NEVER } else { 0 };
            }
            let Some(needed @ 1..) = threshold.value().checked_sub(class.bytes) else { return NEVER };
            // The missing bytes may still be in transmission.
            if self.departure > now && usize::from(self.sending.class) == number {
                self.departure.saturating_sub(self.sending_pace().total(needed - 1))
            } else {
                0
            }
        };
        self.classes().enumerate().map(until).max().unwrap_or(0)
    }
}
