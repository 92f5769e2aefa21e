//! The results that are kept in `papers/results/`, and whether they are still of what the experiments' files say.

use std::path::Path;
use std::{fs, io};

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::{Loaded, Profile};
use tresse_lab::record::report::MODEL_VERSION;

use super::numbers::is_of;
use super::{Reproduced, Reproduction, fingerprint};
use crate::paper::{self, Paper};

/// What is kept of a run of a paper, in `papers/results/PAPER-PROFILE.json`.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The paper.
    pub paper: Paper,
    /// The profile.
    pub profile: Profile,
    /// The results.
    pub results: Reproduction,
}

impl Stored {
    /// The results that `folder` has, in the order of the papers.
    ///
    /// # Errors
    /// If a file cannot be read, or is no results.
    pub fn all(folder: &Path) -> io::Result<Vec<Self>> {
        let mut all = Vec::new();
        for &paper in paper::ALL {
            for profile in [Profile::Quick, Profile::Full] {
                let path = folder.join(Self::file(paper, profile));
                if path.exists() {
                    let wrong = |e| io::Error::other(format!("{}: {e}", path.display()));
                    let text = fs::read_to_string(&path).map_err(wrong)?;
                    let results = serde_json::from_str(&text).map_err(|e| wrong(e.into()))?;
                    all.push(Self { paper, profile, results });
                }
            }
        }
        Ok(all)
    }

    /// The file's name without its folder.
    pub fn file(paper: Paper, profile: Profile) -> String {
        format!("{}-{}.json", paper.name, profile.name())
    }

    /// The results of the experiment `name`.
    pub(super) fn of(&self, name: &str) -> Option<&Reproduced> {
        self.results.experiments.iter().find(|e| e.experiment == name)
    }

    /// What is no longer as the experiments' files say, or is missing: a line for each.
    ///
    /// # Errors
    /// If an experiment cannot be read.
    pub fn stale(&self) -> Result<Vec<String>, Diagnostic> {
        let mut stale = Vec::new();
        for name in self.paper.experiments() {
            let loaded = built_in(name, self.profile)?;
            match self.of(name) {
                None => stale.push(format!("{name}: no results are kept of it")),
                Some(own) => {
                    stale.extend(differences(own, &loaded).into_iter().map(|d| format!("{name}: {d}")))
                }
            }
        }
        let known = self.paper.experiments();
        let unknown = self.results.experiments.iter().filter(|e| !known.contains(&&*e.experiment));
        stale.extend(unknown.map(|e| format!("{}: there is no such experiment any more", e.experiment)));
        Ok(stale)
    }
}

pub(super) fn built_in(name: &str, profile: Profile) -> Result<Loaded, Diagnostic> {
    tresse_experiment::load(tresse_experiment::find(name)?, profile, &[])
}

/// How what is kept differs from what the file says now.
fn differences(own: &Reproduced, loaded: &Loaded) -> Vec<String> {
    let mut differences = Vec::new();
    let resolved = serde_json::to_value(&loaded.resolved).expect("TOML is plain data");
    if own.settings != fingerprint(resolved) {
        differences.push("its file has changed since it was run".to_owned());
    }
    if own.model_version != MODEL_VERSION {
        differences.push(format!("it is of model version {}, not {MODEL_VERSION}", own.model_version));
    }
    let claims = &own.comparison.claims;
    for claim in &loaded.experiment.claims {
        let expected = claim.expected.of(&own.profile);
        match claims.iter().find(|c| c.id == claim.id) {
            None => differences.push(format!("the claim {} was not judged", claim.id)),
            Some(c) if c.verdict != expected => {
                differences
                    .push(format!("the claim {} is \"{}\", and expected is \"{expected}\"", c.id, c.verdict));
            }
            Some(_) => {}
        }
    }
    for value in &loaded.experiment.published.values {
        if !own.comparison.numbers.iter().any(|number| is_of(number, value)) {
            let case = [
                Some(value.scheme.clone()),
                value.subflows.map(|n| n.to_string()),
                Some(value.pattern.clone()),
            ];
            let case = case.into_iter().flatten().collect::<Vec<_>>().join(" ");
            differences.push(format!("a number that was published of {case} has none beside it"));
        }
    }
    differences
}

/// How long every experiment took, as `papers/results/times.toml` keeps it for whoever waits.
pub fn times(stored: &[Stored]) -> String {
    let mut text = "# Seconds that the experiments took when their results were kept: `tresse paper` tells what is left.\n\
                    # Written with docs/reproduction.md.\n"
        .to_owned();
    for profile in [Profile::Quick, Profile::Full] {
        text += &format!("\n[{}]\n", profile.name());
        for s in stored.iter().filter(|s| s.profile == profile) {
            for e in &s.results.experiments {
                text += &format!("\"{}\" = {:.1}\n", e.experiment, e.comparison.summary.wall_s);
            }
        }
    }
    text
}
