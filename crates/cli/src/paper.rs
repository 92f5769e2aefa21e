//! `tresse paper`: all experiments of a paper, one after the other, compared with the published results.

mod folder;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tresse_experiment::keys::stopping_rule::Asked;
use tresse_experiment::read::built_in;
use tresse_experiment::{Loaded, Profile, did_you_mean};
use tresse_lab::{Options, Status, Watch};
use tresse_reproduction::pages::{Reproduced, Reproduction};
use tresse_reproduction::paper::{self, Paper};

use crate::chosen::ProfileArg;
use crate::compare::published;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::output::print_json;
use crate::progress::{self, Mode};
pub use folder::{MARKER, folder};

/// Run all experiments of a paper and report which published numbers and claims hold
///
/// PAPER is xmp, opn, dcm, holnet or vmcc. The experiments run one after the other, each into its own folder
/// in `runs/paper-PAPER-N`; as soon as one is done its results are shown next to the published ones. `--out DIR`
/// continues an interrupted run and keeps what is complete there. `tresse compare DIR` shows everything again.
/// Kept results of real hosts (`tresse testbed`) are shown too.
///
/// The exit code is 1 if a claim that is expected to hold does not, or if a published number is more than 20 % off and
/// the experiment's file does not say why.
///
/// Examples:
///   tresse paper xmp
///   tresse paper xmp --only table1,fig4
///   tresse paper holnet --profile full --out runs/holnet
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The paper: xmp, opn, dcm, holnet or vmcc
    paper: String,
    /// The size of the experiments: `full` is the paper's own, `quick` has fewer flows, rounds or seconds
    #[arg(long, value_enum, default_value = "quick")]
    profile: ProfileArg,
    /// Only these experiments, named by their files or by the paper's figures and tables
    #[arg(long, value_name = "EXPERIMENT[,EXPERIMENT]", value_delimiter = ',')]
    only: Vec<String>,
    /// The seed of the first replication
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = crate::chosen::seed)]
    seed: u64,
    /// How many seeds to run (SEED, SEED+1, …); with P%, as many as it takes until half the 95 % interval is at
    /// most this share of the mean in every case [default: as each experiment says]
    #[arg(long, value_name = "N|P%")]
    replications: Option<Asked>,
    /// How many cases run at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// The folder for the results: new, empty, or of an interrupted run to continue [default:
    /// runs/paper-PAPER-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
    /// Print the sections for a page
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let interrupt = Interrupt::catch()?;
    let paper = paper::find(&args.paper)?;
    let chosen = chosen(paper, &args.only)?;
    let replications = args.replications.map(|asked| asked.to_string());
    let head = json!({
        "schema": "tresse/paper/1", "paper": paper.name, "profile": args.profile.profile().name(), "seed": args.seed,
        "replications": replications, "version": env!("CARGO_PKG_VERSION"),
        "model_version": tresse_lab::MODEL_VERSION,
    });
    let held = match &args.out {
        Some(out) => tresse_lab::Folder::hold(out)?,
        None => tresse_lab::Folder::next(&format!("paper-{}", paper.name))?,
    };
    let out = held.path().to_owned();
    let files = folder::Folder::open(held, head)?;
    interrupt.keep();

    let (mut done, mut errors) = (Vec::new(), Vec::new());
    let mut estimate = Estimate::of(&chosen, args.profile.profile());
    for (i, &name) in chosen.iter().enumerate() {
        let place = out.join(folder(name));
        let number = format!("[{}/{}] {name}", i + 1, chosen.len());
        let loaded = tresse_experiment::load(tresse_experiment::find(name)?, args.profile.profile(), &[])?;
        if files.is_complete(name, &loaded) {
            eprintln!("{number}: already complete");
        } else if interrupt.asked() {
            break;
        } else {
            eprintln!("{number}{}", estimate.text(i));
            files.clear(name)?;
            match one(args, loaded, &place, &interrupt) {
                Err(Failure::Interrupted) => break,
                error => errors.extend(error?),
            }
        }
        let (experiment, own) = Reproduced::read(&place, false)?;
        estimate.took(i, own.comparison.summary.wall_s);
        let mut stdout = io::stdout().lock();
        if args.markdown {
            writeln!(stdout, "{}", published::markdown(&experiment, &own))?;
        } else if !args.json {
            published::show(&experiment, &own, &mut stdout)?;
            writeln!(stdout)?;
        }
        stdout.flush()?;
        done.push(own);
        files.save(Status::Running, &Reproduction::of(done.clone()).summary)?;
    }

    let left = chosen.len() - done.iter().filter(|e| e.status == Status::Complete).count();
    let all = Reproduction::of(done);
    let status = if left == 0 { Status::Complete } else { Status::Partial };
    files.save(status, &all.summary)?;
    if args.json {
        print_json(&files.full_report(status, &all.summary, &all.experiments)?)?;
    } else if !args.markdown {
        writeln!(io::stdout(), "\n{}\n{}results: {}", paper.title(), published::Total(&all), out.display())?;
    }
    if !errors.is_empty() {
        return Err(Failure::Input(errors.join("\n")));
    }
    if interrupt.asked() && left > 0 {
        let shown = out.display();
        eprintln!("partial: experiments left: {left}; what was measured is in {shown}");
        eprintln!("hint: the same command with `--out {shown}` continues it");
        return Err(Failure::Interrupted);
    }
    published::check(&all)
}

/// Runs one experiment into its folder; returns what went wrong, which is reported after the other experiments.
fn one(
    args: &Args,
    loaded: Loaded,
    out: &Path,
    interrupt: &Arc<Interrupt>,
) -> Result<Option<String>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let said = &loaded.experiment.replications;
    let options = Options {
        profile: args.profile.profile(),
        seed: args.seed,
        replications: args.replications.map_or_else(|| said.clone(), |asked| asked.over(said)),
        parallel: args.parallel.map_or(cores, usize::from),
        threads: 1,
        out: Some(out.to_owned()),
        judge: false,
        figure: None,
    };
    let (progress, ends) = (args.progress, Arc::clone(interrupt));
    let report = interrupt.run(move || {
        let plan = tresse_experiment::resolve(&loaded, &[])?;
        memory::check(&plan, &options)?;
        let watch = Arc::new(Watch::new(&plan, &options)?);
        ends.ends(&watch);
        let display = progress::start(&watch, progress);
        let report = tresse_reproduction::run(&loaded, &plan, &options, &watch);
        display.finish();
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

    /// The estimate for the `i`th and for all from it on; empty unless all of them are known.
    fn text(&self, i: usize) -> String {
        let left: Option<f64> = self.known_s[i..].iter().copied().sum();
        let speed = if self.of_s > 0.0 { self.took_s / self.of_s } else { 1.0 };
        let text = |seconds: f64| match seconds * speed {
            s if s < 90.0 => format!("{s:.0} s"),
            s => format!("{:.0} min", s / 60.0),
        };
        match (self.known_s[i], left) {
            (Some(own), Some(left)) => format!(" (about {}; {} with the rest)", text(own), text(left)),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_it_did_on_a_machine_of_this_speed() {
        let mut estimate =
            Estimate { known_s: vec![Some(10.0), Some(20.0), Some(280.0)], took_s: 0.0, of_s: 0.0 };
        assert_eq!(estimate.text(0), " (about 10 s; 5 min with the rest)");
        estimate.took(0, 20.0);
        assert_eq!(estimate.text(1), " (about 40 s; 10 min with the rest)");
        estimate.known_s[2] = None;
        assert_eq!(estimate.text(1), "");
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
