//! The metrics of a case: what each is called, and how it follows from the flows and ports.

use indexmap::IndexMap;
use serde::Serialize;
use tresse_fabric::{Time, seconds};

use crate::sharing;
use crate::unit::{Flow, Outcome};

/// The names of all metrics; every one ends in its unit, counts have none. `docs/explain/results.md` says
/// what each means.
pub const METRICS: &[&str] = &[
    "goodput_mean_bps",
    "goodput_p10_bps",
    "goodput_p50_bps",
    "goodput_p90_bps",
    "fct_mean_s",
    "fct_p50_s",
    "fct_p99_s",
    "fct_max_s",
    "cwnd_mean_pkts",
    "subflows_opened_mean",
    "flows",
    "delivered_bytes",
    "timeouts",
    "timeouts_min",
    "timeouts_mean",
    "timeouts_max",
    "retransmissions_pkts",
    "drops_pkts",
    "lost_pkts",
    "marks_pkts",
    "mark_cuts",
    "sharing_flows",
    "terminated_flows",
    "sharing_precision_ratio",
    "sharing_recall_ratio",
    "sharing_f_ratio",
    "simulated_s",
    "packet_hops",
];

/// A value: counts stay whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Metric {
    /// A count.
    Count(u64),
    /// A mean, or a time.
    Real(f64),
}

impl Metric {
    /// The value as a number to compute with.
    pub fn value(self) -> f64 {
        match self {
            Self::Count(n) => n as f64,
            Self::Real(x) => x,
        }
    }
}

/// The metrics of a case; `outcomes` are its replications. What is of flows is missing before the first.
pub(crate) fn of(outcomes: &[Outcome]) -> IndexMap<&'static str, Metric> {
    let rounds: Vec<&[Flow]> = outcomes.iter().flat_map(|o| by_round(&o.flows)).collect();
    let flows = || rounds.iter().copied().flatten();
    let mut metrics = IndexMap::new();
    let mut goodput: Vec<u64> = flows().map(|f| f.record.goodput()).collect();
    goodput.sort_unstable();
    if !goodput.is_empty() {
        metrics.insert("goodput_mean_bps", Metric::Real(mean(&goodput)));
        for (name, percent) in [("goodput_p10_bps", 10), ("goodput_p50_bps", 50), ("goodput_p90_bps", 90)] {
            metrics.insert(name, Metric::Count(percentile(&goodput, percent)));
        }
        let mut fct: Vec<Time> = flows().map(completion).collect();
        fct.sort_unstable();
        metrics.insert("fct_mean_s", Metric::Real(mean_seconds(&fct)));
        for (name, percent) in [("fct_p50_s", 50), ("fct_p99_s", 99), ("fct_max_s", 100)] {
            metrics.insert(name, Metric::Real(seconds(percentile(&fct, percent))));
        }
        metrics.extend(mean_window(flows()).map(|w| ("cwnd_mean_pkts", Metric::Real(w))));
        let opened: Vec<u64> = flows().map(|f| f.record.opened.into()).collect();
        metrics.insert("subflows_opened_mean", Metric::Real(mean(&opened)));
    }
    let total = |f: fn(&Outcome) -> u64| Metric::Count(outcomes.iter().map(f).sum());
    let sum = |f: fn(&Flow) -> u64| Metric::Count(flows().map(f).sum());
    metrics.insert("flows", Metric::Count(goodput.len() as u64));
    metrics.insert("delivered_bytes", sum(|f| f.record.bytes));
    metrics.insert("timeouts", sum(|f| f.record.counters.timeouts));
    let timeouts: Vec<u64> =
        rounds.iter().map(|r| r.iter().map(|f| f.record.counters.timeouts).sum()).collect();
    if let (Some(&min), Some(&max)) = (timeouts.iter().min(), timeouts.iter().max()) {
        metrics.insert("timeouts_min", Metric::Count(min));
        metrics.insert("timeouts_mean", Metric::Real(mean(&timeouts)));
        metrics.insert("timeouts_max", Metric::Count(max));
    }
    metrics.insert("retransmissions_pkts", sum(|f| f.record.counters.retransmissions));
    metrics.insert("drops_pkts", total(|o| o.links.iter().map(|l| l.drops).sum()));
    metrics.insert("lost_pkts", total(|o| o.lost));
    metrics.insert("marks_pkts", total(|o| o.marks));
    metrics.insert("mark_cuts", sum(|f| f.record.counters.mark_cuts));
    metrics.extend(sharing::metrics(flows()));
    let simulated = outcomes.iter().map(|o| o.simulated).sum();
    metrics.insert("simulated_s", Metric::Real(seconds(simulated)));
    metrics.insert("packet_hops", total(|o| o.hops));
    metrics
}

/// A mean of independent flows.
type Mean = fn(&[Flow]) -> Option<f64>;

/// Half the width of the 95 % confidence interval of each mean, and what the intervals are over: `seeds`, or
/// `rounds` if there is one seed. Replications are independent; so are the rounds of a pattern, which are
/// drawn anew.
pub(crate) fn intervals(outcomes: &[Outcome]) -> (IndexMap<&'static str, f64>, &'static str) {
    let (over, groups): (_, Vec<&[Flow]>) = match outcomes {
        [] => ("rounds", Vec::new()),
        [one] => ("rounds", by_round(&one.flows).collect()),
        several => ("seeds", several.iter().map(|o| &o.flows[..]).filter(|f| !f.is_empty()).collect()),
    };
    let means: [(_, Mean); 4] = [
        ("goodput_mean_bps", |g| Some(mean(&g.iter().map(|f| f.record.goodput()).collect::<Vec<_>>()))),
        ("fct_mean_s", |g| Some(mean_seconds(&g.iter().map(completion).collect::<Vec<_>>()))),
        ("cwnd_mean_pkts", |g| mean_window(g.iter())),
        ("timeouts_mean", |g| {
            let timeouts: u64 = g.iter().map(|f| f.record.counters.timeouts).sum();
            Some(timeouts as f64 / by_round(g).count() as f64)
        }),
    ];
    let width = |(name, of): (_, Mean)| {
        let values: Vec<f64> = groups.iter().filter_map(|g| of(g)).collect();
        half_width_95(&values).map(|w| (name, w))
    };
    (means.into_iter().filter_map(width).collect(), over)
}

