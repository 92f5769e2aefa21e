//! The cases of the card: the sections' experiments, what a case is about, and the failures that papers explain.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use toml::Table;
use tresse_controllers::{Controller, Signal};
use tresse_experiment::read::files::sha256;
use tresse_experiment::{Loaded, Profile, Source, did_you_mean};
use tresse_reproduction::schema::claims::{Claim, Selectors};
use tresse_reproduction::{Publication, metric_display};

use crate::OWNERS;
use crate::failure::Failure;

/// What the sections are, and which controllers a case is about.
const SUITE: &str = include_str!("../../../../suites/report-card.toml");

macro_rules! sections {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../suites/report-card/", $name, ".toml")))),*]
    };
}

/// The experiment of each section.
const SECTIONS: [(&str, &str); 6] = sections!["alone" "beside" "paths" "fabric" "routes" "multipath"];

/// The scheme whose controller is replaced by the one that is judged.
const CANDIDATE: &str = "candidate";

/// The name of what challenges found, which is on the card beside the sections, and has been measured.
pub const WORST_CASES: &str = "worst-cases";

/// All cases.
#[derive(Debug)]
pub struct Suite {
    /// The sections, in their order on the card.
    pub sections: Vec<Section>,
    /// The SHA-256 of all its files.
    pub sha256: String,
    reasons: Vec<Reason>,
}

/// Cases that are one experiment.
#[derive(Debug)]
pub struct Section {
    /// Its name, for `--only`.
    pub name: &'static str,
    /// Its title, without the name.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// Its cases, in the order of the file.
    pub cases: Vec<Case>,
    text: &'static str,
}

/// One question with its verdict: a claim of the experiment about the candidate.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name, which is unique: the claim's.
    pub name: String,
    /// What must hold, in one sentence.
    pub asks: String,
    /// Who asks for it.
    pub source: String,
    /// The bound of its number.
    pub bound: String,
    /// The variants of the experiment that it is about.
    variants: Vec<String>,
    needs: Vec<Need>,
    is_sprayed: bool,
}

/// What a controller must have for a case to be about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// It reacts to marks.
    Marks,
    /// It couples its subflows.
    Siblings,
}

/// A failure of built-in controllers that follows from their papers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    cases: Vec<String>,
    /// Those of these names,
    #[serde(default)]
    controllers: Vec<String>,
    /// or all of this kind.
    kind: Option<Kind>,
    because: String,
}

/// A kind of controllers, by the signals that they react to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Losses, not marks.
    Losses,
    /// Marks too.
    Marks,
    /// The fate of every packet.
    Sprayed,
}

impl Kind {
    fn of(controller: Controller) -> Self {
        match controller.reports() {
            true => Self::Sprayed,
            false if controller.needs_ecn() => Self::Marks,
            false => Self::Losses,
        }
    }
}

/// The suite's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Cases about controllers that react to marks.
    marks: Vec<String>,
    /// Cases about controllers that couple their subflows.
    siblings: Vec<String>,
    /// Cases that sprayed transports can run too.
    sprayed: Vec<String>,
    #[serde(default)]
    reasons: Vec<Reason>,
}

impl Suite {
    /// The built-in one.
    ///
    /// # Errors
    /// If something is wrong in its files.
    pub fn read() -> Result<Self, Failure> {
        let wrong = |why: String| Failure::Input(format!("suites/report-card.toml: {why}"));
        let file: File = toml::from_str(SUITE).map_err(|error| wrong(error.to_string()))?;
        let (mut sections, mut texts) = (Vec::new(), SUITE.to_owned());
        for (name, text) in SECTIONS {
            texts += text;
            sections.push(Section::read(name, text, &file)?);
        }
        let suite = Self { sections, sha256: sha256(&texts), reasons: file.reasons };
        let named = [&file.marks, &file.siblings, &file.sprayed].into_iter();
        let named = named.chain(suite.reasons.iter().map(|reason| &reason.cases)).flatten();
        for name in named {
            if suite.case(name).is_none() {
                return Err(wrong(format!("there is no case `{name}`")));
            }
        }
        let controllers = suite.reasons.iter().flat_map(|reason| &reason.controllers);
        if let Some(name) = controllers.into_iter().find(|name| tresse_controllers::find(name).is_none()) {
            return Err(wrong(format!("there is no controller `{name}`")));
        }
        Ok(suite)
    }

