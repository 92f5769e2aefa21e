//! A paper's results beside ours: what is kept of finished runs, and the page that is made of it.

mod markdown;
mod page;

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tresse_experiment::diagnostic::LabError;
use tresse_experiment::keys::Experiment;
use tresse_experiment::{Profile, find, load};
use tresse_lab::record::report::{Report, Status};
use tresse_lab::store::finished::Finished;

use crate::claims::{self, Comparison, Judged, Tally};
pub use markdown::section;
pub use page::{Stored, page, times};

/// Finished runs beside the published numbers: what `tresse compare --json` prints, and what `papers/results/` keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproduction {
    /// `tresse/compare/1`.
    pub schema: String,
    /// What the runs are compared with: `published`.
    pub against: String,
    /// The experiments.
    pub experiments: Vec<Reproduced>,
    /// Of all of them together.
    pub summary: Tally,
}

/// One experiment: what was run, and what came out beside what was published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reproduced {
    /// Its name.
    pub experiment: String,
    /// The profile.
    pub profile: String,
    /// The first seed.
    pub seed: u64,
    /// How many seeds.
    pub replications: u32,
    /// How the run ended.
    pub status: Status,
    /// The version of Tresse.
    pub version: String,
    /// Its model's.
    pub model_version: u32,
    /// The fingerprint of the results.
    pub digest: String,
    /// The fingerprint of what was run and by what it was judged ([`fingerprint`]).
    pub settings: String,
    /// Packets that entered a port, each once for every port.
    pub packet_hops: u64,
    /// How many cases were run.
    pub cases: usize,
    /// Numbers, claims and how many of them are as published.
    #[serde(flatten)]
    pub comparison: Comparison,
}

impl Reproduction {
    /// Of these runs.
    pub fn of(experiments: Vec<Reproduced>) -> Self {
        let judged: Vec<_> = experiments.iter().map(Reproduced::judged).collect();
        let wall_s = experiments.iter().map(|e| e.comparison.summary.wall_s).sum();
        let summary = Tally { wall_s, ..claims::tally(&judged) };
        Self { schema: "tresse/compare/1".to_owned(), against: "published".to_owned(), experiments, summary }
    }
}

impl Reproduced {
    fn judged(&self) -> Judged<'_> {
        (&self.experiment, &self.comparison.claims, &self.comparison.numbers)
    }

    /// Reads the run in the folder `out`, with its experiment as it was run.
    ///
    /// # Errors
    /// If there is none, or one of another version of Tresse.
    pub fn read(out: &Path) -> Result<(Experiment, Self), LabError> {
        let path = out.join("run.json");
        let io = |error| LabError::Io { action: "cannot be read", path: path.clone(), error };
        let text = fs::read_to_string(&path).map_err(io)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of a `run.json`; messages call it `name`.
    ///
    /// # Errors
    /// If it is none, or one of another version of Tresse.
    pub fn parse(name: &str, text: &str) -> Result<(Experiment, Self), LabError> {
        let Finished { report, mut experiment } = Finished::parse(name, text)?;
        let mut file: Value = serde_json::from_str(text).expect("it was read before");
        let mut resolved = file["resolved"].take();
        if let Some((newer, text)) = newer(&report, &resolved) {
            (experiment, resolved) = (newer, text);
        }
        let own = Self {
            settings: fingerprint(resolved),
            comparison: claims::comparison(&experiment, &report),
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
        };
        Ok((experiment, own))
    }
}

/// The experiment of a run as its file is now, and what it was read from, if that would run the same.
fn newer(report: &Report, resolved: &Value) -> Option<(Experiment, Value)> {
    let profile = [Profile::Quick, Profile::Full].into_iter().find(|p| p.name() == report.profile)?;
    let loaded = load(find(&report.experiment).ok()?, profile, &[]).ok()?;
    let text = serde_json::to_value(&loaded.resolved).expect("TOML is plain data");
    runs_alike(resolved.clone(), text.clone()).then_some((loaded.experiment, text))
}

/// Whether two experiments, after their profiles, measure the same, by whatever claims and numbers it is judged. What is
/// measured for claims of jumps is in the run.
pub fn runs_alike(one: Value, other: Value) -> bool {
    let measured = |mut resolved: Value| {
        if let Some(table) = resolved.as_object_mut() {
            table.remove("published");
            if let Some(claims) = table.get_mut("claims").and_then(Value::as_array_mut) {
                claims.retain(|claim| claim.get("jumps").is_some());
            }
        }
        if resolved["claims"].as_array().is_some_and(Vec::is_empty) {
            resolved.as_object_mut().map(|table| table.remove("claims"));
        }
        fingerprint(resolved)
    };
    measured(one) == measured(other)
}

/// A fingerprint of an experiment after its profile: of what is run, the numbers beside it, and the bounds of its claims.
/// What is only read by people may change: titles, sentences, which columns a table has, what was expected.
pub fn fingerprint(mut resolved: Value) -> String {
    let without = |table: &mut Value, keys: &[&str]| {
        if let Some(table) = table.as_object_mut() {
            table.retain(|key, _| !keys.contains(&key.as_str()));
        }
    };
    without(&mut resolved, &["title", "source", "about", "rows", "profile"]);
    if let Some(measure) = resolved.get_mut("measure") {
        without(measure, &["table"]);
    }
    for claim in resolved.get_mut("claims").and_then(Value::as_array_mut).into_iter().flatten() {
        without(claim, &["text", "source", "reading_of", "expected", "because"]);
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

/// The text of a value, with the keys of tables in order and numbers alike whether they have a point or not: a file says
/// 1 or 1.0 and means the same.
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
