//! From outcomes to the table: metrics, published numbers, the optimum, and the digest.

use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use tresse_experiment::plan::{AxisValue, Case};
use tresse_experiment::schema::slice;

use crate::judge::{Jumps, Numbers};
use crate::metric::{self, by, intervals, jct_jumps, recovery};
use crate::observe::{convergence, path_sharing_score, windows};
use crate::optimum::beside;
use tresse_results::record::metric::Metric;
use tresse_results::record::outcome::Outcome;
use tresse_results::record::results::{CaseResult, JumpsFound, Metrics, Parts, SeedResult};

/// The results of `case`, with what was published of it and those of the `jumps` that it has; `outcomes` are its
/// replications. None before the first flow.
pub fn case_result(case: &Case, outcomes: &[&Outcome], published: Numbers, jumps: &[Jumps]) -> CaseResult {
    let several = if outcomes.len() > 1 { outcomes } else { &[] };
    let seeds: Vec<SeedResult> = several.iter().map(|&outcome| seed_result(case, outcome)).collect();
    let metrics = metrics(case, outcomes, metric::offered(case));
    let (mut ci95, ci95_over) = match outcomes {
        [one] => (intervals::over_rounds(&one.flows), "rounds"),
        [] => (IndexMap::new(), "rounds"),
        _ => (intervals::over_seeds(seeds.iter().map(|seed| &seed.metrics)), "seeds"),
    };
    // Seeds may have a value that all together do not, such as a recovery time.
    ci95.retain(|name, _| metrics.contains_key(name));
    let optima: Vec<_> = outcomes.iter().map(|o| &o.optima).collect();
    let optimum = owned(beside::summary(&optima));
    let why_none = optima.iter().find_map(|o| o.why_none.clone());
    let cut_short = || optimum.is_empty().then(|| "no round had finished when it ended".to_owned());
    CaseResult {
        case: axes(case),
        digest: digest(&outcomes.iter().map(|&o| (case, o.seed, o)).collect::<Vec<_>>()),
        arrivals: case.is_of_arrivals(),
        metrics,
        by: by(case, outcomes),
        windows: windows::mean(&outcomes.iter().map(|o| &o.windows).collect::<Vec<_>>()),
        jumps: jumps_found(outcomes, jumps),
        ci95,
        ci95_by: ci95_by(&seeds),
        ci95_over: ci95_over.to_owned(),
        seeds,
        published: published.of_case,
        published_by: published.of_parts,
        no_optimum: why_none.or_else(cut_short),
        optimum,
        optimum_of: "round_start".to_owned(),
        no_convergence: no_convergence(outcomes, case),
        no_recovery: recovery::why_none(case, outcomes),
        no_sharing_score: path_sharing_score::why_none(case),
    }
}

/// The measurements of `case` under one seed.
fn seed_result(case: &Case, outcome: &Outcome) -> SeedResult {
    let one = &[outcome];
    SeedResult {
        seed: outcome.seed,
        metrics: metrics(case, one, None),
        by: by(case, one),
        windows: outcome.windows.clone(),
        optimum: owned(beside::summary(&[&outcome.optima])),
    }
}

