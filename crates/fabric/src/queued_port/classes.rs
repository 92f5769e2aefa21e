//! The classes of a queued port, their packets, and their order.

use std::collections::VecDeque;

use super::config::{ClassConfig, ClassMark};
use crate::carried::Moving;
use crate::threshold::Threshold;

/// A class of a port: one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Class {
    /// Its packets. What their departure needs is here, so that it does not touch the packets themselves.
    pub queue: VecDeque<Moving>,
    /// The bytes of its packets.
    pub bytes: u64,
    pub limit: Threshold,
    /// The threshold of [`ClassMark::Above`]; `None` for a share, whose numbers are with the rarely used data.
    pub mark: Option<Threshold>,
    pub quantum: u32,
    /// The bytes that it may send before its next quantum.
    pub deficit: u64,
}

const _: () = assert!(size_of::<Class>() == 64, "one cache line");

/// Up to eight classes in order: a byte each, the first lowest.
#[derive(Debug, Clone, Copy, Default)]
pub struct Order {
    word: u64,
    pub count: u32,
}

impl Order {
    pub fn first(self) -> Option<u8> {
        (self.count > 0).then_some((self.word & 0xff) as u8)
    }

    pub fn push(&mut self, class: u8) {
        self.word |= u64::from(class) << (8 * self.count);
        self.count += 1;
    }

    pub fn pop(&mut self) {
        self.word >>= 8;
        self.count -= 1;
    }
}

impl Class {
    /// Without packets.
    pub fn new(config: &ClassConfig) -> Self {
        let mark = match config.mark {
            ClassMark::Above(mark) => Some(mark),
            ClassMark::Share { .. } => None,
        };
        let ClassConfig { quantum, limit, .. } = *config;
        Self { queue: VecDeque::new(), bytes: 0, limit, mark, quantum, deficit: 0 }
    }

    /// Adds a packet at the end.
    #[inline(always)]
    pub fn push(&mut self, packet: Moving) {
        self.queue.push_back(packet);
        self.bytes += u64::from(packet.carried.header.bytes());
    }

    /// The packet that waits at the head.
    #[inline(always)]
    pub fn take(&mut self) -> Option<Moving> {
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.carried.header.bytes());
        Some(packet)
    }
}
