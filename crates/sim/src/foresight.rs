//! Which messages end in a window is known when it begins: all that arrives at a host in it is on the links by then.
//!
//! So whoever starts flows when others end can be told before the window is gone through.

use tresse_fabric::{Delivery, Fabric, prefetch_line};
use tresse_transport::Wire;
use tresse_units::Time;

use crate::flow::{Receiving, SUBFLOW_BITS};

/// So many packets ahead the half that it is for is fetched, and as many before that the packet.
const FETCHED: usize = 6;

/// The end of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    /// When its last byte arrives, and the rank of the packet among those that arrive then.
    pub time: Time,
    pub rank: u32,
    /// The slot of its receiving half.
    pub slot: u32,
    /// How many other messages of the connection end in the window before it.
    pub before: u32,
}

/// What is known of a part's next window.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    /// Messages of which so little is missing that a window may bring it.
    pub near: u32,
    /// The messages that end in it, in no order.
    pub ends: Vec<End>,
    /// The last instant that was looked at.
    until: Time,
    /// What arrives. Kept for its memory.
    arriving: Vec<Delivery>,
    /// Segments that arrive: slot of the receiving half, time, rank, number in the connection. As above.
    segments: Vec<(u32, Time, u32, u32)>,
    /// The numbers of a connection's. As above.
    numbers: Vec<u32>,
}

impl Foresight {
    /// Nothing ends up to `end`.
    pub fn clear(&mut self, end: Time) {
        self.ends.clear();
        self.until = end;
    }

    /// Keeps what is known of the window that ends at `end`: of an earlier one than was looked at, nothing ends in it.
    pub fn keep_of(&mut self, end: Time) {
        if self.until != end {
            self.clear(end);
        }
    }

    /// Looks at what is left of the window of `time`, up to `end`.
    pub fn look(&mut self, fabric: &Fabric<Wire>, receivings: &[Receiving], time: Time, end: Time) {
        let Self { ends, until, arriving, segments, numbers, .. } = self;
        ends.clear();
        segments.clear();
        arriving.clear();
        *until = end;
        arriving.extend(fabric.deliveries(time));
        let slot_of = |packet: &Delivery| {
            let wire = fabric.payload(packet);
            wire.body.segment().map(|number| ((wire.subflow >> SUBFLOW_BITS) as usize, number))
        };
        for (place, packet) in arriving.iter().enumerate() {
            if let Some(later) = arriving.get(place + 2 * FETCHED) {
                fabric.fetch(later);
            }
            if let Some((slot, _)) = arriving.get(place + FETCHED).and_then(slot_of) {
                prefetch_line(receivings.as_ptr().wrapping_add(slot).cast());
            }
            let Some((slot, number)) = slot_of(packet) else { continue };
            let half = &receivings[slot];
            if half.is_near && half.site == packet.site && packet.time() <= end && packet.is_whole() {
                segments.push((slot as u32, packet.time(), fabric.rank(packet), number));
            }
        }
        segments.sort_unstable();
        for own in segments.chunk_by(|a, b| a.0 == b.0) {
            let slot = own[0].0;
            let Some(messages) = receivings[slot as usize].receiver.messages() else { continue };
            numbers.clear();
            numbers.extend(own.iter().map(|&(.., number)| number));
            let places = messages.completed_by(numbers);
            ends.extend((0..).zip(places).map(|(before, place)| {
                let (_, time, rank, _) = own[place];
                End { time, rank, slot, before }
            }));
        }
    }
}
