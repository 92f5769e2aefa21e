//! What makes the results of cases hard to compare, known when they have ended.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use tresse_experiment::plan::Case;
use tresse_experiment::schema::metrics;
use tresse_experiment::schema::slice::is_total;
use tresse_results::record::mechanism::{MECHANISMS, Mechanism};
use tresse_results::record::outcome::Outcome;
use tresse_results::record::results::{CaseResult, in_cases};
use tresse_units::{Duration, Time, seconds};

use crate::metric::{by, of_mechanisms};

/// Arrivals are told to be unsteady if the run goes on for longer than this share of their time after the last one.
const STEADY: f64 = 0.25;

/// A sentence for each caveat (`docs/fair.md`).
pub(crate) fn noted(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let told = inert(done).into_iter().chain(unsteady(done)).chain(jobs(done));
    told.chain(cut_off(done)).chain(handshakes(done)).collect()
}

/// Intervals over seeds that are larger than the values that tables show beside them: those that the experiment has `named`,
/// or the usual ones.
pub(crate) fn wide(cases: &[CaseResult], named: Option<&[String]>) -> Vec<String> {
    let usual: Vec<String>;
    let shown: &[String] = match named {
        Some(named) => named,
        None => {
            usual = metrics::shown().into_iter().map(|(_, name)| name.to_owned()).collect();
            &usual
        }
    };
    let told = |metric: &String| {
        let is_wide = |case: &&CaseResult| {
            let value = case.metrics.get(metric).map_or(0.0, |own| own.value());
            case.ci95_over == "seeds"
                && value > 0.0
                && case.ci95.get(metric).is_some_and(|half| *half > value)
        };
        let labels: Vec<String> = cases.iter().filter(is_wide).map(CaseResult::label).collect();
        let place = place(&labels, cases.len())?;
        Some(format!(
            "±95 % of {metric} is larger than its value {place}: the value is of the flows of all seeds together, the \
             interval of the seeds' own values, which `tresse show RUN --by seed` shows"
        ))
    };
    shown.iter().filter(|metric| !is_total(metric)).filter_map(told).collect()
}

/// Mechanisms of schemes that never acted: whatever differs between these cases is not their work.
fn inert(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let mut acts: IndexMap<Mechanism, IndexMap<String, f64>> = IndexMap::new();
    for (case, _, outcome) in done.iter().filter(|(_, _, own)| own.complete) {
        let counts = of_mechanisms(&[*outcome]);
        for mechanism in MECHANISMS {
            let Some(count) = counts.get(mechanism.metric) else { continue };
            *acts.entry(mechanism).or_default().entry(case.label()).or_default() += count.value();
        }
    }
    let told = |(Mechanism { name, idle: what, .. }, counts): (Mechanism, IndexMap<String, f64>)| {
        let idle: Vec<&str> = counts.iter().filter(|(_, n)| **n == 0.0).map(|(label, _)| &**label).collect();
        let place = match idle.len() {
            0 => return None,
            n if n == counts.len() => "in any case".to_owned(),
            _ => in_cases(&idle, counts.len()),
        };
        Some(format!("inert: {name} did nothing {place}: {what} (`tresse explain inert`)"))
    };
    acts.into_iter().filter_map(told).collect()
}

/// A place for a note about the cases with these labels, of `all`; `None` if there are none.
fn place(labels: &[String], all: usize) -> Option<String> {
    (!labels.is_empty()).then(|| in_cases(labels, all))
}

/// Handshakes that waited for `rto_initial`: a second by default, which one flow of a thousand turns into a tail.
fn handshakes(done: &[(&Case, u64, &Outcome)]) -> Option<String> {
    let mut waited: IndexMap<String, usize> = IndexMap::new();
    let mut least = Time::MAX;
    for (case, _, outcome) in done {
        for flow in outcome.flows.iter().filter(|flow| flow.record.counters.handshake_timeouts > 0) {
            *waited.entry(case.label()).or_default() += 1;
            let bound = &case.bound_schemes[flow.begun.member.bound_scheme];
            least = least.min(bound.transport.rto_initial);
        }
    }
    let labels: Vec<String> =
        waited.iter().map(|(label, flows)| format!("{flows} flows of {label}")).collect();
    let cases: BTreeSet<String> = done.iter().map(|(case, ..)| case.label()).collect();
    let place = place(&labels, cases.len())?;
    Some(format!(
        "packets of handshakes were lost {place}: each was sent again after `rto_initial`, {} or more, whatever `rto_min` \
         is, and `timeouts` does not count it (`handshake_timeouts` in flows.parquet does)",
        Duration(least)
    ))
}

