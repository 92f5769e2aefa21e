//! Runs every case of an experiment.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use tresse_experiment::plan::{differences, unmeasured};
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_experiment::{Loaded, Plan};
use tresse_lab::{Options, Undivided, Watch};
use tresse_results::Report;

use crate::cases::Cases;
use crate::cores;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::own_code::{Names, OwnCode};
use crate::progress::Progress;

/// How many cases may run at a time.
pub const PARALLEL: RangeInclusive<u16> = 1..=1024;

/// How many threads may work on one case.
pub const THREADS: RangeInclusive<u16> = 1..=64;

/// What to run, and how.
#[derive(Debug, Clone)]
pub struct Request {
    pub cases: Cases,
    /// The user's own code that is loaded first.
    pub own: OwnCode,
    /// The seed of the first replication.
    pub seed: u64,
    /// How many seeds; `None`: as the experiment says.
    pub replications: Option<Asked>,
    /// How many cases run at a time; `None`: one for each core, or for each `threads` of them.
    pub parallel: Option<u16>,
    /// How many threads may work on one case; `None`: the cores that cases leave. The results do not depend on it.
    pub threads: Option<u16>,
    /// The folder for the results, which must be new or empty; `None`: the next `runs/NAME-N`.
    pub out: Option<PathBuf>,
    /// Whether to judge by the published numbers and claims even if settings have changed the experiment.
    pub judge: bool,
}

/// A run that is ready to begin.
#[derive(Debug)]
pub struct Prepared {
    pub loaded: Arc<Loaded>,
    pub plan: Plan,
    /// How to run them.
    pub options: Options,
    pub watch: Arc<Watch>,
    /// Notes to show before it begins, one or two lines each.
    pub notes: Vec<String>,
}

impl Request {
    /// These cases under seed 1, with the program's defaults.
    pub fn of(cases: Cases) -> Self {
        Self {
            cases,
            own: OwnCode::default(),
            seed: 1,
            replications: None,
            parallel: None,
            threads: None,
            out: None,
            judge: false,
        }
    }

    /// Does everything that precedes the run itself.
    ///
    /// # Errors
    /// An error in the request, the experiment or the user's code, or if there is no room for the run.
    pub fn prepare(self) -> Result<Prepared, Failure> {
        let in_range = |name, asked: Option<u16>, range| -> Result<Option<usize>, Failure> {
            Ok(asked.map(|n| number(name, &n.to_string(), range)).transpose()?.map(usize::from))
        };
        let threads = in_range("threads", self.threads, THREADS)?;
        let parallel = in_range("parallel", self.parallel, PARALLEL)?;
        let mut notes = Vec::new();
        let own = self.own.load(&mut |note| notes.push(note))?;
        let (loaded, plan) = self.cases.load(&mut |note| notes.push(note))?;
        notes.extend(of_unused(&own, &plan));
        let said = &loaded.experiment.replications;
        notes.extend(threads.and_then(|threads| undivided(&plan, threads)));
        let options = Options {
            profile: self.cases.experiment.profile,
            seed: self.seed,
            replications: self.replications.map_or_else(|| said.clone(), |asked| asked.over(said)),
            out: self.out,
            judge: self.judge,
            figure: self.cases.experiment.figure(),
            ..Options::default()
        };
        let options = cores::shared(&plan, options, parallel, threads);
        let cuts = plan.cuts(&loaded);
        notes.extend(
            cuts.map(|(path, full, quick)| format!("quick profile: {path} = {quick} (full: {full})")),
        );
        notes.extend(of_patterns(&plan));
        let known = [unmeasured::notes(&loaded, &plan), plan.shared(), differences::notes(&loaded, &plan)];
        notes.extend(known.concat().into_iter().map(|note| format!("note: {note}")));
        notes.extend(of_rounds(&plan));
        notes.extend(memory::check(&plan, &options)?);
        let watch = Arc::new(Watch::new(&plan, &options)?);
        Ok(Prepared { loaded: Arc::new(loaded), plan, options, watch, notes })
    }
}

impl Prepared {
    /// Runs the cases on the calling thread until they end, or until the watch is told to stop.
    ///
    /// # Errors
    /// If results cannot be written.
    pub fn run(&self) -> Result<Report, Failure> {
        Ok(tresse_reproduction::run(&self.loaded, &self.plan, &self.options, &self.watch)?)
    }

    /// Runs the cases on a thread of their own, which `interrupt` ends.
    ///
    /// # Errors
    /// If results cannot be written; [`Failure::Interrupted`] if it was ended before it had a folder.
    pub fn run_until(self, interrupt: &Interrupt, progress: &Progress) -> Result<Report, Failure> {
        interrupt.ends(&self.watch);
        let shown = progress(&self.watch);
        let report = interrupt.run(move || self.run());
        shown();
        report
    }
}

/// What to know of cases by rounds, if there are any.
fn of_rounds(plan: &Plan) -> Option<String> {
    let mut rounds = plan.cases.iter().filter(|case| case.setting.fidelity == Fidelity::Rounds).peekable();
    rounds.peek()?;
    let by_losses = rounds.flat_map(|case| &case.bound_schemes).find(|own| !own.transport.ecn);
    Some(match by_losses {
        Some(own) => format!(
            "note: by rounds, what answers losses, such as {}, may be far from packets: docs/fidelity.md",
            own.label()
        ),
        None => "note: by rounds; docs/fidelity.md has the errors".to_owned(),
    })
}

