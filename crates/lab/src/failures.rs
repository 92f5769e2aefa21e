//! Messages about replications that did not end on their own, or did not record everything.

use std::collections::BTreeSet;

use tresse_experiment::plan::Case;
use tresse_units::seconds;

use crate::record::outcome::Outcome;

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

/// One message for each replication with more packets than its table.
pub(crate) fn noted(done: &[(&Case, u64, &Outcome)]) -> Vec<String> {
    let note = |(case, seed, outcome): &(&Case, u64, &Outcome)| {
        let (end, packets) = (outcome.packets_end?, case.setting.packets.as_ref()?);
        Some(format!(
            "{} seed {seed}: packets.parquet has only the first {} packets, up to {:.3} ms; \
             `[measure] packets.limit` sets the maximum",
            case.label(),
            packets.limit,
            seconds(end) * 1e3
        ))
    };
    done.iter().filter_map(note).collect()
}
