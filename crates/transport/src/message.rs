//! A message among the segments of a connection.

use std::collections::VecDeque;

/// Which segments carry it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    /// Its first segment.
    pub start: u32,
    /// The first one after it.
    pub end: u32,
    /// How much its last segment is short of a full one, bytes.
    pub short: u32,
}

impl Message {
    /// The first one of a connection, of `bytes`.
    ///
    /// # Panics
    /// If `bytes` is 0 or above 2^32 - 1 segments.
    pub fn first(bytes: u64, mss: u32) -> Self {
        Self::at(0, bytes, mss)
    }

    /// The next message, which begins a new segment.
    ///
    /// # Panics
    /// As [`Self::first`], by all segments together.
    pub fn next(&self, bytes: u64, mss: u32) -> Self {
        Self::at(self.end, bytes, mss)
    }

    fn at(start: u32, bytes: u64, mss: u32) -> Self {
        assert!(bytes > 0, "a message has at least one byte");
        let mss = u64::from(mss);
        let segments = bytes.div_ceil(mss);
        let end =
            u32::try_from(u64::from(start) + segments).expect("fewer than 2^32 segments in a connection");
        Self { start, end, short: (segments * mss - bytes) as u32 }
    }
}

/// Further messages of a connection. Few connections have any: the others keep only a pointer.
#[derive(Debug, Default)]
pub(crate) struct Messages(pub VecDeque<Message>);
