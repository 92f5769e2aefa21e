//! Checks what figures refer to: dimensions, metrics and quantities must exist in the experiment.

use std::cmp::Ordering;

use indexmap::IndexSet;
use toml::Value;
use tresse_experiment::diagnostic::{Wrong, known};
use tresse_experiment::plan::Case;
use tresse_experiment::schema::Experiment;
use tresse_experiment::schema::metrics::{WINDOW_METRICS, find};
use tresse_experiment::schema::slice::check_metric;

use super::{Chart, Figure, Needs, PARTS, QUANTITIES, SAMPLED, TIME_SERIES};

/// Figures may only refer to what exists, and to what the experiment measures; but a setting may have switched off
/// the measurement.
///
/// # Errors
/// The first thing that does not exist, with its location in the file.
pub(super) fn check(experiment: &Experiment, cases: &[Case], is_as_written: bool) -> Result<(), Wrong> {
    let mut ids = IndexSet::new();
    for (place, figure) in super::of(experiment)?.iter().enumerate() {
        let at = |wrong: Wrong| {
            let message = format!("{}: {}", figure.id, wrong.message);
            Wrong { message, ..wrong }.below(place).below("figures")
        };
        if !ids.insert(&figure.id) {
            return Err(at(Wrong::key("id", "another figure has this name")));
        }
        one(experiment, cases, is_as_written, figure).map_err(at)?;
    }
    Ok(())
}

fn one(experiment: &Experiment, cases: &[Case], is_as_written: bool, figure: &Figure) -> Result<(), Wrong> {
    let axes = cases.iter().flat_map(|case| case.axes().into_keys());
    let dimension = |key: &'static str, name: &str, others: &[&str]| {
        let own = ["scheme", "subflows", "pattern", "variant"].into_iter();
        let own: IndexSet<&str> = own.chain(axes.clone()).chain(PARTS).collect();
        let all = own.into_iter().chain(others.iter().copied());
        // A setting may have made one value of the list that was an axis.
        let list = "a key is one, by its own name, if it has a list of values, as in `mark = [\"10pkt\", \"20pkt\"]`";
        let wrong = |e: String| Wrong::key(key, format!("{e}; {list}"));
        if is_as_written { known("dimension", name, all).map_err(wrong) } else { Ok(()) }
    };
    let has = |needs: Needs| if is_as_written { has(experiment, cases, needs) } else { Ok(()) };
    let needed = |key: &'static str, value: &Option<String>, of: &str| {
        let message = || Wrong::key("chart", format!("this chart needs `{key} = \"…\"`: {of}"));
        value.clone().ok_or_else(message)
    };
    let metric = |key: &'static str, name: &str| {
        let of_case = || check_metric(name, &experiment.measure.slices).map_err(|e| Wrong::key(key, e));
        if find(WINDOW_METRICS, name).is_some() { Ok(()) } else { of_case() }
    };
    let quantity = |key: &'static str, name: &str| {
        known("quantity", name, QUANTITIES.iter().map(|(own, ..)| own)).map_err(|e| Wrong::key(key, e))?;
        let needs = QUANTITIES.iter().find(|(own, ..)| *own == name).expect("it is known").2;
        has(needs).map_err(|e| Wrong::key(key, e))
    };
    match figure.chart {
        Chart::Time => {
            let y = needed("y", &figure.y, "a sampled quantity")?;
            known("sampled quantity", &y, SAMPLED.iter().map(|(own, _)| own))
                .map_err(|e| Wrong::key("y", e))?;
            let needs = SAMPLED.iter().find(|(own, _)| *own == y).expect("it is known").1;
            has(needs).map_err(|e| Wrong::key("y", e))?;
        }
        Chart::Cdf => quantity("x", &needed("x", &figure.x, "a quantity")?)?,
        Chart::Bars | Chart::Matrix | Chart::Lines => {
            dimension("x", &needed("x", &figure.x, "a dimension")?, &[])?;
            metric("y", &needed("y", &figure.y, "a metric")?)?;
        }
        Chart::Boxes => {
            dimension("x", &needed("x", &figure.x, "a dimension")?, &[])?;
            quantity("y", &needed("y", &figure.y, "a quantity")?)?;
        }
        Chart::Scatter => {
            metric("x", &needed("x", &figure.x, "a metric")?)?;
            metric("y", &needed("y", &figure.y, "a metric")?)?;
        }
    }
    let lines: &[&str] = if figure.chart == Chart::Time { &TIME_SERIES } else { &[] };
    for (key, name) in [("series", &figure.series), ("panels", &figure.panels)] {
        name.iter().try_for_each(|name| dimension(key, name, lines))?;
    }
    for (name, wanted) in &figure.only {
        let below = |wrong: Wrong| Wrong::new(["where", name.as_str()], wrong.message);
        dimension("where", name, &["flow", "subflow", "port", "seed", "round"]).map_err(below)?;
        let is_plain = |value: &Value| {
            matches!(value, Value::String(_) | Value::Integer(_) | Value::Float(_) | Value::Boolean(_))
        };
        let fits = match wanted {
            Value::Array(all) => !all.is_empty() && all.iter().all(is_plain),
            one => is_plain(one),
        };
        if !fits {
            return Err(Wrong::new(["where", name.as_str()], "expected a value, or a list of values"));
        }
        let own: IndexSet<String> =
            cases.iter().filter_map(|case| case.axes().swap_remove(name.as_str())).collect();
        for value in plain_values(wanted).filter(|_| is_as_written && !own.is_empty()) {
            let schemes = cases.iter().filter(|_| name == "scheme").map(labelled);
            let all = own.iter().cloned().chain(schemes).collect::<IndexSet<String>>();
            known(name, &value, &all).map_err(|e| Wrong::new(["where", name.as_str()], e))?;
        }
    }
    for (key, range) in [("x_range", figure.x_range), ("y_range", figure.y_range)] {
        if let Some([from, to]) = range.filter(|[from, to]| from.partial_cmp(to) != Some(Ordering::Less)) {
            return Err(Wrong::key(key, format!("{from} to {to}: the first must be the smaller one")));
        }
    }
    Ok(())
}

