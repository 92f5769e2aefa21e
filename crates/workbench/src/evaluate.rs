//! A score for a controller, and its parts.

mod measure;
mod suite;
mod trial;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Serialize;
use tempfile::TempDir;
use tresse_controllers::Controller;
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_reproduction::metric_display;
use tresse_results::record::claim::Verdict;
use tresse_results::{ClaimResult, MODEL_VERSION};

use crate::controller::{self, check};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use suite::{Entry, Split, Suite};
use trial::{Part, Trial};

/// What to score, and by what.
#[derive(Debug, Clone)]
pub struct Request {
    /// A C file, or a built-in controller.
    pub controller: String,
    /// The experiments: `smoke`, `fabric`, or a TOML file.
    pub suite: String,
    /// Which of them.
    pub splits: Splits,
    /// `Rounds`: a first look, for a search that scores its best candidates again by packets.
    pub fidelity: Fidelity,
    /// How many seeds or cases run at a time; `None`: one for each core.
    pub parallel: Option<u16>,
    /// The folder for the results of every run, which must be new or empty; `None`: they are not kept.
    pub out: Option<PathBuf>,
}

/// The splits of a suite to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Splits {
    /// The experiments that guide a search.
    Train,
    /// Those that judge its result.
    Test,
    /// Both.
    All,
}

impl Splits {
    fn has(self, split: Split) -> bool {
        match self {
            Self::Train => split == Split::Train,
            Self::Test => split == Split::Test,
            Self::All => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
            Self::All => "all",
        }
    }
}

/// Why there is no score.
#[derive(Debug)]
enum Fault {
    /// The candidate cannot be scored.
    Candidate(Failure),
    /// Something else went wrong.
    Other(Failure),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

/// The score of a controller, with its parts.
#[derive(Debug, Serialize)]
pub struct Evaluation {
    /// `ok`; `invalid`: the candidate cannot be scored; `error`: something else went wrong.
    pub status: &'static str,
    /// The score, 0 to 1; 0 unless the status is `ok`.
    pub combined_score: f64,
    /// The parts, 0 to 1, and other numbers; `null` for what this machine cannot determine.
    pub metrics: IndexMap<String, Option<f64>>,
    /// Texts: what was scored, what was found.
    pub artifacts: IndexMap<&'static str, String>,
    /// Why there is no score.
    #[serde(skip)]
    pub failure: Option<Failure>,
}

/// Scores a controller; `tell` gets notes on the experiments.
///
/// # Errors
/// [`Failure::Interrupted`]. Anything else that goes wrong is part of the evaluation.
pub fn run(
    request: &Request,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(String),
) -> Result<Evaluation, Failure> {
    let mut evaluation = Evaluation {
        status: "ok",
        combined_score: 0.0,
        metrics: IndexMap::new(),
        artifacts: IndexMap::new(),
        failure: None,
    };
    let (status, failure) = match evaluation.fill(request, interrupt, tell) {
        Ok(score) => {
            evaluation.combined_score = score;
            return Ok(evaluation);
        }
        Err(Fault::Other(Failure::Interrupted)) => return Err(Failure::Interrupted),
        Err(Fault::Candidate(failure)) => ("invalid", failure),
        Err(Fault::Other(failure)) => ("error", failure),
    };
    evaluation.status = status;
    evaluation.note("error", failure.to_string());
    evaluation.failure = Some(failure);
    Ok(evaluation)
}

impl Evaluation {
    /// Runs everything, recording results as they come, and returns the score.
    fn fill(
        &mut self,
        request: &Request,
        interrupt: &Interrupt,
        tell: &mut dyn FnMut(String),
    ) -> Result<f64, Fault> {
        let suite = Suite::find(&request.suite).map_err(Failure::from)?;
        let split = request.splits.name();
        self.note("suite", format!("{}, split {split}, SHA-256 {}", suite.name, suite.sha256));
        self.note("version", format!("tresse {}, model {MODEL_VERSION}", env!("CARGO_PKG_VERSION")));
        let entries: Vec<&Entry> =
            suite.entries.iter().filter(|entry| request.splits.has(entry.split)).collect();
        if !entries.iter().any(|entry| entry.weight > 0.0) {
            let why = format!("{}: no experiment of the split `{split}` has a weight above 0", suite.name);
            return Err(Failure::Input(why).into());
        }
        let out = Out::new(request.out.as_deref())?;
        let candidate = candidate(&request.controller)?;
        self.note("controller", candidate.name().to_owned());
        let trials = entries.into_iter().map(|entry| in_place(entry, candidate, request.fidelity));
        let trials: Vec<Trial> = trials.collect::<Result<_, _>>()?;
        if request.fidelity == Fidelity::Rounds {
            self.note("fidelity", screened(&trials));
        }
        for note in trials.iter().flat_map(Trial::notes).collect::<BTreeSet<_>>() {
            tell(format!("note: {note}"));
        }
        self.check(candidate, &request.controller)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let parallel = request.parallel.map_or(cores, usize::from);
        let (mut parts, mut claims) = (Vec::new(), Vec::new());
        for trial in trials {
            let entry = trial.entry;
            let part = trial.run(parallel, out.path().join(entry.label()), interrupt)?;
            self.metrics.insert(entry.label(), Some(part.value));
            claims.extend(part.claims.iter().cloned());
            parts.push((entry, part));
        }
        self.note("worst", worst(&parts));
        self.claims(&claims);
        for split in [Split::Train, Split::Test] {
            let own: Vec<_> = parts.iter().filter(|(entry, _)| entry.split == split).collect();
            if let Some(score) = score(own.iter().map(|(entry, part)| (entry.weight, part.value))) {
                self.metrics.insert(split.name().to_owned(), Some(score));
            }
        }
        let all = score(parts.iter().map(|(entry, part)| (entry.weight, part.value)));
        Ok(all.expect("some weight is above 0"))
    }

