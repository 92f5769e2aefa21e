//! How long queues were.

use serde::{Deserialize, Serialize};

/// How long queues were at the instants at which they were looked at: a count for each length, so
/// that whatever is reported about these instants is exact.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// By length, packets.
    counts: Vec<u64>,
}

impl Lengths {
    /// Adds one.
    pub fn record(&mut self, length: u64) {
        let length = length as usize;
        if length >= self.counts.len() {
            self.counts.resize(length + 1, 0);
        }
        self.counts[length] += 1;
    }

    /// Adds those of other instants or ports.
    pub fn merge(&mut self, other: &Self) {
        let length = self.counts.len().max(other.counts.len());
        self.counts.resize(length, 0);
        for (own, more) in self.counts.iter_mut().zip(&other.counts) {
            *own += more;
        }
    }

    /// The lengths that were seen, packets, each with how often.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// How many lengths there are: ports times instants.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The mean, packets; `None` without observations.
    pub fn mean(&self) -> Option<f64> {
        let sum: u128 = (0..).zip(&self.counts).map(|(length, &count)| length * u128::from(count)).sum();
        let count = self.count();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// The smallest length, packets, that at least `percent` per cent of them, at most 100, do not
    /// exceed; `None` without observations. The largest is that of 100.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let mut rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100).max(1);
        let at = |(length, &count): (u64, &u64)| {
            let here = rank <= count.into();
            rank -= if here { 0 } else { count.into() };
            here.then_some(length)
        };
        (0..).zip(&self.counts).find_map(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues of these lengths.
    fn of(lengths: &[u64]) -> Lengths {
        let mut all = Lengths::default();
        lengths.iter().for_each(|&length| all.record(length));
        all
    }

    #[test]
    fn lengths_add_up() {
        let (short, long) = (of(&[0, 0, 1]), of(&[7]));
        let mut merged = short.clone();
        merged.merge(&long);
        assert_eq!(merged, of(&[0, 0, 1, 7]));
        let mut merged = long;
        merged.merge(&short);
        assert_eq!((merged.count(), merged.mean()), (4, Some(2.0)));
        assert_eq!([50, 51, 75, 76, 100].map(|p| merged.percentile(p)), [0, 1, 1, 7, 7].map(Some));
        assert_eq!((of(&[]).mean(), of(&[]).percentile(50)), (None, None));
    }
}
