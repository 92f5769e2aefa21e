//! `tresse compare`: a finished run against the published numbers, or two runs against each other.

mod differences;
pub mod published;
mod two;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::{did_you_mean, plain_json};
use tresse_lab::Finished;
use tresse_reproduction::pages::{Reproduced, Reproduction};
use tresse_reproduction::paper;
use tresse_sweep::{is_sweep, is_tuning};
use tresse_units::text_file;

use crate::failure::Failure;
use crate::paper::{MARKER, folder};

/// The file that every run has in its folder.
const RUN: &str = "run.json";

/// Compare a finished run with the published numbers, or two runs with each other
///
/// RUN is the folder of a run, or of a run of a paper. A single run is compared with the published numbers.
/// With two runs, every case is compared with the same case of the other run: their ratio, and whether their
/// 95 % intervals are apart.
///
/// The output starts with the differences in what was run: settings, keys, seeds, files, controllers.
///
/// Kept results of real hosts (`tresse testbed`) are shown next to the simulator's, if there are any.
///
/// The exit code is 1 if a claim that is expected to hold does not, if a published number is more than 20 % off and
/// the experiment's file does not say why, or, with two runs, if a claim that held in the first does not hold in the
/// second.
///
/// Examples:
///   tresse compare runs/xmp-table1-1
///   tresse compare runs/xmp-table1-1 runs/xmp-table1-2
///   tresse compare runs/paper-xmp-1 --markdown
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of a run, such as runs/xmp-table1-1 or runs/paper-xmp-1
    run: PathBuf,
    /// The folder of another run, to compare it with the first
    other: Option<PathBuf>,
    /// Judge runs that `--set` has changed by the published numbers and claims anyway
    #[arg(long)]
    judge: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print a section for a page
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let runs = folders(&args.run)?;
    let mut out = anstream::stdout().lock();
    if let Some(other) = &args.other {
        let pairs = two::compare(&read(&runs)?, &read(&folders(other)?)?, args.judge);
        match (args.json, args.markdown) {
            (true, _) => print_compact(&serde_json::to_value(&pairs).expect("plain data"))?,
            (_, true) => write!(out, "{}", pairs.markdown())?,
            _ => write!(out, "{pairs}")?,
        }
        return pairs.check();
    }
    let mut experiments = Vec::new();
    for run in &runs {
        let (experiment, own) = Reproduced::read(run, args.judge)?;
        if args.markdown {
            writeln!(out, "{}", published::markdown(&experiment, &own))?;
        } else if !args.json {
            published::show(&experiment, &own, &mut out)?;
            writeln!(out)?;
        }
        experiments.push(own);
    }
    let all = Reproduction::of(experiments);
    if args.json {
        print_compact(&serde_json::to_value(&all).expect("plain data"))?;
    } else if runs.len() > 1 {
        write!(out, "{}", published::Total(&all))?;
    }
    published::check(&all)
}

/// What to give instead of `path`, which is not a run.
fn where_runs_are(path: &Path) -> String {
    if is_tuning(path) {
        let (best, unchanged) = (path.join("front-1"), path.join("baseline"));
        let shown = path.display();
        return match best.join(RUN).exists() {
            true => format!(
                "it is a search by `tresse tune`: `tresse show {}` prints the run of its best setting, and `tresse \
                 show {}` that of the unchanged experiment; {shown}/trials.parquet has everything that was tried",
                best.display(),
                unchanged.display(),
            ),
            false => format!(
                "it is a search by `tresse tune` that has not ended: `tresse tune PLAN.toml --out {shown}` continues it"
            ),
        };
    }
    if is_sweep(path) {
        return format!("it is a sweep: `tresse show {}` prints it", path.display());
    }
    let runs = |folder: &Path| -> Vec<String> {
        let folders = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_run = |path: &PathBuf| [RUN, MARKER].iter().any(|file| path.join(file).exists());
        let mut runs: Vec<String> = folders.filter(is_run).map(|path| path.display().to_string()).collect();
        runs.sort_unstable();
        runs
    };
    if let Some(run) = runs(path).first() {
        return format!("expected the folder of a single run, such as {run}");
    }
    let near = path.parent().map(runs).unwrap_or_default();
    let near = did_you_mean(&path.display().to_string(), near.iter().map(String::as_str));
    format!("expected the folder of a run, such as runs/xmp-table1-1 or runs/paper-xmp-1{near}")
}

/// What `--json` prints for two runs.
pub fn json(left: &Path, right: &Path, judge: bool) -> Result<String, Failure> {
    let pairs = two::compare(&read(&folders(left)?)?, &read(&folders(right)?)?, judge);
    Ok(serde_json::to_string(&pairs).expect("plain data"))
}

/// The folders of runs that `path` stands for: itself, or those of a run of a paper.
pub fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.join(RUN).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let Ok(marker) = text_file::read_text(&path.join(MARKER)) else {
        let message = format!("{}: there is no run here\n\nhint: {}", path.display(), where_runs_are(path));
        return Err(Failure::Input(message));
    };
    let marker: Value = serde_json::from_str(&marker).map_err(|e| {
        Failure::Input(format!("{}: cannot be read: {}", path.join(MARKER).display(), plain_json(&e)))
    })?;
    let paper = paper::find(marker["paper"].as_str().unwrap_or_default())?;
    let folders = paper.experiments().into_iter().map(|name| path.join(folder(name)));
    let folders: Vec<PathBuf> = folders.filter(|folder| folder.join(RUN).exists()).collect();
    if folders.is_empty() {
        return Err(Failure::Input(format!("{}: none of its experiments has started", path.display())));
    }
    Ok(folders)
}

/// Whole runs.
fn read(folders: &[PathBuf]) -> Result<Vec<Finished>, Failure> {
    Ok(folders.iter().map(|folder| Finished::read(folder)).collect::<Result<_, Diagnostic>>()?)
}

/// One JSON object on stdout, in which values that fit into one line take one: such files are kept and read by
/// people.
fn print_compact(value: &Value) -> Result<(), Failure> {
    writeln!(io::stdout(), "{}", compact(value))?;
    Ok(())
}

/// JSON in which values that fit into one line take one.
pub fn compact(value: &Value) -> String {
    indented(value, 0)
}

fn indented(value: &Value, depth: usize) -> String {
    let flat = value.to_string();
    let (open, close, lines): (_, _, Vec<String>) = match value {
        Value::Object(table) if flat.len() > WIDTH => {
            let line = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(&**key), indented(value, depth + 1))
            };
            ('{', '}', table.iter().map(line).collect())
        }
        Value::Array(list) if flat.len() > WIDTH => {
            ('[', ']', list.iter().map(|v| indented(v, depth + 1)).collect())
        }
        _ => return flat,
    };
    let (outer, inner) = ("  ".repeat(depth), "  ".repeat(depth + 1));
    format!("{open}\n{inner}{}\n{outer}{close}", lines.join(&format!(",\n{inner}")))
}

/// The longest line of such a file: a claim with its reason, a published number.
const WIDTH: usize = 600;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn short_objects_stand_on_a_line() {
        let long = "x".repeat(WIDTH);
        let value = json!({ "list": [{ "a": 1 }, { "b": long }], "n": 2 });
        let text = compact(&value);
        assert_eq!(text.lines().count(), 9, "{text}");
        assert!(text.contains("\n    {\"a\":1},\n"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
