//! The metrics of a case: their names, and how they follow from the flows and ports.

pub mod by;
pub mod fairness;
mod flows;
pub mod intervals;
pub mod jct_jumps;
pub mod recovery;
pub mod summary;

use tresse_experiment::plan::Case;
use tresse_fabric::{Histogram, PfcCounters};
use tresse_sim::Mechanisms;
use tresse_units::{Time, seconds};
use tresse_workload::Job;

use crate::metric::flows::of_flows;
use crate::metric::intervals::by_round;
use crate::observe::{path_sharing_score, queues};
use tresse_results::record::convergence::Converged;
use tresse_results::record::flow::Flow;
use tresse_results::record::metric::{Metric, NamedMetrics, percentile};
use tresse_results::record::outcome::Outcome;

/// The metrics of a case; `outcomes` are its replications. Metrics of flows are missing before the first flow. A case that has
/// not been run has only the numbers of its flows.
pub(crate) fn of(outcomes: &[&Outcome]) -> NamedMetrics {
    let flows = || outcomes.iter().flat_map(|o| &o.flows);
    let mut metrics = of_flows(flows());
    if outcomes.is_empty() {
        metrics.retain(|name, _| name.ends_with("flows"));
        return metrics;
    }
    let rounds = outcomes.iter().flat_map(|o| by_round(&o.flows));
    let timeouts: Vec<u64> = rounds.map(|round| round.timeouts).collect();
    if let (Some(&min), Some(&max)) = (timeouts.iter().min(), timeouts.iter().max()) {
        metrics.insert("timeouts_min", Metric::Count(min));
        metrics.insert("timeouts_mean", Metric::Real(mean(&timeouts)));
        metrics.insert("timeouts_max", Metric::Count(max));
    }
    let total = |f: fn(&Outcome) -> u64| Metric::Count(outcomes.iter().map(|o| f(o)).sum());
    metrics.extend(of_rtts(outcomes.iter().flat_map(|o| &o.rtts)));
    metrics.extend(of_convergence(outcomes.iter().flat_map(|o| &o.converged)));
    metrics.extend(recovery::metrics(outcomes.iter().map(|o| &o.recoveries)));
    metrics.extend(queues::all(runs(outcomes)));
    metrics.insert("drops_pkts", total(|o| o.links.iter().map(|l| l.drops).sum()));
    metrics.insert("lost_pkts", total(|o| o.lost));
    metrics.insert("marks_pkts", total(|o| o.marks));
    if outcomes.iter().any(|o| o.trims > 0) {
        metrics.insert("trims_pkts", total(|o| o.trims));
    }
    metrics.extend(of_mechanisms(outcomes));
    metrics.extend(of_flow_control(outcomes.iter().flat_map(|o| &o.links).map(|l| l.pfc)));
    metrics.extend(path_sharing_score::metrics(flows()));
    metrics.extend(of_jobs(outcomes.iter().flat_map(|o| &o.jobs).map(|(_, job)| job)));
    metrics.insert("simulated_s", Metric::Real(seconds(outcomes.iter().map(|o| o.simulated).sum())));
    metrics.insert("packet_hops", total(|o| o.hops));
    metrics
}

/// How often mechanisms have acted, for those that are there.
pub(crate) fn of_mechanisms(outcomes: &[&Outcome]) -> NamedMetrics {
    let all = outcomes.iter().map(|o| o.mechanisms).fold(Mechanisms::default(), std::ops::Add::add);
    let metrics = [
        ("share_moves", all.share_moves),
        ("path_shifts", all.path_shifts),
        ("tuned_flows", all.tuned_flows),
    ];
    metrics.into_iter().filter_map(|(name, count)| Some((name, Metric::Count(count?)))).collect()
}

/// What flow control did to all ports; empty if it did nothing.
fn of_flow_control(ports: impl Iterator<Item = PfcCounters>) -> NamedMetrics {
    let all = ports.fold(PfcCounters::default(), |a, b| PfcCounters {
        pauses: a.pauses + b.pauses,
        paused: a.paused + b.paused,
        overflows: a.overflows + b.overflows,
    });
    let metrics = [
        ("pauses", Metric::Count(all.pauses)),
        ("paused_s", Metric::Real(seconds(all.paused))),
        ("headroom_drops_pkts", Metric::Count(all.overflows)),
    ];
    metrics.into_iter().filter(|_| all != PfcCounters::default()).collect()
}