    fn note(&mut self, name: &'static str, text: String) {
        self.artifacts.insert(name, text);
    }

    /// Runs the checks of `tresse controller check` on the controller named `asked`. A built-in one is known to keep its
    /// contract.
    fn check(&mut self, candidate: Controller, asked: &str) -> Result<(), Fault> {
        let held = match candidate.file() {
            Some(_) => check::hold(candidate)?.map(Some),
            None => Ok(None),
        };
        match held {
            Ok(statistics) => self.note("check", check::holds(&candidate, statistics)),
            Err(breach) => {
                self.note("check", breach.to_string());
                return Err(Fault::Candidate(check::broken_by(&candidate, &breach, asked)));
            }
        }
        let (verdict, told) = match check::verify(candidate) {
            Ok(Ok(programs)) => {
                let walked = programs.iter().map(|program| program.verified_instructions).max().unwrap_or(0);
                let told =
                    format!("it accepts {} programs; at most {walked} instructions walked", programs.len());
                (Some(1.0), told)
            }
            Ok(Err(lacks)) => (None, format!("the kernel's verifier was not run: {lacks}")),
            Err(Failure::Input(refused)) => (Some(0.0), refused),
            Err(failure) => return Err(failure.into()),
        };
        self.metrics.insert("verifier".to_owned(), verdict);
        self.note("verifier", told);
        Ok(())
    }

    /// Records which claims of papers hold.
    fn claims(&mut self, claims: &[ClaimResult]) {
        if claims.is_empty() {
            return;
        }
        let broken = claims.iter().filter(|claim| claim.verdict == Verdict::DoesNotHold).count();
        self.metrics.insert("claims_judged".to_owned(), Some(claims.len() as f64));
        self.metrics.insert("claims_broken".to_owned(), Some(broken as f64));
        let line = |claim: &ClaimResult| {
            let source = claim.source.as_deref().map(|source| format!(" ({source})")).unwrap_or_default();
            format!("{} ({}): {}{source}", claim.verdict, metric_display::claim(claim).trim(), claim.text)
        };
        self.note("claims", claims.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
}

/// The controller to score. An error in its file is the candidate's fault; a missing file is not.
fn candidate(asked: &str) -> Result<Controller, Fault> {
    let is_there = asked.ends_with(".c") && Path::new(asked).exists();
    controller::find(asked).map_err(|failure| match failure {
        Failure::Input(_) if is_there => Fault::Candidate(failure),
        failure => Fault::Other(failure),
    })
}

/// The candidate in an experiment. If the experiment accepts Reno, it is valid: then an error is the candidate's
/// fault, for example because it needs signals that the fabric does not provide.
fn in_place(entry: &Entry, candidate: Controller, fidelity: Fidelity) -> Result<Trial<'_>, Fault> {
    Trial::new(entry, candidate.name(), fidelity).map_err(|failure| {
        match Trial::new(entry, "reno", fidelity) {
            Ok(_) => Fault::Candidate(failure),
            Err(_) => Fault::Other(failure),
        }
    })
}

/// How many parts are by rounds, and why the others are not.
fn screened(trials: &[Trial]) -> String {
    let refused: Vec<String> = trials
        .iter()
        .filter_map(|trial| {
            Some(format!("; {} is by packets: {}", trial.entry.label(), trial.refused.as_ref()?))
        })
        .collect();
    let by_rounds = trials.len() - refused.len();
    format!(
        "{by_rounds} of {} parts by rounds: confirm the score by packets{}",
        trials.len(),
        refused.concat()
    )
}

/// The weighted geometric mean of parts, each with its weight first: a low part cannot be made up for by another
/// one. `None` if all weights are 0.
fn score(parts: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let counting = parts.filter(|(weight, _)| *weight > 0.0);
    let (weights, logs) = counting
        .fold((0.0, 0.0), |(weights, logs), (weight, part)| (weights + weight, logs + weight * part.ln()));
    (weights > 0.0).then(|| (logs / weights).exp())
}

/// The weakest point of each part, the lowest part first.
fn worst(parts: &[(&Entry, Part)]) -> String {
    let mut sorted: Vec<_> = parts.iter().filter(|(_, part)| !part.worst.is_empty()).collect();
    sorted.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let line =
        |(entry, part): &&(&Entry, Part)| format!("{} ({:.4}): {}", entry.label(), part.value, part.worst);
    sorted.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Where the runs write their results.
enum Out {
    Kept(PathBuf),
    Temporary(TempDir),
}

impl Out {
    /// The requested folder, which must be new or empty, or a temporary one.
    fn new(asked: Option<&Path>) -> Result<Self, Failure> {
        let Some(asked) = asked else {
            let folder = tempfile::tempdir();
            let wrong = |error: io::Error| Failure::Machine(format!("a temporary folder: {error}"));
            return Ok(Self::Temporary(folder.map_err(wrong)?));
        };
        if asked.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            let why = format!("{}: the folder is not empty", asked.display());
            return Err(Failure::Input(format!("{why}\n\nhint: choose another folder with `--out DIR`")));
        }
        Ok(Self::Kept(asked.to_owned()))
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
