//! From outcomes to the table: metrics beside published numbers and the optimum, digest.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::convergence;
use crate::experiment::Experiment;
use crate::jumps::{self, JumpsFound};
use crate::metrics::{self, Metric};
use crate::optimum;
use crate::resolve::Case;
use crate::sharing;
use crate::unit::Outcome;
use crate::windows;

/// Metrics by name.
pub type Metrics = IndexMap<String, Metric>;

/// Something of every part of a case, by what divides them (`group`, …) and by the part's name.
pub type Parts<T> = IndexMap<String, IndexMap<String, T>>;

/// The results of one case over its replications.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseResult {
    /// The axes.
    pub case: IndexMap<String, serde_json::Value>,
    /// What was measured, of [`metrics::METRICS`](crate::metrics::METRICS).
    pub metrics: Metrics,
    /// The same of parts of the flows, by `group` (a part of the workload, or a scheme of a mix), `distance` and
    /// `size`, and of the ports by `layer`; what has one part only is left out.
    pub by: Parts<Metrics>,
    /// What flows got in the windows of time, the mean over seeds.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, WindowResult>,
    /// The jumps of the completion times of its jobs, by the claims that speak of them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub jumps: IndexMap<String, JumpsFound>,
    /// Half the width of the 95 % confidence interval of a metric; of a count, that of the count under one seed.
    pub ci95: IndexMap<String, f64>,
    /// The same of the metrics of parts; over seeds only.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ci95_by: Parts<IndexMap<String, f64>>,
    /// What the interval is over: `seeds`, or `rounds` if there is one seed only.
    pub ci95_over: String,
    /// What was measured under each seed, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<SeedResult>,
    /// What was published of it.
    pub published: IndexMap<String, f64>,
    /// What was published of parts of it, as in `by`.
    pub published_by: Parts<IndexMap<String, f64>>,
    /// The rates that the controller claims to reach, and how far the flows were from them; empty if it
    /// claims none. `docs/optimum.md` says what the keys mean.
    pub optimum: IndexMap<String, f64>,
    /// Which flows the optimum is of: those at the start of each round, none of which has finished.
    pub optimum_of: String,
    /// Why there is no optimum, or why some rounds have none.
    pub no_optimum: Option<String>,
    /// Why there are no convergence times; `None` if there are, or if nobody asked.
    pub no_convergence: Option<String>,
    /// Why path-sharing detection has no score; `None` if it has one, or if nothing detects.
    pub no_sharing_score: Option<String>,
}

impl CaseResult {
    /// A name for people: `xmp-2 permutation`, as [`Case::label`] has it.
    pub fn label(&self) -> String {
        let text = |axis: &str| self.case.get(axis).and_then(|value| value.as_str());
        let scheme = text("scheme").unwrap_or_default();
        let scheme = match self.case.get("subflows").and_then(serde_json::Value::as_u64) {
            Some(n) => format!("{scheme}-{n}"),
            None => scheme.to_owned(),
        };
        [Some(&*scheme), text("pattern"), text("variant")].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// What was measured of a case under one seed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SeedResult {
    /// The seed.
    pub seed: u64,
    /// As in [`CaseResult`].
    pub metrics: Metrics,
    /// As in [`CaseResult`].
    pub by: Parts<Metrics>,
    /// As in [`CaseResult`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, WindowResult>,
    /// As in [`CaseResult`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub optimum: IndexMap<String, f64>,
}

/// What flows got in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowResult {
    /// Of all flows that were there.
    pub metrics: Metrics,
    /// Of those of each group, by its name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, WindowGroup>,
}

/// What the flows of a group got in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowGroup {
    /// Of all of them.
    pub metrics: Metrics,
    /// Of each subflow, if the group is one flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subflows: Vec<Metrics>,
}

/// The results of `case`; `outcomes` are its replications. None before the first flow.
pub fn case_result(case: &Case, outcomes: &[Outcome], experiment: &Experiment) -> CaseResult {
    let several = if outcomes.len() > 1 { outcomes } else { &[] };
    let seeds: Vec<SeedResult> = several.iter().map(|outcome| seed_result(case, outcome)).collect();
    let (ci95, ci95_over) = match outcomes {
        [one] => (metrics::over_rounds(&one.flows), "rounds"),
        [] => (IndexMap::new(), "rounds"),
        _ => (metrics::over_seeds(seeds.iter().map(|seed| &seed.metrics)), "seeds"),
    };
    let (of_all, of_parts) = published(case, experiment);
    let optima: Vec<_> = outcomes.iter().map(|o| &o.optima).collect();
    let optimum = owned(optimum::summary(&optima));
    let why_none = optima.iter().find_map(|o| o.why_none().map(str::to_owned));
    let cut_short = || optimum.is_empty().then(|| "no round had finished when it was interrupted".to_owned());
    CaseResult {
        case: owned(axes(case)),
        metrics: owned(metrics::of(outcomes).into_iter().chain(metrics::offered(case))),
        by: by(case, outcomes),
        windows: windows::mean(&outcomes.iter().map(|o| &o.windows).collect::<Vec<_>>()),
        jumps: jumps_found(outcomes, experiment),
        ci95,
        ci95_by: ci95_by(&seeds),
        ci95_over: ci95_over.to_owned(),
        seeds,
        published: of_all,
        published_by: of_parts,
        no_optimum: why_none.or_else(cut_short),
        optimum,
        optimum_of: "round_start".to_owned(),
        no_convergence: no_convergence(outcomes, case),
        no_sharing_score: sharing::why_none(case),
    }
}

