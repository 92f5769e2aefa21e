//! Windows that are to come: a ring of chains of chunks, and a heap for what lies beyond the ring.
//!
//! A window has a chain for each district, a range of sites whose events and ports the cache can hold.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use tresse_units::Time;

use super::{Carried, Event, Word};
use crate::carried::CarriedHeader;

/// Events in a chunk.
const CHUNK: usize = 64;
/// Ends every chain.
const NONE: u32 = u32::MAX;
/// The most windows of the ring.
const MAX_WINDOWS: u64 = 4096;
/// The events of a district in a window.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The chunk that is being filled; all others of the chain are full.
    chunk: u32,
    len: u32,
}

/// The districts of the current window that have not been taken.
#[derive(Debug)]
pub(super) struct Taking {
    /// The slot of the first one, and the one after the last.
    first: usize,
    end: usize,
    /// Later events stay.
    last: u32,
}

impl Taking {
    /// The last instant up to which events are taken, from the window's start, ps.
    pub fn last(&self) -> u32 {
        self.last
    }
}

/// The windows after the current one, and what is left of that.
#[derive(Debug)]
pub(super) struct Ring {
    /// The length of a window, ps.
    width: Time,
    /// 2^64 / width, rounded down.
    reciprocal: u64,
    /// The number of the current window, and when it begins.
    number: u64,
    start: Time,
    /// The first event of the current window comes no earlier than this after its start.
    least: u32,
    /// How many districts there are, of 2 to the power `bits` sites.
    districts: usize,
    bits: u32,
    /// How many windows there are, less one.
    mask: usize,
    /// Window by window, a slot for each district.
    slots: Vec<Slot>,
    /// A bit for each window: it has events.
    occupied: Vec<u64>,
    words: Vec<Word>,
    /// By chunk: the next one of its chain.
    chain: Vec<u32>,
    free: u32,
    /// Events in slots.
    filed: usize,
    far: BinaryHeap<Reverse<(Time, [u32; 5])>>,
    /// The window of the first of them.
    far_window: u64,
}

impl Ring {
    pub fn new(sites: u32, bits: u32, width: Time, horizon: Time) -> Self {
        let districts = sites.div_ceil(1 << bits) as usize;
        let width = width.clamp(1, Time::from(u32::MAX));
        let windows = (horizon / width).saturating_add(2).clamp(64, MAX_WINDOWS).next_power_of_two() as usize;
        Self {
            width,
            reciprocal: if width == 1 { u64::MAX } else { ((1u128 << 64) / u128::from(width)) as u64 },
            number: 0,
            start: 0,
            least: 0,
            districts,
            bits,
            mask: windows - 1,
            slots: vec![Slot { chunk: NONE, len: 0 }; windows * districts],
            occupied: vec![0; windows / 64],
            words: Vec::new(),
            chain: Vec::new(),
            free: NONE,
            filed: 0,
            far: BinaryHeap::new(),
            far_window: u64::MAX,
        }
    }

    /// When the current window begins.
    #[inline]
    pub fn start(&self) -> Time {
        self.start
    }

    pub fn width(&self) -> Time {
        self.width
    }

    pub fn window_end(&self, time: Time) -> Time {
        (time / self.width).saturating_mul(self.width).saturating_add(self.width - 1)
    }

    /// How many windows after the current one `time` lies, and how long after its window's start.
    #[inline(always)]
    pub fn place(&self, time: Time) -> (u64, u32) {
        debug_assert!(time >= self.start, "an event at {time} lies in the past");
        let since = time - self.start;
        // At most one too small.
        let windows = ((u128::from(since) * u128::from(self.reciprocal)) >> 64) as u64;
        let offset = since - windows * self.width;
        if offset < self.width {
            (windows, offset as u32)
        } else {
            (windows + 1, (offset - self.width) as u32)
        }
    }