/// The values that `where` lists, in the form used for axes.
fn plain_values(wanted: &Value) -> impl Iterator<Item = String> {
    let one = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all = match wanted {
        Value::Array(all) => all.iter().map(one).collect(),
        wanted => vec![one(wanted)],
    };
    all.into_iter()
}

/// A scheme with its number of subflows: `xmp-2`.
fn labelled(case: &Case) -> String {
    case.subflows.map_or_else(|| case.scheme.clone(), |n| format!("{}-{n}", case.scheme))
}

/// Whether the experiment measures what a figure needs.
fn has(experiment: &Experiment, cases: &[Case], needs: Needs) -> Result<(), String> {
    let measure = &experiment.measure;
    let any = |is: fn(&Case) -> bool| cases.iter().any(is);
    let (is_there, mend) = match needs {
        Needs::Nothing => return Ok(()),
        Needs::Jobs => (any(Case::has_jobs), "no pattern has jobs"),
        Needs::Rtt => (any(|c| c.setting.rtt), "it needs `[measure] rtt = true`"),
        Needs::Queues => (any(|c| c.setting.queues.is_some()), "it needs `[measure] queues = \"100us\"`"),
        Needs::Links => (any(|c| c.setting.links), "it needs `[measure] links = true`"),
        Needs::Convergence => (measure.convergence.is_some(), "it needs `[measure] convergence = {}`"),
        Needs::Samples => (any(|c| c.setting.samples.is_some()), "it needs `[measure] samples = \"10ms\"`"),
        Needs::SampledLinks => (
            any(|c| c.setting.samples.is_some() && c.setting.links),
            "it needs `[measure] samples = \"10ms\"` and `links = true`",
        ),
        Needs::SampledShares => (
            any(|c| {
                c.setting.samples.is_some()
                    && c.setting.links
                    && c.bound_schemes.iter().any(|s| s.routing.has_shares())
            }),
            "it needs `[measure] samples = \"10ms\"`, `links = true` and a balancer with shares, such as \
             routing = \"holnet-percentage\"",
        ),
    };
    if is_there || cases.is_empty() { Ok(()) } else { Err(mend.to_owned()) }
}
