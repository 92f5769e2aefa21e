//! The results kept in `papers/results/`, and whether they still match the experiments' files.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::{Loaded, Profile};
use tresse_results::record::report::MODEL_VERSION;

use super::agreement::Agreement;
use super::numbers::is_of;
use super::{Reproduced, Reproduction, fingerprint, profile};
use crate::paper::{self, Paper};
use crate::paper_experiment::PaperExperiment;
use crate::schema::{OWNERS, Publication};

/// The kind of runs of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// The simulator's runs: of every experiment, or of some at full size, which takes hours.
    Simulated(Profile),
    /// Runs on real hosts, of the experiments that can be run there.
    Real,
}

impl Runs {
    const ALL: [Self; 3] = [Self::Simulated(Profile::Quick), Self::Simulated(Profile::Full), Self::Real];

    /// `quick`, `full` or `real`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulated(profile) => profile.name(),
            Self::Real => "real",
        }
    }
}

/// The kept results of a paper's runs, in `papers/results/PAPER-RUNS.json`.
#[derive(Debug, Clone)]
pub struct Stored {
    pub paper: Paper,
    /// The kind of runs.
    pub runs: Runs,
    pub results: Reproduction,
}

impl Stored {
    /// The results in `folder`, in the order of the papers.
    ///
    /// # Errors
    /// If a file cannot be read, or does not contain results.
    pub fn all(folder: &Path) -> io::Result<Vec<Self>> {
        let mut all = Vec::new();
        for &paper in paper::ALL {
            for runs in Runs::ALL {
                let path = folder.join(Self::file(paper, runs));
                if path.exists() {
                    let wrong = |e| io::Error::other(format!("{}: {e}", path.display()));
                    let text = fs::read_to_string(&path).map_err(wrong)?;
                    let results: Reproduction = serde_json::from_str(&text).map_err(|e| wrong(e.into()))?;
                    // The command embeds the file of a paper even before real hosts have run anything of it.
                    if !results.experiments.is_empty() {
                        all.push(Self { paper, runs, results });
                    }
                }
            }
        }
        Ok(all)
    }

    /// The file's name without its folder.
    pub fn file(paper: Paper, runs: Runs) -> String {
        format!("{}-{}.json", paper.name, runs.name())
    }

    /// The earlier models of which some of them are, oldest first.
    pub(super) fn earlier_models(&self) -> BTreeSet<u32> {
        let models =
            self.results.experiments.iter().filter(|own| !own.is_real()).map(|own| own.model_version);
        models.filter(|model| *model != MODEL_VERSION).collect()
    }

    /// `1 of 18 experiments`, if others were not run.
    pub(super) fn part(&self) -> Option<String> {
        let (own, all) = (self.results.experiments.len(), self.paper.experiments().len());
        (own < all).then(|| format!("{own} of {all} experiments"))
    }

    /// The results of the experiment `name`.
    pub(super) fn of(&self, name: &str) -> Option<&Reproduced> {
        self.results.experiments.iter().find(|e| e.experiment == name)
    }

    /// How alike the verdicts are to those in `other`, without other readings and without those of claims that
    /// contradict their own paper.
    pub(super) fn agreement(&self, other: &Self) -> Agreement {
        let own = self.results.experiments.iter().filter_map(|own| Some((own, other.of(&own.experiment)?)));
        Agreement::of(&own.flat_map(|(own, other)| own.verdicts_beside(other)).collect::<Vec<_>>())
    }

    /// Results that no longer match the experiments' files, or are missing: one line for each.
    ///
    /// # Errors
    /// If an experiment cannot be read.
    pub fn stale(&self) -> Result<Vec<String>, Diagnostic> {
        let mut stale = Vec::new();
        for name in self.paper.experiments() {
            match (self.of(name), self.runs) {
                (Some(own), _) => {
                    let profile = profile(&own.profile).unwrap_or(Profile::Quick);
                    let differences = differences(own, &built_in(name, profile)?)?;
                    stale.extend(differences.into_iter().map(|d| format!("{name}: {d}")));
                }
                (None, Runs::Simulated(Profile::Quick)) => {
                    stale.push(format!("{name}: it has no stored results"));
                }
                // The full profile takes hours, and not every experiment can be run on real hosts: the pages say what
                // has not been run.
                (None, Runs::Simulated(Profile::Full) | Runs::Real) => {}
            }
        }
        let known = self.paper.experiments();
        let unknown = self.results.experiments.iter().filter(|e| !known.contains(&&*e.experiment));
        stale.extend(unknown.map(|e| format!("{}: this experiment no longer exists", e.experiment)));
        Ok(stale)
    }
}

pub(super) fn built_in(name: &str, profile: Profile) -> Result<Loaded, Diagnostic> {
    OWNERS.load(tresse_experiment::find(name)?, profile, &[])
}

/// A built-in experiment, as the paper's page tells of it.
pub(super) fn paper_experiment(name: &str) -> Result<PaperExperiment, Diagnostic> {
    let loaded = built_in(name, Profile::Full)?;
    PaperExperiment::of(&loaded.experiment).map_err(|wrong| loaded.error(wrong))
}

