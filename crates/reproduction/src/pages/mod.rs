//! A paper's results next to ours: kept results of finished runs, and the pages made from them.

mod agreement;
mod claims;
mod markdown;
mod numbers;
mod paper_page;
mod readings;
mod real;
mod scoreboard;
mod section;
mod stored;
mod whys;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::read::changes::Change;
use tresse_experiment::schema::Experiment;
use tresse_experiment::{Owners, Profile, find};
use tresse_results::record::claim::{ClaimResult, Verdict};
use tresse_results::record::report::{Report, Status};
use tresse_results::store::finished::{Finished, State, of_another_version};

use crate::claims::{Comparison, Judged, Tally, tally};
use crate::paper_experiment::PaperExperiment;
use crate::schema::OWNERS;
pub use paper_page::papers;
pub use real::{Testbed, real};
pub use scoreboard::page as scoreboard;
pub use section::section;
pub use stored::{Runs, Stored, times};

const QUICK: Runs = Runs::Simulated(Profile::Quick);
const FULL: Runs = Runs::Simulated(Profile::Full);

/// Finished runs next to the published numbers: the output of `tresse compare --json`, and the content of
/// `papers/results/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// `tresse/compare/1`.
    pub schema: String,
    /// The reference of the comparison: `published`.
    pub against: String,
    pub experiments: Vec<Reproduced>,
    /// The tally of all experiments.
    pub summary: Tally,
}

/// One experiment: what was run, and its results next to the published ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproduced {
    pub experiment: String,
    pub profile: String,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds, for the case with the most.
    pub replications: u32,
    /// The number for the case with the fewest, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest_replications: Option<u32>,
    /// How the run ended.
    pub status: Status,
    /// The version of Tresse.
    pub version: String,
    /// Its model's.
    pub model_version: u32,
    /// The fingerprint of the results.
    pub digest: String,
    /// The fingerprint of the settings and of the criteria for judging ([`fingerprint`]).
    pub settings: String,
    /// Packets that entered a port, counted once for every port.
    pub packet_hops: u64,
    /// How many cases were run.
    pub cases: usize,
    /// Changes by `--set` to the settings of the published numbers and claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Change>,
    /// Whether it is judged nevertheless.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub judged: bool,
    /// The current state of the run; kept results are from complete runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub state: State,
    /// Its accuracy, if it was run on real hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed: Option<Testbed>,
    /// Numbers, claims and how many of them agree with the paper.
    #[serde(flatten)]
    pub comparison: Comparison,
}

fn yes() -> bool {
    true
}

fn is_true(judged: &bool) -> bool {
    *judged
}

fn is_default(state: &State) -> bool {
    *state == State::default()
}

impl Reproduction {
    /// The comparison of these runs.
    pub fn of(experiments: Vec<Reproduced>) -> Self {
        let judged: Vec<_> = experiments.iter().map(Reproduced::judged).collect();
        let wall_s = experiments.iter().map(|e| e.comparison.summary.wall_s).sum();
        let summary = Tally { wall_s, ..tally(&judged) };
        Self { schema: "tresse/compare/1".to_owned(), against: "published".to_owned(), experiments, summary }
    }
}

/// Why a changed run has no numbers and no claims.
pub const NOT_JUDGED: &str = "the published numbers and claims are not judged (`--judge` judges them anyway)";

impl Reproduced {
    /// `1 seed`, `3 to 12 seeds`.
    pub fn seeds(&self) -> String {
        let fewest = self.fewest_replications.map(|n| format!("{n} to ")).unwrap_or_default();
        let s = if self.replications == 1 { "" } else { "s" };
        format!("{fewest}{} seed{s}", self.replications)
    }

    /// Whether it was run on real Linux hosts, and not simulated.
    pub fn is_real(&self) -> bool {
        self.testbed.is_some()
    }