/// What was measured of `case` under one seed.
fn seed_result(case: &Case, outcome: &Outcome) -> SeedResult {
    let one = std::slice::from_ref(outcome);
    SeedResult {
        seed: outcome.seed,
        metrics: owned(metrics::of(one)),
        by: by(case, one),
        windows: outcome.windows.clone(),
        optimum: owned(optimum::summary(&[&outcome.optima])),
    }
}

/// With names of its own, as what is read back has them.
fn owned<T>(named: impl IntoIterator<Item = (&'static str, T)>) -> IndexMap<String, T> {
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn by(case: &Case, outcomes: &[Outcome]) -> Parts<Metrics> {
    let parts = metrics::by(&case.groups, outcomes).into_iter();
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
    let widths = |(name, metrics): (String, Vec<&Metrics>)| (name, metrics::over_seeds(metrics.into_iter()));
    let parts = all.into_iter().map(|(what, parts)| {
        (what, parts.into_iter().map(widths).filter(|(_, widths)| !widths.is_empty()).collect())
    });
    parts.filter(|(_, parts): &(String, IndexMap<_, _>)| !parts.is_empty()).collect()
}

/// What was published of a case, and of parts of it.
fn published(case: &Case, experiment: &Experiment) -> (IndexMap<String, f64>, Parts<IndexMap<String, f64>>) {
    let of_case = experiment.published.values.iter().filter(|v| {
        let same_number = v.subflows.is_none_or(|n| case.subflows == Some(n));
        // What flows got in a window is compared with that window (`claims::PublishedNumber`).
        let same_variant = v.variant.is_none() || v.variant == case.variant;
        v.scheme == case.scheme
            && same_number
            && v.pattern == case.pattern
            && same_variant
            && v.window.is_none()
    });
    let (mut of_all, mut of_parts) = (IndexMap::new(), Parts::<IndexMap<_, _>>::new());
    for value in of_case {
        let numbers = value.numbers().map(|(metric, number)| (metric.to_owned(), number));
        match value.selector().part().pop() {
            None => of_all.extend(numbers),
            Some((what, name)) => {
                of_parts.entry(what.to_owned()).or_default().entry(name).or_default().extend(numbers);
            }
        }
    }
    (of_all, of_parts)
}

/// The jumps that claims speak of.
fn jumps_found(outcomes: &[Outcome], experiment: &Experiment) -> IndexMap<String, JumpsFound> {
    let claims = experiment.claims.iter().filter_map(|claim| Some((claim, claim.jumps.as_ref()?)));
    let found = claims.filter_map(|(claim, keys)| {
        let mut times: Vec<_> = outcomes.iter().flat_map(|o| &o.jobs).map(|(_, j)| j.end - j.start).collect();
        times.sort_unstable();
        Some((claim.id.clone(), jumps::jumps(&times, keys)?))
    });
    found.collect()
}

/// Why a case has no convergence times, if they were asked for.
fn no_convergence(outcomes: &[Outcome], case: &Case) -> Option<String> {
    case.setting.convergence?;
    let most = convergence::MOST_FLOWS;
    let flows = outcomes.iter().map(|o| o.flows.len()).max().filter(|n| *n > most);
    flows
        .map(|n| {
            format!(
                "a run has {n} flows, and convergence times are of at most {most}: each is an event for all"
            )
        })
        .or_else(|| {
            let none = outcomes.iter().all(|o| o.converged.is_empty());
            none.then(|| {
                "no subflow was left alone by events for long enough: `for` in `convergence`".to_owned()
            })
        })
}

/// The axes of a case, as results name it; `subflows` is null if the path manager decides, and there is a `variant`
/// only if the experiment has some.
pub(crate) fn axes(case: &Case) -> IndexMap<&'static str, serde_json::Value> {
    let mut axes = IndexMap::from([
        ("scheme", case.scheme.clone().into()),
        ("subflows", case.subflows.into()),
        ("pattern", case.pattern.clone().into()),
    ]);
    axes.extend(case.variant.clone().map(|variant| ("variant", variant.into())));
    axes
}

/// A fingerprint of everything that was simulated: equal digests, equal results. It depends on the
/// cases, the seeds and the model only, not on the machine or the number of workers.
pub fn digest(units: &[(&Case, u64, &Outcome)]) -> String {
    let mut hash = Sha256::new();
    for (case, seed, outcome) in units {
        hash.update(case.label());
        let mut words = vec![*seed, outcome.simulated, outcome.hops];
        for f in &outcome.flows {
            let r = &f.record;
            let begun = &f.begun.start;
            words.extend([begun.round.into(), begun.from.into(), begun.to.into(), r.bytes, r.start, r.end]);
            let c = &r.counters;
            words.extend([c.sent, c.retransmissions, c.timeouts, c.recoveries, c.mark_cuts, c.marks]);
        }
        for (part, job) in &outcome.jobs {
            words.extend([*part as u64, job.number.into(), job.start, job.end, job.flows.into()]);
        }
        for l in &outcome.links {
            words.extend([l.port.into(), l.bytes, l.drops + l.lost, l.marks]);
        }
        for word in words {
            hash.update(word.to_le_bytes());
        }
    }
    hash.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect()
}
