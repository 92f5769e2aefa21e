//! What `tresse run` shows below its table: the groups of flows, and jobs.

use tresse_lab::CaseResult;

use crate::run::point;
use crate::table::Table;

/// The groups of the cases that have several; nothing if none has.
pub fn groups(cases: &[CaseResult]) -> Option<Table> {
    let paper = |case: &CaseResult, group: &str| -> Option<f64> {
        case.published_by.get("group")?.get(group)?.get("goodput_mean_bps").copied()
    };
    let groups = || {
        let groups = cases.iter().filter_map(|case| Some((case, case.by.get("group")?)));
        groups.flat_map(|(case, groups)| groups.iter().map(move |(group, metrics)| (case, group, metrics)))
    };
    groups().next()?;
    let is_published = groups().any(|(case, group, _)| paper(case, group).is_some());
    let mut head = vec!["case", "group", "Mbit/s"];
    head.extend(is_published.then_some("paper"));
    head.extend(["p10", "p90", "fct p50, ms", "fct p99, ms", "slowdown p99", "RTOs", "flows"]);
    let mut table = Table::new(&head);
    for (case, group, metrics) in groups() {
        let value = |name: &str| metrics.get(name).map(|m| m.value());
        let mut row = vec![label(case), group.clone(), number(value("goodput_mean_bps"), 1e6, 1)];
        row.extend(is_published.then(|| number(paper(case, group), 1e6, 1)));
        for (name, size, decimals) in [
            ("goodput_p10_bps", 1e6, 1),
            ("goodput_p90_bps", 1e6, 1),
            ("fct_p50_s", 1e-3, 3),
            ("fct_p99_s", 1e-3, 3),
            ("slowdown_p99_ratio", 1.0, 2),
            ("timeouts", 1.0, 0),
            ("flows", 1.0, 0),
        ] {
            row.push(number(value(name), size, decimals));
        }
        table.row(row);
    }
    Some(table)
}

/// The jobs of the cases that have some; nothing if none has.
pub fn jobs(cases: &[CaseResult]) -> Option<Table> {
    let mut cases = cases.iter().filter(|case| case.metrics.contains_key("jobs")).peekable();
    cases.peek()?;
    let mut table = Table::new(&["case", "jobs", "mean, ms", "p99, ms", "late %"]);
    for case in cases {
        let value = |name: &str| case.metrics.get(name).map(|m| m.value());
        table.row(vec![
            label(case),
            number(value("jobs"), 1.0, 0),
            number(value("jct_mean_s"), 1e-3, 3),
            number(value("jct_p99_s"), 1e-3, 3),
            number(value("job_deadline_miss_ratio"), 1e-2, 1),
        ]);
    }
    Some(table)
}

fn label(case: &CaseResult) -> String {
    point(case).join(" ")
}

/// A value in units of `size`, or a dash.
fn number(value: Option<f64>, size: f64, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{:.*}", decimals, v / size))
}

/// The load that is offered to the patterns that have one, on either definition (`tresse explain tiers`).
pub fn offered(cases: &[CaseResult]) -> Vec<String> {
    let line = |case: &CaseResult| {
        let percent = |name: &str| Some(100.0 * case.metrics.get(name)?.value());
        let (tier, access) = (percent("offered_bisection_ratio")?, percent("offered_access_ratio")?);
        // Without the scheme.
        let pattern = point(case)[1..].join(" ");
        Some(format!(
            "load of {pattern}: {tier:.1} % of the narrowest tier, {access:.1} % of the senders' links (payload)"
        ))
    };
    let mut lines: Vec<String> = cases.iter().filter_map(line).collect();
    // The schemes of a pattern have the same.
    lines.dedup();
    lines
}
