//! A histogram of times, such as round trips, of which there are too many to keep.
//!
//! Its buckets are log-linear: exact below 128, then 64 of one width in every octave. A bucket's value is off
//! by half a bucket at the most, 1/128 of the value. The mean, the least and the largest value are exact.

use serde::{Deserialize, Serialize};

/// Buckets in an octave, as a power of two.
const BITS: u32 = 6;

/// A histogram of whole numbers. It holds the buckets between the least and the largest value: 512 bytes for each
/// octave between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// The number of the first bucket in `counts`.
    first: usize,
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    /// The least and the largest value, if there is one.
    range: Option<[u64; 2]>,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value.
    pub fn record(&mut self, value: u64) {
        self.record_several(value, 1);
    }

    /// Adds a value `times` times, at least once.
    #[inline]
    pub fn record_several(&mut self, value: u64, times: u64) {
        let bucket = bucket(value);
        if bucket.wrapping_sub(self.first) >= self.counts.len() {
            self.reach(bucket);
        }
        self.counts[bucket - self.first] += times;
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.widen([value; 2]);
    }

    /// Adds the values of another one: the same as if each had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        let Some(range) = other.range else { return };
        let last = other.first + other.counts.len() - 1;
        self.reach(other.first);
        self.reach(last);
        let start = other.first - self.first;
        for (own, more) in self.counts[start..].iter_mut().zip(&other.counts) {
            *own += more;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.widen(range);
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean, exact but for the rounding of the result; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The least value, exact.
    pub fn min(&self) -> Option<u64> {
        self.range.map(|[min, _]| min)
    }

    /// The largest value, exact.
    pub fn max(&self) -> Option<u64> {
        self.range.map(|[_, max]| max)
    }

    /// Its non-empty buckets: the least and the largest value that a bucket covers, and how many values it
    /// holds.
    pub fn buckets(&self) -> impl Iterator<Item = ([u64; 2], u64)> {
        let [min, max] = self.range.unwrap_or_default();
        let held = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        held.map(move |(bucket, &count)| {
            let shift = (bucket >> BITS).saturating_sub(1);
            let low = ((bucket - (shift << BITS)) as u64) << shift;
            ([low.max(min), (low + ((1 << shift) - 1)).min(max)], count)
        })
    }

    /// The smallest value that at least `part` of `whole` of the values do not exceed, such as
    /// `quantile(999, 1000)`, to within 1/128 of it; exact below 128. `None` without values.
    ///
    /// # Panics
    /// If `part` is more than `whole`, or `whole` is 0.
    pub fn quantile(&self, part: u64, whole: u64) -> Option<u64> {
        assert!(part <= whole && whole > 0, "{part} of {whole}");
        let [min, max] = self.range?;
        let mut rank = (u128::from(self.count) * u128::from(part)).div_ceil(whole.into()).max(1) as u64;
        let place = self.counts.iter().position(|&count| {
            let here = rank <= count;
            rank -= if here { 0 } else { count };
            here
        })?;
        Some(middle(self.first + place).clamp(min, max))
    }

    /// Makes sure that there is a count for this bucket.
    fn reach(&mut self, bucket: usize) {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if let Some(more @ 1..) = self.first.checked_sub(bucket) {
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bucket;
        }
        let length = self.counts.len().max(bucket - self.first + 1);
        self.counts.resize(length, 0);
    }

    fn widen(&mut self, [min, max]: [u64; 2]) {
        let [least, largest] = self.range.unwrap_or([min, max]);
        self.range = Some([least.min(min), largest.max(max)]);
    }
}

/// The number of a value's bucket: those of one octave have one width, 2^shift.
fn bucket(value: u64) -> usize {
    let shift = (value | 1).ilog2().saturating_sub(BITS);
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// The value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    let low = (bucket - (shift << BITS)) as u64;
    (low << shift) + (1 << shift >> 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every magnitude is equally likely: round trips are between 10^6 and 10^13 ps.
    fn values() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((any::<u64>(), 0u32..64).prop_map(|(v, shift)| v >> shift), 1..200)
    }

    fn holds(histogram: &Histogram, value: u64) -> bool {
        histogram.buckets().any(|([least, most], _)| (least..=most).contains(&value))
    }

    #[test]
    fn buckets_hold_every_value_once() {
        for values in [vec![], vec![0], vec![127, 128, 129, 1 << 40], vec![u64::MAX, 3, 3]] {
            let histogram = of(&values);
            assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
            assert!(values.iter().all(|&value| holds(&histogram, value)), "{values:?}");
            let bounds: Vec<[u64; 2]> = histogram.buckets().map(|(bounds, _)| bounds).collect();
            assert!(bounds.windows(2).all(|pair| pair[0][1] < pair[1][0]), "{bounds:?}");
        }
    }

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&v| histogram.record(v));
        histogram
    }

    proptest! {
        #[test]
        fn a_quantile_is_off_by_a_128th_at_the_most(mut values in values(), part in 0u64..=1000) {
            let histogram = of(&values);
            values.sort_unstable();
            let rank = (values.len() * part as usize).div_ceil(1000).max(1);
            let exact = values[rank - 1];
            let found = histogram.quantile(part, 1000).expect("there are values");
            prop_assert!(u128::from(found.abs_diff(exact)) * 128 <= exact.into(), "{found} for {exact}");
        }

        #[test]
        fn mean_least_and_largest_are_exact(values in values()) {
            let histogram = of(&values);
            let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
            prop_assert_eq!(histogram.mean(), Some(sum as f64 / values.len() as f64));
            prop_assert_eq!(histogram.min(), values.iter().copied().min());
            prop_assert_eq!(histogram.max(), values.iter().copied().max());
            prop_assert_eq!(histogram.count(), values.len() as u64);
        }

        #[test]
        fn merging_is_recording_all(one in values(), other in values()) {
            let mut merged = of(&one);
            merged.merge(&of(&other));
            merged.merge(&Histogram::new());
            prop_assert_eq!(&merged, &of(&[&one[..], &other].concat()));
            let mut empty = Histogram::new();
            empty.merge(&merged);
            prop_assert_eq!(empty, merged);
        }

        #[test]
        fn buckets_are_in_order_and_hold_their_middle(value in any::<u64>()) {
            prop_assert_eq!(bucket(middle(bucket(value))), bucket(value));
            prop_assert!(bucket(value) <= bucket(value.saturating_add(1)));
        }
    }

    #[test]
    fn small_values_are_exact() {
        let all: Vec<u64> = (0..128).collect();
        let histogram = of(&all);
        for (value, part) in all.iter().zip(1..) {
            assert_eq!(histogram.quantile(part, 128), Some(*value));
        }
    }

    #[test]
    fn without_values_there_is_nothing() {
        let empty = Histogram::new();
        assert_eq!((empty.mean(), empty.min(), empty.max(), empty.quantile(1, 2)), (None, None, None, None));
    }

    #[test]
    fn round_trips_take_little_memory() {
        // From 100 us to 200 ms there are eleven octaves.
        let histogram = of(&[100_000_000, 200_000_000_000]);
        assert!(histogram.counts.len() <= 12 * 64, "{}", histogram.counts.len());
    }
}
