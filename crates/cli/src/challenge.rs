//! `tresse challenge`: where a controller does worst.

use std::io::{self, IsTerminal, Write, stderr};
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tresse_workbench::challenge::{self, Challenge, Replayed, Request, Step};
use tresse_workbench::{Failure, Interrupt};

use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;
use crate::width::sentence;
use crate::{interrupt, kernel};

/// Search for the conditions in which a controller does worst
///
/// A condition is a small network and what happens in it: rates, delays, buffers, K, flows and subflows,
/// other schemes, losses, a link that fails. Each goal is a number from 0 to 1, where 1 is the worst:
/// starvation, harm to other schemes, unfairness, oscillation, standing queues, unused capacity, recovery
/// after a failure, incast, traffic that jumps between paths, distance from the claimed optimum.
///
/// What the search finds is confirmed under five other seeds, then made as simple as possible while it
/// stays. The folder has an experiment of some forty lines for each failure, README.md, and challenge.json.
/// The same seed and number of candidates find the same to the bit. Ctrl-C keeps what was found.
/// docs/challenge.md describes the goals and the bounds.
///
/// A C file is compiled to native code that runs with your rights: run only what you trust.
///
/// Examples:
///   tresse challenge xmp
///   tresse challenge mine.c --time 10m
///   tresse challenge lia --goal harm-reno --goal recovery --bound rate=1Gbps.. --bound subflows=2
///   tresse challenge --replay challenges/xmp-1
///   tresse challenge --replay challenges/xmp-1 --testbed
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A C file, or a built-in controller
    #[arg(value_name = "CONTROLLER|FILE.c", required_unless_present = "replay")]
    controller: Option<String>,
    /// What to look for, by name; again for more [default: every goal that suits the controller]
    #[arg(long = "goal", value_name = "NAME")]
    goals: Vec<String>,
    /// Search only these values of a quantity: VALUE[,VALUE…] or LEAST..MOST; again for more
    #[arg(long = "bound", value_name = "NAME=VALUES")]
    bounds: Vec<String>,
    /// How many conditions to try [default: 400, without --time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    candidates: Option<u64>,
    /// How long it may take, roughly, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// The seed of the search
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many runs at a time; results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// The folder, which must be new or empty [default: challenges/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure again what an earlier challenge found, and say whether each number is the same
    #[arg(long, value_name = "DIR", conflicts_with_all = ["controller", "goals", "bounds", "candidates", "time", "out"])]
    replay: Option<PathBuf>,
    /// With --replay: measure on real Linux hosts, as root, and say whether each failure stays (docs/testbed.md)
    #[arg(long, requires = "replay", conflicts_with = "parallel")]
    testbed: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Reads a number of seconds, minutes or hours.
fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "a time such as 90s, 10m or 2h".to_owned();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().map_err(|_| expected())?;
    let seconds = match &text[digits.len()..] {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return Err(expected()),
    };
    let time = number.checked_mul(seconds).filter(|seconds| (1..=31_536_000).contains(seconds));
    time.map(Duration::from_secs).ok_or_else(expected)
}

pub fn run(args: Args) -> Result<(), Ended> {
    let interrupt = interrupt::catch()?;
    if let Some(folder) = &args.replay {
        return match args.testbed {
            true => kernel::challenge::replay(folder, args.json, &interrupt),
            false => replay(folder, &args, &interrupt),
        };
    }
    let request = Request {
        controller: args.controller.expect("clap requires it"),
        goals: args.goals,
        bounds: args.bounds,
        candidates: args.candidates,
        time: args.time,
        seed: args.seed,
        parallel: args.parallel,
        out: args.out,
    };
    let mut display = Display::new();
    let challenge = challenge::run(&request, &interrupt, &mut |step| display.show(&step));
    display.end();
    let challenge = challenge?;
    if args.json {
        print_json(&challenge.record)?;
    } else {
        show(&challenge)?;
    }
    if challenge.record.complete { Ok(()) } else { Err(Failure::Interrupted.into()) }
}

fn replay(folder: &std::path::Path, args: &Args, interrupt: &Interrupt) -> Result<(), Ended> {
    let mut note = |note| eprintln!("{note}");
    let replayed = challenge::replay(folder, challenge::workers(args.parallel), interrupt, &mut note)?;
    if args.json {
        print_json(&replayed)?;
    } else {
        show_replayed(&replayed)?;
    }
    if replayed.is_same() {
        return Ok(());
    }
    let differ = replayed.failures.iter().filter(|again| !again.same).count();
    Err(Failure::Check(format!("{differ} of {} numbers differ", replayed.failures.len())).into())
}

/// What is shown while it goes on: a line for each new failure, and on a terminal how far it is.
struct Display {
    bar: Option<ProgressBar>,
    failures: usize,
}

impl Display {
    fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(ProgressStyle::with_template("{spinner} {msg}").expect("the template is constant"));
            bar
        });
        Self { bar, failures: 0 }
    }

    fn show(&mut self, step: &Step<'_>) {
        match step {
            Step::Note(note) => self.line(note),
            Step::Worse(goal, network, value) => {
                self.failures += 1;
                self.line(&format!("{} {value:.2} ({})", goal.name, network.name()));
            }
            Step::Tried(done, of) => {
                let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
                self.at(format!("{done}{of} conditions tried"));
            }
            Step::Confirming(count) => self.at(format!("confirming and simplifying {count}")),
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            // Standard error may be closed.
            None => drop(writeln!(stderr(), "{text}")),
        }
    }

    fn at(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
            bar.tick();
        }
    }

    fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn show(challenge: &Challenge) -> io::Result<()> {
    let Challenge { record, folder } = challenge;
    let mut out = io::stdout().lock();
    let name = &record.controller.name;
    writeln!(out, "{name} · seed {} · {} candidates\n", record.seed, record.candidates)?;
    for found in &record.failures {
        let hard = if found.is_hard() { ", hard for anyone" } else { "" };
        let beside =
            found.beside.as_ref().map(|other| format!(" ({} {:.2}{hard})", other.controller, other.value));
        let doubt = if found.confirmed { "" } else { ", not confirmed" };
        let head =
            format!("{} {:.2}{}{doubt}: {}", found.goal, found.value, beside.unwrap_or_default(), found.file);
        writeln!(out, "{head}\n  {}", sentence(&found.sentence, 2))?;
    }
    if record.failures.is_empty() {
        writeln!(out, "no failure found")?;
    }
    let dir = folder.display();
    writeln!(out, "\nresults: {dir}  again: tresse challenge --replay {dir}")
}

fn show_replayed(replayed: &Replayed) -> io::Result<()> {
    let mut table = Table::new(&["experiment", "then", "now", ""]);
    for again in &replayed.failures {
        let list =
            |values: &[f64]| values.iter().map(|value| format!("{value:.4}")).collect::<Vec<_>>().join(" ");
        let verdict = match (again.same, again.untouched) {
            (true, _) => "same to the bit",
            (false, true) => "differs",
            (false, false) => "differs: the file was changed",
        };
        table.row(vec![again.file.clone(), list(&again.then), list(&again.now), verdict.to_owned()]);
    }
    write!(io::stdout().lock(), "{table}")
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn a_time_has_a_unit() {
        let seconds = |text| duration(text).map(|time| time.as_secs());
        assert_eq!((seconds("90s"), seconds("10m"), seconds("2h")), (Ok(90), Ok(600), Ok(7200)));
        for text in ["10", "m", "0s", "-1s", "10 m", "999999999h"] {
            assert_eq!(seconds(text), Err("a time such as 90s, 10m or 2h".to_owned()), "{text}");
        }
    }
}
