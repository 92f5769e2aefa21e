//! The metrics of a case: what each is called, and how it follows from the flows and ports.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Serialize;
use tresse_fabric::{Time, seconds};
use tresse_workload::Job;

use crate::fairness::jain;
use crate::resolve::Case;
use crate::sharing;
use crate::unit::{Flow, Outcome};

/// The names of all metrics; every one ends in its unit, counts have none. `docs/explain/results.md` says
/// what each means.
pub const METRICS: &[&str] = &[
    "goodput_mean_bps",
    "goodput_p10_bps",
    "goodput_p50_bps",
    "goodput_p90_bps",
    "goodput_min_bps",
    "goodput_max_bps",
    "goodput_total_bps",
    "jain_ratio",
    "fct_mean_s",
    "fct_p50_s",
    "fct_p99_s",
    "fct_max_s",
    "slowdown_mean_ratio",
    "slowdown_p50_ratio",
    "slowdown_p99_ratio",
    "cwnd_mean_pkts",
    "subflows_opened_mean",
    "flows",
    "unfinished_flows",
    "deadline_flows",
    "deadline_misses",
    "deadline_miss_ratio",
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
    "jobs",
    "jct_mean_s",
    "jct_p50_s",
    "jct_p99_s",
    "jct_max_s",
    "job_deadline_miss_ratio",
    "offered_bisection_ratio",
    "offered_access_ratio",
    "simulated_s",
    "packet_hops",
];

/// Metrics by name.
pub type Metrics = IndexMap<&'static str, Metric>;

/// Metrics of parts, by what divides them and by the part's name.
pub type By = IndexMap<&'static str, IndexMap<String, Metrics>>;

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
pub(crate) fn of(outcomes: &[Outcome]) -> Metrics {
    let flows: Vec<&Flow> = outcomes.iter().flat_map(|o| &o.flows).collect();
    let mut metrics = of_flows(&flows);
    let rounds = outcomes.iter().flat_map(|o| by_round(&o.flows));
    let timeouts: Vec<u64> = rounds.map(|r| r.iter().map(|f| f.record.counters.timeouts).sum()).collect();
    if let (Some(&min), Some(&max)) = (timeouts.iter().min(), timeouts.iter().max()) {
        metrics.insert("timeouts_min", Metric::Count(min));
        metrics.insert("timeouts_mean", Metric::Real(mean(&timeouts)));
        metrics.insert("timeouts_max", Metric::Count(max));
    }
    let total = |f: fn(&Outcome) -> u64| Metric::Count(outcomes.iter().map(f).sum());
    metrics.insert("drops_pkts", total(|o| o.links.iter().map(|l| l.drops).sum()));
    metrics.insert("lost_pkts", total(|o| o.lost));
    metrics.insert("marks_pkts", total(|o| o.marks));
    metrics.extend(sharing::metrics(flows.iter().copied()));
    metrics.extend(of_jobs(outcomes.iter().flat_map(|o| &o.jobs).map(|(_, job)| job)));
    metrics.insert("simulated_s", Metric::Real(seconds(outcomes.iter().map(|o| o.simulated).sum())));
    metrics.insert("packet_hops", total(|o| o.hops));
    metrics
}

/// The load that is offered to a case, on either definition; nothing if there is none.
pub(crate) fn offered(case: &Case) -> Metrics {
    let offered = case.parts.iter().filter_map(|p| p.pattern.offered);
    offered
        .flat_map(|o| {
            [
                ("offered_bisection_ratio", Metric::Real(o.rate / o.capacity.bisection)),
                ("offered_access_ratio", Metric::Real(o.rate / o.capacity.access)),
            ]
        })
        .collect()
}

