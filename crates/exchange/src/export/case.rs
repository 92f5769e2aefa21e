//! The single case and seed that a format can hold, and its experiment.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use tresse_experiment::diagnostic::{Diagnostic, plain_json};
use tresse_experiment::plan::{Case as Planned, Plan, resolve};
use tresse_experiment::{Profile, Source, load};
use tresse_units::text_file;

use super::none;

/// The values of a case and seed in the axis columns.
pub(super) type Case = Vec<String>;

/// A label for the case and seed: `scheme=xmp subflows=2 pattern=incast seed=1`.
pub(super) fn label(axes: &[String], case: &Case) -> String {
    pairs(axes, case).collect::<Vec<_>>().join(" ")
}

/// Its values in the form for `--only`.
fn pairs(axes: &[String], case: &Case) -> impl Iterator<Item = String> {
    let values = axes.iter().zip(case).filter(|(_, value)| !value.is_empty());
    values.map(|(axis, value)| format!("{axis}={value}"))
}

/// The only one of `cases`; `format` is the format that can hold only one.
///
/// # Errors
/// If there is none, or several, with their names.
pub(super) fn the_only(
    run: &Path,
    format: &str,
    axes: &[String],
    mut cases: BTreeSet<Case>,
) -> Result<Case, Diagnostic> {
    match cases.len() {
        0 => Err(none(run)),
        1 => Ok(cases.pop_first().expect("there is one")),
        n => {
            let only = |case| pairs(axes, case).map(|pair| format!(" --only {pair}")).collect::<String>();
            let shown: Vec<String> = cases.iter().map(|case| format!(" {}", only(case))).collect();
            Err(Diagnostic::input(format!(
                "{}: {format} has room for one case and seed, but there are {n}; choose one:\n{}",
                run.display(),
                shown.join("\n")
            )))
        }
    }
}

/// The part of `run.json` about the experiment.
#[derive(Deserialize)]
struct Run {
    experiment: String,
    resolved: toml::Table,
}

/// The plan of the experiment as it was run.
///
/// # Errors
/// If `run.json` cannot be read, or a file of the experiment no longer exists.
pub(super) fn plan(run: &Path) -> Result<Plan, Diagnostic> {
    let path = run.join("run.json");
    let text = text_file::read_text(&path).map_err(|error| Diagnostic::io("cannot be read", &path, error))?;
    let bad = |e: &dyn std::fmt::Display| Diagnostic::input(e.to_string()).of(path.display().to_string());
    let Run { experiment, resolved } = serde_json::from_str(&text).map_err(|e| bad(&plain_json(&e)))?;
    let text = toml::to_string(&resolved).map_err(|e| bad(&e))?;
    // The profile was already applied when it ran.
    resolve(&load(Source { name: experiment, text }, Profile::Full, &[])?, &[])
}

/// A case of the plan, by its values on `axes`.
///
/// # Errors
/// If it has no such case.
pub(super) fn planned<'a>(
    run: &Path,
    plan: &'a Plan,
    axes: &[String],
    case: &Case,
) -> Result<&'a Planned, Diagnostic> {
    let is_it = |own: &&Planned| {
        let own = own.axes();
        let mut values = axes.iter().zip(case).filter(|(axis, _)| *axis != "seed");
        values.all(|(axis, value)| own.get(&**axis).map_or("", String::as_str) == value)
    };
    plan.cases.iter().find(is_it).ok_or_else(|| {
        let message = format!("run.json has no case {}", case.join(" "));
        Diagnostic::input(message).of(run.display().to_string())
    })
}
