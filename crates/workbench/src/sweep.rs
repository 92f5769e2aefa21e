//! One experiment at many settings: sweeps on this machine's cores, and what their folders have.

use std::io::Write;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tresse_experiment::diagnostic::plain_json;
use tresse_sweep::local::{self, Stop};
use tresse_sweep::{Cube, Plan, Request as Design, Sweep};

use crate::OWNERS;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::python;

pub use tresse_sweep::{Finished, LeftOut, Shard, Standing, is_sweep, merge, read, rows};

/// How often it is seen whether the sweep should end.
const LOOK: Duration = Duration::from_millis(50);

/// How many reasons for failed points are shown.
const MOST_REASONS: usize = 5;

/// A sweep to begin, or to continue.
#[derive(Debug, Clone)]
pub struct Request {
    /// The file of its plan.
    pub plan: PathBuf,
    /// The folder; `None`: the next `sweeps/NAME-N`.
    pub out: Option<PathBuf>,
    /// The part to compute; `None`: all.
    pub shard: Option<Shard>,
    /// How many points run at a time; `None`: one for each core.
    pub parallel: Option<usize>,
}

/// A sweep in its folder, ready to be computed.
#[derive(Debug)]
pub struct Opened {
    sweep: Arc<Sweep>,
    parallel: usize,
}

impl Request {
    /// Reads the plan, and opens the folder.
    ///
    /// # Errors
    /// An error in the plan or the folder, or if the machine cannot draw the points of a design.
    pub fn open(&self) -> Result<Opened, Failure> {
        let sweep =
            Sweep::open(&Plan::read(&self.plan)?, OWNERS, self.out.as_deref(), self.shard, &mut draw)?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Opened { sweep: Arc::new(sweep), parallel: self.parallel.unwrap_or(cores) })
    }
}

impl Opened {
    /// Notes on the experiment.
    pub fn notes(&self) -> &[String] {
        self.sweep.notes()
    }

    /// How far it is; the time left is that of all cores together, seconds.
    pub fn standing(&self) -> Standing {
        let now = self.sweep.standing();
        Standing { left_s: now.left_s.map(|left| left / self.parallel as f64), ..now }
    }

    /// Computes the missing points, and writes the results; `look` is called twenty times a second. When `interrupt` is
    /// asked to end it, the points in progress are abandoned, and the others kept.
    ///
    /// # Errors
    /// If something cannot be written. Points that fail are part of the results.
    pub fn compute(&self, interrupt: &Interrupt, look: &mut dyn FnMut()) -> Result<Finished, Failure> {
        let stop = Arc::new(Stop::default());
        let (tell, told) = mpsc::channel();
        let work = thread::spawn({
            let (sweep, stop, parallel) = (Arc::clone(&self.sweep), Arc::clone(&stop), self.parallel);
            move || tell.send(local::run(&sweep, parallel, &stop)).expect("it is waited for")
        });
        let done = loop {
            match told.recv_timeout(LOOK) {
                Ok(done) => break done,
                Err(RecvTimeoutError::Disconnected) => match work.join() {
                    Err(panicked) => panic::resume_unwind(panicked),
                    Ok(()) => unreachable!("it tells before it ends"),
                },
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.asked() {
                stop.stop();
            }
            look();
        };
        let finished = self.sweep.finish()?;
        done?;
        Ok(finished)
    }
}

/// Fails if points failed.
///
/// # Errors
/// [`Failure::Check`].
pub fn check(finished: &Finished) -> Result<(), Failure> {
    match finished.failed() {
        0 => Ok(()),
        failed => Err(Failure::Check(format!("{failed} of {} points failed", finished.points))),
    }
}

/// The summary of a sweep: how many points there are, and why some failed.
pub fn summary(finished: &Finished) -> String {
    let Finished { folder, points, failures, unfinished, left_out } = finished;
    let of = unfinished.as_ref().map(|own| format!(" of {}", own.of)).unwrap_or_default();
    let s = if *points == 1 && unfinished.is_none() { "" } else { "s" };
    let left = match unfinished {
        None => String::new(),
        Some(own) if own.in_progress => "; in progress".to_owned(),
        Some(own) => {
            format!("; interrupted: `tresse sweep {} --out {}` continues", own.plan, folder.display())
        }
    };
    let mut text = match finished.failed() {
        0 => format!("{points}{of} point{s}{left}\n"),
        failed => format!("{points}{of} point{s}, {failed} failed{left}:\n"),
    };
    for (why, points) in failures.iter().take(MOST_REASONS) {
        let first = why.lines().next().unwrap_or_default();
        let more = if why.lines().count() > 1 { " …" } else { "" };
        text += &format!("  {points} of them: {first}{more}\n");
    }
    if failures.len() > MOST_REASONS {
        text += &format!("  and {} other reasons: see the column `error`\n", failures.len() - MOST_REASONS);
    }
    if left_out.points > 0 {
        text += &format!("{}\n", said(left_out));
    }
    if results(folder).exists() {
        text += &format!("results: {}\ntable: tresse show {}\n", results(folder).display(), folder.display());
    }
    text
}

/// How many points were left out, and why, in one line.
fn said(left_out: &LeftOut) -> String {
    let s = if left_out.points == 1 { "" } else { "s" };
    let each = left_out.unseen.iter().map(|unseen| {
        let by: Vec<&str> = unseen.by.iter().map(String::as_str).collect();
        format!("{} for {} ({})", unseen.key, by.join(", "), unseen.why)
    });
    let each: Vec<String> = each.collect();
    let points = left_out.points;
    format!(
        "left out: {points} point{s} that would differ only in what makes no difference: {}",
        each.join("; ")
    )
}

fn results(folder: &Path) -> PathBuf {
    folder.join("results.parquet")
}

/// The same as JSON.
pub fn json(finished: &Finished) -> Value {
    let reasons = finished.failures.iter().map(|(error, points)| json!({ "error": error, "points": points }));
    json!({
        "schema": "tresse/sweep/1", "out": finished.folder, "results": results(&finished.folder),
        "points": finished.points, "planned": finished.unfinished.as_ref().map(|own| own.of), "failed": finished.failed(), "failures": reasons.collect::<Vec<_>>(),
        "left_out": finished.left_out,
    })
}

/// Asks SciPy for the points of a design.
fn draw(asked: &Design) -> Result<Cube, Failure> {
    let hint = python::hint("sweep");
    let wrong =
        |why: &str| Failure::Machine(format!("a design of kind \"{}\": {why}\n\nhint: {hint}", asked.kind));
    let request = serde_json::to_string(asked).expect("plain data");
    let interpreter = python::interpreter();
    let name = Path::new(&interpreter).display().to_string();
    let mut process = Process::new(&interpreter);
    process
        .args(["-m", "tresse.designs"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = process.spawn().map_err(|error| wrong(&format!("{name}: {error}")))?;
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(request.as_bytes()); // what is wrong with it, its end tells
    }
    let told = child.wait_with_output().map_err(|error| wrong(&format!("{name}: {error}")))?;
    if !told.status.success() {
        let said = String::from_utf8_lossy(&told.stderr);
        return Err(wrong(said.trim().lines().last().unwrap_or("its sampler ended without a message")));
    }
    serde_json::from_slice(&told.stdout)
        .map_err(|error| wrong(&format!("its sampler: {}", plain_json(&error))))
}
