//! The quantities of one side of a twin, and how far the other may be from them.

use indexmap::IndexMap;
use serde_json::Value;
use tresse_results::{CaseResult, Metrics, Report};

use super::sampled::{Samples, Sums, samples};
use crate::failure::Failure;

/// A case on one side.
#[derive(Debug)]
pub(super) struct Side {
    pub case: IndexMap<String, Value>,
    pub label: String,
    pub quantities: Vec<Quantity>,
}

/// A quantity on one side.
#[derive(Debug)]
pub(super) struct Quantity {
    /// What it belongs to: `all`, a group of flows, a subflow of a group's flows, a port.
    pub of: String,
    pub kind: Kind,
    /// Its value under each seed, in its unit.
    pub values: Vec<f64>,
    /// Whether it says something: a count that is not 0, a queue at a port that is busy.
    pub matters: bool,
}

/// What a quantity is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub name: &'static str,
    pub unit: &'static str,
    /// From the metric's unit to its own.
    factor: f64,
    pub bound: Bound,
}

/// How far the other side may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    /// However far.
    None,
    /// This share of the prediction.
    Relative(f64, &'static str),
    /// This much, in the unit.
    Absolute(f64, &'static str),
    /// This much, or this share of the prediction if that is more.
    Larger(f64, f64, &'static str),
}

const fn kind(name: &'static str, unit: &'static str, factor: f64, bound: Bound) -> Kind {
    Kind { name, unit, factor, bound }
}

const TENTH: Bound = Bound::Relative(0.10, "10 %");
const FIFTH: Bound = Bound::Relative(0.20, "20 %");
const SHARE: Bound = Bound::Absolute(5.0, "5 points");
/// Two packets of a marked queue of twenty, twenty of a full one of two hundred.
const QUEUE: Bound = Bound::Larger(2.0, 0.10, "2 packets or 10 %");

const RATE: Kind = kind("rate", "Mbit/s", 1e-6, TENTH);

/// A port that is less utilised than this on both sides says little about queues.
const BUSY: f64 = 0.5;

/// Metrics of flows. A percentile of completion times is as uncertain as few flows are: twice the bound of a median.
const METRICS: [(&str, Kind); 13] = [
    ("goodput_mean_bps", RATE),
    ("fct_mean_s", kind("completion time, mean", "ms", 1e3, Bound::None)),
    ("fct_p50_s", kind("completion time, median", "ms", 1e3, TENTH)),
    ("fct_p99_s", kind("completion time, 99 %", "ms", 1e3, FIFTH)),
    ("jct_mean_s", kind("job completion time", "ms", 1e3, TENTH)),
    ("marks_pkts", kind("CE marks", "packets", 1.0, FIFTH)),
    ("drops_pkts", kind("drops", "packets", 1.0, Bound::None)),
    ("retransmissions_pkts", kind("retransmissions", "packets", 1.0, Bound::None)),
    ("timeouts", kind("timeouts", "", 1.0, Bound::None)),
    ("terminated_flows", kind("flows with a closed subflow", "", 1.0, Bound::None)),
    ("sharing_precision_ratio", kind("precision of path sharing", "%", 100.0, Bound::None)),
    ("sharing_recall_ratio", kind("recall of path sharing", "%", 100.0, Bound::None)),
    ("utilisation_max_ratio", kind("utilisation, busiest port", "%", 100.0, Bound::None)),
];

/// Metrics that are counts: they say nothing if they are 0 on both sides.
const COUNTS: [&str; 4] = ["drops_pkts", "retransmissions_pkts", "timeouts", "marks_pkts"];

/// The cases of a run.
///
/// # Errors
/// If its samples cannot be read.
pub(super) fn side(run: &Report) -> Result<Vec<Side>, Failure> {
    let of = |case: &CaseResult| {
        let mut own = Quantities(Vec::new());
        own.metrics("all", &seeds(case));
        own.groups(case);
        let samples = samples(run.out.as_ref(), case)?;
        own.subflows(&samples);
        own.ports(&samples);
        Ok(Side { case: case.case.clone(), label: case.label(), quantities: own.0 })
    };
    run.cases.iter().map(of).collect()
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

struct Quantities(Vec<Quantity>);

impl Quantities {
    fn add(&mut self, of: &str, kind: Kind, values: &[f64]) {
        self.add_if(true, of, kind, values);
    }

    /// Adds a quantity that says something or does not.
    fn add_if(&mut self, matters: bool, of: &str, kind: Kind, values: &[f64]) {
        if !values.is_empty() {
            let values = values.iter().map(|value| value * kind.factor).collect();
            self.0.push(Quantity { of: of.to_owned(), kind, values, matters });
        }
    }

    fn metrics(&mut self, of: &str, seeds: &[&Metrics]) {
        for (name, kind) in METRICS {
            let values: Vec<f64> =
                seeds.iter().filter_map(|metrics| Some(metrics.get(name)?.value())).collect();
            let matters = !COUNTS.contains(&name) || values.iter().any(|count| *count > 0.0);
            self.add_if(matters, of, kind, &values);
        }
    }

    /// The rates and shares of groups of flows.
    fn groups(&mut self, case: &CaseResult) {
        let Some(groups) = case.by.get("group").filter(|groups| groups.len() > 1) else { return };
        let totals = |group: &str| -> Vec<f64> {
            let value = |metrics: &&Metrics| metrics.get("goodput_total_bps").map_or(0.0, |own| own.value());
            of_group(case, group).iter().map(value).collect()
        };
        let all: Vec<Vec<f64>> = groups.keys().map(|group| totals(group)).collect();
        for (place, (group, own)) in groups.keys().zip(&all).enumerate() {
            let of = format!("group {group}");
            let value = |metrics: &&Metrics| Some(metrics.get("goodput_mean_bps")?.value());
            let rates: Vec<f64> = of_group(case, group).iter().filter_map(value).collect();
            self.add(&of, RATE, &rates);
            self.add(
                &of,
                kind("share of all", "%", 100.0, share_bound(place, all.len())),
                &shares(own, &all),
            );
        }
    }

    /// Windows, RTTs and shares of subflows.
    fn subflows(&mut self, samples: &Samples) {
        for ((group, subflow), own) in &samples.subflows {
            let siblings = || samples.subflows.iter().filter(|((name, _), _)| name == group);
            let place = siblings().take_while(|((_, other), _)| other != subflow).count();
            let flows = if group.is_empty() { "all" } else { group };
            let mut of = flows.to_owned();
            if siblings().count() > 1 {
                of = format!("{flows}, subflow {subflow}");
                let all: Vec<Vec<f64>> = siblings().map(|(_, own)| own.bytes.sums()).collect();
                let kind = kind("share of its flow", "%", 100.0, share_bound(place, all.len()));
                self.add(&of, kind, &shares(&own.bytes.sums(), &all));
            }
            self.add(&of, kind("window", "packets", 1.0, Bound::None), &own.cwnd.means());
            self.add(&of, kind("RTT", "us", 1e6, Bound::None), &own.srtt.means());
        }
    }

    /// The queues of ports.
    fn ports(&mut self, samples: &Samples) {
        for (port, (queue, used)) in &samples.ports {
            let of = format!("port {port}");
            let matters = mean(used) >= BUSY;
            self.add_if(matters, &of, kind("queue", "packets", 1.0, QUEUE), &queue.means());
            self.add_if(matters, &of, kind("utilisation", "%", 100.0, Bound::None), &used.means());
        }
    }
}

/// The second of two shares says what the first one says.
fn share_bound(place: usize, of: usize) -> Bound {
    if (place, of) == (1, 2) { Bound::None } else { SHARE }
}

/// Under each seed, the share that `own` has of `all`.
fn shares(own: &[f64], all: &[Vec<f64>]) -> Vec<f64> {
    let share =
        |(place, own): (usize, &f64)| own / all.iter().filter_map(|of| of.get(place)).sum::<f64>().max(1e-9);
    own.iter().enumerate().map(share).collect()
}

fn mean(sums: &Sums) -> f64 {
    sums.means().iter().sum::<f64>() / sums.means().len().max(1) as f64
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_shares_has_no_target() {
        assert_eq!([share_bound(0, 2), share_bound(1, 2)], [SHARE, Bound::None]);
        assert_eq!([share_bound(1, 3), share_bound(2, 3)], [SHARE, SHARE]);
    }

    /// A case of a scheme with one quantity.
    pub fn side(scheme: &str, quantity: &str, values: &[f64]) -> Side {
        let (_, kind) = METRICS.into_iter().find(|(_, kind)| kind.name == quantity).expect("a metric");
        let own = Quantity { of: "all".to_owned(), kind, values: values.to_vec(), matters: true };
        let case = IndexMap::from([("scheme".to_owned(), Value::from(scheme))]);
        Side { case, label: scheme.to_owned(), quantities: vec![own] }
    }
}