/// Reads a seed.
///
/// # Errors
/// What is expected.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number of at least 0, and at most {}", u64::MAX))
}

/// Reads the number that the request calls `name`.
///
/// # Errors
/// If it is no whole number, or outside `range`.
pub fn number(name: &str, text: &str, range: RangeInclusive<u16>) -> Result<u16, Failure> {
    let value: Option<u16> = text.parse().ok().filter(|value| range.contains(value));
    let (least, most) = (range.start(), range.end());
    value
        .ok_or_else(|| Failure::Input(format!("{name}: {text} is not a whole number from {least} to {most}")))
}

/// Warnings about the user's code that no case uses.
fn of_unused(own: &Names, plan: &Plan) -> Vec<String> {
    let schemes = || plan.cases.iter().flat_map(|case| &case.bound_schemes);
    let runs = |name: &str| schemes().any(|scheme| scheme.controllers.controller().name() == name);
    let balances = |name: &str| {
        schemes().filter_map(|own| own.sprayed.as_ref()).any(|own| own.balancer.balancer().name() == name)
    };
    let controllers = own.controllers.iter().filter(|name| !runs(name)).map(|name| {
        format!(
            "warning: no case uses the controller {name}\nhint: `--set schemes.{name}.controller={name} \
             --set schemes.{name}.subflows=2` makes a scheme with it"
        )
    });
    let balancers = own.balancers.iter().filter(|name| !balances(name)).map(|name| {
        format!(
            "warning: no case uses the balancer {name}\nhint: `--set schemes.SCHEME.balancer={name}` \
             gives it to a scheme with a sprayed transport"
        )
    });
    controllers.chain(balancers).collect()
}

/// The notes of the traffic patterns, each once.
fn of_patterns(plan: &Plan) -> BTreeSet<String> {
    let parts = plan.cases.iter().flat_map(|case| &case.parts);
    parts.flat_map(|part| &part.pattern.notes).map(|note| format!("note: {note}")).collect()
}

/// A note if flow control has lost packets, which it should prevent.
pub fn of_headroom(report: &Report) -> Option<String> {
    let drops = report.cases.iter().filter_map(|case| case.metrics.get("headroom_drops_pkts"));
    let drops: f64 = drops.map(|metric| metric.value()).sum();
    (drops > 0.0).then(|| {
        format!(
            "note: {drops} packets were dropped because `headroom` of `pfc` is too small for the packets on their way: \
             leave it out to derive it from each link (`tresse explain pfc`)"
        )
    })
}

/// Which cases run on one thread although they could use more, and why.
fn undivided(plan: &Plan, threads: usize) -> Option<String> {
    let reasons: Vec<Undivided> =
        plan.cases.iter().filter_map(|case| tresse_lab::undivided(case, threads)).collect();
    let why = reasons.first().filter(|_| threads > 1)?;
    let (alike, all) = (reasons.iter().filter(|other| *other == why).count(), plan.cases.len());
    Some(if alike == all {
        format!("note: one thread per case: {why}")
    } else {
        format!("note: one thread for {alike} of {all} cases: {why}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Experiment;

    #[test]
    fn a_number_outside_its_range_is_refused_with_the_range() {
        let of = |text: &str| number("threads", text, THREADS).map_err(|e| e.to_string());
        assert_eq!(of("64"), Ok(64));
        for text in ["0", "70000", "-1", "few"] {
            assert_eq!(of(text), Err(format!("threads: {text} is not a whole number from 1 to 64")));
        }
    }

    #[test]
    fn a_request_is_checked_before_anything_is_read() {
        let cases = Cases::all(Experiment::named("nowhere.toml"));
        let request = Request { threads: Some(0), ..Request::of(cases) };
        assert!(
            matches!(request.prepare(), Err(Failure::Input(why)) if why == "threads: 0 is not a whole number from 1 to 64")
        );
    }

    const SMALL: &str = r#"
title = "One switch"
[fabric]
topology = "leaf-spine"
leaves = 1
spines = 1
hosts_per_leaf = 4
rate = "10Gbps"
delay = "1us"
queue = "100pkt"
mark = "20pkt"
host_queue = "1000pkt"
[transport]
profile = "linux"
[schemes.dctcp]
controller = "dctcp"
[workloads.messages]
pattern = "permutation"
size = "100kB"
"#;

    #[test]
    fn a_run_needs_no_terminal() {
        let dir = tempfile::TempDir::new().expect("a temporary folder");
        let out = dir.path().join("run");
        let experiment = Experiment { text: Some(SMALL.to_owned()), ..Experiment::named("small") };
        let request = Request { out: Some(out.clone()), ..Request::of(Cases::all(experiment)) };
        let prepared = request.prepare().expect("it is right");
        assert!(prepared.notes.iter().any(|note| note.contains("host_mark")), "{:?}", prepared.notes);
        let report = prepared.run_until(&Interrupt::default(), &crate::progress::none()).expect("it runs");
        assert_eq!(report.cases[0].metrics["flows"].value(), 4.0);
        let pairs = crate::compare::runs(&out, &out, false).expect("it is a run");
        assert!(pairs.experiments[0].is_same());
        assert!(crate::page::of(&out).expect("it has a page").exists());
    }
}