    /// Kept results of real hosts, to show next to a simulated run.
    pub fn real(&self) -> Option<&'static Self> {
        real(&self.experiment).filter(|_| self.judged && !self.is_real())
    }

    /// The verdicts of the claims that it and `other` have judged, each by its first reading.
    fn verdicts_beside(&self, other: &Self) -> Vec<[Verdict; 2]> {
        let is_own = |claim: &&ClaimResult| claim.reading_of.is_none() && claim.contradicts.is_none();
        let theirs = |own: &ClaimResult| other.comparison.claims.iter().find(|claim| claim.id == own.id);
        let own = self.comparison.claims.iter().filter(is_own);
        own.filter_map(|own| Some([own.verdict, theirs(own)?.verdict])).collect()
    }

    /// Whether any published number has a value of ours.
    pub fn has_numbers(&self) -> bool {
        self.comparison.numbers.iter().any(|number| number.ours.is_some())
    }

    fn judged(&self) -> Judged<'_> {
        (&self.experiment, &self.comparison.claims, &self.comparison.numbers)
    }

    /// Reads the run in the folder `out`, with its experiment as it was run. With `judge` it is judged even
    /// if settings have changed what its numbers and claims refer to.
    ///
    /// # Errors
    /// If there is none, or one from another version of Tresse.
    pub fn read(out: &Path, owners: Owners, judge: bool) -> Result<(PaperExperiment, Self), Diagnostic> {
        let (experiment, own) = Self::of(Finished::read(out, owners)?, judge)?;
        Ok((experiment, Self { testbed: Testbed::read(out)?, ..own }))
    }

    /// The comparison of a run, with its experiment from the current file, if that would run the same.
    ///
    /// # Errors
    /// If its published numbers and claims are not as this version of Tresse writes them.
    pub fn of(finished: Finished, judge: bool) -> Result<(PaperExperiment, Self), Diagnostic> {
        let Finished { name, mut report, mut experiment, resolved, state, .. } = finished;
        report.judged |= judge;
        let mut resolved = serde_json::to_value(&resolved).expect("TOML is plain data");
        if let Some((newer, text)) = newer(&report, &resolved) {
            (experiment, resolved) = (newer, text);
        }
        let experiment = PaperExperiment::of(&experiment);
        let experiment = experiment.map_err(|wrong| of_another_version(&name, &wrong.message))?;
        let fewest = report.fewest_seeds();
        let own = Self {
            fewest_replications: (fewest < report.replications).then_some(fewest),
            settings: fingerprint(resolved),
            comparison: crate::claims::comparison(&experiment.publication, &report),
            experiment: report.experiment,
            profile: report.profile,
            seed: report.seed,
            replications: report.replications,
            status: report.status,
            version: report.version,
            model_version: report.model_version,
            digest: report.digest,
            packet_hops: report.packet_hops,
            cases: report.cases.len(),
            changed: report.changed,
            judged: report.judged,
            state,
            testbed: None,
        };
        Ok((experiment, own))
    }
}

/// The experiment of a run from the current file, and its source, if that would run the same.
fn newer(report: &Report, resolved: &Value) -> Option<(Experiment, Value)> {
    let loaded = OWNERS.load(find(&report.experiment).ok()?, profile(&report.profile)?, &[]).ok()?;
    let text = serde_json::to_value(&loaded.resolved).expect("TOML is plain data");
    runs_alike(resolved.clone(), text.clone()).then_some((loaded.experiment, text))
}

/// The profile with this name.
fn profile(name: &str) -> Option<Profile> {
    [Profile::Quick, Profile::Full].into_iter().find(|profile| profile.name() == name)
}

/// `changed: fabric.k = 4`, for changed settings; `None` if there are none.
pub fn changed_line(changes: &[Change]) -> Option<String> {
    let settings: Vec<String> = changes.iter().map(Change::setting).collect();
    (!settings.is_empty()).then(|| format!("changed: {}", settings.join(", ")))
}

