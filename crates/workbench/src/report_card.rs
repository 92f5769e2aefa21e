//! The report card of a controller: cases of RFC 9743, of data centres and of multipath transport, each with its
//! number, its bound and a verdict. There is no total.

mod html;
mod suite;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tempfile::TempDir;
use tresse_controllers::Controller;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_lab::{Options, Watch};
use tresse_reproduction::metric_display;
use tresse_results::record::claim::Verdict as OfClaim;
use tresse_results::{ClaimResult, MODEL_VERSION, Report, Status};

use crate::OWNERS;
use crate::challenge::{self, WorstCase};
use crate::controller::{self, check};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::stall::Guard;
use suite::{Case, Section, Suite, WORST_CASES};

/// The name and version of the JSON.
const SCHEMA: &str = "tresse/report-card/1";

/// Whose cards.
#[derive(Debug, Clone)]
pub struct Request {
    /// Built-in controllers and C files, beside each other on the card.
    pub controllers: Vec<String>,
    /// The sections and cases to run; empty: all.
    pub only: Vec<String>,
    /// How many cases run at a time; `None`: one for each core.
    pub parallel: Option<u16>,
}

/// The cards of some controllers, side by side.
#[derive(Debug, Serialize)]
pub struct ReportCard {
    schema: &'static str,
    /// The versions of the program and its model.
    pub version: String,
    /// The SHA-256 of the cases.
    pub suite: String,
    /// Whether all cases were run; if not, it was interrupted.
    pub complete: bool,
    /// Whose cards they are.
    pub controllers: Vec<Subject>,
    /// The cases, by section.
    pub sections: Vec<SectionCard>,
}

/// A controller on the card.
#[derive(Debug, Serialize)]
pub struct Subject {
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    /// Where a challenge found that it does worst, if one is kept and they are asked for.
    pub worst_cases: Vec<WorstCase>,
}

/// A section of the card.
#[derive(Debug, Serialize)]
pub struct SectionCard {
    pub name: &'static str,
    pub title: String,
    pub source: String,
    pub cases: Vec<CaseCard>,
}

/// A case of the card.
#[derive(Debug, Serialize)]
pub struct CaseCard {
    pub name: String,
    /// What must hold, in one sentence.
    pub asks: String,
    /// Who asks for it.
    pub source: String,
    /// The bound of the number.
    pub bound: String,
    /// One for each controller, in their order.
    pub results: Vec<Outcome>,
}

/// What became of a controller in a case.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    pub verdict: Verdict,
    /// The number that decides, in the unit of its metric.
    pub value: Option<f64>,
    /// The same for people, with its unit; empty if there is none.
    pub shown: String,
    /// Why it does not apply, was not decided, or follows from the controller's paper.
    pub why: Option<String>,
}

/// A verdict on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The number is within its bound.
    Pass,
    /// It is not.
    Fail,
    /// There is no number.
    Undecided,
    /// The case is not about such a controller.
    NotApplicable,
    /// It was interrupted before.
    NotRun,
}

impl Verdict {
    /// In words, as short as a cell.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Undecided => "undecided",
            Self::NotApplicable => "n/a",
            Self::NotRun => "not run",
        }
    }
}

impl Outcome {
    fn without_number(verdict: Verdict, why: Option<String>) -> Self {
        Self { verdict, value: None, shown: String::new(), why }
    }
}