/// What is known of the ports of each run.
fn runs<'a>(outcomes: &'a [&'a Outcome]) -> impl Iterator<Item = queues::Run<'a>> + Clone {
    outcomes.iter().map(|o| (&o.links[..], o.simulated, &o.queues[..]))
}

/// The load offered to a case by all of its parts that have one, by both definitions; empty if there is none.
pub(crate) fn offered(case: &Case) -> NamedMetrics {
    let offered: Vec<_> = case.parts.iter().filter_map(|p| p.pattern.offered).collect();
    if offered.is_empty() {
        return NamedMetrics::default();
    }
    let bisection = offered.iter().map(|o| o.rate / o.capacity.bisection).sum();
    let access = offered.iter().map(|o| o.rate / o.capacity.access).sum();
    [("offered_bisection_ratio", bisection), ("offered_access_ratio", access)]
        .map(|(name, ratio)| (name, Metric::Real(ratio)))
        .into_iter()
        .collect()
}

/// The RTTs of all these together; empty if there are none.
fn of_rtts<'a>(rtts: impl Iterator<Item = &'a Histogram>) -> NamedMetrics {
    let mut all = Histogram::new();
    rtts.for_each(|own| all.merge(own));
    let part = |percent| all.quantile(percent, 100).map(|rtt| Metric::Real(seconds(rtt)));
    let mean = all.mean().map(|mean| Metric::Real(mean / tresse_units::SECOND as f64));
    let values =
        [("rtt_mean_s", mean), ("rtt_p50_s", part(50)), ("rtt_p90_s", part(90)), ("rtt_p99_s", part(99))];
    let max = ("rtt_max_s", all.max().map(|rtt| Metric::Real(seconds(rtt))));
    values.into_iter().chain([max]).filter_map(|(name, value)| Some((name, value?))).collect()
}

/// How long subflows took to converge; empty if that was not observed.
fn of_convergence<'a>(all: impl Iterator<Item = &'a Converged>) -> NamedMetrics {
    let times: Vec<Option<Time>> = all.map(|c| c.convergence.time).collect();
    let converged: Vec<Time> = times.iter().flatten().copied().collect();
    let mut metrics = NamedMetrics::new();
    if let Some(&max) = converged.iter().max() {
        metrics.insert("convergence_mean_s", Metric::Real(mean_seconds(&converged)));
        metrics.insert("convergence_max_s", Metric::Real(seconds(max)));
    }
    if !times.is_empty() {
        metrics.insert("unconverged", Metric::Count((times.len() - converged.len()) as u64));
        metrics.insert("convergences", Metric::Count(times.len() as u64));
    }
    metrics
}

/// How many had a deadline, how many missed it, and their share; empty if none had one.
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

