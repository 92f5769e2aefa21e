//! All experiments of a paper, one after the other, compared with the published results.

mod folder;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tresse_experiment::read::built_in;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_experiment::{Loaded, Profile, did_you_mean};
use tresse_lab::{Options, Watch};
use tresse_reproduction::PaperExperiment;
use tresse_reproduction::pages::{Reproduced, Reproduction};
use tresse_reproduction::paper::{self, Paper};
use tresse_results::Status;

use crate::OWNERS;
use crate::cores;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::progress::Progress;
pub(crate) use folder::{MARKER, folder};

/// Which paper to run, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its name, such as `xmp`.
    pub paper: String,
    /// The size of the experiments.
    pub profile: Profile,
    /// Only these experiments, named by their files or by the paper's figures and tables; all if there are none.
    pub only: Vec<String>,
    /// The seed of the first replication.
    pub seed: u64,
    /// How many seeds; `None`: as each experiment says.
    pub replications: Option<Asked>,
    /// How many cases run at a time; `None`: one for each core.
    pub parallel: Option<u16>,
    /// The folder for the results: new, empty, or of an interrupted run to continue; `None`: the next
    /// `runs/paper-PAPER-N`.
    pub out: Option<PathBuf>,
}

/// What is told while a paper is run. Experiments are numbered from 1.
#[derive(Debug)]
pub enum Event<'a> {
    /// An experiment is complete in the folder already.
    Kept {
        number: usize,
        /// How many experiments there are.
        of: usize,
        name: &'a str,
    },
    /// An experiment begins.
    Begins {
        number: usize,
        /// How many experiments there are.
        of: usize,
        name: &'a str,
        /// How long it will take, and all from it on, seconds, if known.
        left_s: Option<[f64; 2]>,
    },
    /// An experiment's results, compared with the published ones.
    Compared(&'a PaperExperiment, &'a Reproduced),
}

/// A run of a paper after its end, or after it was interrupted.
#[derive(Debug)]
pub struct PaperRun {
    pub paper: Paper,
    /// What was run, compared with the published results.
    pub all: Reproduction,
    /// The folder of the results.
    pub out: PathBuf,
    /// How many experiments are not complete.
    pub left: usize,
    /// What went wrong in experiments.
    pub errors: Vec<String>,
    files: folder::Folder,
}

impl PaperRun {
    /// The run as one JSON object: the reports of its experiments, with the kept results of real hosts.
    ///
    /// # Errors
    /// If a report cannot be read back.
    pub fn report(&self) -> Result<Value, Failure> {
        self.files.full_report(self.status(), &self.all.summary, &self.all.experiments)
    }

    fn status(&self) -> Status {
        if self.left == 0 { Status::Complete } else { Status::Partial }
    }
}

/// Runs the experiments, or those that are not yet complete in the folder; `tell` is told of each.
///
/// # Errors
/// An error in the request, in the folder, or of `tell`. What goes wrong in an experiment is in [`PaperRun::errors`].
pub fn run<E: From<Failure>>(
    request: &Request,
    interrupt: &Arc<Interrupt>,
    progress: &Progress,
    tell: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
) -> Result<PaperRun, E> {
    let paper = paper::find(&request.paper).map_err(Failure::from)?;
    let chosen = chosen(paper, &request.only)?;
    let files = open(request, paper)?;
    interrupt.keep();

    let (mut done, mut errors) = (Vec::new(), Vec::new());
    let mut estimate = Estimate::of(&chosen, request.profile);
    let of = chosen.len();
    for (i, &name) in chosen.iter().enumerate() {
        let number = i + 1;
        let place = files.path().join(folder(name));
        let loaded = loaded(name, request.profile)?;
        if files.is_complete(name, &loaded) {
            tell(Event::Kept { number, of, name })?;
        } else if interrupt.asked() {
            break;
        } else {
            tell(Event::Begins { number, of, name, left_s: estimate.left_s(i) })?;
            files.clear(name)?;
            match one(request, loaded, &place, interrupt, progress) {
                Err(Failure::Interrupted) => break,
                error => errors.extend(error?),
            }
        }
        let (experiment, own) = Reproduced::read(&place, OWNERS, false).map_err(Failure::from)?;
        estimate.took(i, own.comparison.summary.wall_s);
        tell(Event::Compared(&experiment, &own))?;
        done.push(own);
        files.save(Status::Running, &Reproduction::of(done.clone()).summary)?;
    }

    let left = chosen.len() - done.iter().filter(|e| e.status == Status::Complete).count();
    let (all, out) = (Reproduction::of(done), files.path().to_owned());
    let done = PaperRun { paper, all, out, left, errors, files };
    done.files.save(done.status(), &done.all.summary)?;
    Ok(done)
}

/// The folder of the run: the next one, or the requested one, in which a run like this may have begun.
fn open(request: &Request, paper: Paper) -> Result<folder::Folder, Failure> {
    let replications = request.replications.map(|asked| asked.to_string());
    let head = json!({
        "schema": "tresse/paper/1", "paper": paper.name, "profile": request.profile.name(), "seed": request.seed,
        "replications": replications, "version": env!("CARGO_PKG_VERSION"),
        "model_version": tresse_results::MODEL_VERSION,
    });
    let held = match &request.out {
        Some(out) => tresse_results::Folder::hold(out)?,
        None => tresse_results::Folder::next(&format!("paper-{}", paper.name))?,
    };
    folder::Folder::open(held, head)
}

