//! Sorts the events of a window: by counting those of each site, or of each short span of time, and then, as these have
//! few, by insertion.

use super::Word;

/// Up to so many events, or with so many places for each, comparing is faster than counting.
const FEW: usize = 8;
const SPARSE: usize = 16;
/// An event that has to go farther is not inserted.
const FAR: usize = 64;
/// Sorts the events of a window; it keeps its memory.
#[derive(Debug)]
pub(super) struct Sorter {
    /// As many places as a district has sites, 2 to the power `bits`.
    counts: Box<[u32]>,
    bits: u32,
    scratch: Vec<Word>,
}

impl Sorter {
    /// For districts of 2 to the power `bits` sites.
    pub fn new(bits: u32) -> Self {
        Self { counts: vec![0; 1 << bits].into(), bits, scratch: Vec::new() }
    }

    /// Sorts the events of a district by site, then by time. Returns whether several events of a site have one time:
    /// their order is open.
    pub fn by_site(&mut self, words: &mut Vec<Word>) -> bool {
        let key = |word: &Word| u64::from(word.site) << 32 | u64::from(word.offset);
        let (first, last) =
            words.iter().fold((u32::MAX, 0), |(a, b), word| (a.min(word.site), b.max(word.site)));
        let places = (last.saturating_sub(first) + 1) as usize;
        let counts = words.len() > FEW && words.len() * SPARSE > places;
        self.sort(words, key, counts.then_some(places), |word| (word.site - first) as usize)
    }

    /// Sorts by time. Returns whether several events have one time.
    pub fn by_time(&mut self, words: &mut Vec<Word>) -> bool {
        let latest = words.iter().map(|word| word.offset).max().unwrap_or(0);
        let shift = (u32::BITS - latest.leading_zeros()).saturating_sub(self.bits);
        let places = self.counts.len();
        let counts = words.len() * SPARSE > places;
        self.sort(
            words,
            |word| word.offset.into(),
            counts.then_some(places),
            |word| (word.offset >> shift) as usize,
        )
    }

    /// Sorts by `key`, which never falls as `place` grows, a number below `places`; without `places` by comparing. Returns
    /// whether a key comes twice.
    #[inline(always)]
    fn sort(
        &mut self,
        words: &mut Vec<Word>,
        key: impl Fn(&Word) -> u64,
        places: Option<usize>,
        place: impl Fn(&Word) -> usize,
    ) -> bool {
        match places {
            Some(places) => self.count(words, places, place),
            None => words.sort_unstable_by_key(&key),
        }
        insert(words, &key).unwrap_or_else(|| {
            words.sort_unstable_by_key(&key);
            words.windows(2).any(|pair| key(&pair[0]) == key(&pair[1]))
        })
    }

    /// Sorts by `place`; events of one place stay in their order.
    #[inline(always)]
    fn count(&mut self, words: &mut Vec<Word>, places: usize, place: impl Fn(&Word) -> usize) {
        let counts = &mut self.counts[..places];
        counts.fill(0);
        words.iter().for_each(|word| counts[place(word)] += 1);
        let mut sum = 0;
        for count in counts.iter_mut() {
            sum += std::mem::replace(count, sum);
        }
        self.scratch.resize(words.len(), Word::default());
        for word in words.iter() {
            let at = &mut counts[place(word)];
            self.scratch[*at as usize] = *word;
            *at += 1;
        }
        std::mem::swap(words, &mut self.scratch);
    }
}

/// Sorts events that are nearly sorted, by inserting them one by one. Returns whether two have the same key; `None` if
/// one had to go far, so that another way is faster.
#[inline(always)]
fn insert(words: &mut [Word], key: impl Fn(&Word) -> u64) -> Option<bool> {
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
