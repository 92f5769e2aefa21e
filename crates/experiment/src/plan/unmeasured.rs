//! What an experiment asks for and will not get: columns of its table that nothing measures, windows after its end.

use tresse_units::Duration;

use crate::plan::{Case, Plan, Setting};
use crate::read::Loaded;
use crate::schema::metrics::{METRICS, Measured, find};

/// What will be missing in the results, a sentence each.
pub fn notes(loaded: &Loaded, plan: &Plan) -> Vec<String> {
    let measure = &loaded.experiment.measure;
    let columns = measure.table.iter().flatten().filter_map(|metric| of_column(metric, plan));
    columns.chain(measure.windows.keys().filter_map(|name| of_window(name, plan))).collect()
}

/// A column of the table that is empty, because no case measures it.
fn of_column(metric: &str, plan: &Plan) -> Option<String> {
    let measured = find(METRICS, metric)?.measured?;
    let is_on = |setting: &Setting| match measured {
        Measured::Rtt => setting.rtt,
        Measured::Queues => setting.queues.is_some(),
        Measured::Convergence => setting.convergence.is_some(),
        Measured::Recovery => setting.recovery.is_some(),
    };
    let is_off = !plan.cases.iter().any(|case| is_on(&case.setting));
    is_off.then(|| format!("`{metric}` in `measure.table` needs `{}` in [measure]", measured.setting()))
}

/// A window that begins only when cases have ended.
fn of_window(name: &str, plan: &Plan) -> Option<String> {
    let begins_late = |case: &&Case| {
        let window = case.setting.windows.iter().find(|window| window.name == name);
        window.zip(case.ends_by()).is_some_and(|(window, end)| window.from >= end)
    };
    let late: Vec<&Case> = plan.cases.iter().filter(begins_late).collect();
    let last = late.iter().max_by_key(|case| case.ends_by())?;
    let end = Duration(last.ends_by()?);
    let (label, all) = (last.label(), plan.cases.len());
    Some(match late.len() {
        1 => format!("the window `{name}` begins after the end of {label}, {end} at the latest"),
        n => format!(
            "the window `{name}` begins after the end of {n} of {all} cases: the last of them, {label}, ends by {end}"
        ),
    })
}