/// Fills the cards; `tell` gets a line when a controller is through a section. If it is interrupted, the card has what
/// is done.
///
/// # Errors
/// An unknown name, a file that does not compile, a user's controller that breaks its contract, or a machine that
/// cannot run it: each before the first case.
pub fn run(
    request: &Request,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(String),
) -> Result<ReportCard, Failure> {
    let mut suite = Suite::read()?;
    suite.keep(&request.only)?;
    let candidates = candidates(&request.controllers)?;
    let folder =
        tempfile::tempdir().map_err(|error| Failure::Machine(format!("a temporary folder: {error}")))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bench =
        Bench { suite: &suite, folder, parallel: request.parallel.map_or(cores, usize::from), interrupt };
    interrupt.keep();
    let mut card = ReportCard::empty(&suite, &candidates);
    if request.only.is_empty() || request.only.iter().any(|name| name == WORST_CASES) {
        card.controllers.iter_mut().zip(&candidates).for_each(|(own, of)| own.worst_cases = worst_cases(*of));
    }
    for (place, controller) in candidates.iter().enumerate() {
        for (number, section) in suite.sections.iter().enumerate() {
            let done = bench.section(section, *controller, &format!("{place}-{number}"))?;
            tell(format!("{}: {}", controller.name(), told(section, &done)));
            for (case, outcome) in card.sections[number].cases.iter_mut().zip(done) {
                case.results.push(outcome);
            }
        }
    }
    let outcomes = card.sections.iter().flat_map(|section| &section.cases).flat_map(|case| &case.results);
    card.complete = outcomes.into_iter().all(|outcome| outcome.verdict != Verdict::NotRun);
    Ok(card)
}

/// The controllers to judge.
fn candidates(asked: &[String]) -> Result<Vec<Controller>, Failure> {
    let mut all: Vec<Controller> = Vec::new();
    for name in asked {
        let found = controller::find(name)?;
        if all.iter().any(|other| other.name() == found.name()) {
            return Err(Failure::Input(format!("{name}: there is already a card of `{}`", found.name())));
        }
        check::must_hold(found, name)?;
        all.push(found);
    }
    Ok(all)
}

/// What is kept of a challenge of this controller. A user's own has none, whatever its name is.
fn worst_cases(controller: Controller) -> Vec<WorstCase> {
    let names = [Some(controller.name()), controller.alias_of()];
    let is_own = |own: &challenge::Kept| names.contains(&Some(&*own.record.controller.name));
    let mut kept = challenge::kept().into_iter().filter(|own| controller.file().is_none() && is_own(own));
    kept.next().map_or_else(Vec::new, |own| own.worst_cases())
}

/// The section in a few words: how many cases passed, and which did not.
fn told(section: &Section, done: &[Outcome]) -> String {
    let of = |verdict: Verdict| done.iter().filter(|outcome| outcome.verdict == verdict).count();
    let mut parts = vec![format!("{} pass", of(Verdict::Pass))];
    let failed = section.cases.iter().zip(done).filter(|(_, outcome)| outcome.verdict == Verdict::Fail);
    let failed: Vec<&str> = failed.map(|(case, _)| &*case.name).collect();
    if !failed.is_empty() {
        parts.push(format!("{} fail ({})", failed.len(), failed.join(", ")));
    }
    for verdict in [Verdict::Undecided, Verdict::NotApplicable, Verdict::NotRun] {
        if of(verdict) > 0 {
            parts.push(format!("{} {}", of(verdict), verdict.name()));
        }
    }
    format!("{}: {}", section.name, parts.join(", "))
}

impl ReportCard {
    /// The card before anything was run.
    fn empty(suite: &Suite, controllers: &[Controller]) -> Self {
        let case = |case: &Case| CaseCard {
            name: case.name.clone(),
            asks: case.asks.clone(),
            source: case.source.clone(),
            bound: case.bound.clone(),
            results: Vec::new(),
        };
        let section = |section: &Section| SectionCard {
            name: section.name,
            title: section.title.clone(),
            source: section.source.clone(),
            cases: section.cases.iter().map(case).collect(),
        };
        let subject = |own: &Controller| Subject {
            name: own.name(),
            title: own.title(),
            source: own.source(),
            worst_cases: Vec::new(),
        };
        Self {
            schema: SCHEMA,
            version: format!("tresse {}, model {MODEL_VERSION}", env!("CARGO_PKG_VERSION")),
            suite: suite.sha256.clone(),
            complete: false,
            controllers: controllers.iter().map(subject).collect(),
            sections: suite.sections.iter().map(section).collect(),
        }
    }

