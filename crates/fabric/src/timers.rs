//! Timers that can be moved: a heap in which each timer knows its place.
//!
//! There are few of them and they rarely fire (retransmission, delayed ACK, workload sources), so the
//! packets' calendar would be wasted on them. Each exists only once, so none fires when stale.

use tresse_units::{NEVER, Time};

use crate::ties::Ties;

const ABSENT: u32 = u32::MAX;

/// A set of timers, numbered from 0.
#[derive(Debug)]
pub struct Timers {
    ties: Ties,
    /// (time, place among those that fire then, timer), a binary heap.
    heap: Vec<(Time, u64, u32)>,
    /// Where each timer is in the heap.
    place: Vec<u32>,
}

impl Timers {
    /// No timers.
    pub fn new(ties: Ties) -> Self {
        Self { ties, heap: Vec::new(), place: Vec::new() }
    }

    /// When the first timer fires; [`NEVER`] if there is none.
    #[inline]
    pub fn next(&self) -> Time {
        self.heap.first().map_or(NEVER, |first| first.0)
    }

    /// When the first timer fires, and its place among those that fire then.
    pub fn first(&self) -> Option<(Time, u64)> {
        self.heap.first().map(|&(time, place, _)| (time, place))
    }

    /// When timer `i` fires; [`NEVER`] if it is not set.
    #[inline]
    pub fn time(&self, i: u32) -> Time {
        match self.place.get(i as usize) {
            Some(&at) if at != ABSENT => self.heap[at as usize].0,
            _ => NEVER,
        }
    }

    /// Sets timer `i`, whether it was set or not. Its `name`, unique among timers, decides the order at the
    /// same instant; its number may later belong to another timer.
    pub fn set(&mut self, i: u32, name: u64, time: Time) {
        if i as usize >= self.place.len() {
            self.place.resize(i as usize + 1, ABSENT);
        }
        let timer = (time, self.ties.timer(time, name), i);
        let mut at = self.place[i as usize];
        if at == ABSENT {
            at = self.heap.len() as u32;
            self.heap.push(timer);
            self.place[i as usize] = at;
        } else {
            self.heap[at as usize] = timer;
        }
        let at = self.up(at as usize);
        self.down(at);
    }

    /// Timer `i` does not fire, whether it was set or not.
    pub fn clear(&mut self, i: u32) {
        if let Some(&at) = self.place.get(i as usize)
            && at != ABSENT
        {
            self.remove(at as usize);
        }
    }

    /// Removes the first timer, if it fires by `limit`: when, its place among those that fire then, and its number.
    #[inline]
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, u64, u32)> {
        let first = self.heap.first().filter(|first| first.0 <= limit).copied()?;
        self.remove(0);
        Some(first)
    }

    /// Removes the first timer and returns its number.
    pub fn pop(&mut self) -> Option<u32> {
        let &(_, _, i) = self.heap.first()?;
        self.remove(0);
        Some(i)
    }

    fn remove(&mut self, at: usize) {
        let (_, _, i) = self.heap.swap_remove(at);
        self.place[i as usize] = ABSENT;
        if at < self.heap.len() {
            self.place[self.heap[at].2 as usize] = at as u32;
            let at = self.up(at);
            self.down(at);
        }
    }

    fn up(&mut self, mut at: usize) -> usize {
        while at > 0 && self.heap[at] < self.heap[(at - 1) / 2] {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
        at
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.heap[child] < self.heap[least] {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.swap(at, least);
            at = least;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.place[self.heap[a].2 as usize] = a as u32;
        self.place[self.heap[b].2 as usize] = b as u32;
    }
}
