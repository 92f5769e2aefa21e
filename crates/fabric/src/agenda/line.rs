//! The events of the window, or of the piece of it, that is open.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::word::{Added, Word};

/// Sorted events, and others that were added to them.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Those before `next` are done.
    pub words: Vec<Word>,
    pub next: usize,
    pub added: BinaryHeap<Reverse<Added>>,
}

impl Line {
    pub fn is_empty(&self) -> bool {
        self.next == self.words.len() && self.added.is_empty()
    }

    pub fn len(&self) -> usize {
        self.words.len() - self.next + self.added.len()
    }

    pub fn left(&self) -> &[Word] {
        &self.words[self.next..]
    }

    pub fn added(&self) -> impl Iterator<Item = &Word> {
        self.added.iter().map(|Reverse(added)| &added.word)
    }

    /// The time of the first of them, from the window's start.
    #[inline]
    pub fn first_offset(&self) -> Option<u32> {
        let known = self.words.get(self.next).map(|word| word.offset);
        if self.added.is_empty() {
            return known;
        }
        let added = self.added.peek().map(|Reverse(added)| added.word.offset);
        known.into_iter().chain(added).min()
    }
}
