//! Checks whether a plan can be run at all, before anything runs.

use tresse_experiment::Diagnostic;

use crate::designs::Planned;
use crate::plan::Plan;
use crate::spec::Base;

/// How many points of a design are tried; each takes about a millisecond.
const TRIED: usize = 1000;

/// Looks for designs of which no point can be run: then a key is wrong, or all its values. A value that is wrong
/// only at some points is a result of these points.
///
/// # Errors
/// The error of the first such design, with its location.
pub(crate) fn check(plan: &Plan, base: &Base, points: &[Planned]) -> Result<(), Diagnostic> {
    // Points of one table that set the same keys stand together: of a list, each run of such points.
    let is_alike = |one: &Planned, other: &Planned| {
        one.place[..2] == other.place[..2] && one.setting.keys().eq(other.setting.keys())
    };
    points.chunk_by(is_alike).try_for_each(|alike| {
        let mut first = None;
        for point in alike.iter().take(TRIED) {
            match possible(base, point) {
                Ok(()) => return Ok(()),
                Err(error) => first = first.or(Some((point, error))),
            }
        }
        // Of very many points, the others may be right: each will say what is wrong with it.
        if alike.len() > TRIED {
            return Ok(());
        }
        let (point, error) = first.expect("there is a point");
        Err(placed(plan, point, error))
    })
}

fn possible(base: &Base, point: &Planned) -> Result<(), Diagnostic> {
    let loaded = base.common.load(base.owners, &base.settings(&point.setting))?;
    base.owners.resolve(&loaded, base.common.only()).map(drop)
}

/// A hint on `--set` as one on the keys of a plan, which have no such option: `"fabric.mark" = "30pkt"`.
fn in_plan(hint: &str) -> String {
    let mut parts = hint.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let setting = part.strip_prefix("--set ").map(|own| own.trim_matches('\''));
        match setting.and_then(|own| own.split_once('=')) {
            Some((path, value)) if value.parse::<toml::Value>().is_ok() => {
                text += &format!("`\"{path}\" = {value}");
            }
            Some((path, value)) => text += &format!("`\"{path}\" = \"{value}\""),
            None => text += &format!("`{part}"),
        }
    }
    text
}

/// The error of a point, with its location in the plan.
fn placed(plan: &Plan, point: &Planned, error: Diagnostic) -> Diagnostic {
    let error = Diagnostic { hint: error.hint.as_deref().map(in_plan), ..error };
    let cause = error.source_name.clone().unwrap_or_default();
    let key = |option: &str| cause.strip_prefix(option).and_then(|rest| rest.split('=').next());
    let at = |above: &[String], key: &str| above.iter().cloned().chain([key.to_owned()]).collect::<Vec<_>>();
    let place = if let Some(axis) = key("--only ") {
        at(&["only".to_owned()], axis)
    } else {
        match key("--set ") {
            Some(key) if point.setting.contains_key(key) => at(&point.place, key),
            Some(key) => at(&["set".to_owned()], key),
            None => return error,
        }
    };
    plan.caused(&place.iter().map(String::as_str).collect::<Vec<_>>(), error)
}