    /// Keeps an event until its window, which is this many after the current one.
    #[inline(always)]
    pub fn file(&mut self, ahead: u64, word: Word) {
        if ahead > self.mask as u64 {
            return self.keep(ahead, word);
        }
        if ahead == 0 {
            self.least = self.least.min(word.offset);
        }
        let window = (self.number + ahead) as usize & self.mask;
        let slot = window * self.districts + (word.site >> self.bits) as usize;
        let Slot { chunk, len } = self.slots[slot];
        let place = len as usize % CHUNK;
        let chunk = if place == 0 { self.begin_chunk(window, chunk) } else { chunk };
        self.words[chunk as usize * CHUNK + place] = word;
        self.slots[slot] = Slot { chunk, len: len + 1 };
        self.filed += 1;
    }

    #[cold]
    #[inline(never)]
    fn begin_chunk(&mut self, window: usize, full: u32) -> u32 {
        self.occupied[window / 64] |= 1 << (window % 64);
        let chunk = self.free;
        if chunk == NONE {
            self.chain.push(full);
            self.words.resize(self.chain.len() * CHUNK, Word::default());
            return self.chain.len() as u32 - 1;
        }
        self.free = std::mem::replace(&mut self.chain[chunk as usize], full);
        chunk
    }

    /// Keeps an event that lies beyond the ring.
    #[cold]
    fn keep(&mut self, ahead: u64, word: Word) {
        let window = self.number + ahead;
        self.far_window = self.far_window.min(window);
        let time = window * self.width + Time::from(word.offset);
        let Carried { key, header } = word.carried;
        self.far.push(Reverse((time, [word.site, word.entity, word.id, key, header.word()])));
    }

    /// When the first window with events begins, or what is left of the current one.
    pub fn first_window(&self) -> Option<Time> {
        if self.has_events(self.number) {
            return Some(self.start);
        }
        let near = (self.filed > 0).then(|| self.scan());
        let far = (self.far_window != u64::MAX).then_some(self.far_window);
        near.into_iter().chain(far).min().map(|window| window * self.width)
    }

    /// No event comes before this.
    pub fn first(&self) -> Option<Time> {
        if self.has_events(self.number) {
            Some(self.start + Time::from(self.least))
        } else {
            self.first_window()
        }
    }

    /// Makes the first window with events the current one.
    pub fn turn_to_first(&mut self) {
        if let Some(start) = self.first_window() {
            self.turn_to(start);
        }
    }

    /// Makes the window of `time` the current one, if it is a later one. There is no event in a window before it.
    pub fn turn_to(&mut self, time: Time) {
        if time.saturating_sub(self.start) < self.width {
            return;
        }
        debug_assert!(!self.has_events(self.number), "the current window is over");
        self.number = time / self.width;
        self.start = self.number * self.width;
        self.least = 0;
        while self.far_window - self.number <= self.mask as u64 {
            let Some(Reverse((time, fields))) = self.far.pop() else { break };
            let (ahead, offset) = self.place(time);
            self.file(ahead, word_of(offset, fields));
            self.far_window = self.far.peek().map_or(u64::MAX, |Reverse((time, _))| time / self.width);
        }
    }

    /// Begins to take the events of the current window up to `limit`: then take those of each district, from the first.
    pub fn begin_to_take(&mut self, limit: Time) -> Taking {
        let window = self.number as usize & self.mask;
        self.occupied[window / 64] &= !(1 << (window % 64));
        let last = (limit - self.start.min(limit)).min(self.width - 1) as u32;
        if Time::from(last) < self.width - 1 {
            self.least = u32::MAX;
        }
        Taking { first: window * self.districts, end: (window + 1) * self.districts, last }
    }

    /// The districts of the first and of the last of these sites.
    fn districts_of(&self, sites: &Range<u32>) -> [usize; 2] {
        let district = |site: u32| ((site >> self.bits) as usize).min(self.districts - 1);
        [district(sites.start), district(sites.end.max(1) - 1)]
    }