fn loaded(name: &str, profile: Profile) -> Result<Loaded, Failure> {
    Ok(OWNERS.load(tresse_experiment::find(name)?, profile, &[])?)
}

/// Runs one experiment into its folder; returns what went wrong, which is reported after the other experiments.
fn one(
    request: &Request,
    loaded: Loaded,
    out: &Path,
    interrupt: &Arc<Interrupt>,
    progress: &Progress,
) -> Result<Option<String>, Failure> {
    let said = &loaded.experiment.replications;
    let options = Options {
        profile: request.profile,
        seed: request.seed,
        replications: request.replications.map_or_else(|| said.clone(), |asked| asked.over(said)),
        out: Some(out.to_owned()),
        ..Options::default()
    };
    let parallel = request.parallel.map(usize::from);
    let (progress, ends) = (Arc::clone(progress), Arc::clone(interrupt));
    let report = interrupt.run(move || {
        let plan = OWNERS.resolve(&loaded, &[])?;
        let options = cores::shared(&plan, options, parallel, None);
        memory::check(&plan, &options)?;
        let watch = Arc::new(Watch::new(&plan, &options)?);
        ends.ends(&watch);
        let shown = progress(&watch);
        let report = tresse_reproduction::run(&loaded, &plan, &options, &watch);
        shown();
        Ok(report?)
    })?;
    let name = &report.experiment;
    Ok((!report.errors.is_empty()).then(|| format!("{name}: {}", report.errors.join("\n"))))
}

/// All experiments, or the named ones, in the paper's order.
fn chosen(paper: Paper, only: &[String]) -> Result<Vec<&'static str>, Failure> {
    let experiments = paper.experiments();
    if only.is_empty() {
        return Ok(experiments);
    }
    let rows = built_in::rows();
    let full = |name: &str| match name.split_once('/') {
        Some(_) => name.trim_end_matches(".toml").to_owned(),
        None => format!("{}/{}", paper.name, name.trim_end_matches(".toml")),
    };
    let mut wanted = Vec::new();
    for name in only.iter().map(|name| full(name.trim())) {
        let file = rows.iter().find(|(row, _)| *row == name).map_or(&*name, |(_, file)| file);
        if !experiments.contains(&file) {
            let known = experiments.iter().copied().chain(rows.iter().map(|(row, _)| row.as_str()));
            let hint = did_you_mean(&name, known.filter(|n| n.starts_with(&format!("{}/", paper.name))));
            return Err(Failure::Input(format!(
                "--only {name}: {} has no such experiment{hint}\n\nhint: its experiments are {}",
                paper.name,
                experiments.join(", ")
            )));
        }
        wanted.push(file.to_owned());
    }
    let is_wanted = |name: &str| wanted.iter().any(|w| w == name);
    Ok(experiments.into_iter().filter(|name| is_wanted(name)).collect())
}

/// An estimate of the remaining time: the time that it took when the results in `papers/results/` were made, scaled
/// by how fast this machine has been so far.
struct Estimate {
    /// The time of each experiment; `None` if unknown.
    known_s: Vec<Option<f64>>,
    /// The time that finished experiments took, and their known times.
    took_s: f64,
    of_s: f64,
}

impl Estimate {
    fn of(experiments: &[&str], profile: Profile) -> Self {
        let known_s = experiments.iter().map(|name| paper::took_s(name, profile)).collect();
        Self { known_s, took_s: 0.0, of_s: 0.0 }
    }

    fn took(&mut self, i: usize, seconds: f64) {
        if let Some(known) = self.known_s[i] {
            self.took_s += seconds;
            self.of_s += known;
        }
    }

    /// The estimate for the `i`th and for all from it on, seconds; `None` unless all of them are known.
    fn left_s(&self, i: usize) -> Option<[f64; 2]> {
        let left: Option<f64> = self.known_s[i..].iter().copied().sum();
        let speed = if self.of_s > 0.0 { self.took_s / self.of_s } else { 1.0 };
        Some([self.known_s[i]? * speed, left? * speed])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_it_did_on_a_machine_of_this_speed() {
        let mut estimate =
            Estimate { known_s: vec![Some(10.0), Some(20.0), Some(280.0)], took_s: 0.0, of_s: 0.0 };
        assert_eq!(estimate.left_s(0), Some([10.0, 310.0]));
        estimate.took(0, 20.0);
        assert_eq!(estimate.left_s(1), Some([40.0, 600.0]));
        estimate.known_s[2] = None;
        assert_eq!(estimate.left_s(1), None);
    }

    #[test]
    fn experiments_are_chosen_by_files_and_by_figures() {
        let paper = paper::find("xmp").expect("it is one");
        let of = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            chosen(paper, &only).map_err(|e| format!("{e:?}"))
        };
        assert_eq!(of(&["fig9", "xmp/fig1", "table1.toml"]), Ok(vec!["xmp/fig1", "xmp/table1"]));
        assert_eq!(of(&[]).expect("all").len(), paper.experiments().len());
        let error = of(&["tabel1"]).expect_err("there is none");
        assert!(error.contains("did you mean `xmp/table1`?"), "{error}");
        assert!(of(&["opn/fig2"]).is_err(), "another paper's");
    }
}
