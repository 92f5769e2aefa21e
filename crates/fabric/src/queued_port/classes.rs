//! The classes of a queued port, their packets, and their order.

use std::collections::VecDeque;

use super::config::ClassConfig;

/// A class of a port. Its queue comes first, because every packet uses it.
#[derive(Debug)]
#[repr(C)]
pub struct Class {
    pub queue: VecDeque<Packet>,
    /// The bytes of its packets.
    pub bytes: u64,
    pub config: ClassConfig,
    /// The bytes that it may send before its next quantum.
    pub deficit: u64,
}

/// A packet that waits or is in transmission.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    pub id: u32,
    pub bytes: u32,
    /// Its class's place.
    pub class: u8,
}

/// Up to eight classes in order: a byte each, the first lowest.
#[derive(Debug, Clone, Copy, Default)]
pub struct Order {
    word: u64,
    pub count: u32,
}

impl Order {
    pub fn first(self) -> Option<usize> {
        (self.count > 0).then_some((self.word & 0xff) as usize)
    }

    pub fn push(&mut self, class: usize) {
        self.word |= (class as u64) << (8 * self.count);
        self.count += 1;
    }

    pub fn pop(&mut self) {
        self.word >>= 8;
        self.count -= 1;
    }
}

impl Class {
    /// Without packets.
    pub fn new(config: ClassConfig) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, config, deficit: 0 }
    }

    /// Adds a packet at the end.
    #[inline]
    pub fn push(&mut self, packet: Packet) {
        self.queue.push_back(packet);
        self.bytes += u64::from(packet.bytes);
    }

    /// The packet that waits at the head.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }
}
