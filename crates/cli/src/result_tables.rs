//! What `tresse run` shows of parts of cases: sizes, groups of flows, jobs, and other divisions.

use clap::ValueEnum;
use indexmap::IndexSet;
use tresse_experiment::schema::metrics::{DISJOINT_SIZES, SIZES};
use tresse_experiment::schema::slice::metric_of;
use tresse_reproduction::metric_display;
use tresse_results::{CaseResult, Metrics};

use crate::columns;
use crate::points::{cells, heads};
use crate::table::{Cell, Table};

/// What to divide each case by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// The sizes of flows
    Size,
    /// The distance between the hosts of a flow
    Distance,
    /// Parts of the workload, or schemes of a mix
    Group,
    /// The layers of the network
    Layer,
    /// The windows of time of `[measure.windows]`
    Window,
    /// The seeds
    Seed,
}

impl By {
    /// The name in results.
    fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Distance => "distance",
            Self::Group => "group",
            Self::Layer => "layer",
            Self::Window => "window",
            Self::Seed => "seed",
        }
    }

    /// The parts of a case, by their names; of windows, the groups of flows in each, too.
    fn parts(self, case: &CaseResult) -> Vec<(String, &Metrics)> {
        if self == Self::Seed {
            return case.seeds.iter().map(|own| (own.seed.to_string(), &own.metrics)).collect();
        }
        if self != Self::Window {
            let parts = case.by.get(self.name()).into_iter().flatten();
            return parts.map(|(name, metrics)| (name.clone(), metrics)).collect();
        }
        let mut parts = Vec::new();
        for (name, window) in &case.windows {
            parts.push((name.clone(), &window.metrics));
            let groups = window.groups.iter();
            parts.extend(groups.map(|(group, own)| (format!("{name}, {group}"), &own.metrics)));
        }
        parts
    }

    /// Why a case has no such parts.
    fn why_none(self, case: &CaseResult) -> &'static str {
        match self {
            _ if case.metrics.get("flows").is_none_or(|flows| flows.value() == 0.0) => "no flow has finished",
            Self::Size => "its flows have no size: they send until they are stopped",
            Self::Distance => "no flow has finished",
            Self::Group => "all its flows are in one group: its workload has no `parts` and no `mix`",
            Self::Layer => "its link totals were not kept",
            Self::Window => {
                "its experiment names none in `[measure.windows]` that begins before the run ends"
            }
            Self::Seed => "it has only one",
        }
    }
}

/// A column: its head, the metric, and how its values are shown.
type Column = (&'static str, &'static str, fn(f64) -> Cell);

/// How long flows took.
const TIMES: [Column; 7] = [
    ("flows", "flows", whole),
    ("FCT, ms", "fct_mean_s", ms),
    ("p50", "fct_p50_s", ms),
    ("p99", "fct_p99_s", ms),
    ("slowdown", "slowdown_mean_ratio", four),
    ("p50", "slowdown_p50_ratio", four),
    ("p99", "slowdown_p99_ratio", four),
];

/// Other metrics of flows.
const FLOWS: [Column; 3] = [
    ("Mbit/s", "goodput_mean_bps", mbps),
    ("RTOs", "timeouts", whole),
    ("resent", "retransmissions_pkts", whole),
];

/// What links carried, and the lengths of queues.
const LAYERS: [Column; 10] = [
    ("busy %", "utilisation_mean_ratio", percent),
    ("min", "utilisation_min_ratio", percent),
    ("p10", "utilisation_p10_ratio", percent),
    ("p50", "utilisation_p50_ratio", percent),
    ("p90", "utilisation_p90_ratio", percent),
    ("max", "utilisation_max_ratio", percent),
    ("queue, pkts", "queue_mean_pkts", four),
    ("p50", "queue_p50_pkts", whole),
    ("p99", "queue_p99_pkts", whole),
    ("max", "queue_max_pkts", whole),
];

/// What flows had in a window of time.
const WINDOWS: [Column; 8] = [
    ("Mbit/s", "goodput_mean_bps", mbps),
    ("min", "goodput_min_bps", mbps),
    ("max", "goodput_max_bps", mbps),
    ("total", "goodput_total_bps", mbps),
    ("Jain", "jain_ratio", four),
    ("sd/mean", "goodput_sd_ratio", four),
    ("cwnd, pkts", "cwnd_mean_pkts", four),
    ("RTT, ms", "srtt_mean_s", ms),
];