/// What is told of flows, all or some.
fn of_flows(flows: &[&Flow]) -> Metrics {
    let mut metrics = Metrics::new();
    let mut goodput: Vec<u64> = flows.iter().map(|f| f.record.goodput()).collect();
    goodput.sort_unstable();
    if let (Some(&min), Some(&max)) = (goodput.first(), goodput.last()) {
        metrics.insert("goodput_mean_bps", Metric::Real(mean(&goodput)));
        for (name, percent) in [("goodput_p10_bps", 10), ("goodput_p50_bps", 50), ("goodput_p90_bps", 90)] {
            metrics.insert(name, Metric::Count(percentile(&goodput, percent)));
        }
        metrics.insert("goodput_min_bps", Metric::Count(min));
        metrics.insert("goodput_max_bps", Metric::Count(max));
        metrics.insert("goodput_total_bps", Metric::Count(goodput.iter().sum()));
        metrics.extend(jain(goodput.iter().map(|&g| g as f64)).map(|j| ("jain_ratio", Metric::Real(j))));
    }
    let mut fct: Vec<Time> = flows.iter().filter_map(|f| f.completion()).collect();
    fct.sort_unstable();
    if !fct.is_empty() {
        metrics.insert("fct_mean_s", Metric::Real(mean_seconds(&fct)));
        for (name, percent) in [("fct_p50_s", 50), ("fct_p99_s", 99), ("fct_max_s", 100)] {
            metrics.insert(name, Metric::Real(seconds(percentile(&fct, percent))));
        }
    }
    let mut slowdown: Vec<f64> = flows.iter().filter_map(|f| f.slowdown()).collect();
    slowdown.sort_by(f64::total_cmp);
    if !slowdown.is_empty() {
        let mean = slowdown.iter().sum::<f64>() / slowdown.len() as f64;
        metrics.insert("slowdown_mean_ratio", Metric::Real(mean));
        for (name, percent) in [("slowdown_p50_ratio", 50), ("slowdown_p99_ratio", 99)] {
            metrics.insert(name, Metric::Real(percentile(&slowdown, percent)));
        }
    }
    if !flows.is_empty() {
        let window = mean_window(flows.iter().copied());
        metrics.extend(window.map(|w| ("cwnd_mean_pkts", Metric::Real(w))));
        let opened: Vec<u64> = flows.iter().map(|f| f.record.opened.into()).collect();
        metrics.insert("subflows_opened_mean", Metric::Real(mean(&opened)));
    }
    let sum = |f: fn(&Flow) -> u64| Metric::Count(flows.iter().map(|flow| f(flow)).sum());
    metrics.insert("flows", Metric::Count(flows.len() as u64));
    metrics.insert("unfinished_flows", sum(|f| (!f.record.complete).into()));
    let missed: Vec<bool> = flows.iter().filter_map(|f| f.missed()).collect();
    metrics.extend(misses(&missed, ["deadline_flows", "deadline_misses", "deadline_miss_ratio"]));
    metrics.insert("delivered_bytes", sum(|f| f.record.bytes));
    metrics.insert("timeouts", sum(|f| f.record.counters.timeouts));
    metrics.insert("retransmissions_pkts", sum(|f| f.record.counters.retransmissions));
    metrics.insert("mark_cuts", sum(|f| f.record.counters.mark_cuts));
    metrics
}

/// How many had a deadline, how many missed it, and what share that is; nothing if none had one.
fn misses(missed: &[bool], [of, misses, ratio]: [&'static str; 3]) -> Vec<(&'static str, Metric)> {
    let n = missed.iter().filter(|m| **m).count();
    match missed.len() {
        0 => Vec::new(),
        all => vec![
            (of, Metric::Count(all as u64)),
            (misses, Metric::Count(n as u64)),
            (ratio, Metric::Real(n as f64 / all as f64)),
        ],
    }
}

fn of_jobs<'a>(jobs: impl Iterator<Item = &'a Job>) -> Metrics {
    let mut metrics = Metrics::new();
    let jobs: Vec<&Job> = jobs.collect();
    let mut times: Vec<Time> = jobs.iter().map(|j| j.end - j.start).collect();
    times.sort_unstable();
    if times.is_empty() {
        return metrics;
    }
    metrics.insert("jobs", Metric::Count(times.len() as u64));
    metrics.insert("jct_mean_s", Metric::Real(mean_seconds(&times)));
    for (name, percent) in [("jct_p50_s", 50), ("jct_p99_s", 99), ("jct_max_s", 100)] {
        metrics.insert(name, Metric::Real(seconds(percentile(&times, percent))));
    }
    let missed: Vec<bool> = jobs.iter().filter_map(|j| Some(j.end > j.deadline?)).collect();
    let names = ["", "", "job_deadline_miss_ratio"];
    metrics.extend(misses(&missed, names).into_iter().filter(|(name, _)| !name.is_empty()));
    metrics
}

