//! The quantities that both sides have, and the differences allowed.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tresse_lab::metric::intervals::half_width_95;
use tresse_results::{CaseResult, Metrics, Report};

use super::sampled::{Samples, Sums, samples};
use crate::failure::Failure;

/// A case on both sides.
#[derive(Debug, Serialize)]
pub struct TwinCase {
    pub case: IndexMap<String, Value>,
    /// Its readable name.
    pub label: String,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// A quantity on both sides.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What it belongs to: `all`, a group of flows, a subflow of a group's flows, a port.
    pub of: String,
    /// What it is.
    pub quantity: &'static str,
    pub unit: &'static str,
    /// In the simulator.
    pub simulated: Number,
    /// On real hosts.
    pub real: Number,
    /// Real minus simulated, in the unit.
    pub difference: f64,
    /// The same as a share of the simulated value; null if that is 0.
    pub relative: Option<f64>,
    /// The allowed difference; null if there is none.
    pub target: Option<Target>,
    /// Whether the difference matters in the unit, not in per cent.
    #[serde(skip)]
    pub absolute: bool,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Number {
    pub mean: f64,
    /// Half its 95 % interval; null with one seed.
    pub ci95: Option<f64>,
}

/// An allowed difference.
#[derive(Debug, Serialize)]
pub struct Target {
    /// In words.
    pub within: &'static str,
    /// Whether the difference is within it.
    pub holds: bool,
}

/// An allowed difference, in the row's unit or relative to the simulated value.
#[derive(Clone, Copy)]
enum Bound {
    /// Any difference.
    None,
    Relative(f64, &'static str),
    Absolute(f64, &'static str),
}

const RATE: Bound = Bound::Relative(0.10, "10 %");
const SHARE: Bound = Bound::Absolute(5.0, "5 points");
const QUEUE: Bound = Bound::Absolute(2.0, "2 packets");

/// A port that is less utilised than this on both sides says little about queues.
const BUSY: f64 = 0.5;

/// A quantity with its unit, the factor from the metric's unit to it, and the allowed difference.
type Kind = (&'static str, &'static str, f64, Bound);

/// Metrics of flows.
const METRICS: [(&str, Kind); 12] = [
    ("goodput_mean_bps", ("rate", "Mbit/s", 1e-6, RATE)),
    ("fct_mean_s", ("completion time, mean", "ms", 1e3, Bound::None)),
    ("fct_p99_s", ("completion time, 99 %", "ms", 1e3, Bound::None)),
    ("jct_mean_s", ("job completion time", "ms", 1e3, Bound::None)),
    ("marks_pkts", ("CE marks", "packets", 1.0, Bound::None)),
    ("drops_pkts", ("drops", "packets", 1.0, Bound::None)),
    ("retransmissions_pkts", ("retransmissions", "packets", 1.0, Bound::None)),
    ("timeouts", ("timeouts", "", 1.0, Bound::None)),
    ("terminated_flows", ("flows with a closed subflow", "", 1.0, Bound::None)),
    ("sharing_precision_ratio", ("precision of path sharing", "%", 100.0, Bound::None)),
    ("sharing_recall_ratio", ("recall of path sharing", "%", 100.0, Bound::None)),
    ("utilisation_max_ratio", ("utilisation, busiest port", "%", 100.0, Bound::None)),
];

/// The cases that both runs have.
///
/// # Errors
/// If the samples of a run cannot be read.
pub fn compare(simulated: &Report, real: &Report) -> Result<Vec<TwinCase>, Failure> {
    let mut cases = Vec::new();
    for own in &simulated.cases {
        let Some(other) = real.cases.iter().find(|other| other.case == own.case) else { continue };
        let sampled = [samples(simulated.out.as_ref(), own)?, samples(real.out.as_ref(), other)?];
        let mut rows = Rows(Vec::new());
        rows.metrics("all", &[own, other].map(seeds));
        rows.groups(own, other);
        rows.subflows(&sampled);
        rows.ports(&sampled);
        cases.push(TwinCase { case: own.case.clone(), label: own.label(), rows: rows.0 });
    }
    Ok(cases)
}

/// The metrics of the whole case under each seed.
fn seeds(case: &CaseResult) -> Vec<&Metrics> {
    match case.seeds.is_empty() {
        true => vec![&case.metrics],
        false => case.seeds.iter().map(|seed| &seed.metrics).collect(),
    }
}

/// The metrics of a group.
fn of_group<'a>(case: &'a CaseResult, group: &str) -> Vec<&'a Metrics> {
    match case.seeds.is_empty() {
        true => case.by.get("group").and_then(|by| by.get(group)).into_iter().collect(),
        false => {
            let of = |seed: &'a tresse_results::record::results::SeedResult| seed.by.get("group")?.get(group);
            case.seeds.iter().filter_map(of).collect()
        }
    }
}

struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, of: &str, (quantity, unit, factor, bound): Kind, [left, right]: [&[f64]; 2]) {
        if left.is_empty() || right.is_empty() {
            return;
        }
        let [simulated, real] = [left, right].map(|values| {
            let values: Vec<f64> = values.iter().map(|value| value * factor).collect();
            Number {
                mean: values.iter().sum::<f64>() / values.len() as f64,
                ci95: (values.len() > 1).then(|| half_width_95(&values)).flatten(),
            }
        });
        let difference = real.mean - simulated.mean;
        let relative = (simulated.mean != 0.0).then(|| difference / simulated.mean);
        let target = match bound {
            Bound::None => None,
            Bound::Relative(most, within) => {
                relative.map(|relative| Target { within, holds: relative.abs() <= most })
            }
            Bound::Absolute(most, within) => Some(Target { within, holds: difference.abs() <= most }),
        };
        let (of, absolute) = (of.to_owned(), matches!(bound, Bound::Absolute(..)));
        self.0.push(Row { of, quantity, unit, simulated, real, difference, relative, target, absolute });
    }

    fn metrics(&mut self, of: &str, seeds: &[Vec<&Metrics>; 2]) {
        for (name, kind) in METRICS {
            let [left, right] = seeds.each_ref().map(|seeds| {
                let values = seeds.iter().filter_map(|metrics| Some(metrics.get(name)?.value()));
                values.collect::<Vec<f64>>()
            });
            let is_count = matches!(name, "drops_pkts" | "retransmissions_pkts" | "timeouts" | "marks_pkts");
            if is_count && left.iter().chain(&right).all(|count| *count == 0.0) {
                continue;
            }
            self.add(of, kind, [&left, &right]);
        }
    }

    /// The rates and shares of groups of flows.
    fn groups(&mut self, own: &CaseResult, other: &CaseResult) {
        let Some(groups) = own.by.get("group").filter(|groups| groups.len() > 1) else { return };
        let totals = |case, group: &str| -> Vec<f64> {
            let value = |metrics: &&Metrics| metrics.get("goodput_total_bps").map_or(0.0, |own| own.value());
            of_group(case, group).iter().map(value).collect()
        };
        for group in groups.keys() {
            let of = format!("group {group}");
            let rates = [own, other].map(|case| {
                let value = |metrics: &&Metrics| Some(metrics.get("goodput_mean_bps")?.value());
                of_group(case, group).iter().filter_map(value).collect::<Vec<f64>>()
            });
            self.add(&of, ("rate", "Mbit/s", 1e-6, RATE), [&rates[0], &rates[1]]);
            let shares = [own, other].map(|case| {
                let all: Vec<Vec<f64>> = groups.keys().map(|group| totals(case, group)).collect();
                let share = |(place, own): (usize, f64)| {
                    own / all.iter().filter_map(|of| of.get(place)).sum::<f64>().max(1e-9)
                };
                totals(case, group).into_iter().enumerate().map(share).collect::<Vec<f64>>()
            });
            self.add(&of, ("share of all", "%", 100.0, SHARE), [&shares[0], &shares[1]]);
        }
    }

    /// Windows, RTTs and shares of subflows.
    fn subflows(&mut self, [left, right]: &[Samples; 2]) {
        for ((group, subflow), own) in &left.subflows {
            let Some(other) = right.subflows.get(&(group.clone(), *subflow)) else { continue };
            let siblings = left.subflows.keys().filter(|(name, _)| name == group).count();
            let flows = if group.is_empty() { "all" } else { group };
            let of = if siblings > 1 { format!("{flows}, subflow {subflow}") } else { flows.to_owned() };
            if siblings > 1 {
                let shares = [left, right].map(|side| {
                    let all = side.subflows.iter().filter(|((name, _), _)| name == group);
                    let all: Vec<Vec<f64>> = all.map(|(_, own)| own.bytes.sums()).collect();
                    let own = side.subflows[&(group.clone(), *subflow)].bytes.sums();
                    let share = |(place, own): (usize, f64)| {
                        own / all.iter().filter_map(|of| of.get(place)).sum::<f64>().max(1e-9)
                    };
                    own.into_iter().enumerate().map(share).collect::<Vec<f64>>()
                });
                let kind = ("share of its flow", "%", 100.0, SHARE);
                self.add(&of, kind, [&shares[0], &shares[1]]);
            }
            let means = |own: &Sums, other: &Sums| [own.means(), other.means()];
            let [a, b] = means(&own.cwnd, &other.cwnd);
            self.add(&of, ("window", "packets", 1.0, Bound::None), [&a, &b]);
            let [a, b] = means(&own.srtt, &other.srtt);
            self.add(&of, ("RTT", "us", 1e6, Bound::None), [&a, &b]);
        }
    }

    /// The queues of busy ports.
    fn ports(&mut self, [left, right]: &[Samples; 2]) {
        for (port, (queue, used)) in &left.ports {
            let Some((other_queue, other_used)) = right.ports.get(port) else { continue };
            let mean = |used: &Sums| used.means().iter().sum::<f64>() / used.means().len().max(1) as f64;
            if mean(used).max(mean(other_used)) < BUSY {
                continue;
            }
            let of = format!("port {port}");
            let (a, b) = (queue.means(), other_queue.means());
            self.add(&of, ("queue", "packets", 1.0, QUEUE), [&a, &b]);
            let (a, b) = (used.means(), other_used.means());
            self.add(&of, ("utilisation", "%", 100.0, Bound::None), [&a, &b]);
        }
    }
}
