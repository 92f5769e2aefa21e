//! A controller in an experiment of a suite: one run, and the part of the score that it gives.

use std::path::PathBuf;
use std::sync::Arc;

use tresse_experiment::schema::fidelity::Fidelity;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_experiment::{Loaded, Plan, Profile, Source};
use tresse_lab::{Options, Watch};
use tresse_results::record::claim::Verdict;
use tresse_results::{ClaimResult, Report, Status};

use super::Fault;
use super::measure::{self, Measure};
use super::suite::Entry;
use crate::OWNERS;
use crate::cases::beyond_rounds;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::stall::Guard;

/// An experiment of a suite with the candidate in it.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The experiment's entry in the suite.
    pub entry: &'a Entry,
    /// Why it runs by packets although rounds were asked for.
    pub refused: Option<String>,
    loaded: Arc<Loaded>,
    plan: Plan,
}

/// The result of a run.
#[derive(Debug)]
pub struct Part {
    /// From 0 to 1: the mean over its seeds.
    pub value: f64,
    /// What was furthest below its ceiling, and under which seed; empty if nothing was.
    pub worst: String,
    /// The claims that were judged.
    pub claims: Vec<ClaimResult>,
}

impl<'a> Trial<'a> {
    /// Puts the controller of this name into the experiment.
    ///
    /// # Errors
    /// If the result is not a valid experiment, or does not suit its measure.
    pub fn new(entry: &'a Entry, controller: &str, fidelity: Fidelity) -> Result<Self, Failure> {
        let source = Source { name: entry.source.clone(), text: entry.with_candidate(controller) };
        let with = |set: &[String]| -> Result<(Loaded, Plan), Failure> {
            let loaded = OWNERS.load(source.clone(), Profile::Quick, set)?;
            let plan = OWNERS.resolve(&loaded, &entry.chosen())?;
            Ok((loaded, plan))
        };
        let (mut loaded, mut plan) = with(&entry.set)?;
        let mut refused = None;
        if fidelity == Fidelity::Rounds {
            refused = beyond_rounds(&plan);
            if refused.is_none() {
                let by_rounds = [&entry.set[..], &["fidelity=rounds".to_owned()]].concat();
                (loaded, plan) = with(&by_rounds)?;
            }
        }
        if entry.measure != Measure::Claims && plan.cases.len() != 1 {
            let labels: Vec<String> = plan.cases.iter().map(|case| case.label()).collect();
            return Err(Failure::Input(format!(
                "{}: it has {} cases ({}), but a part needs exactly one\n\nhint: select it with `only`",
                entry.label(),
                labels.len(),
                labels.join(", ")
            )));
        }
        Ok(Self { entry, refused, loaded: Arc::new(loaded), plan })
    }

    /// What the files that its experiment names say differently, or more, than is read of them.
    pub fn notes(&self) -> Vec<String> {
        self.loaded.files.notes()
    }

    /// Runs it, `parallel` seeds or cases at a time, with its results in the new folder `out`.
    pub fn run(self, parallel: usize, out: PathBuf, interrupt: &Interrupt) -> Result<Part, Fault> {
        let Self { entry, loaded, plan, .. } = self;
        let options = Options {
            seed: entry.seed,
            replications: Replications::Count(entry.replications),
            parallel,
            out: Some(out.clone()),
            ..Options::default()
        };
        memory::check(&plan, &options)?;
        let watch = Arc::new(Watch::new(&plan, &options).map_err(Failure::from)?);
        interrupt.ends(&watch);
        let case = plan.cases[0].clone();
        let guard = Guard::of(&watch);
        let report = interrupt.run(move || Ok(tresse_reproduction::run(&loaded, &plan, &options, &watch)?));
        let stalled = guard.dismiss();
        let report = report?;
        if report.status != Status::Complete {
            if interrupt.asked() {
                return Err(Fault::Other(Failure::Interrupted));
            }
            let stall = if stalled { "no progress for half a minute: " } else { "" };
            let told = format!("{}: {stall}{}", entry.label(), report.errors.join("\n"));
            return Err(Fault::Candidate(Failure::Input(told)));
        }
        let part = if entry.measure == Measure::Claims {
            of_claims(report)
        } else {
            measure::of_run(entry, &case, &out).map(|seen| mean(&seen))
        };
        part.map_err(|why| Fault::Other(Failure::Check(format!("{}: {why}", entry.label()))))
    }
}

/// The mean over the seeds, and the worst point over all of them.
fn mean(seen: &[measure::SeedScore]) -> Part {
    let value = seen.iter().map(|own| own.value).sum::<f64>() / seen.len() as f64;
    let worst = seen.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let worst = worst.filter(|own| !own.worst.is_empty());
    let worst = worst.map(|own| format!("seed {}: {}", own.seed, own.worst)).unwrap_or_default();
    Part { value, worst, claims: Vec::new() }
}

/// The share of claims that hold. Claims that the file does not expect to hold for the paper's own scheme are left
/// out.
fn of_claims(report: Report) -> Result<Part, String> {
    let mut claims = report.claims;
    claims.retain(|claim| claim.contradicts.is_none() && claim.expected == Verdict::Holds);
    if claims.is_empty() {
        let why = if report.judged {
            "no claim is about its cases alone"
        } else {
            "`set` changes what its claims are about"
        };
        return Err(format!("no claim was judged: {why}"));
    }
    let hold = claims.iter().filter(|claim| claim.verdict == Verdict::Holds).count();
    let worst =
        claims.iter().find(|claim| claim.fails()).map(|claim| format!("does not hold: {}", claim.text));
    Ok(Part { value: hold as f64 / claims.len() as f64, worst: worst.unwrap_or_default(), claims })
}
