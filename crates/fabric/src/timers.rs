//! Timers that can be moved: a heap in which each timer knows its place.
//!
//! There are few of them and they fire seldom (retransmission, delayed ACK, workload sources), so
//! the packets' calendar would be wasted on them; but each exists once, so none fires stale.

use tresse_units::{NEVER, Time};

use crate::entity::Entity;

const ABSENT: u32 = u32::MAX;

/// A set of timers, numbered from 0; timer i is the entity `base + i`.
#[derive(Debug)]
pub struct Timers {
    base: Entity,
    /// (time, timer), a binary heap.
    heap: Vec<(Time, u32)>,
    /// Where each timer stands in the heap.
    place: Vec<u32>,
}

impl Timers {
    /// No timers; timer 0 will be the entity `base`.
    pub fn new(base: Entity) -> Self {
        Self { base, heap: Vec::new(), place: Vec::new() }
    }

    /// The first timer to fire, as (time, entity); never, if there is none.
    #[inline]
    pub fn next(&self) -> (Time, Entity) {
        self.heap.first().map_or((NEVER, Entity::MAX), |&(time, i)| (time, self.base + i))
    }

    /// When timer `i` fires; [`NEVER`] if it is not set.
    #[inline]
    pub fn time(&self, i: u32) -> Time {
        match self.place.get(i as usize) {
            Some(&at) if at != ABSENT => self.heap[at as usize].0,
            _ => NEVER,
        }
    }

    /// Sets timer `i`, whether it was set or not; [`NEVER`] clears it.
    pub fn set(&mut self, i: u32, time: Time) {
        if i as usize >= self.place.len() {
            self.place.resize(i as usize + 1, ABSENT);
        }
        let mut at = self.place[i as usize];
        if time == NEVER {
            if at != ABSENT {
                self.remove(at as usize);
            }
            return;
        }
        if at == ABSENT {
            at = self.heap.len() as u32;
            self.heap.push((time, i));
            self.place[i as usize] = at;
        } else {
            self.heap[at as usize].0 = time;
        }
        let at = self.up(at as usize);
        self.down(at);
    }

    /// Takes the first timer out: its number.
    pub fn pop(&mut self) -> Option<u32> {
        let &(_, i) = self.heap.first()?;
        self.remove(0);
        Some(i)
    }

    fn remove(&mut self, at: usize) {
        let (_, i) = self.heap.swap_remove(at);
        self.place[i as usize] = ABSENT;
        if at < self.heap.len() {
            self.place[self.heap[at].1 as usize] = at as u32;
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
        self.place[self.heap[a].1 as usize] = a as u32;
        self.place[self.heap[b].1 as usize] = b as u32;
    }
}
