//! The daemon's figures as OpenMetrics text.

use std::fmt::Write as _;
use std::path::Path;

use tresse_units::output_file::write_whole;

use super::status::Status;

/// Writes them to a file atomically: a reader never sees half of them.
pub(super) fn write(file: &Path, status: &Status) {
    if let Err(e) = write_whole(file, text(status)) {
        tracing::warn!("metrics cannot be written to {}: {e}", file.display());
    }
}

/// The text (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).
pub fn text(status: &Status) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, f64)]| {
        let _ = writeln!(text, "# TYPE tresse_{name} {kind}\n# HELP tresse_{name} {help}");
        let suffix = if kind == "counter" { "_total" } else { "" };
        for (labels, value) in samples {
            let _ = writeln!(text, "tresse_{name}{suffix}{labels} {value}");
        }
    };
    let one = |value: f64| vec![(String::new(), value)];
    let counters = &status.counters;
    let of = |name: &str| format!("{{namespace=\"{}\"}}", escaped(name));
    let by_namespace = |value: fn(&super::status::NamespaceStatus) -> f64| -> Vec<_> {
        status.namespaces.iter().map(|own| (of(&own.name), value(own))).collect()
    };
    family(
        "managed_connections",
        "gauge",
        "Connections that have a path manager.",
        &by_namespace(|own| own.connections as f64),
    );
    let states = ["opening", "open", "parked"].map(|state| {
        let all = status.connections.iter().flat_map(|own| &own.subflows);
        (format!("{{state=\"{state}\"}}"), all.filter(|own| own.state == state).count() as f64)
    });
    family("subflows", "gauge", "Subflows of managed connections.", &states);
    family(
        "events_lost",
        "counter",
        "How often kernel events were lost and everything had to be checked.",
        &by_namespace(|own| own.events_lost as f64),
    );
    let decided = [("open", counters.opens), ("close", counters.closes), ("priority", counters.priorities)];
    let decided = decided.map(|(what, n)| (format!("{{what=\"{what}\"}}"), n as f64));
    family("decisions", "counter", "Decisions of path managers.", &decided);
    for (name, help, value) in [
        ("connections", "Connections that this host has opened.", counters.connections),
        ("adopted_connections", "Connections that existed before the daemon saw them.", counters.adopted),
        ("refused_commands", "Commands that the kernel refused.", counters.refused),
        ("limited_subflows", "Subflows that a limit prevented.", counters.limited),
        ("looks", "How often the daemon checked all subflows.", counters.looks),
        ("alarms", "How often a subflow was silent for too long.", counters.alarms),
    ] {
        family(name, "counter", help, &one(value as f64));
    }
    family("look_seconds", "gauge", "How long the last check took.", &one(status.look_s()));
    text + "# EOF\n"
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::daemon::status::{Counters, NamespaceStatus};

    #[test]
    fn the_dashboard_asks_for_what_there_is() {
        let status = Status {
            schema: String::new(),
            version: String::new(),
            dry_run: false,
            namespaces: vec![NamespaceStatus { name: "blue".to_owned(), connections: 0, events_lost: 0 }],
            counters: Counters::default(),
            connections: Vec::new(),
            decisions: Vec::new(),
        };
        let samples = text(&status);
        let samples = samples.lines().filter(|line| !line.starts_with('#'));
        let told: BTreeSet<&str> = samples.filter_map(|line| line.split(['{', ' ']).next()).collect();
        let dashboard = include_str!("../../../../packaging/grafana/daemon.json");
        let dashboard: serde_json::Value = serde_json::from_str(dashboard).expect("JSON");
        let panels = dashboard["panels"].as_array().expect("panels").iter();
        let targets = panels.flat_map(|panel| panel["targets"].as_array().expect("targets"));
        let asked: BTreeSet<&str> = targets
            .flat_map(|target| target["expr"].as_str().expect("a query").split(['(', '{', ' ']))
            .filter(|word| word.starts_with("tresse_"))
            .collect();
        assert_eq!(asked, told, "each figure has its place, and no other is asked for");
    }
}
