//! How far rounds are from packets: a fixed set of experiments, each run both ways.

mod table;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tresse_experiment::Profile;
use tresse_results::Report;
use tresse_results::record::results::CaseResult;

use crate::cases::{Cases, Experiment};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::run::Request;

pub use table::{Summary, summaries};

/// The set, and the experiments that are only there.
const SUITE: &str = include_str!("../../../suites/fidelity.toml");
const OWN: [(&str, &str); 5] = [
    ("dumbbell", include_str!("../../../suites/fidelity/dumbbell.toml")),
    ("fair-hosts", include_str!("../../../suites/fidelity/fair-hosts.toml")),
    ("fat-tree-100g", include_str!("../../../suites/fidelity/fat-tree-100g.toml")),
    ("leaf-spine", include_str!("../../../suites/fidelity/leaf-spine.toml")),
    ("paths", include_str!("../../../suites/fidelity/paths.toml")),
];

/// The metrics that are compared.
const METRICS: [&str; 5] = ["goodput_mean_bps", "fct_p50_s", "fct_p99_s", "queue_mean_pkts", "timeouts"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    #[expect(dead_code, reason = "for people")]
    title: String,
    experiments: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    only: Vec<String>,
    #[serde(default)]
    set: Vec<String>,
}

/// A case, run both ways.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// The experiment's name.
    pub experiment: String,
    /// The case: its axes with their values.
    pub case: String,
    /// The case without its scheme: cases that differ in nothing else are ranked among each other.
    pub setting: String,
    /// Whether its schemes answer marks; otherwise they answer losses.
    pub marks: bool,
    /// Whether its flows come one by one.
    pub arrivals: bool,
    /// By metric: the values by packets and by rounds. Those that are 0 or absent by packets are left out.
    pub values: Vec<(String, [f64; 2])>,
}

/// The whole set.
#[derive(Debug, Clone, Serialize)]
pub struct Fidelity {
    /// `tresse/fidelity/1`.
    pub schema: &'static str,
    /// The cases, in the order of the set.
    pub cases: Vec<Compared>,
    /// Of each experiment: how long it took by packets and by rounds, seconds.
    pub seconds: Vec<(String, [f64; 2])>,
}

/// The names of the set's experiments.
pub fn names() -> Vec<String> {
    suite().into_iter().map(|entry| entry.name).collect()
}

fn suite() -> Vec<Entry> {
    toml::from_str::<Suite>(SUITE).expect("the program's own file").experiments
}

/// Runs the experiments of the set that are `only`, or all if that is empty. `tell` hears of each before it begins.
///
/// # Errors
/// A name that is not in the set; if results cannot be written; if it is interrupted.
pub fn run(
    only: &[String],
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(String),
) -> Result<Fidelity, Failure> {
    if let Some(unknown) = only.iter().find(|name| !names().contains(name)) {
        let message = format!("`{unknown}` is not in the set: {}", names().join(", "));
        return Err(Failure::Input(message));
    }
    let folder = tempfile::tempdir().map_err(|e| Failure::Input(format!("no temporary folder: {e}")))?;
    let mut all = Fidelity { schema: "tresse/fidelity/1", cases: Vec::new(), seconds: Vec::new() };
    let wanted = |entry: &Entry| only.is_empty() || only.contains(&entry.name);
    for entry in suite().into_iter().filter(wanted) {
        let mut both = Vec::new();
        for fidelity in ["packets", "rounds"] {
            tell(format!("{} by {fidelity}", entry.name));
            both.push(one(&entry, fidelity, folder.path(), interrupt)?);
        }
        let [(marks, packets), (_, rounds)] = &both[..] else { unreachable!("there are two") };
        all.seconds.push((entry.name.clone(), [packets.wall_s, rounds.wall_s]));
        let cases = packets.cases.iter().zip(&rounds.cases).zip(marks);
        all.cases
            .extend(cases.map(|((packets, rounds), marks)| compared(&entry.name, packets, rounds, *marks)));
    }
    Ok(all)
}

/// Of each case whether its schemes answer marks, and the results.
fn one(
    entry: &Entry,
    fidelity: &str,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<(Vec<bool>, Report), Failure> {
    let text = OWN.iter().find(|(name, _)| *name == entry.name).map(|(_, text)| (*text).to_owned());
    let set = entry.set.iter().cloned().chain([format!("fidelity={fidelity}")]).collect();
    let experiment = Experiment { name: entry.name.clone(), text, profile: Profile::Quick, set };
    let mut request = Request::of(Cases { experiment, only: entry.only.clone() });
    request.out = Some(folder.join(format!("{}-{fidelity}", entry.name.replace('/', "-"))));
    let prepared = request.prepare()?;
    let ecn = |case: &tresse_experiment::plan::Case| case.bound_schemes.iter().all(|own| own.transport.ecn);
    let marks = prepared.plan.cases.iter().map(ecn).collect();
    let report = prepared.run_until(interrupt, &crate::progress::none())?;
    Ok((marks, report))
}

fn compared(experiment: &str, packets: &CaseResult, rounds: &CaseResult, marks: bool) -> Compared {
    let axes = |without: &[&str]| {
        let kept =
            packets.case.iter().filter(|(axis, value)| !without.contains(&axis.as_str()) && !value.is_null());
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        kept.map(|(_, value)| text(value)).collect::<Vec<_>>().join(" ")
    };
    let value = |case: &CaseResult, name: &str| case.metrics.get(name).map(|own| own.value());
    let pair = |name: &&str| {
        let both = [value(packets, name)?, value(rounds, name)?];
        (both[0] > 0.0).then(|| ((*name).to_owned(), both))
    };
    Compared {
        experiment: experiment.to_owned(),
        case: axes(&[]),
        setting: axes(&["scheme", "subflows"]),
        marks,
        arrivals: packets.arrivals,
        values: METRICS.iter().filter_map(pair).collect(),
    }
}
