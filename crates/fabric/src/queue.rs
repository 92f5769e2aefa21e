//! The event queue: a calendar for near events, and a heap for far ones.
//!
//! Events come out in the order of time, and at the same time in the order of [`Ties`]: the model alone
//! decides it (design rule 4).
//!
//! The calendar is a ring of buckets, each a short span of time. A bucket is a chain of chunks, each
//! a cache line with up to seven events by value; chunks are reused, the last one freed first. A bit
//! for each bucket finds the next one that is not empty. A bucket is sorted when its time comes; the
//! events after the next one are then known, so that the caller can prefetch what they will touch.
//!
//! An event in a bucket is one word: 16 bits of time from the bucket's start, 24 bits of the entity's rank at
//! that time, 24 bits of id; so the order of words is the order of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tresse_units::{NEVER, Time};

use crate::entity::{Entity, collide};
use crate::prefetch::prefetch;
use crate::sort::sort_words;
use crate::ties::Ties;

/// Something that happens at `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Who causes it, below 2^24; at one time an entity has at most one event.
    pub entity: Entity,
    /// The caller's own, below 2^24: the packet.
    pub id: u32,
}

/// Entities and ids must be below this.
pub(crate) const NAMES: u32 = 1 << NAME_BITS;
pub(crate) const NAME_BITS: u32 = 24;
/// The widest bucket, as a power of two of picoseconds.
const OFFSET_BITS: u32 = 16;

/// The events of a bucket in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Chunk {
    events: [u64; CHUNK],
    /// The next chunk of the bucket; all chunks but the first are full.
    next: u32,
}

const CHUNK: usize = 7;

/// Chunk 0 ends every chain.
const END: u32 = 0;

/// The first chunk of a bucket, and how many events it holds, so that an event is filed without reading the
/// chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head(u32);

impl Head {
    const LENGTH_BITS: u32 = 3;
    /// An empty bucket's. Its chunk counts as full, so that filing the first event is no special case.
    const EMPTY: Self = Self::new(END, CHUNK);

    const fn new(chunk: u32, length: usize) -> Self {
        Self(chunk << Self::LENGTH_BITS | length as u32)
    }

    #[inline]
    const fn chunk(self) -> u32 {
        self.0 >> Self::LENGTH_BITS
    }

    #[inline]
    const fn length(self) -> usize {
        (self.0 & ((1 << Self::LENGTH_BITS) - 1)) as usize
    }
}

const _: () = assert!(CHUNK < 1 << Head::LENGTH_BITS && (NAMES as u64) < 1 << (32 - Head::LENGTH_BITS));

/// The event queue; see the module documentation.
#[derive(Debug)]
pub struct EventQueue {
    ties: Ties,
    /// A bucket spans 2^shift ps.
    shift: u32,
    /// The first chunk of each bucket; their number is a power of two.
    heads: Vec<Head>,
    /// A bit for each bucket: it is not empty.
    occupied: Vec<u64>,
    chunks: Vec<Chunk>,
    /// The first of the chunks that are free.
    free: u32,
    /// The number of the bucket that is open (not its place in the ring).
    cursor: u64,
    /// When the open bucket begins.
    start: Time,
    /// The open bucket's words, sorted; those before `next` are done.
    open: Vec<u64>,
    next: usize,
    /// Events in buckets.
    filed: usize,
    /// Events that the ring does not reach yet.
    far: BinaryHeap<Reverse<Event>>,
    /// The bucket of the first of them.
    far_bucket: u64,
}

/// The maximum size of the ring: 1 MiB of heads.
const MAX_BUCKETS: u64 = 1 << 18;

impl EventQueue {
    /// A queue for about `events_per_second`, most of them no more than `horizon` ahead. Both only
    /// tune its speed.
    pub fn new(events_per_second: f64, horizon: Time, ties: Ties) -> Self {
        // A few events a bucket; the ring reaches the horizon unless that takes too much cache.
        let width = EVENTS_A_BUCKET * 1e12 / events_per_second.max(1.0);
        let mut shift = (width.max(1.0).log2().round() as u32).clamp(4, OFFSET_BITS);
        while (horizon >> shift) >= MAX_BUCKETS && shift < OFFSET_BITS {
            shift += 1;
        }
        let buckets = ((horizon >> shift) + 1).next_power_of_two().clamp(1024, MAX_BUCKETS) as usize;
        Self {
            ties,
            shift,
            heads: vec![Head::EMPTY; buckets],
            occupied: vec![0; buckets / 64],
            chunks: vec![Chunk { events: [0; CHUNK], next: END }],
            free: END,
            cursor: 0,
            start: 0,
            open: Vec::new(),
            next: 0,
            filed: 0,
            far: BinaryHeap::new(),
            far_bucket: u64::MAX,
        }
    }

