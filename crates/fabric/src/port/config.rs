//! What a port is made of, and what it counts.

use tresse_units::{BitsPerSecond, Queue, SECOND, Time};

use crate::loss::Loss;
use crate::red::RedConfig;

/// A queue length, in packets or in bytes. In bytes, the part of a packet that is not yet on the
/// wire counts too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threshold(u32);

impl Threshold {
    const BYTES: u32 = 1 << 31;

    /// Never reached.
    pub const UNLIMITED: Self = Self(Self::BYTES - 1);

    /// A number of packets; beyond 2^31 it is unlimited.
    pub fn packets(n: u64) -> Self {
        Self(n.min(u64::from(Self::UNLIMITED.0)) as u32)
    }

    /// A number of bytes; beyond 2^31 it is unlimited.
    pub fn bytes(n: u64) -> Self {
        if n >= u64::from(Self::BYTES) { Self::UNLIMITED } else { Self(n as u32 | Self::BYTES) }
    }

    /// Whether it is a number of bytes.
    #[inline]
    pub fn is_bytes(self) -> bool {
        self.0 & Self::BYTES != 0
    }

    /// The number, of bytes or of packets.
    #[inline]
    pub fn value(self) -> u64 {
        u64::from(self.0 & !Self::BYTES)
    }
}

impl From<Queue> for Threshold {
    fn from(queue: Queue) -> Self {
        match queue {
            Queue::Packets(n) => Self::packets(n),
            Queue::Bytes(n) => Self::bytes(n),
            Queue::Unlimited => Self::UNLIMITED,
        }
    }
}

impl From<Threshold> for Queue {
    fn from(threshold: Threshold) -> Self {
        match threshold {
            Threshold::UNLIMITED => Self::Unlimited,
            bytes if bytes.is_bytes() => Self::Bytes(bytes.value()),
            packets => Self::Packets(packets.value()),
        }
    }
}

/// What happens to a packet that is not ECN-capable when the queue is longer than K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonEct {
    /// It queues, until the queue is full.
    Queue,
    /// It is dropped, as RED does with min = max = K.
    Drop,
}

/// What a port is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortConfig {
    /// Bit/s.
    pub rate: BitsPerSecond,
    /// Propagation delay to the far end.
    pub delay: Time,
    /// An arriving packet is dropped if the queue is at least this long.
    pub limit: Threshold,
    /// An arriving packet is marked if the queue is longer than this (XMP §2.1: "larger than K").
    pub mark: Threshold,
    /// What a packet that cannot be marked meets there.
    pub non_ect: NonEct,
    /// Random early detection, beside the threshold or instead of it.
    pub red: Option<RedConfig>,
    /// Arriving packets that are lost whatever the queue; they take no place in it.
    pub loss: Loss,
}

impl PortConfig {
    /// How long a packet is under way at the most, from arrival to the far end; a guess where the
    /// queue has no limit.
    pub(crate) fn longest_stay(&self) -> Time {
        let packets = match self.limit {
            Threshold::UNLIMITED => 64,
            limit if limit.is_bytes() => limit.value() / 1500,
            limit => limit.value(),
        };
        self.delay + (packets.min(1024) + 2) * (1500 * 8 * SECOND / self.rate)
    }
}

/// What a port has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Bytes that were let in.
    pub bytes: u64,
    /// Packets that were dropped for the queue's length.
    pub drops: u64,
    /// Packets that were lost by [`PortConfig::loss`], or with a link that failed.
    pub lost: u64,
    /// Packets that were marked here.
    pub marks: u64,
}
