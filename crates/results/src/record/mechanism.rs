//! The mechanisms that are counted, because they may have nothing to do (`tresse explain inert`).

use crate::record::claim::INERT;
use crate::record::results::CaseResult;

/// A mechanism whose actions a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mechanism {
    /// The metric; a case has it if the mechanism is there.
    pub metric: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What it means that the count is 0.
    pub idle: &'static str,
}

/// All of them.
pub const MECHANISMS: [Mechanism; 3] = [
    Mechanism { metric: "share_moves", name: "HOLNET's balancer", idle: "no share has moved" },
    Mechanism { metric: "path_shifts", name: "MPTCP_OPN's traffic shifting", idle: "no path became SLOW" },
    Mechanism {
        metric: "tuned_flows",
        name: "MPTCP_OPN's concurrency tuning",
        idle: "every connection used all its paths",
    },
];

/// Why what a case shows is not the work of its mechanisms: it has some, and none of them did anything.
pub fn why_inert(case: &CaseResult) -> Option<String> {
    let counted = |own: &&Mechanism| case.metrics.contains_key(own.metric);
    let acts = |own: &Mechanism| case.metrics[own.metric].value() > 0.0;
    let there: Vec<&Mechanism> = MECHANISMS.iter().filter(counted).collect();
    if there.is_empty() || there.iter().any(|own| acts(own)) {
        return None;
    }
    let idle: Vec<String> =
        there.iter().map(|own| format!("{} did nothing ({})", own.name, own.idle)).collect();
    Some(format!("{INERT}in {} {}", case.label(), idle.join(", and ")))
}