    /// Adds the events of the next district to `open`, also those that come too late; false if there is none.
    pub fn take(&mut self, taking: &mut Taking, open: &mut Vec<Word>) -> bool {
        if taking.first == taking.end {
            return false;
        }
        let slot = taking.first;
        taking.first += 1;
        let Slot { chunk: newest, len } = self.slots[slot];
        if len == 0 {
            return true;
        }
        self.slots[slot] = Slot { chunk: NONE, len: 0 };
        self.filed -= len as usize;
        let mut chunk = newest;
        let mut filled = (len as usize - 1) % CHUNK + 1;
        loop {
            let start = chunk as usize * CHUNK;
            open.extend_from_slice(&self.words[start..start + filled]);
            filled = CHUNK;
            let next = self.chain[chunk as usize];
            if next == NONE {
                break;
            }
            chunk = next;
        }
        self.chain[chunk as usize] = self.free;
        self.free = newest;
        true
    }

    /// Lets `revise` change all events, given their times: their sites and what they carry.
    pub fn revise(&mut self, mut revise: impl FnMut(Time, &mut Word)) {
        let mut words = Vec::new();
        for ahead in 0..=self.mask as u64 {
            let window = (self.number + ahead) as usize & self.mask;
            self.occupied[window / 64] &= !(1 << (window % 64));
            let last = u32::MAX;
            let (first, end) = (window * self.districts, (window + 1) * self.districts);
            let mut taking = Taking { first, end, last };
            while self.take(&mut taking, &mut words) {}
            for mut word in words.drain(..) {
                revise((self.number + ahead) * self.width + Time::from(word.offset), &mut word);
                self.file(ahead, word);
            }
        }
        for Reverse((time, fields)) in std::mem::take(&mut self.far) {
            let (ahead, offset) = self.place(time);
            let mut word = word_of(offset, fields);
            revise(time, &mut word);
            self.keep(ahead, word);
        }
    }

    /// The first window after the current one that has events; there is one in the ring.
    fn scan(&self) -> u64 {
        let start = (self.number + 1) as usize & self.mask;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (!0 << (start % 64));
        while bits == 0 {
            word = (word + 1) % self.occupied.len();
            bits = self.occupied[word];
        }
        let window = word * 64 + bits.trailing_zeros() as usize;
        self.number + 1 + (window.wrapping_sub(start) & self.mask) as u64
    }

    /// Whether a window of the ring has events.
    fn has_events(&self, window: u64) -> bool {
        let window = window as usize & self.mask;
        self.occupied[window / 64] >> (window % 64) & 1 != 0
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.filed + self.far.len()
    }

    /// The number of the window that `time` lies in, if its events are in the ring.
    pub fn window_of(&self, time: Time) -> Option<u64> {
        let window = time / self.width;
        (window >= self.number && window - self.number <= self.mask as u64).then_some(window)
    }

    /// The events of a window of the ring at these sites, and at others of their districts, in no order.
    pub fn words(&self, window: u64, sites: Range<u32>) -> impl Iterator<Item = &Word> {
        let first = (window as usize & self.mask) * self.districts;
        let [from, to] = self.districts_of(&sites);
        let slots = &self.slots[first + from..first + to + 1];
        slots.iter().flat_map(|&Slot { chunk, len }| {
            let newest = (len > 0).then(|| (chunk, (len as usize - 1) % CHUNK + 1));
            let next = |&(chunk, _): &(u32, usize)| {
                let next = self.chain[chunk as usize];
                (next != NONE).then_some((next, CHUNK))
            };
            let chunks = std::iter::successors(newest, next);
            chunks.flat_map(|(chunk, len)| &self.words[chunk as usize * CHUNK..][..len])
        })
    }

    /// All events, in no order.
    pub fn iter(&self) -> impl Iterator<Item = Event> {
        let windows = (0..=self.mask as u64).map(|ahead| self.number + ahead);
        let near = windows.flat_map(move |window| {
            self.words(window, 0..u32::MAX).map(move |word| Event {
                time: window * self.width + Time::from(word.offset),
                entity: word.entity,
                id: word.id,
            })
        });
        let far = self.far.iter().map(|&Reverse((time, [_, entity, id, ..]))| Event { time, entity, id });
        near.chain(far)
    }
}

/// An event that has lain beyond the ring.
fn word_of(offset: u32, [site, entity, id, key, header]: [u32; 5]) -> Word {
    let carried = Carried { key, header: CarriedHeader::from_word(header) };
    Word { offset, site, entity, id, carried }
}
