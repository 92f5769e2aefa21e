//! Two runs against each other, case by case.

use std::fmt::{self, Write};

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tresse_experiment::keys::claims::Verdict;
use tresse_lab::{CaseResult, Finished, Metrics, Status};
use tresse_reproduction::metric_display;

use crate::failure::Failure;
use crate::table::Table;
use crate::width::sentence;

/// What `tresse compare RUN RUN --json` prints.
#[derive(Debug, Serialize)]
pub struct Pairs {
    /// `tresse/compare/1`.
    schema: &'static str,
    /// What the first run is compared with: `run`.
    against: &'static str,
    experiments: Vec<Pair>,
    /// Experiments that one of the runs of a paper lacks, and which.
    missing: Vec<String>,
}

/// An experiment that both have run.
#[derive(Debug, Serialize)]
struct Pair {
    experiment: String,
    left: Side,
    right: Side,
    /// What differs besides results: the experiment, the profile, the version; a line for each.
    notes: Vec<String>,
    cases: Vec<CasePair>,
    claims: Vec<ClaimPair>,
    /// The metrics of the table for people.
    #[serde(skip)]
    shown: Vec<String>,
}

/// One of the two runs.
#[derive(Debug, Serialize)]
struct Side {
    run: String,
    profile: String,
    seed: u64,
    digest: String,
}

/// A case that both have.
#[derive(Debug, Serialize)]
struct CasePair {
    case: IndexMap<String, Value>,
    /// Of the whole case.
    metrics: IndexMap<String, ValuePair>,
    /// Of its parts, as in `tresse/run/1`.
    by: IndexMap<String, IndexMap<String, IndexMap<String, ValuePair>>>,
    #[serde(skip)]
    label: String,
}

/// A metric in both.
#[derive(Debug, Serialize)]
struct ValuePair {
    left: f64,
    left_ci95: Option<f64>,
    right: f64,
    right_ci95: Option<f64>,
    /// Right over left; null if left is 0.
    ratio: Option<f64>,
    /// Whether the 95 % intervals have nothing in common; null if one of the two has none.
    apart: Option<bool>,
}

/// A claim in both.
#[derive(Debug, Serialize)]
struct ClaimPair {
    id: String,
    text: String,
    left: Verdict,
    left_value: Option<f64>,
    right: Verdict,
    right_value: Option<f64>,
}

/// What the table shows if the experiment's file names no metrics.
const USUAL: [&str; 9] = [
    "goodput_mean_bps",
    "goodput_p10_bps",
    "goodput_p90_bps",
    "fct_mean_s",
    "fct_p99_s",
    "jct_mean_s",
    "jct_p99_s",
    "timeouts",
    "retransmissions_pkts",
];

/// Compares the runs of the experiments that both have; a single run goes with a single one, whatever they are of.
pub fn compare(left: &[Finished], right: &[Finished]) -> Pairs {
    let mut pairs =
        Pairs { schema: "tresse/compare/1", against: "run", experiments: Vec::new(), missing: Vec::new() };
    if let ([left], [right]) = (left, right) {
        pairs.experiments.push(pair(left, right));
        return pairs;
    }
    let name = |run: &Finished| run.report.experiment.clone();
    for own in left {
        match right.iter().find(|other| name(other) == name(own)) {
            Some(other) => pairs.experiments.push(pair(own, other)),
            None => pairs.missing.push(format!("{}: only the first run has it", name(own))),
        }
    }
    let unknown = right.iter().filter(|other| !left.iter().any(|own| name(own) == name(other)));
    pairs.missing.extend(unknown.map(|other| format!("{}: only the second run has it", name(other))));
    pairs
}

fn pair(left: &Finished, right: &Finished) -> Pair {
    let (l, r) = (&left.report, &right.report);
    let mut notes = Vec::new();
    for (what, own, other) in [
        ("experiment", l.experiment.clone(), r.experiment.clone()),
        ("profile", l.profile.clone(), r.profile.clone()),
        ("replications", l.replications.to_string(), r.replications.to_string()),
        ("version", l.version.clone(), r.version.clone()),
        ("model version", l.model_version.to_string(), r.model_version.to_string()),
    ] {
        if own != other {
            notes.push(format!("another {what}: {own} and {other}"));
        }
    }
    for (which, report) in [("first", l), ("second", r)] {
        if report.status != Status::Complete {
            notes.push(format!("the {which} run is partial"));
        }
    }
    let find = |cases: &[CaseResult], case: &CaseResult| cases.iter().any(|c| c.case == case.case);
    let only = |which: &'static str, own: &[CaseResult], other: &[CaseResult]| -> Vec<String> {
        let alone = own.iter().filter(|case| !find(other, case));
        alone.map(|case| format!("only the {which} run has {}", case.label())).collect()
    };
    notes.extend(only("first", &l.cases, &r.cases));
    notes.extend(only("second", &r.cases, &l.cases));
    let both = l.cases.iter().filter_map(|own| Some((own, r.cases.iter().find(|c| c.case == own.case)?)));
    let claims = l.claims.iter().filter_map(|own| {
        let other = r.claims.iter().find(|claim| claim.id == own.id)?;
        Some(ClaimPair {
            id: own.id.clone(),
            text: own.text.clone(),
            left: own.verdict,
            left_value: own.value,
            right: other.verdict,
            right_value: other.value,
        })
    });
    let side = |report: &tresse_lab::Report| Side {
        run: report.out.clone(),
        profile: report.profile.clone(),
        seed: report.seed,
        digest: report.digest.clone(),
    };
    let usual = || USUAL.iter().map(|&name| name.to_owned()).collect();
    Pair {
        experiment: l.experiment.clone(),
        left: side(l),
        right: side(r),
        notes,
        cases: both.map(|(own, other)| case_pair(own, other)).collect(),
        claims: claims.collect(),
        shown: left.experiment.measure.table.clone().unwrap_or_else(usual),
    }
}