/// Flows of slices that the end of their case has cut off: a slow flow is then in no percentile.
fn cut_off(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let mut slices: IndexMap<&String, IndexMap<String, [usize; 2]>> = IndexMap::new();
    for (case, _, outcome) in done.iter().filter(|(case, _, own)| case.duration.is_some() && own.complete) {
        for (name, slice) in &case.setting.slices {
            let [cut, all] = slices.entry(name).or_default().entry(case.label()).or_default();
            let has = by::in_slice(slice, case);
            for flow in outcome.flows.iter().filter(|flow| flow.begun.start.bytes.is_some() && has(flow)) {
                *all += 1;
                *cut += usize::from(!flow.record.complete);
            }
        }
    }
    let told = |(slice, cases): (&String, IndexMap<String, [usize; 2]>)| {
        let labels: Vec<String> = cases
            .iter()
            .filter(|(_, [cut, _])| *cut > 0)
            .map(|(label, [cut, all])| format!("{cut} of {all} under {label}"))
            .collect();
        let place = place(&labels, cases.len())?;
        Some(format!(
            "the slice {slice}: `duration` ended flows before they had finished, {}, and its completion times are without \
             them: too good, if they waited for a timeout; with `flows` and without `duration` all finish",
            place.trim_start_matches("in ")
        ))
    };
    slices.into_iter().filter_map(told).collect()
}

/// Arrivals at a load that end long before the flows do: the load is then below what was asked for much of the time, and
/// long flows end on a network that is almost empty.
fn unsteady(done: &[(&Case, u64, &Outcome)]) -> Option<String> {
    let mut worst: Option<(String, Time, Time)> = None;
    for (case, _, outcome) in done.iter().filter(|(case, _, own)| case.is_of_arrivals() && own.complete) {
        if case.duration.is_some() || case.parts.iter().all(|part| part.pattern.offered.is_none()) {
            continue;
        }
        // A job arrives once: its later flows are answers.
        let alone = outcome.flows.iter().filter(|flow| flow.begun.start.job.is_none());
        let jobs = outcome.jobs.iter().map(|(_, job)| job.start);
        let last = alone.map(|flow| flow.record.start).chain(jobs).max().unwrap_or(0);
        let end = outcome.flows.iter().map(|flow| flow.record.end).max().unwrap_or(0);
        let is_unsteady = (end - last) as f64 > STEADY * last as f64;
        let is_worse = worst.as_ref().is_none_or(|(_, other, until)| end - last > until - other);
        if is_unsteady && is_worse {
            worst = Some((case.label(), last, end));
        }
    }
    worst.map(|(label, last, end)| {
        format!(
            "not a steady state: in {label} the last flow or job arrives at {:.1} ms and the last one ends at {:.1} ms, so the load \
             is below the one that was asked for after the arrivals. Use more `flows`, or a `duration`, which cuts off \
             flows at its end",
            seconds(last) * 1e3,
            seconds(end) * 1e3
        )
    })
}

/// Cases that differ in their scheme alone and ran different numbers of jobs a seed: the next job begins when one has
/// ended, so a faster scheme gets more work, and more of it at a time.
fn jobs(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    // By what is the same for all schemes, and by case: jobs, and seeds.
    let mut counts: IndexMap<String, IndexMap<String, (usize, usize)>> = IndexMap::new();
    for (case, _, outcome) in done.iter().filter(|(_, _, own)| own.complete) {
        let is_closed = |part: usize| !case.parts[part].pattern.is_of_arrivals();
        let jobs = outcome.jobs.iter().filter(|(part, _)| is_closed(*part)).count();
        let same = format!("{} {:?} {:?}", case.pattern, case.variant, case.at);
        let (sum, seeds) = counts.entry(same).or_default().entry(case.label()).or_default();
        (*sum, *seeds) = (*sum + jobs, *seeds + 1);
    }
    let told = |counts: IndexMap<String, (usize, usize)>| {
        let mean = |(jobs, seeds): &(usize, usize)| *jobs as f64 / *seeds as f64;
        let of = |(label, count): (&String, &(usize, usize))| (label.clone(), mean(count));
        let (least, few) = counts.iter().map(of).min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (most, many) = counts.iter().map(of).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (many > few).then(|| {
            format!(
                "jobs are a closed loop: {few:.0} a seed ended in {least}, {many:.0} in {most}, so the schemes did not carry \
                 the same load; with `load` or `every` they do"
            )
        })
    };
    counts.into_values().filter_map(told).collect()
}