/// How long the flows of each size took, and all flows of a case, with half the 95 % interval of the mean if there
/// is one.
pub fn sizes(cases: &[&CaseResult]) -> Table {
    let width =
        |case: &CaseResult, size: &str| case.ci95_by.get("size")?.get(size)?.get("fct_mean_s").copied();
    let mut head = vec!["size"];
    head.extend(TIMES.map(|(head, ..)| head));
    head.insert(3, "±95 %");
    let mut table = Table::new(&head);
    for case in cases {
        table.section(case.label());
        let mut row = |name: &str, metrics: &Metrics, width: Option<f64>| {
            let mut row = vec![Cell::from(format!("  {name}"))];
            row.extend(values(&TIMES, metrics));
            row.insert(3, width.map_or_else(Cell::none, ms));
            table.row(row);
        };
        for (name, ..) in &SIZES[..DISJOINT_SIZES] {
            if let Some(metrics) = case.by.get("size").and_then(|sizes| sizes.get(*name)) {
                row(name, metrics, width(case, name));
            }
        }
        row("all", &case.metrics, case.ci95.get("fct_mean_s").copied());
    }
    table
}

/// Losses and marks of cases whose flows come one by one.
pub fn losses(cases: &[CaseResult]) -> Table {
    let axes = heads(cases.iter().map(|case| &case.case));
    let columns: [Column; 5] = [
        ("RTOs", "timeouts", whole),
        ("resent", "retransmissions_pkts", whole),
        ("drops", "drops_pkts", whole),
        ("marks", "marks_pkts", whole),
        // All of them finish unless the case ends before; then that is what to see first.
        ("unfinished", "unfinished_flows", |n| if n > 0.0 { whole(n) } else { Cell::none() }),
    ];
    let head: Vec<&str> = axes.iter().map(String::as_str).chain(columns.map(|(head, ..)| head)).collect();
    let mut table = Table::new(&head).labels(axes.len());
    for case in cases {
        let mut row: Vec<Cell> = cells(&case.case, &axes).into_iter().map(Cell::from).collect();
        row.extend(values(&columns, &case.metrics));
        table.row(row);
    }
    table
}

/// Which cases ended before all flows with a size had finished; empty if none did.
pub fn unfinished(cases: &[CaseResult]) -> Option<String> {
    const SHOWN: usize = 3;
    let of = |case: &CaseResult| {
        let sizes = case.by.get("size")?;
        let disjoint = SIZES[..DISJOINT_SIZES].iter().filter_map(|(name, ..)| sizes.get(*name));
        let (mut all, mut left) = (0.0, 0.0);
        for metrics in disjoint {
            all += metrics["flows"].value();
            left += metrics["unfinished_flows"].value();
        }
        (left > 0.0).then(|| (left / all, format!("{left} of {all} under {}", case.label())))
    };
    let mut found: Vec<(f64, String)> = cases.iter().filter_map(of).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = found.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = found.into_iter().take(SHOWN).map(|(_, line)| line).collect();
    if more > 0 {
        shown.push(format!("fewer in {more} other cases"));
    }
    (!shown.is_empty()).then(|| {
        format!(
            "flows that had not finished when their case ended: {}. They are in no completion time (of flows or jobs), \
             so these are biased towards what is fast",
            shown.join(", ")
        )
    })
}

/// The parts of the cases, and for cases without parts, the reason. Seeds have the metrics that the experiment has
/// `named` for its table.
pub fn parts(cases: &[CaseResult], by: By, named: Option<&[String]>) -> (Table, Vec<String>) {
    let named = named.filter(|_| by == By::Seed);
    let columns: Vec<Column> = match by {
        By::Layer => LAYERS.to_vec(),
        By::Window => WINDOWS.to_vec(),
        _ => TIMES.into_iter().chain(FLOWS).collect(),
    };
    let mut head = vec![by.name().to_owned()];
    match named {
        Some(named) => head.extend(named.iter().map(|metric| metric_display::name(metric))),
        None => head.extend(columns.iter().map(|(head, ..)| (*head).to_owned())),
    }
    let (mut table, mut none) = (Table::new(&head), Vec::new());
    for case in cases {
        let parts = by.parts(case);
        if parts.is_empty() {
            none.push(format!("no {} of {}: {}", by.name(), case.label(), by.why_none(case)));
            continue;
        }
        table.section(case.label());
        for (name, metrics) in parts {
            let mut row = vec![Cell::from(format!("  {name}"))];
            match named {
                Some(named) => row.extend(named.iter().map(|metric| columns::cell(metrics, metric))),
                None => row.extend(values(&columns, metrics)),
            }
            table.row(row);
        }
    }
    (table, none)
}