/// The size classes of results, by their largest size, bytes.
const SIZES: [(&str, u64); 4] = [
    ("up to 10kB", 10_000),
    ("10kB to 100kB", 100_000),
    ("100kB to 1MB", 1_000_000),
    ("above 1MB", u64::MAX),
];

/// The metrics of parts of the flows. A division into one part only is left out.
pub(crate) fn by(groups: &[String], outcomes: &[Outcome]) -> By {
    type Name<'a> = &'a dyn Fn(&Flow) -> Option<String>;
    let size = |f: &Flow| {
        let bytes = f.begun.start.bytes?;
        SIZES.iter().find(|(_, most)| bytes <= *most).map(|(name, _)| (*name).to_owned())
    };
    let divisions: [(&'static str, Vec<String>, Name); 3] = [
        ("group", groups.to_vec(), &|f| Some(groups[f.begun.member.group].clone())),
        ("distance", ["inner-rack", "inter-rack", "inter-pod"].map(str::to_owned).to_vec(), &|f| {
            Some(f.locality.name().to_owned())
        }),
        ("size", SIZES.iter().map(|(name, _)| (*name).to_owned()).collect(), &size),
    ];
    let mut by = By::new();
    for (division, names, name) in divisions {
        let mut parts: BTreeMap<String, Vec<&Flow>> = BTreeMap::new();
        for flow in outcomes.iter().flat_map(|o| &o.flows) {
            if let Some(name) = name(flow) {
                parts.entry(name).or_default().push(flow);
            }
        }
        if parts.len() < 2 {
            continue;
        }
        let part = |name: String| parts.get(&name).map(|flows| (name.clone(), of_flows(flows)));
        by.insert(division, names.into_iter().filter_map(part).collect());
    }
    by
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
        ("fct_mean_s", |g| {
            let times: Vec<Time> = g.iter().filter_map(Flow::completion).collect();
            (!times.is_empty()).then(|| mean_seconds(&times))
        }),
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
    flows.chunk_by(|a, b| a.begun.start.round == b.begun.start.round)
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
    use tresse_workload::Start;

    use crate::optimum::Optima;
    use crate::unit::Begun;
    use crate::workloads::Member;

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
            complete: true,
            start: 5 * MILLISECOND,
            end: (5 + ms) * MILLISECOND,
            opened: 1,
            closed: 1,
            counters: Default::default(),
        };
        record.counters.timeouts = timeouts;
        record.counters.rounds = rounds;
        record.counters.windows = windows;
        let start = Start { name: 0, from: 0, to: 1, bytes: Some(1500), round, job: None, deadline: None };
        let begun = Begun { part: 0, member: Member { carrier: 0, group: 0 }, start };
        let ideal = Some(MILLISECOND);
        Flow { begun, locality: Locality::InterRack, shares: Some(true), ideal, record }
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
            jobs: Vec::new(),
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
        assert!(metrics.keys().all(|name| METRICS.contains(name)));
        let missing: Vec<_> = METRICS.iter().filter(|m| !metrics.contains_key(*m)).copied().collect();
        let absent = ["deadline_", "jobs", "jct_", "job_", "offered_"];
        assert!(missing.iter().all(|m| absent.iter().any(|a| m.starts_with(a))), "{missing:?}");

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