    /// The case of this name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.sections.iter().flat_map(|section| &section.cases).find(|case| case.name == name)
    }

    /// Keeps the cases and whole sections of these names; all if there are none.
    ///
    /// # Errors
    /// If there is neither a section nor a case of a name.
    pub fn keep(&mut self, names: &[String]) -> Result<(), Failure> {
        for name in names {
            let is_section = self.sections.iter().any(|section| section.name == name);
            if !is_section && self.case(name).is_none() && name != WORST_CASES {
                return Err(self.unknown(name));
            }
        }
        if !names.is_empty() {
            for section in &mut self.sections {
                if !names.iter().any(|name| name == section.name) {
                    section.cases.retain(|case| names.contains(&case.name));
                }
            }
            self.sections.retain(|section| !section.cases.is_empty());
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Failure {
        let sections = self.sections.iter().map(|section| section.name);
        let sections: Vec<&str> = sections.chain([WORST_CASES]).collect();
        let cases = self.sections.iter().flat_map(|section| &section.cases).map(|case| &*case.name);
        let guess = did_you_mean(name, sections.iter().copied().chain(cases));
        let sections = sections.join(", ");
        Failure::Input(format!(
            "--only {name}: there is neither a section nor a case of that name{guess}\n\n\
             hint: the sections are {sections}; the card names their cases"
        ))
    }

    /// Why it follows from a paper that this controller fails this case, if it does.
    pub fn because(&self, controller: Controller, case: &Case) -> Option<&str> {
        if controller.file().is_some() {
            return None; // a user's own follows from no paper
        }
        let names = [Some(controller.name()), controller.alias_of()];
        let is_about = |reason: &&Reason| {
            reason.cases.contains(&case.name)
                && (reason.kind == Some(Kind::of(controller))
                    || reason.controllers.iter().any(|name| names.contains(&Some(&**name))))
        };
        self.reasons.iter().find(is_about).map(|reason| &*reason.because)
    }
}

impl Section {
    fn read(name: &'static str, text: &'static str, file: &File) -> Result<Self, Failure> {
        let loaded = load(name, text.to_owned())?;
        let publication = Publication::of_loaded(&loaded)?;
        let cases = publication.claims.iter().map(|claim| Case::of(claim, file)).collect();
        let experiment = loaded.experiment;
        Ok(Self { name, title: experiment.title, source: experiment.source, cases, text })
    }

    /// The experiment with this controller in place of the candidate.
    ///
    /// # Errors
    /// If the controller does not suit it.
    pub fn with(&self, controller: Controller) -> Result<Arc<Loaded>, Failure> {
        let mut tables: Table = toml::from_str(self.text).map_err(|e| Failure::Input(e.to_string()))?;
        let mut set = |path: &[&str], value: &str| {
            let mut table = &mut tables;
            let (key, above) = path.split_last().expect("a path has a key");
            for name in above {
                let inner = table.entry(*name).or_insert_with(|| Table::new().into());
                table = inner.as_table_mut().expect("the suite's experiments have tables there");
            }
            table.insert((*key).to_owned(), value.into());
        };
        set(&["schemes", CANDIDATE, "controller"], controller.name());
        if controller.reports() {
            set(&["schemes", CANDIDATE, "transport", "profile"], "spray");
            set(&["fabric", "trim"], "64B");
        }
        Ok(Arc::new(load(self.name, tables.to_string())?))
    }
}

fn load(name: &str, text: String) -> Result<Loaded, Failure> {
    let source = Source { name: format!("suites/report-card/{name}.toml"), text };
    Ok(OWNERS.load(source, Profile::Quick, &[])?)
}

impl Case {
    fn of(claim: &Claim, file: &File) -> Self {
        let is_in = |names: &[String]| names.contains(&claim.id);
        let needs = [(&file.marks, Need::Marks), (&file.siblings, Need::Siblings)];
        Self {
            name: claim.id.clone(),
            asks: claim.text.clone(),
            source: claim.source.clone().unwrap_or_default(),
            bound: metric_display::bounds(claim),
            variants: variants(claim),
            needs: needs.into_iter().filter(|(names, _)| is_in(names)).map(|(_, need)| need).collect(),
            is_sprayed: is_in(&file.sprayed),
        }
    }

    /// Why it is not about this controller, if it is not.
    pub fn why_not(&self, controller: Controller) -> Option<&'static str> {
        let signals = controller.signals();
        if signals.contains(&Signal::NextHop) {
            return Some("it needs to hear of congestion at the next hop, which only HOLNET's switches tell");
        }
        if controller.reports() && !self.is_sprayed {
            return Some("it sprays packets and has no subflows: this case is about TCP");
        }
        self.needs.iter().find_map(|need| match need {
            Need::Marks if !controller.needs_ecn() => Some("it does not react to marks"),
            Need::Siblings if !controller.coupled() => Some("its subflows are not coupled"),
            Need::Marks | Need::Siblings => None,
        })
    }
}

/// `--only` for the variants of these cases.
pub fn only(cases: &[&Case]) -> Vec<String> {
    let mut variants: Vec<&str> = cases.iter().flat_map(|case| &case.variants).map(String::as_str).collect();
    variants.sort_unstable();
    variants.dedup();
    vec![format!("variant={}", variants.join(","))]
}

/// The variants that a claim is about.
fn variants(claim: &Claim) -> Vec<String> {
    let of = |claim: &Claim| {
        let lists = [&claim.right, &claim.of].into_iter().flatten();
        let all = claim.left.iter().chain(lists.flat_map(Selectors::all));
        all.filter_map(|selector| selector.variant.clone()).collect::<Vec<_>>()
    };
    let names: BTreeSet<String> = claim.statements().iter().flat_map(of).collect();
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own_a_source_a_bound_and_a_variant() {
        let suite = Suite::read().expect("the suite is valid");
        let mut names = BTreeSet::new();
        for case in suite.sections.iter().flat_map(|section| &section.cases) {
            assert!(names.insert(&case.name), "{case:?} stands twice");
            assert!(
                !case.source.is_empty() && !case.bound.is_empty() && !case.variants.is_empty(),
                "{case:?}"
            );
            assert!(!names.iter().any(|name| suite.sections.iter().any(|own| own.name == *name)), "{case:?}");
        }
        assert!(names.len() >= 30, "the 20 cases of RFC 9743 and 10 of ours: {names:?}");
    }

    #[test]
    fn a_reason_is_about_controllers_that_run_the_case() {
        let suite = Suite::read().expect("the suite is valid");
        for Reason { cases, controllers, kind, because } in &suite.reasons {
            assert_ne!(controllers.is_empty(), kind.is_none(), "either names or a kind: {because}");
            for (case, name) in cases.iter().flat_map(|case| controllers.iter().map(move |name| (case, name)))
            {
                let controller = tresse_controllers::find(name).expect("it was checked");
                let case = suite.case(case).expect("it was checked");
                assert_eq!(case.why_not(controller), None, "{name}, {}", case.name);
            }
        }
    }
}