fn of_jobs<'a>(jobs: impl Iterator<Item = &'a Job>) -> NamedMetrics {
    let mut metrics = NamedMetrics::new();
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

/// The windows of all rounds of all subflows of some flows.
#[derive(Debug, Default)]
struct WindowSum {
    rounds: u64,
    /// Packets.
    windows: u64,
}

impl WindowSum {
    fn add(&mut self, flow: &Flow) {
        self.rounds += flow.record.counters.rounds;
        self.windows += flow.record.counters.windows;
    }

    /// The mean window, packets; none if no round was counted.
    fn mean(&self) -> Option<f64> {
        (self.rounds > 0).then(|| self.windows as f64 / self.rounds as f64)
    }
}

fn mean(values: &[u64]) -> f64 {
    let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
    sum as f64 / values.len() as f64
}

fn mean_seconds(times: &[Time]) -> f64 {
    mean(times) / tresse_units::SECOND as f64
}

#[cfg(test)]
mod tests {
    use crate::metric::intervals::half_width_95;
    use crate::metric::intervals::over_rounds;
    use crate::metric::intervals::over_seeds;
    use indexmap::IndexMap;
    use tresse_experiment::schema::metrics::{METRICS, Of, find};
    use tresse_experiment::schema::slice::is_total;
    use tresse_fabric::Locality;
    use tresse_sim::FlowRecord;
    use tresse_units::MILLISECOND;

    use super::*;
    use tresse_workload::Start;

    use tresse_experiment::plan::parts::Member;
    use tresse_results::record::flow::Begun;
    use tresse_results::record::optima::Optima;

    #[test]
    fn a_case_that_has_not_been_run_has_no_zeros_but_of_flows() {
        let names: Vec<&str> = of(&[]).into_keys().collect();
        assert!(names.contains(&"flows") && names.iter().all(|name| name.ends_with("flows")), "{names:?}");
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        assert_eq!([10, 50, 90, 100].map(|p| percentile(&values, p)), [10, 50, 90, 100]);
        assert_eq!(percentile(&[7], 10), 7);
    }

    /// A flow that took this many milliseconds, with that many timeouts, rounds and windows.
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
        let begun = Begun { part: 0, member: Member { bound_scheme: 0, group: 0 }, start };
        let ideal = Some(MILLISECOND);
        Flow { begun, locality: Locality::InterRack, shares: Some(true), ideal, record }
    }

    fn outcome(flows: Vec<Flow>) -> Outcome {
        Outcome {
            seed: 1,
            complete: true,
            stuck: None,
            died: None,
            simulated: 0,
            hops: 0,
            lost: 0,
            marks: 0,
            trims: 0,
            mechanisms: Mechanisms::default(),
            flows: flows.into_iter().collect(),
            jobs: Vec::new(),
            links: Vec::new(),
            queues: Vec::new(),
            rtts: Vec::new(),
            windows: IndexMap::new(),
            converged: Vec::new(),
            recoveries: Default::default(),
            optima: Optima::default(),
            packets_end: None,
        }
    }

    #[test]
    fn completion_times_windows_and_timeouts_of_a_case() {
        let first = outcome(vec![flow(0, 1, 0, 4, 15), flow(0, 3, 1, 0, 0), flow(1, 2, 5, 1, 5)]);
        let second = outcome(vec![flow(0, 10, 2, 5, 20)]);
        let metrics = of(&[&first, &second]);
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
        assert!(metrics.keys().all(|name| find(METRICS, name).is_some()));
        let names = METRICS.iter().map(|row| row.name);
        let missing: Vec<_> = names.filter(|name| !metrics.contains_key(name)).collect();
        let absent = [
            "deadline_",
            "jobs",
            "jct_",
            "job_",
            "offered_",
            "rtt_",
            "trims_pkts",
            "pauses",
            "paused_s",
            "headroom_drops_pkts",
            "share_moves",
            "path_shifts",
            "tuned_flows",
            "utilisation_",
            "queue_",
            "convergence_",
            "unconverged",
            "convergences",
            "recovery_time_",
            "flow_recovery_",
            "unrecovered",
        ];
        assert!(missing.iter().all(|m| absent.iter().any(|a| m.starts_with(a))), "{missing:?}");

        // Of one seed the intervals are over its rounds: 1 and 5; of several over seeds: 3 and 2 a round, 6 and 2 in all.
        let of_seed = |outcome: &Outcome| -> IndexMap<String, Metric> {
            of(&[outcome]).into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
        };
        let seeds = [of_seed(&first), of_seed(&second)];
        let width = |widths: IndexMap<String, f64>, name: &str| widths.get(name).copied();
        assert_eq!(width(over_rounds(&first.flows), "timeouts_mean"), half_width_95(&[1.0, 5.0]));
        assert_eq!(width(over_seeds(seeds.iter()), "timeouts_mean"), half_width_95(&[3.0, 2.0]));
        assert_eq!(width(over_seeds(seeds.iter()), "fct_p99_s"), half_width_95(&[0.003, 0.010]));
        assert_eq!(width(over_seeds(seeds.iter()), "timeouts"), half_width_95(&[12.0, 4.0]));
    }

    #[test]
    fn rounds_that_lack_a_part_have_no_interval() {
        let mut other = flow(0, 1, 0, 4, 15);
        other.begun.part = 1;
        let mut later = other;
        later.begun.start.round = 1;
        let alike = [other, later].into_iter().collect();
        assert!(over_rounds(&alike).contains_key("fct_mean_s"));
        let unlike = [flow(0, 1, 0, 4, 15), other, flow(1, 2, 5, 1, 5)].into_iter().collect();
        assert!(over_rounds(&unlike).is_empty());
    }

    #[test]
    fn totals_add_up_over_seeds_and_nothing_else_does() {
        let mut one = outcome(vec![flow(0, 1, 2, 4, 15), flow(0, 3, 1, 5, 10), flow(1, 2, 5, 1, 5)]);
        one.simulated = 7 * MILLISECOND;
        (one.hops, one.lost, one.marks, one.trims) = (11, 12, 13, 14);
        let of_one = of(&[&one]);
        for (name, value) in of(&[&one, &one]) {
            let single = of_one[name].value();
            let factor = if is_total(name) { 2.0 } else { 1.0 };
            assert_eq!(value.value(), factor * single, "{name}");
        }
    }

    #[test]
    fn parts_of_flows_have_the_metrics_that_are_of_flows() {
        let flows = of_flows((1..4).map(|i| flow(0, i, i, 1, 4)));
        for row in METRICS.iter().filter(|row| !row.name.starts_with("deadline_")) {
            assert_eq!(flows.contains_key(row.name), row.of == Of::Flows, "{}", row.name);
        }
    }

    #[test]
    fn without_flows_there_are_no_times() {
        let metrics = of(&[&outcome(Vec::new())]);
        assert!(["fct_mean_s", "cwnd_mean_pkts", "timeouts_mean"].iter().all(|m| !metrics.contains_key(m)));
        assert_eq!(metrics["timeouts"], Metric::Count(0));
    }
}