    /// As a page that opens from disk: one file without scripts.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The outcomes of the controller at `place` with this verdict, each with its case.
    pub fn with(&self, place: usize, verdict: Verdict) -> impl Iterator<Item = (&CaseCard, &Outcome)> {
        let cases = self.sections.iter().flat_map(|section| &section.cases);
        let own = cases.map(move |case| (case, &case.results[place]));
        own.filter(move |(_, outcome)| outcome.verdict == verdict)
    }
}

/// What a run shows: claims by their names, or a message if the controller ended or blocked it.
type Found = Result<BTreeMap<String, ClaimResult>, String>;

/// What runs the cases.
struct Bench<'a> {
    suite: &'a Suite,
    /// For the results of runs, which are not kept.
    folder: TempDir,
    parallel: usize,
    interrupt: &'a Interrupt,
}

impl Bench<'_> {
    /// The outcomes of a section's cases, in their order.
    fn section(
        &self,
        section: &Section,
        controller: Controller,
        name: &str,
    ) -> Result<Vec<Outcome>, Failure> {
        let applies: Vec<&Case> =
            section.cases.iter().filter(|case| case.why_not(controller).is_none()).collect();
        let found = match applies.is_empty() || self.interrupt.asked() {
            true => Ok(None),
            false => self.measure(section, &applies, controller, &self.folder.path().join(name)),
        };
        let found = match found {
            Err(Failure::Interrupted) => Ok(None),
            found => found,
        }?;
        let outcome = |case: &Case| match (case.why_not(controller), &found) {
            (Some(why), _) => Outcome::without_number(Verdict::NotApplicable, Some(why.to_owned())),
            (None, None) => Outcome::without_number(Verdict::NotRun, None),
            (None, Some(Ok(claims))) => self.judged(case, controller, claims.get(&case.name)),
            (None, Some(Err(why))) => Outcome::without_number(Verdict::Fail, Some(why.clone())),
        };
        Ok(section.cases.iter().map(outcome).collect())
    }

    /// Runs some cases of a section; `None` if it was interrupted before they ended.
    fn measure(
        &self,
        section: &Section,
        cases: &[&Case],
        controller: Controller,
        out: &Path,
    ) -> Result<Option<Found>, Failure> {
        let loaded = section.with(controller)?;
        let plan = OWNERS.resolve(&loaded, &suite::only(cases))?;
        let options = Options {
            replications: Replications::Count(1),
            parallel: self.parallel,
            out: Some(out.to_owned()),
            ..Options::default()
        };
        memory::check(&plan, &options)?;
        let watch = Arc::new(Watch::new(&plan, &options)?);
        self.interrupt.ends(&watch);
        let guard = Guard::of(&watch);
        let report =
            self.interrupt.run(move || Ok(tresse_reproduction::run(&loaded, &plan, &options, &watch)?));
        let stalled = guard.dismiss();
        let Report { status, errors, claims, .. } = report?;
        if status != Status::Complete {
            if self.interrupt.asked() {
                return Ok(None);
            }
            let stall = if stalled { "no progress for half a minute: " } else { "" };
            return Ok(Some(Err(format!("{stall}{}", errors.join("\n")))));
        }
        Ok(Some(Ok(claims.into_iter().map(|claim| (claim.id.clone(), claim)).collect())))
    }

    fn judged(&self, case: &Case, controller: Controller, claim: Option<&ClaimResult>) -> Outcome {
        let Some(claim) = claim else {
            return Outcome::without_number(Verdict::Undecided, Some("its runs have no value".to_owned()));
        };
        let (verdict, why) = match claim.verdict {
            OfClaim::Holds => (Verdict::Pass, None),
            OfClaim::DoesNotHold => (Verdict::Fail, self.suite.because(controller, case).map(str::to_owned)),
            OfClaim::Inconclusive => (Verdict::Undecided, claim.why.clone()),
        };
        let shown = claim.value.map_or_else(String::new, |_| metric_display::claim(claim));
        Outcome { verdict, value: claim.value, shown, why }
    }
}