/// The flows of each round of one seed; they stand in the order of rounds.
fn by_round(flows: &[Flow]) -> impl Iterator<Item = &[Flow]> {
    flows.chunk_by(|a, b| a.round == b.round)
}

fn completion(flow: &Flow) -> Time {
    flow.record.end - flow.record.start
}

/// The mean window over all rounds of all subflows, packets; none if no round was counted.
fn mean_window<'a>(flows: impl Iterator<Item = &'a Flow>) -> Option<f64> {
    let counters = flows.map(|f| f.record.counters);
    let (rounds, windows) = counters.fold((0, 0), |(r, w), c| (r + c.rounds, w + c.windows));
    (rounds > 0).then(|| windows as f64 / rounds as f64)
}

fn mean(values: &[u64]) -> f64 {
    let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
    sum as f64 / values.len() as f64
}

fn mean_seconds(times: &[Time]) -> f64 {
    mean(times) / tresse_fabric::SECOND as f64
}

/// The smallest value that at least `percent` per cent of the values do not exceed.
pub(crate) fn percentile<T: Copy>(sorted: &[T], percent: usize) -> T {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// Half the width of the 95 % interval of the mean, by Student's t; none for fewer than two values.
fn half_width_95(values: &[f64]) -> Option<f64> {
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
    use tresse_fabric::{Locality, MILLISECOND};
    use tresse_sim::FlowRecord;

    use super::*;
    use crate::optimum::Optima;

    #[test]
    fn the_interval_is_students() {
        // 1, 2, 3: mean 2, s = 1, t(2) = 4.303, so 4.303 / sqrt(3).
        let width = half_width_95(&[1.0, 2.0, 3.0]).expect("three values");
        assert!((width - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(half_width_95(&[1.0]), None);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        assert_eq!([10, 50, 90, 100].map(|p| percentile(&values, p)), [10, 50, 90, 100]);
        assert_eq!(percentile(&[7], 10), 7);
    }

    /// A flow that took so many milliseconds, with that many timeouts, rounds and windows.
    fn flow(round: u32, ms: u64, timeouts: u64, rounds: u64, windows: u64) -> Flow {
        let mut record = FlowRecord {
            id: 0,
            bytes: 1500,
            start: 5 * MILLISECOND,
            end: (5 + ms) * MILLISECOND,
            opened: 1,
            closed: 1,
            counters: Default::default(),
        };
        record.counters.timeouts = timeouts;
        record.counters.rounds = rounds;
        record.counters.windows = windows;
        Flow { round, from: 0, to: 1, locality: Locality::InterRack, shares: Some(true), record }
    }

    fn outcome(flows: Vec<Flow>) -> Outcome {
        Outcome {
            complete: true,
            stuck: None,
            simulated: 0,
            hops: 0,
            lost: 0,
            marks: 0,
            flows,
            links: Vec::new(),
            optima: Optima::default(),
        }
    }

    #[test]
    fn completion_times_windows_and_timeouts_of_a_case() {
        let first = outcome(vec![flow(0, 1, 0, 4, 15), flow(0, 3, 1, 0, 0), flow(1, 2, 5, 1, 5)]);
        let second = outcome(vec![flow(0, 10, 2, 5, 20)]);
        let metrics = of(&[first.clone(), second.clone()]);
        let value = |name: &str| metrics[name].value();
        // 1, 2, 3 and 10 ms.
        assert_eq!(
            [0.004, 0.002, 0.010, 0.010],
            ["mean", "p50", "p99", "max"].map(|p| value(&format!("fct_{p}_s")))
        );
        assert_eq!(value("cwnd_mean_pkts"), 40.0 / 10.0);
        // Round 0 of the second seed is a round of its own: 1, 5 and 2 timeouts.
        assert_eq!((value("timeouts"), value("timeouts_min"), value("timeouts_max")), (8.0, 1.0, 5.0));
        assert_eq!(value("timeouts_mean"), 8.0 / 3.0);
        assert!(metrics.keys().all(|name| METRICS.contains(name)) && metrics.len() == METRICS.len());

        // Of one seed the intervals are over its rounds: 1 and 5; of several over seeds: 3 and 2 a round.
        let width = |outcomes: &[Outcome], name: &str| intervals(outcomes).0[name];
        assert_eq!(Some(width(std::slice::from_ref(&first), "timeouts_mean")), half_width_95(&[1.0, 5.0]));
        assert_eq!(Some(width(&[first, second], "timeouts_mean")), half_width_95(&[3.0, 2.0]));
    }

    #[test]
    fn without_flows_there_are_no_times() {
        let metrics = of(&[outcome(Vec::new())]);
        assert!(["fct_mean_s", "cwnd_mean_pkts", "timeouts_mean"].iter().all(|m| !metrics.contains_key(m)));
        assert_eq!(metrics["timeouts"], Metric::Count(0));
    }

    #[test]
    fn the_page_of_results_names_every_metric() {
        let page = include_str!("../../../docs/explain/results.md");
        for name in METRICS {
            assert!(page.contains(&format!("| `{name}` |")), "docs/explain/results.md: no row of {name}");
        }
    }
}