    /// Adds an event. No event of the same entity may be there at the same time.
    #[inline(always)]
    pub fn push(&mut self, event: Event) {
        debug_assert!(event.entity < NAMES && event.id < NAMES, "{event:?}: names have 24 bits");
        let rank = self.ties.rank(event.time, event.entity);
        self.push_names(event.time, u64::from(rank) << NAME_BITS | u64::from(event.id));
    }

    #[inline]
    fn push_names(&mut self, time: Time, names: u64) {
        let bucket = time >> self.shift;
        // For a bucket that is open or over, this wraps to a huge number.
        let distance = bucket.wrapping_sub(self.cursor + 1);
        if distance < self.heads.len() as u64 - 1 {
            self.file(bucket, (time - (bucket << self.shift)) << (2 * NAME_BITS) | names);
        } else {
            self.push_aside(time, names);
        }
    }

    /// The next event, if it comes at or before `limit`. After `None`, no event before that `limit` may be
    /// pushed.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<Event> {
        loop {
            if let Some(&word) = self.open.get(self.next) {
                let event = self.event(word, self.start);
                if event.time > limit {
                    return None;
                }
                self.next += 1;
                return Some(event);
            }
            if !self.open_next(limit) {
                return None;
            }
        }
    }

    /// Entity and id of the event that comes `ahead` events after the next one, if it is known yet.
    #[inline]
    pub fn upcoming(&self, ahead: usize) -> Option<(Entity, u32)> {
        let event = self.event(*self.open.get(self.next + ahead)?, self.start);
        Some((event.entity, event.id))
    }

    /// Time and rank of the next event, if it comes at `limit` or before; otherwise as [`Self::pop_until`].
    pub fn peek_until(&mut self, limit: Time) -> Option<(Time, u32)> {
        loop {
            if let Some(&word) = self.open.get(self.next) {
                let time = self.start + (word >> (2 * NAME_BITS));
                let rank = (word >> NAME_BITS) as u32 & (NAMES - 1);
                return (time <= limit).then_some((time, rank));
            }
            if !self.open_next(limit) {
                return None;
            }
        }
    }

    /// A time before which no event comes: the time of the next one, or the start of its bucket; [`NEVER`] if
    /// there is none.
    pub fn earliest(&self) -> Time {
        if let Some(&word) = self.open.get(self.next) {
            return self.start + (word >> (2 * NAME_BITS));
        }
        let filed = if self.filed > 0 { self.scan() << self.shift } else { NEVER };
        let far = self.far.peek().map_or(NEVER, |Reverse(event)| event.time);
        filed.min(far)
    }

    /// All events, in no order. Slow, because it visits every bucket.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        let open = self.open[self.next..].iter().map(|&word| self.event(word, self.start));
        let filed = (self.cursor + 1..self.cursor + self.heads.len() as u64).flat_map(move |bucket| {
            let head = self.heads[bucket as usize & (self.heads.len() - 1)];
            let next = |h: &Head| Some(Head::new(self.chunks[h.chunk() as usize].next, CHUNK));
            let chunks = std::iter::successors(Some(head), next).take_while(|&h| h != Head::EMPTY);
            let words = chunks.flat_map(|h| &self.chunks[h.chunk() as usize].events[..h.length()]);
            words.map(move |&word| self.event(word, bucket << self.shift))
        });
        open.chain(filed).chain(self.far.iter().map(|&Reverse(event)| event))
    }

    /// The order of events at one time.
    pub fn ties(&self) -> Ties {
        self.ties
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.open.len() - self.next + self.filed + self.far.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn file(&mut self, bucket: u64, word: u64) {
        let slot = bucket as usize & (self.heads.len() - 1);
        let head = self.heads[slot];
        self.filed += 1;
        if head.length() < CHUNK {
            self.chunks[head.chunk() as usize].events[head.length()] = word;
            self.heads[slot] = Head(head.0 + 1);
            return;
        }
        self.occupied[slot / 64] |= 1 << (slot % 64);
        let mut chunk = Chunk { events: [0; CHUNK], next: head.chunk() };
        chunk.events[0] = word;
        if self.free == END {
            self.heads[slot] = Head::new(self.chunks.len() as u32, 1);
            self.chunks.push(chunk);
        } else {
            self.heads[slot] = Head::new(self.free, 1);
            let place = &mut self.chunks[self.free as usize];
            self.free = place.next;
            *place = chunk;
        }
    }

    #[inline]
    fn event(&self, word: u64, start: Time) -> Event {
        self.event_at(start + (word >> (2 * NAME_BITS)), word)
    }

    #[inline]
    fn event_at(&self, time: Time, names: u64) -> Event {
        let rank = (names >> NAME_BITS) as u32 & (NAMES - 1);
        Event { time, entity: self.ties.entity(time, rank), id: names as u32 & (NAMES - 1) }
    }

    /// Into the open bucket, or beyond the ring.
    #[cold]
    #[inline(never)]
    fn push_aside(&mut self, time: Time, names: u64) {
        let bucket = time >> self.shift;
        if bucket > self.cursor {
            self.far_bucket = self.far_bucket.min(bucket);
            self.far.push(Reverse(self.event_at(time, names)));
            return;
        }
        // Nothing comes before it: the open bucket began before the caller's own next event.
        debug_assert!(time >= self.start, "an event at {time} lies in the past");
        let word = (time - self.start) << (2 * NAME_BITS) | names;
        let at = self.next + self.open[self.next..].partition_point(|&e| e < word);
        let tied = |i: usize| self.open.get(i).is_some_and(|&e| collide(e.min(word), e.max(word)));
        debug_assert!(
            !tied(at) && (at == self.next || !tied(at - 1)),
            "two events of one entity at one time"
        );
        self.open.insert(at, word);
    }

    /// Opens the next bucket that is not empty, unless it begins after `limit`.
    fn open_next(&mut self, limit: Time) -> bool {
        let Some(bucket) = self.next_bucket(limit) else { return false };
        if bucket << self.shift > limit {
            return false;
        }
        self.cursor = bucket;
        self.start = bucket << self.shift;
        self.next = 0;
        let slot = bucket as usize & (self.heads.len() - 1);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.take_chain(slot);
        debug_assert!(
            self.open.windows(2).all(|w| !collide(w[0], w[1])),
            "two events of one entity at one time"
        );
        if self.filed > 0 {
            let following = self.heads[self.scan() as usize & (self.heads.len() - 1)];
            prefetch(&self.chunks[following.chunk() as usize]);
        }
        true
    }

    /// Moves the events of a bucket to `open`, sorted, and frees its chunks.
    #[inline]
    fn take_chain(&mut self, slot: usize) {
        self.open.clear();
        let head = std::mem::replace(&mut self.heads[slot], Head::EMPTY);
        let (mut i, mut events) = (head.chunk(), head.length());
        loop {
            let chunk = &mut self.chunks[i as usize];
            // Copies the whole chunk and cuts off the unused rest: a copy of known size is faster.
            self.open.extend_from_slice(&chunk.events);
            self.open.truncate(events);
            events += CHUNK;
            if chunk.next == END {
                events -= CHUNK;
                chunk.next = self.free;
                break;
            }
            i = chunk.next;
        }
        self.free = head.chunk();
        self.filed -= events;
        sort_words(&mut self.open);
        self.open.truncate(events);
    }

    /// The first bucket after the open one that holds an event, after far events that have come
    /// within reach were filed.
    #[inline]
    fn next_bucket(&mut self, limit: Time) -> Option<u64> {
        if self.filed == 0 {
            // Turning the ring too early would send everything pushed meanwhile to `open`.
            if self.far_bucket > limit >> self.shift {
                return None;
            }
            self.reach(self.far_bucket);
        }
        let bucket = self.scan();
        // Far events were beyond the ring when they were pushed, but it has turned since.
        if self.far_bucket <= bucket {
            self.reach(bucket);
            return Some(self.scan());
        }
        Some(bucket)
    }

    /// Files the far events that the ring reaches now, those up to `bucket` at least.
    #[cold]
    fn reach(&mut self, bucket: u64) {
        if self.filed == 0 {
            // Nothing is filed: the ring may turn to just before the first far event.
            self.cursor = self.cursor.max(bucket - 1);
        }
        while let Some(&Reverse(event)) = self.far.peek() {
            let bucket = event.time >> self.shift;
            if bucket - self.cursor >= self.heads.len() as u64 {
                break;
            }
            self.far.pop();
            self.push(event);
        }
        self.far_bucket = self.far.peek().map_or(u64::MAX, |Reverse(e)| e.time >> self.shift);
    }

    /// The first bucket after the open one that holds an event; there is one.
    #[inline]
    fn scan(&self) -> u64 {
        let slots = self.heads.len();
        let start = (self.cursor + 1) as usize & (slots - 1);
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (!0 << (start % 64));
        while bits == 0 {
            word = (word + 1) & (self.occupied.len() - 1);
            bits = self.occupied[word];
        }
        let slot = word * 64 + bits.trailing_zeros() as usize;
        self.cursor + 1 + (slot.wrapping_sub(start) & (slots - 1)) as u64
    }
}

/// How many events a bucket is meant to hold when every port is busy.
const EVENTS_A_BUCKET: f64 = 4.0;
