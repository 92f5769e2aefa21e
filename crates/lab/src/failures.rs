//! Messages about replications that did not end on their own, or did not record everything.

use std::collections::{BTreeMap, BTreeSet};

use tresse_experiment::plan::Case;
use tresse_experiment::plan::link_events::LinkEvent;
use tresse_units::{Duration, Time, seconds};

use tresse_results::in_cases;
use tresse_results::record::outcome::Outcome;

/// One message for each replication that gave up, and for each case that a user's code has ended; the last message
/// about a user's file has the hint.
pub(crate) fn told(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let mut told = Vec::new();
    let (mut ended, mut files) = (Vec::new(), BTreeSet::new());
    for &(case, seed, outcome) in done {
        let label = case.label();
        if let Some(why) = &outcome.stuck {
            told.push(format!("{label} seed {seed}: {why}"));
        }
        if let Some(died) = outcome.died.as_ref().filter(|_| !ended.contains(&label)) {
            told.push(format!("{died}; {label} seed {seed}"));
            files.insert((died.kind, died.file));
            ended.push(label);
        }
    }
    if let Some(last) = told.last_mut().filter(|_| !files.is_empty()) {
        let checks = files.iter().map(|(kind, file)| format!("tresse {kind} check {}", file.display()));
        last.push_str(&format!("\n\nhint: {}", checks.collect::<Vec<_>>().join("; ")));
    }
    told
}

/// What did not happen or was not recorded although it was requested.
pub(crate) fn noted(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let packets = done.iter().filter_map(|&(case, seed, outcome)| cut_short(case, seed, outcome));
    packets.chain(never_came(done)).collect()
}

/// A replication with more packets than its table.
fn cut_short(case: &Case, seed: u64, outcome: &Outcome) -> Option<String> {
    let (end, packets) = (outcome.packets_end?, case.setting.packets.as_ref()?);
    Some(format!(
        "{} seed {seed}: packets.parquet has only the first {} packets, up to {:.3} ms; \
         `[measure] packets.limit` sets the maximum",
        case.label(),
        packets.limit,
        seconds(end) * 1e3
    ))
}

/// One message for each time of `[[changes]]` that cases did not last until.
fn never_came(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let mut missed: BTreeMap<Time, (Vec<String>, Time)> = BTreeMap::new();
    for (case, _, outcome) in done.iter().filter(|(_, _, own)| own.complete && own.simulated > 0) {
        let changes = case.setting.changes.iter().filter(|change| change.what != LinkEvent::Reroute);
        for change in changes.filter(|change| change.at >= outcome.simulated) {
            let (labels, last) = missed.entry(change.at).or_default();
            let label = case.label();
            if !labels.contains(&label) {
                labels.push(label);
            }
            *last = outcome.simulated.max(*last);
        }
    }
    let all: BTreeSet<String> = done.iter().map(|(case, ..)| case.label()).collect();
    let told = |(at, (labels, last)): (Time, (Vec<String>, Time))| {
        let place = match labels.len() {
            n if n == all.len() => "in no case".to_owned(),
            _ => format!("not {}", in_cases(&labels, all.len())),
        };
        format!(
            "the change at {} (`[[changes]]`) took effect {place}: the last run without it ended at {:.3} ms",
            Duration(at),
            seconds(last) * 1e3
        )
    };
    missed.into_iter().map(told).collect()
}
