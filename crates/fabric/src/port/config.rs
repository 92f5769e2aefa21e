//! The configuration of a port, and its counters.

use tresse_units::{BitsPerSecond, SECOND, Time};

use crate::loss::{Loss, Probability};
use crate::port::processing::Processing;
use crate::red::RedConfig;
use crate::threshold::Threshold;

/// The treatment of packets that are not ECN-capable when the queue is longer than K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonEct {
    /// It is queued until the queue is full.
    Queue,
    /// It is dropped, as RED does with min = max = K.
    Drop,
}

/// The configuration of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortConfig {
    /// Bit/s.
    pub rate: BitsPerSecond,
    /// Propagation delay to the far end.
    pub delay: Time,
    /// An arriving packet is dropped if the queue is at least this long.
    pub limit: Threshold,
    /// Once a packet has been dropped for the limit, so is every other until the queue is shorter than this. Above 0
    /// and below `limit`, in its unit.
    pub drop_until: Option<Threshold>,
    /// An arriving packet is marked if the queue is longer than this (XMP §2.1: "larger than K").
    pub mark: Threshold,
    /// The treatment of packets there that cannot be marked.
    pub non_ect: NonEct,
    /// Random early detection, in addition to the threshold or instead of it.
    pub red: Option<RedConfig>,
    /// Arriving packets that are lost whatever the queue; they take no place in it.
    pub loss: Loss,
    /// The time that its host, and the host that it leads to, spend on each packet, in addition to `delay`.
    pub processing: Processing,
}

impl PortConfig {
    /// Whether only the length of its queue decides what happens to a packet, and no host spends time on it.
    pub(crate) fn is_quiet(&self) -> bool {
        self.loss.probability() == Probability::ZERO
            && self.red.is_none()
            && self.drop_until.is_none()
            && self.processing.is_none()
    }

    /// The longest time that a packet takes from arrival to the far end; a guess if the queue has no limit.
    pub(crate) fn longest_stay(&self) -> Time {
        let packets = match self.limit {
            Threshold::UNLIMITED => 64,
            limit if limit.is_bytes() => limit.value() / 1500,
            limit => limit.value(),
        };
        self.delay + self.processing.longest(1500) + (packets.min(1024) + 2) * (1500 * 8 * SECOND / self.rate)
    }
}

/// The counters of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Bytes that were let in.
    pub bytes: u64,
    /// Packets that were dropped for the queue's length.
    pub drops: u64,
    /// Packets that were cut to their headers.
    pub trims: u64,
    /// Packets that were lost by [`PortConfig::loss`], or with a link that failed.
    pub lost: u64,
    /// Packets that were marked here.
    pub marks: u64,
}