/// The groups of cases with several groups; empty if there are no such cases.
pub fn groups(cases: &[CaseResult]) -> Option<Table> {
    let paper = |case: &CaseResult, group: &str| -> Option<f64> {
        case.published_by.get("group")?.get(group)?.get("goodput_mean_bps").copied()
    };
    let groups = || {
        let groups = cases.iter().filter_map(|case| Some((case, case.by.get("group")?)));
        groups.flat_map(|(case, groups)| groups.iter().map(move |(group, metrics)| (case, group, metrics)))
    };
    groups().next()?;
    let mut head = vec!["case", "group", "Mbit/s", "paper"];
    head.extend(["p10", "p90", "fct p50, ms", "fct p99, ms", "slowdown p99", "RTOs", "flows"]);
    let mut table = Table::new(&head).labels(2);
    for (case, group, metrics) in groups() {
        let value = |name: &str| metrics.get(name).map(|m| m.value());
        let mut row =
            vec![case.label().into(), group.clone().into(), number(value("goodput_mean_bps"), 1e6, 1)];
        row.push(number(paper(case, group), 1e6, 1));
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

/// The slices of flows that the experiment defines; empty if it defines none.
pub fn slices(cases: &[CaseResult]) -> Option<Table> {
    let names = cases.iter().flat_map(|case| case.metrics.keys()).filter_map(|name| name.split_once('.'));
    let names: IndexSet<&str> = names.map(|(slice, _)| slice).collect();
    if names.is_empty() {
        return None;
    }
    let mut head = vec!["case", "slice"];
    head.extend(TIMES.map(|(head, ..)| head));
    let mut table = Table::new(&head).labels(2);
    for case in cases {
        for slice in &names {
            let cell = |&(_, metric, show): &Column| {
                let value = case.metrics.get(&metric_of(slice, metric));
                value.map_or_else(Cell::none, |own| show(own.value()))
            };
            let mut row = vec![Cell::from(case.label()), Cell::from((*slice).to_owned())];
            row.extend(TIMES.iter().map(cell));
            table.row(row);
        }
    }
    Some(table)
}

/// The jobs of cases with jobs; empty if there are no such cases.
pub fn jobs(cases: &[CaseResult]) -> Option<Table> {
    let mut cases = cases.iter().filter(|case| case.metrics.contains_key("jobs")).peekable();
    cases.peek()?;
    let mut table = Table::new(&["case", "jobs", "mean, ms", "p99, ms", "late %"]);
    for case in cases {
        let value = |name: &str| case.metrics.get(name).map(|m| m.value());
        table.row(vec![
            case.label().into(),
            number(value("jobs"), 1.0, 0),
            number(value("jct_mean_s"), 1e-3, 3),
            number(value("jct_p99_s"), 1e-3, 3),
            number(value("job_deadline_miss_ratio"), 1e-2, 1),
        ]);
    }
    Some(table)
}

fn values(columns: &[Column], metrics: &Metrics) -> Vec<Cell> {
    let cell = |&(_, name, show): &Column| metrics.get(name).map(|m| show(m.value()));
    columns.iter().map(|column| cell(column).unwrap_or_else(Cell::none)).collect()
}

/// A value in units of `size`, or a dash.
fn number(value: Option<f64>, size: f64, decimals: usize) -> Cell {
    value.map_or_else(Cell::none, |v| Cell::number(v / size, decimals))
}

fn whole(value: f64) -> Cell {
    number(Some(value), 1.0, 0)
}

fn mbps(value: f64) -> Cell {
    number(Some(value), 1e6, 1)
}

fn percent(value: f64) -> Cell {
    number(Some(value), 1e-2, 1)
}

fn ms(seconds: f64) -> Cell {
    four(seconds * 1e3)
}

/// With four digits, and at most three decimals: percentiles in one column span four orders of magnitude.
fn four(value: f64) -> Cell {
    let decimals = match value.abs() {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    number(Some(value), 1.0, decimals)
}

/// The offered load of the patterns that have one, by both definitions (`tresse explain tiers`).
pub fn offered(cases: &[CaseResult]) -> IndexSet<String> {
    let line = |case: &CaseResult| {
        let percent = |name: &str| Some(100.0 * case.metrics.get(name)?.value());
        let (tier, access) = (percent("offered_bisection_ratio")?, percent("offered_access_ratio")?);
        let names = ["pattern", "variant"].into_iter().filter_map(|axis| case.case.get(axis)?.as_str());
        let pattern = names.collect::<Vec<_>>().join(" ");
        let rest = if case.by.contains_key("group") { ", of the parts that have a load" } else { "" };
        Some(format!(
            "load of {pattern}: {tier:.1} % of the narrowest tier, {access:.1} % of the senders' links (payload{rest})"
        ))
    };
    // The schemes of a pattern have the same.
    cases.iter().filter_map(line).collect()
}
