//! Sorts the events of a window.

use super::Word;

/// Below this many events, comparing is faster than counting.
const FEW: usize = 192;
/// Runs of one site up to this length are sorted by insertion.
const SHORT: usize = 24;
/// Bits of a site's number that are counted at a time.
const DIGIT: u32 = 11;

/// Sorts the events of windows; it keeps its memory.
#[derive(Debug)]
pub(super) struct Sorter {
    /// Bits of a site's number at a time, and how many times.
    digit: u32,
    passes: u32,
    counts: Vec<u32>,
    scratch: Vec<Word>,
}

impl Sorter {
    /// For this many sites.
    pub fn new(sites: u32) -> Self {
        let bits = 32 - sites.saturating_sub(1).leading_zeros();
        let passes = bits.div_ceil(DIGIT);
        let digit = if passes == 0 { 0 } else { bits.div_ceil(passes) };
        Self { digit, passes, counts: vec![0; 1 << digit], scratch: Vec::new() }
    }

    /// By site, then by time.
    pub fn by_site(&mut self, words: &mut Vec<Word>) {
        let key = |word: &Word| u64::from(word.site) << 32 | u64::from(word.offset);
        if words.len() < FEW {
            words.sort_unstable_by_key(key);
            return;
        }
        for pass in 0..self.passes {
            self.count(words, pass * self.digit);
        }
        let mut rest = &mut words[..];
        while let Some(first) = rest.first() {
            let site = first.site;
            let len = rest.iter().position(|word| word.site != site).unwrap_or(rest.len());
            let (run, after) = rest.split_at_mut(len);
            if len <= SHORT {
                insert(run);
            } else {
                run.sort_unstable_by_key(|word| word.offset);
            }
            rest = after;
        }
    }

    /// By time.
    pub fn by_time(&mut self, words: &mut [Word]) {
        words.sort_unstable_by_key(|word| word.offset);
    }

    /// Sorts by the bits of the site's number from `shift` on; the order of those with the same bits stays.
    fn count(&mut self, words: &mut Vec<Word>, shift: u32) {
        let mask = (1 << self.digit) - 1;
        let digit = |word: &Word| ((word.site >> shift) & mask) as usize;
        self.counts.fill(0);
        words.iter().for_each(|word| self.counts[digit(word)] += 1);
        let mut sum = 0;
        for count in &mut self.counts {
            sum += std::mem::replace(count, sum);
        }
        self.scratch.resize(words.len(), Word::default());
        for word in words.iter() {
            let at = &mut self.counts[digit(word)];
            self.scratch[*at as usize] = *word;
            *at += 1;
        }
        std::mem::swap(words, &mut self.scratch);
    }
}

/// Sorts a short run by time.
#[inline]
fn insert(run: &mut [Word]) {
    for i in 1..run.len() {
        let word = run[i];
        let mut at = i;
        while at > 0 && run[at - 1].offset > word.offset {
            run[at] = run[at - 1];
            at -= 1;
        }
        run[at] = word;
    }
}