/// How kept results differ from the current file. The model and the expected verdicts apply to the simulator.
fn differences(own: &Reproduced, loaded: &Loaded) -> Result<Vec<String>, Diagnostic> {
    let publication = Publication::of(&loaded.experiment).map_err(|wrong| loaded.error(wrong))?;
    let mut differences = Vec::new();
    let resolved = serde_json::to_value(&loaded.resolved).expect("TOML is plain data");
    if own.settings != fingerprint(resolved) {
        differences.push("its file has changed since it was run".to_owned());
    }
    // The full profile takes hours: its page says of which model it is.
    if own.profile == Profile::Quick.name() && !own.is_real() && own.model_version != MODEL_VERSION {
        differences.push(format!("it was run with model version {}, not {MODEL_VERSION}", own.model_version));
    }
    let claims = &own.comparison.claims;
    for claim in &publication.claims {
        let expected = claim.expected.of(&own.profile);
        match claims.iter().find(|c| c.id == claim.id) {
            None => differences.push(format!("the claim {} was not judged", claim.id)),
            Some(c) if !own.is_real() && c.verdict != expected => {
                differences
                    .push(format!("the claim {} is \"{}\", but \"{expected}\" is expected", c.id, c.verdict));
            }
            Some(_) => {}
        }
    }
    for value in &publication.published.values {
        if !own.comparison.numbers.iter().any(|number| is_of(number, value)) {
            let case = [
                Some(value.scheme.clone()),
                value.subflows.map(|n| n.to_string()),
                Some(value.pattern.clone()),
            ];
            let case = case.into_iter().flatten().collect::<Vec<_>>().join(" ");
            differences.push(format!("a published number of {case} has no counterpart"));
        }
    }
    Ok(differences)
}

/// How long every experiment took, for `papers/results/times.toml`, to estimate remaining times.
pub fn times(stored: &[Stored]) -> String {
    let mut text = "# Seconds that the experiments took when their results were stored; `tresse paper` estimates the remaining time from them.\n\
                    # Written with docs/reproduction.md.\n"
        .to_owned();
    for profile in [Profile::Quick, Profile::Full] {
        text += &format!("\n[{}]\n", profile.name());
        for s in stored.iter().filter(|s| s.runs == Runs::Simulated(profile)) {
            for e in &s.results.experiments {
                text += &format!("\"{}\" = {:.1}\n", e.experiment, e.comparison.summary.wall_s);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use tresse_results::record::claim::Verdict;

    use super::*;

    #[test]
    fn real_results_are_of_some_experiments_and_of_any_model() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results");
        let all = Stored::all(&folder).expect("they can be read");
        let find = |runs| all.iter().find(|s| s.paper.name == "xmp" && s.runs == runs).expect("it is kept");
        let stale = |change: &dyn Fn(&mut Reproduced)| {
            let mut real = find(Runs::Real).clone();
            change(&mut real.results.experiments[0]);
            real.stale().expect("the built-in experiments are valid")
        };
        let none: [&str; 0] = [];
        assert_eq!(stale(&|own| own.model_version = 0), none);
        assert_eq!(stale(&|own| own.comparison.claims[0].verdict = Verdict::DoesNotHold), none);
        let [changed] = &stale(&|own| own.settings = "another".to_owned())[..] else { panic!("one line") };
        assert!(changed.ends_with(": its file has changed since it was run"), "{changed}");
        let [missing] = &stale(&|own| drop(own.comparison.claims.remove(0)))[..] else { panic!("one line") };
        assert!(missing.contains("was not judged"), "{missing}");
        // The simulator's results cover all experiments.
        let mut quick = find(Runs::Simulated(Profile::Quick)).clone();
        quick.results.experiments.remove(0);
        let stale = quick.stale().expect("the built-in experiments are valid");
        assert_eq!(stale, ["xmp/fig1: it has no stored results"]);
        // At full size there may be some of them.
        let full = Stored { runs: Runs::Simulated(Profile::Full), ..quick.clone() };
        let mut of_quick = full.stale().expect("the built-in experiments are valid");
        of_quick.retain(|line| line.contains("no stored results"));
        assert_eq!(of_quick, none);
        assert_eq!(full.part().as_deref(), Some("13 of 14 experiments"));
        assert_eq!(find(Runs::Simulated(Profile::Quick)).part(), None);
        assert_eq!(find(Runs::Real).part().as_deref(), Some("2 of 14 experiments"));
    }

    #[test]
    fn real_hosts_agree_claim_by_claim() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results");
        let all = Stored::all(&folder).expect("they can be read");
        let real = all.iter().find(|s| s.runs == Runs::Real).expect("it is kept");
        let claims = real.results.summary.claims;
        assert_eq!(real.agreement(real).same, claims);
        let mut other = real.clone();
        let first = &mut other.results.experiments[0].comparison.claims[0];
        first.verdict = if first.verdict == Verdict::Holds { Verdict::DoesNotHold } else { Verdict::Holds };
        assert_eq!(real.agreement(&other).same, claims - 1);
        // Their times are not those of a simulation.
        assert_eq!(times(std::slice::from_ref(real)).matches(" = ").count(), 0);
    }
}
