//! Sorts the events of a window: by counting those of each site, and then, as a site has few, by insertion.

use super::Word;
use super::window::DISTRICT_BITS;

/// Below this many events, comparing is faster than counting.
const FEW: usize = 256;
/// An event that has to go farther is not inserted.
const FAR: usize = 64;
/// Sorts the events of a district; it keeps its memory.
#[derive(Debug)]
pub(super) struct Sorter {
    counts: Box<[u32; 1 << DISTRICT_BITS]>,
    scratch: Vec<Word>,
}

impl Sorter {
    pub fn new() -> Self {
        Self { counts: Box::new([0; 1 << DISTRICT_BITS]), scratch: Vec::new() }
    }

    /// By site, then by time. Returns whether several events of a site have one time: their order is open.
    pub fn by_site(&mut self, words: &mut Vec<Word>) -> bool {
        if words.len() < FEW {
            words.sort_unstable_by_key(key);
        } else {
            self.count(words);
        }
        match insert(words) {
            Some(ties) => ties,
            None => {
                words.sort_unstable_by_key(key);
                words.windows(2).any(|pair| key(&pair[0]) == key(&pair[1]))
            }
        }
    }

    /// By time. Returns whether several events have one time.
    pub fn by_time(&mut self, words: &mut [Word]) -> bool {
        words.sort_unstable_by_key(|word| word.offset);
        words.windows(2).any(|pair| pair[0].offset == pair[1].offset)
    }

    /// By the site's place in its district.
    fn count(&mut self, words: &mut Vec<Word>) {
        let place = |word: &Word| (word.site & ((1 << DISTRICT_BITS) - 1)) as usize;
        self.counts.fill(0);
        words.iter().for_each(|word| self.counts[place(word)] += 1);
        let mut sum = 0;
        for count in self.counts.iter_mut() {
            sum += std::mem::replace(count, sum);
        }
        self.scratch.resize(words.len(), Word::default());
        for word in words.iter() {
            let at = &mut self.counts[place(word)];
            self.scratch[*at as usize] = *word;
            *at += 1;
        }
        std::mem::swap(words, &mut self.scratch);
    }
}

/// Events are sorted by this, and then by their places.
#[inline]
fn key(word: &Word) -> u64 {
    u64::from(word.site) << 32 | u64::from(word.offset)
}

/// Sorts events that are sorted by site, by inserting them one by one. Returns whether two have the same key; `None` if
/// one would have to go far, so that another way is faster.
#[inline]
fn insert(words: &mut [Word]) -> Option<bool> {
    let mut ties = false;
    for i in 1..words.len() {
        let own = key(&words[i]);
        if own > key(&words[i - 1]) {
            continue;
        }
        let word = words[i];
        let mut at = i;
        while at > 0 && key(&words[at - 1]) > own {
            words[at] = words[at - 1];
            at -= 1;
        }
        words[at] = word;
        ties |= at > 0 && key(&words[at - 1]) == own;
        if i - at > FAR {
            return None;
        }
    }
    Some(ties)
}