/// With owned names, as in what is read back.
fn owned<T>(named: impl IntoIterator<Item = (&'static str, T)>) -> IndexMap<String, T> {
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The metrics of a case and of its slices, with `more`.
fn metrics(
    case: &Case,
    outcomes: &[&Outcome],
    more: impl IntoIterator<Item = (&'static str, Metric)>,
) -> Metrics {
    let mut all: Metrics = owned(metric::of(outcomes).into_iter().chain(more));
    for (slice, metrics) in by::slices(case, outcomes) {
        all.extend(metrics.into_iter().map(|(name, value)| (slice::metric_of(slice, name), value)));
    }
    all
}

fn by(case: &Case, outcomes: &[&Outcome]) -> Parts<Metrics> {
    let parts = by::by(&case.groups, outcomes).into_iter();
    let of_part = |(name, metrics)| (name, owned(metrics));
    parts.map(|(what, parts)| (what.to_owned(), parts.into_iter().map(of_part).collect())).collect()
}

/// The intervals of the metrics of parts, over these seeds; parts without any are left out.
fn ci95_by(seeds: &[SeedResult]) -> Parts<IndexMap<String, f64>> {
    let mut all: Parts<Vec<&Metrics>> = IndexMap::new();
    for (what, parts) in seeds.iter().flat_map(|seed| &seed.by) {
        for (name, metrics) in parts {
            all.entry(what.clone()).or_default().entry(name.clone()).or_default().push(metrics);
        }
    }
    let widths =
        |(name, metrics): (String, Vec<&Metrics>)| (name, intervals::over_seeds(metrics.into_iter()));
    let parts = all.into_iter().map(|(what, parts)| {
        (what, parts.into_iter().map(widths).filter(|(_, widths)| !widths.is_empty()).collect())
    });
    parts.filter(|(_, parts): &(String, IndexMap<_, _>)| !parts.is_empty()).collect()
}

/// Those of the jumps that are there.
fn jumps_found(outcomes: &[&Outcome], jumps: &[Jumps]) -> IndexMap<String, JumpsFound> {
    let found = jumps.iter().filter_map(|jumps| {
        let mut times: Vec<_> = outcomes.iter().flat_map(|o| &o.jobs).map(|(_, j)| j.end - j.start).collect();
        times.sort_unstable();
        Some((jumps.name.clone(), jct_jumps::jumps(&times, jumps)?))
    });
    found.collect()
}

/// Why a case has no convergence times, if they were requested.
fn no_convergence(outcomes: &[&Outcome], case: &Case) -> Option<String> {
    case.setting.convergence?;
    let most = convergence::MOST_FLOWS;
    let flows = outcomes.iter().map(|o| o.flows.len()).max().filter(|n| *n > most);
    flows
        .map(|n| {
            format!(
                "a run has {n} flows; convergence times are limited to {most}, because each flow is an event for all"
            )
        })
        .or_else(|| {
            let none = outcomes.iter().all(|o| o.converged.is_empty());
            none.then(|| {
                "no subflow was without events for long enough (`for` in `convergence`)".to_owned()
            })
        })
}

/// The axes of a case, as in results; `subflows` is null if the path manager decides, and `variant` is only there
/// if the experiment has variants. The axes made by lists of values come last.
pub(crate) fn axes(case: &Case) -> IndexMap<String, serde_json::Value> {
    let mut axes = owned([
        ("scheme", case.scheme.clone().into()),
        ("subflows", case.subflows.into()),
        ("pattern", case.pattern.clone().into()),
    ]);
    axes.extend(case.variant.clone().map(|variant| ("variant".to_owned(), variant.into())));
    axes.extend(case.at.iter().map(|at| (at.name.to_string(), json(at))));
    axes
}

/// A number stays a number; other values are written as in files.
fn json(at: &AxisValue) -> serde_json::Value {
    match &at.value {
        toml::Value::Integer(n) => (*n).into(),
        toml::Value::Float(x) => (*x).into(),
        toml::Value::Boolean(is) => (*is).into(),
        _ => at.text().into(),
    }
}

/// A fingerprint of everything that was simulated: equal digests, equal results. It depends only on the cases, the
/// seeds and the model, not on the machine or the number of workers. It takes the cases in their order, because
/// otherwise all stored digests would change. A case's own digest shows whether that case is the same.
pub fn digest(replications: &[(&Case, u64, &Outcome)]) -> String {
    let mut hash = Sha256::new();
    for (case, seed, outcome) in replications {
        hash.update(case.label());
        let mut add = |words: &[u64]| words.iter().for_each(|word| hash.update(word.to_le_bytes()));
        add(&[*seed, outcome.simulated, outcome.hops]);
        for f in &outcome.flows {
            let r = &f.record;
            let begun = &f.begun.start;
            add(&[begun.round.into(), begun.from.into(), begun.to.into(), r.bytes, r.start, r.end]);
            let c = &r.counters;
            add(&[c.sent, c.retransmissions, c.timeouts, c.recoveries, c.mark_cuts, c.marks]);
        }
        for (part, job) in &outcome.jobs {
            add(&[*part as u64, job.number.into(), job.start, job.end, job.flows.into()]);
        }
        for l in &outcome.links {
            add(&[l.port.into(), l.bytes, l.drops + l.lost, l.marks]);
            if l.pfc.pauses > 0 {
                add(&[l.pfc.pauses, l.pfc.paused, l.pfc.overflows]);
            }
        }
    }
    hash.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect()
}
