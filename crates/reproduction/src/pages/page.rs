//! `docs/reproduction.md`: what was written by hand of the papers, and the results that are kept of their experiments.

use std::path::Path;
use std::{fs, io};

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::keys::Experiment;
use tresse_experiment::{Loaded, Profile};
use tresse_lab::record::report::MODEL_VERSION;

use super::markdown;
use super::overview::{contradictions, overview};
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

    fn of(&self, name: &str) -> Option<&Reproduced> {
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
        if !own.comparison.numbers.iter().any(|number| markdown::is_of(number, value)) {
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

/// The whole page, from the results that are kept; `stored` may have several profiles of a paper.
///
/// # Errors
/// If an experiment cannot be read.
pub fn page(stored: &[Stored]) -> Result<String, Diagnostic> {
    let mut text = HEAD.to_owned();
    text += &overview(stored);
    text += LEGEND;
    for &paper in paper::ALL {
        text += &format!("\n{}", introduction(paper));
        let own: Vec<&Stored> = stored.iter().filter(|s| s.paper == paper).collect();
        for name in paper.experiments() {
            let experiment: Experiment = built_in(name, Profile::Full)?.experiment;
            let results: Vec<&Reproduced> = own.iter().filter_map(|s| s.of(name)).collect();
            text += &format!("\n{}", markdown::section(name, &experiment, &results));
        }
    }
    text += &contradictions()?;
    Ok(text)
}

const HEAD: &str = "\
# Reproduction

What the five papers published, beside what Tresse measures: every number and every claim, and where ours differs, why.

";

const LEGEND: &str = "
Where a paper leaves something open, the first reading is the default, and a claim or a number counts once; \"in a reading\"
are those that are reproduced by this reading or by another that stands beside it.

±: half the 95 % confidence interval over seeds, or over the rounds of a pattern where there is one seed. A ratio is ours
over the published number; one in bold is more than 20 % off. A claim is inconclusive if a bound lies within its interval.

`make reproduction` runs everything and writes this page; the text before the tables stands in `papers/PAPER/README.md`,
and the numbers, claims and sentences in the experiments' files (`tresse explain claims`).
";

/// What is written by hand, one level of headings below the page's own, with links that start at `docs/`.
fn introduction(paper: Paper) -> String {
    let mut text = String::new();
    let mut is_code = false;
    for line in paper.about.lines() {
        is_code ^= line.starts_with("```");
        if line.starts_with('#') && !is_code {
            text.push('#');
        }
        text += &links(line, &format!("../papers/{}/", paper.name));
        text.push('\n');
    }
    text
}

/// `line` with relative links that start at `folder`.
fn links(line: &str, folder: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "](";
        if !part.starts_with('#') && !part.starts_with("http") {
            text += folder;
        }
        text += part;
    }
    text
}

/// The place of a heading, as Markdown's readers name it.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_headings_fit_into_the_page() {
        let links = |line: &str| links(line, "../papers/xmp/");
        assert_eq!(
            links("[a](table1.toml) and [b](../x.md)"),
            "[a](../papers/xmp/table1.toml) and [b](../papers/xmp/../x.md)"
        );
        assert_eq!(links("[a](#below), [b](https://x)"), "[a](#below), [b](https://x)");
        assert_eq!(anchor("XMP: Explicit Multipath, a_b (2013)"), "xmp-explicit-multipath-a_b-2013");
        for &paper in paper::ALL {
            let text = introduction(paper);
            assert!(text.starts_with(&format!("## {}\n", paper.title())), "{text}");
            assert!(!text.contains("\n# "));
        }
    }
}
