//! Messages among the segments of a connection.

use std::collections::{BTreeSet, VecDeque};

use crate::reassembly::Reassembly;

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
struct Messages(VecDeque<Message>);

/// The messages of a connection as its sender has them, one after the other.
#[derive(Debug)]
pub(crate) struct Outgoing {
    mss: u32,
    /// The last one.
    last: Message,
    /// Earlier ones that may be sent again.
    earlier: Option<Box<Messages>>,
    /// Segments below this one were written by the application.
    written: u32,
    /// How many segments from the first missing one on the receiver has room for.
    window: u32,
    /// Segments below this one it has room for in any case: it has said so.
    edge: u32,
}

impl Outgoing {
    /// One message of `bytes`, all written, to a receiver with unlimited room.
    ///
    /// # Panics
    /// As [`Message::first`].
    pub fn new(bytes: u64, mss: u32) -> Self {
        let last = Message::first(bytes, mss);
        Self { mss, last, earlier: None, written: last.end, window: u32::MAX, edge: 0 }
    }

    /// To a receiver with room for `window` segments.
    pub fn within(self, window: u32) -> Self {
        Self { window, ..self }
    }

    /// The receiver, which tells its window, has room for the segments below `edge`, and for no others until it says so.
    pub fn below(self, edge: u32) -> Self {
        Self { window: 0, edge, ..self }
    }

    /// The receiver has said that it has room for the segments below `edge`.
    #[inline]
    pub fn open_to(&mut self, edge: u32) {
        self.edge = self.edge.max(edge);
    }

    /// Segments below this one were written by the application.
    #[inline]
    pub fn written(&self) -> u32 {
        self.written
    }

    /// Segments below this one may be sent: they are written, and the receiver has room for them if `una` is the first
    /// one that it misses.
    #[inline]
    pub fn sendable(&self, una: u32) -> u32 {
        self.written.min(una.saturating_add(self.window).max(self.edge))
    }

    /// The application has written only the first `bytes` of the last message, no fewer than before.
    pub fn write(&mut self, bytes: u64) {
        let mss = u64::from(self.mss);
        let whole = u64::from(self.last.end) * mss - u64::from(self.last.short);
        self.written = if bytes >= whole { self.last.end } else { (bytes / mss) as u32 };
    }

    /// One more message of `bytes`, all written; all segments below `arrived` have arrived.
    ///
    /// # Panics
    /// As [`Message::next`], or if the previous message is not completely written.
    pub fn append(&mut self, bytes: u64, arrived: u32) {
        assert_eq!(self.written, self.last.end, "a message that is written");
        let Messages(earlier) = &mut **self.earlier.get_or_insert_default();
        while earlier.front().is_some_and(|message| message.end <= arrived) {
            earlier.pop_front();
        }
        earlier.push_back(self.last);
        self.last = self.last.next(bytes, self.mss);
        self.written = self.last.end;
    }

    /// The payload of a segment, bytes, and whether it is the last one of a message.
    #[inline]
    pub fn payload(&self, dsn: u32) -> (u32, bool) {
        let ends = if dsn + 1 == self.last.end { Some(&self.last) } else { self.earlier(dsn) };
        (self.mss - ends.map_or(0, |message| message.short), ends.is_some())
    }

    /// The message before the last one that ends with this segment, if there is one.
    #[inline]
    fn earlier(&self, dsn: u32) -> Option<&Message> {
        let Messages(earlier) = &**self.earlier.as_ref()?;
        let place = earlier.binary_search_by_key(&(dsn + 1), |message| message.end).ok()?;
        Some(&earlier[place])
    }
}

/// The messages of a connection as its receiver has them.
#[derive(Debug)]
pub struct Incoming {
    mss: u32,
    /// What has arrived.
    pub(crate) data: Reassembly,
    /// The message that is awaited.
    message: Message,
    /// Those after it.
    later: Option<Box<Messages>>,
    /// Nothing is awaited: all messages were taken.
    is_idle: bool,
}

impl Incoming {
    /// One message of `bytes`.
    ///
    /// # Panics
    /// As [`Message::first`].
    pub(crate) fn new(bytes: u64, mss: u32) -> Self {
        let message = Message::first(bytes, mss);
        Self { mss, data: Reassembly::default(), message, later: None, is_idle: false }
    }

    /// One more message of `bytes`, as [`tcp::Sender::append`](crate::tcp::Sender::append).
    ///
    /// # Panics
    /// As there.
    pub fn append(&mut self, bytes: u64) {
        let Messages(later) = &mut **self.later.get_or_insert_default();
        let last = later.back().unwrap_or(&self.message);
        later.push_back(last.next(bytes, self.mss));
        if self.is_idle {
            self.take_message();
        }
    }

    /// The application takes the message that has arrived, or gives it up; the next one is awaited, if there is one.
    pub fn take_message(&mut self) {
        let next = self.later.as_mut().and_then(|later| later.0.pop_front());
        self.is_idle = next.is_none();
        self.message = next.unwrap_or(self.message);
    }

    /// Whether the whole message has arrived, and was not taken.
    #[inline]
    pub fn complete(&self) -> bool {
        self.data.next() >= self.message.end && !self.is_idle
    }

    /// Whether all of the message may have arrived with `more` segments; never if none is awaited.
    pub fn may_end_with(&self, more: i64) -> bool {
        i64::from(self.message.end) - i64::from(self.data.arrived()) <= more && !self.is_idle
    }

    /// The messages that are complete with these segments, which arrive in this order: for each, the place of the segment
    /// that completes it.
    pub fn completed_by(&self, segments: &[u32]) -> Vec<usize> {
        let mut places = Vec::new();
        if self.is_idle {
            return places;
        }
        let mut later = self.later.iter().flat_map(|later| &later.0);
        let mut end = self.message.end;
        let mut missing = self.data.missing_below(end);
        if segments.len() < missing as usize {
            return places;
        }
        let mut new = BTreeSet::new();
        for (place, &segment) in segments.iter().enumerate() {
            if self.data.has(segment) || !new.insert(segment) {
                continue;
            }
            missing -= u32::from(segment < end);
            while missing == 0 {
                places.push(place);
                let Some(next) = later.next() else { return places };
                end = next.end;
                missing = self.data.missing_below(end) - new.range(..end).count() as u32;
            }
        }
        places
    }

    /// Segments that were delivered to the application, in order.
    pub fn delivered(&self) -> u32 {
        self.data.next()
    }

    /// Segments of the message, and of those before it, that have arrived on any subflow, in order or not.
    #[inline]
    pub fn arrived(&self) -> u32 {
        self.data.arrived()
    }

    /// Segments of the message, or of later ones, that have arrived.
    pub fn arrived_of_message(&self) -> u32 {
        self.data.arrived().saturating_sub(self.message.start)
    }

    /// The payload of `segments`, bytes; `last` says whether the last one of the message is among them.
    pub(crate) fn payload(&self, segments: u32, last: bool) -> u64 {
        u64::from(segments) * u64::from(self.mss) - if last { u64::from(self.message.short) } else { 0 }
    }
}