/// Whether two experiments, after their profiles, measure the same, regardless of the claims and numbers for
/// judging. The measurements for claims about jumps are part of the run; and if a run continues until all
/// claims are decided, its measurements depend on each of them.
pub fn runs_alike(one: Value, other: Value) -> bool {
    let measured = |mut resolved: Value| {
        let until = resolved.get("replications").and_then(|rule| rule.get("until")).is_some();
        if let Some(table) = resolved.as_object_mut() {
            table.remove("published");
            if !until && let Some(claims) = table.get_mut("claims").and_then(Value::as_array_mut) {
                claims.retain(has_jumps);
            }
        }
        if resolved["claims"].as_array().is_some_and(Vec::is_empty) {
            resolved.as_object_mut().map(|table| table.remove("claims"));
        }
        fingerprint(resolved)
    };
    measured(one) == measured(other)
}

fn has_jumps(claim: &Value) -> bool {
    let cases = claim.get("cases").and_then(Value::as_array);
    claim.get("jumps").is_some() || cases.is_some_and(|cases| cases.iter().any(has_jumps))
}

/// A fingerprint of an experiment after its profile: of the run, its published numbers, and the bounds of its
/// claims. Parts that only people read may change: titles, sentences, figures, the columns of tables, and
/// expectations.
pub fn fingerprint(mut resolved: Value) -> String {
    let without = |table: &mut Value, keys: &[&str]| {
        if let Some(table) = table.as_object_mut() {
            table.retain(|key, _| !keys.contains(&key.as_str()));
        }
    };
    without(&mut resolved, &["title", "source", "about", "rows", "figures", "profile"]);
    if let Some(measure) = resolved.get_mut("measure") {
        without(measure, &["table"]);
    }
    for claim in resolved.get_mut("claims").and_then(Value::as_array_mut).into_iter().flatten() {
        without(claim, &["text", "source", "reading_of", "expected", "because", "contradicts"]);
    }
    if let Some(published) = resolved.get_mut("published") {
        without(published, &["source"]);
        for value in published.get_mut("values").and_then(Value::as_array_mut).into_iter().flatten() {
            without(value, &["differs"]);
        }
    }
    let hash = Sha256::digest(sorted(&resolved));
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a value, with the keys of tables in order and the same form for 1 and 1.0, which mean the same
/// in a file.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let mut parts: Vec<String> = table.iter().map(|(k, v)| format!("{k}={}", sorted(v))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(sorted).collect::<Vec<_>>().join(",")),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |n| n.to_string()),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fingerprint_is_of_what_is_run_and_judged() {
        let experiment = json!({
            "title": "a title", "fabric": { "k": 4, "rate": "1Gbps" }, "measure": { "links": true },
            "claims": [{ "id": "c", "text": "a text", "above": 0.9 }],
            "published": { "values": [{ "scheme": "xmp", "goodput_mean": "1Gbps" }] },
        });
        let own = fingerprint(experiment.clone());
        let with = |path: &str, value: Value| {
            let mut other = experiment.clone();
            let (table, key) = path.rsplit_once('/').expect("a path");
            other.pointer_mut(table).expect("it is there")[key] = value;
            fingerprint(other)
        };
        for (path, value) in [
            ("/title", json!("another")),
            ("/profile", json!({ "quick": {} })),
            ("/figures", json!([{ "id": "fig8", "title": "a figure", "chart": "bars" }])),
            ("/measure/table", json!(["flows"])),
            ("/claims/0/text", json!("another")),
            ("/claims/0/because", json!("a sentence")),
            ("/published/values/0/differs", json!("a sentence")),
            ("/fabric/k", json!(4.0)),
        ] {
            assert_eq!(with(path, value), own, "{path}");
        }
        for (path, value) in [
            ("/fabric/k", json!(6)),
            ("/measure/links", json!(false)),
            ("/claims/0/above", json!(0.8)),
            ("/published/values/0/goodput_mean", json!("2Gbps")),
            ("/published/kind", json!("testbed")),
        ] {
            assert_ne!(with(path, value), own, "{path}");
        }
    }
}
