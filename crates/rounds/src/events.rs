//! What happens next, in the order of time; at one instant in the order in which it was planned.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tresse_units::Time;

/// Something that happens to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The batch that the subflow sends is out.
    Sent,
    /// The first ACK of the subflow's oldest batch arrives.
    Acked,
    /// The subflow's retransmission timer of this number expires.
    Timeout(u32),
    /// The subflow's handshake is complete.
    Established,
    /// The path manager's timer.
    Manager,
    /// The last byte arrives.
    Finished,
}

/// An event of the connection in `slot`, if that is still the one with this `name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub slot: u32,
    pub name: u64,
    pub subflow: u16,
    pub kind: Kind,
}

/// The events to come.
#[derive(Debug, Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    planned: u64,
}

impl Events {
    /// Plans an event.
    #[inline]
    pub fn plan(&mut self, time: Time, event: Event) {
        self.planned += 1;
        self.heap.push(Reverse((time, self.planned, event)));
    }

    /// The next event, if it happens before `until` or then.
    #[inline]
    pub fn next(&mut self, until: Time) -> Option<(Time, Event)> {
        let Reverse((time, ..)) = self.heap.peek()?;
        if *time > until {
            return None;
        }
        self.heap.pop().map(|Reverse((time, _, event))| (time, event))
    }
}
