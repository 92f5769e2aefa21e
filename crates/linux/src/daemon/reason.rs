//! The reasons for a path manager's decisions, in words.

use tresse_path_manager::{Config, Memory, Priority};

use super::config::Policy;
use super::connection::{State, Subflow};

/// Why a subflow is opened.
pub(super) fn open(policy: &Policy, memory: &Memory) -> String {
    let Some(manager) = &policy.manager else { return String::new() };
    match (manager.config(), memory.loss()) {
        (Config::Opn(opn), Some(loss)) if opn.tuning.is_some() => {
            format!("as many as a loss rate of {:.3} % suggests", loss.share() * 100.0)
        }
        (Config::Opn(_), _) => "one on each path: no loss rate is known yet".to_owned(),
        _ => format!("policy {} wants it", policy.name),
    }
}

/// Why a subflow is closed: which other one behaves most like it, and how closely.
pub(super) fn close(all: &[Subflow], closed: usize) -> String {
    let Some(own) = all[closed].seen else { return String::new() };
    let like = |a: u64, b: u64| if a.max(b) == 0 { 1.0 } else { a.min(b) as f64 / a.max(b) as f64 };
    let others = all.iter().enumerate().filter(|(n, other)| *n != closed && other.state == State::Open);
    let scored = others.filter_map(|(n, other)| {
        let seen = other.seen?;
        Some((like(own.marks, seen.marks) * like(own.srtt.into(), seen.srtt.into()), n, seen))
    });
    let Some((score, n, seen)) = scored.max_by(|a, b| a.0.total_cmp(&b.0)) else { return String::new() };
    format!(
        "shares a bottleneck with {n}, score {score:.2} (marks {} and {}, srtt {} and {} us)",
        own.marks, seen.marks, own.srtt, seen.srtt
    )
}

/// Why a subflow is paused or resumed.
pub(super) fn priority(priority: Priority) -> &'static str {
    match priority {
        Priority::Normal => "its path is FAST again",
        Priority::Slow => "its path is SLOW: data in flight, but no ACK",
        Priority::Backup => "another subflow takes its place",
    }
}
