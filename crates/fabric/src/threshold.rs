//! The length of a queue from which something happens to a packet.

use tresse_units::Queue;

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

    /// Whether it is above 0 and below `limit`, and both have the same unit.
    pub fn is_below(self, limit: Self) -> bool {
        self.is_bytes() == limit.is_bytes()
            && limit != Self::UNLIMITED
            && (1..limit.value()).contains(&self.value())
    }

    /// `parts` of 1000 of a limit, rounded up, at least 1; unlimited without a limit.
    pub(crate) fn fraction(self, parts: u32) -> Self {
        if self == Self::UNLIMITED {
            return self;
        }
        let value = (self.value() * u64::from(parts)).div_ceil(1000).max(1);
        if self.is_bytes() { Self::bytes(value) } else { Self::packets(value) }
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