fn case_pair(left: &CaseResult, right: &CaseResult) -> CasePair {
    let mut by: IndexMap<String, IndexMap<String, _>> = IndexMap::new();
    for (what, parts) in &left.by {
        for (name, own) in parts {
            let Some(other) = right.by.get(what).and_then(|parts| parts.get(name)) else { continue };
            let widths = [left, right].map(|case| case.ci95_by.get(what).and_then(|parts| parts.get(name)));
            by.entry(what.clone()).or_default().insert(name.clone(), values([own, other], widths));
        }
    }
    CasePair {
        case: left.case.clone(),
        metrics: values([&left.metrics, &right.metrics], [Some(&left.ci95), Some(&right.ci95)]),
        by,
        label: left.label(),
    }
}

/// The metrics that both have.
fn values(
    metrics: [&Metrics; 2],
    widths: [Option<&IndexMap<String, f64>>; 2],
) -> IndexMap<String, ValuePair> {
    let value = |(name, own): (&String, &tresse_lab::Metric)| {
        let (left, right) = (own.value(), metrics[1].get(name)?.value());
        let [left_ci95, right_ci95] = widths.map(|widths| widths.and_then(|w| w.get(name)).copied());
        let apart = left_ci95.zip(right_ci95).map(|(l, r)| (left - right).abs() > l + r);
        let ratio = (left != 0.0).then(|| right / left);
        Some((name.clone(), ValuePair { left, left_ci95, right, right_ci95, ratio, apart }))
    };
    metrics[0].iter().filter_map(value).collect()
}

impl Pairs {
    /// Fails if a claim that held in the first run does not hold in the second.
    pub fn check(&self) -> Result<(), Failure> {
        let lost = self.experiments.iter().flat_map(|pair| {
            let lost = pair.claims.iter().filter(|c| c.is_lost());
            lost.map(|c| format!("{}: the claim {} held, and no longer does", pair.experiment, c.id))
        });
        let lost: Vec<String> = lost.collect();
        if lost.is_empty() { Ok(()) } else { Err(Failure::Check(lost.join("\n"))) }
    }

    /// The same as text, with tables in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for pair in &self.experiments {
            let [left, right] = [&pair.left.run, &pair.right.run];
            text += &format!("### {}: {left} and {right}\n\n", pair.experiment);
            text += &pair.notes.iter().map(|note| format!("- {note}\n")).collect::<String>();
            text += &format!("\n{}", pair.table().markdown());
            let changed = pair.claims.iter().filter(|c| c.left != c.right);
            let changed = changed.map(|c| format!("- {}: {}, then {}\n", c.text, c.left, c.right));
            text += &format!("\n{}", changed.collect::<String>());
        }
        text + &self.missing.iter().map(|line| format!("- {line}\n")).collect::<String>()
    }
}

impl ClaimPair {
    fn is_lost(&self) -> bool {
        self.left == Verdict::Holds && self.right == Verdict::DoesNotHold
    }
}

impl Pair {
    fn table(&self) -> Table {
        let head = ["case", "metric", "first", "±95 %", "second", "±95 %", "ratio", "intervals"];
        let mut table = Table::new(&head).labels(2);
        for case in &self.cases {
            let whole = case.metrics.iter().map(|(name, pair)| (String::new(), name, pair));
            let groups = case.by.get("group").into_iter().flatten();
            let groups = groups.flat_map(|(group, metrics)| {
                metrics.iter().map(move |(name, pair)| (format!(", group {group}"), name, pair))
            });
            let is_shown = |name: &String| self.shown.contains(name);
            for (part, name, pair) in whole.chain(groups).filter(|(_, name, _)| is_shown(name)) {
                let number =
                    |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| metric_display::value(name, v));
                let apart = match pair.apart {
                    Some(true) => "apart",
                    Some(false) => "overlap",
                    None => "-",
                };
                table.row(vec![
                    format!("{}{part}", case.label),
                    metric_display::name(name),
                    number(Some(pair.left)),
                    number(pair.left_ci95),
                    number(Some(pair.right)),
                    number(pair.right_ci95),
                    pair.ratio.map_or_else(|| "-".to_owned(), |r| format!("{r:.3}")),
                    apart.to_owned(),
                ]);
            }
        }
        table
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pair in &self.experiments {
            writeln!(f, "{}: {} (first) and {} (second)", pair.experiment, pair.left.run, pair.right.run)?;
            for note in &pair.notes {
                writeln!(f, "{}", sentence(&format!("note: {note}"), 2))?;
            }
            if pair.left.digest == pair.right.digest {
                writeln!(f, "the same results to the last bit: digest {}", pair.left.digest)?;
            }
            write!(f, "\n{}", pair.table())?;
            let changed: Vec<_> = pair.claims.iter().filter(|c| c.left != c.right).collect();
            let all = pair.claims.len();
            writeln!(f, "\nclaims whose verdict changed: {} of {all}", changed.len())?;
            for claim in changed {
                let line = format!("{}, then {}: {}", claim.left, claim.right, claim.text);
                writeln!(f, "{}", sentence(&line, 2))?;
            }
            f.write_char('\n')?;
        }
        for line in &self.missing {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}
