//! The confidence intervals of means.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use tresse_experiment::schema::slice::is_total;
use tresse_units::SECOND;

use super::{Metric, WindowSum};
use tresse_results::record::flow::Flow;
use tresse_results::record::packed_flows::PackedFlows;

/// What the means of a round are made of.
#[derive(Debug, Default)]
pub(super) struct Round {
    number: u32,
    /// The parts of the workload that have flows in it.
    parts: BTreeSet<usize>,
    goodput: Sum,
    completion: Sum,
    windows: WindowSum,
    pub timeouts: u64,
}

#[derive(Debug, Default)]
struct Sum {
    count: u64,
    sum: u128,
}

impl Sum {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

impl Round {
    fn add(&mut self, flow: &Flow) {
        self.parts.insert(flow.begun.part);
        self.goodput.add(flow.record.goodput());
        flow.completion().into_iter().for_each(|time| self.completion.add(time));
        self.windows.add(flow);
        self.timeouts += flow.record.counters.timeouts;
    }
}

/// A mean of independent flows.
type Mean = fn(&Round) -> Option<f64>;

/// Half the width of the 95 % confidence interval of each mean of one seed, over the rounds of the pattern, which
/// are drawn independently. None if not all parts of the workload are in each round, for then its rounds differ in more
/// than chance.
pub fn over_rounds(flows: &PackedFlows) -> IndexMap<String, f64> {
    let rounds = by_round(flows);
    if rounds.iter().any(|round| round.parts != rounds[0].parts) {
        return IndexMap::new();
    }
    let means: [(_, Mean); 4] = [
        ("goodput_mean_bps", |round| round.goodput.mean()),
        ("fct_mean_s", |round| Some(round.completion.mean()? / SECOND as f64)),
        ("cwnd_mean_pkts", |round| round.windows.mean()),
        ("timeouts_mean", |round| Some(round.timeouts as f64)),
    ];
    let width = |(name, of): (&str, Mean)| {
        let values: Vec<f64> = rounds.iter().filter_map(of).collect();
        half_width_95(&values).map(|w| (name.to_owned(), w))
    };
    means.into_iter().filter_map(width).collect()
}

/// Half the width of the 95 % confidence interval of every metric, over seeds: replications are independent. Of a
/// total it is that of the sum over these seeds, as the total is.
pub fn over_seeds<'a>(seeds: impl Iterator<Item = &'a IndexMap<String, Metric>>) -> IndexMap<String, f64> {
    let mut values: IndexMap<&str, Vec<f64>> = IndexMap::new();
    for (name, metric) in seeds.flatten() {
        values.entry(name).or_default().push(metric.value());
    }
    let width = |(name, values): (&str, Vec<f64>)| {
        let seeds = if is_total(name) { values.len() as f64 } else { 1.0 };
        Some((name.to_owned(), seeds * half_width_95(&values)?))
    };
    values.into_iter().filter_map(width).collect()
}

/// Each round of one seed; its flows are in the order of rounds.
pub(super) fn by_round(flows: &PackedFlows) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for flow in flows {
        let number = flow.begun.start.round;
        if rounds.last().is_none_or(|last| last.number != number) {
            rounds.push(Round { number, ..Round::default() });
        }
        rounds.last_mut().expect("it was just added").add(&flow);
    }
    rounds
}

/// Half the width of the 95 % interval of the mean, by Student's t; none for fewer than two values.
pub fn half_width_95(values: &[f64]) -> Option<f64> {
    // The 97.5 % quantile for 1, 2, … degrees of freedom; beyond the table it is below 2.05.
    const T: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
    Some(T.get(n - 2).copied().unwrap_or(2.042) * (variance / n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // 1, 2, 3: mean 2, s = 1, t(2) = 4.303, so 4.303 / sqrt(3).
        let width = half_width_95(&[1.0, 2.0, 3.0]).expect("three values");
        assert!((width - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(half_width_95(&[1.0]), None);
    }
}
