//! A run's report as text: its tables, what their columns mean, its claims.

use std::io::{self, Write};

use indexmap::{IndexMap, IndexSet};
use tresse_experiment::schema::Experiment;
use tresse_reproduction::Publication;
use tresse_results::{CaseResult, Report, State, Status, in_cases};
use tresse_workbench::{Failure, Interrupt};

use crate::ended::Ended;
use crate::points::{cells, heads};
use crate::result_tables::{self, By};
use crate::table::{Cell, Format, Table};
use crate::table_name::{self, TableName};
use crate::width::sentence;
use crate::{changed, claims, columns};

/// Writes the whole report, as `tresse run` shows it, of a run in this state.
pub fn show(
    report: &Report,
    state: State,
    experiment: &Experiment,
    publication: &Publication,
    out: &mut impl Write,
) -> io::Result<()> {
    head(report, state, publication, out)?;
    if !report.cases.is_empty() {
        tables(report, experiment, publication, out)?;
    }
    for line in result_tables::offered(&report.cases) {
        note(out, &line)?;
    }
    tell(
        out,
        "score of path sharing",
        report.cases.iter().map(|c| (c.label(), c.no_sharing_score.as_ref())),
    )?;
    tell(out, "convergence times", report.cases.iter().map(|c| (c.label(), c.no_convergence.as_ref())))?;
    tell(out, "recovery time", report.cases.iter().map(|c| (c.label(), c.no_recovery.as_ref())))?;
    if !report.claims.is_empty() {
        writeln!(out)?;
        claims::show(&report.claims, &[], out)?;
    }
    end(report, out)
}

/// Prints the notes of a run to stderr, except those that were `told` before it.
pub fn tell_notes(report: &Report, told: &[String]) {
    for note in report.notes.iter().map(|note| format!("note: {note}")).filter(|note| !told.contains(note)) {
        let _ = writeln!(io::stderr(), "{note}"); // it may be closed
    }
}

/// How the command ends after a run: a partial run is a failure whose results are kept.
pub fn ended(report: &Report, interrupt: &Interrupt) -> Result<(), Ended> {
    if report.status == Status::Complete {
        return Ok(());
    }
    let errors = report.errors.join("\n");
    if !errors.is_empty() && !interrupt.asked() {
        let message = format!("partial, what was measured is in {}:\n{errors}", report.out);
        return Err(Failure::Input(message).into());
    }
    if !errors.is_empty() {
        eprintln!("{errors}");
    }
    eprintln!("partial: interrupted before every flow had finished; what was measured is in {}", report.out);
    Err(Failure::Interrupted.into())
}

/// Writes the parts of its cases.
pub fn show_parts(
    report: &Report,
    state: State,
    experiment: &Experiment,
    publication: &Publication,
    by: By,
    out: &mut impl Write,
) -> io::Result<()> {
    head(report, state, publication, out)?;
    let (table, mut none) = result_tables::parts(&report.cases, by, experiment.measure.table.as_deref());
    if none.len() < report.cases.len() {
        write!(out, "{table}")?;
    }
    none.dedup();
    none.iter().try_for_each(|line| note(out, line))?;
    end(report, out)
}

/// What a run that has not reached its end lacks; `None` if it has.
fn partial(report: &Report, state: State) -> Option<String> {
    let until_now = || match report.cases.len() {
        0 => "no case is".to_owned(),
        1 => "only the case that is".to_owned(),
        n => format!("only the {n} cases that are"),
    };
    match state {
        State::Complete => None,
        State::UnderWay => Some(format!("IN PROGRESS: {} complete so far", until_now())),
        State::Killed => Some(format!("KILLED: {} complete", until_now())),
        State::Interrupted | State::GaveUp => Some(format!(
            "PARTIAL: only the flows that had finished when the run {state}. Short flows finish first, so means \
             are biased towards them"
        )),
    }
}

/// Prints to stderr what tables that are written alone do not say.
pub fn tell_missing(report: &Report, state: State, by: Option<By>) {
    let reasons = by.map_or_else(
        || result_tables::unfinished(&report.cases).into_iter().collect(),
        |by| result_tables::parts(&report.cases, by, None).1,
    );
    for line in partial(report, state).into_iter().chain(reasons) {
        let _ = writeln!(io::stderr(), "note: {line}"); // it may be closed
    }
}

/// What was run, and whether it reached its end.
fn head(report: &Report, state: State, publication: &Publication, out: &mut impl Write) -> io::Result<()> {
    let flows = report.cases.iter().map(|c| c.metrics["flows"].value()).fold(0.0, |all, own| all + own);
    if let Some(partial) = partial(report, state) {
        note(out, &partial)?;
        writeln!(out)?;
    }
    let hosts = report.testbed.as_ref().map_or(String::new(), |own| match &*own.scale {
        "1" => " · real hosts".to_owned(),
        scale => format!(" · real hosts, --scale {scale}"),
    });
    let line = format!(
        "{}{hosts} · {} profile · {} · {flows} {} · {:.0} million packet-hops in {:.1} s",
        report.experiment,
        report.profile,
        match report.replications {
            1 => format!("seed {}", report.seed),
            n => {
                let last = report.seed + u64::from(n) - 1;
                let fewest = report.fewest_seeds();
                let each = if fewest < n {
                    format!(" ({fewest} to {n} seeds for each case)")
                } else {
                    String::new()
                };
                format!("seeds {} to {last}{each}", report.seed)
            }
        },
        if flows as u64 == 1 { "flow" } else { "flows" },
        report.packet_hops as f64 / 1e6,
        report.wall_s
    );
    note(out, &line)?;
    if let Some(line) = changed::line(&report.changed, report.judged, publication) {
        note(out, &line)?;
    }
    writeln!(out)
}

/// The tables of a run, those that are `named` or all of them; of the parts of its cases, if these are asked for.
pub fn formatted(
    report: &Report,
    experiment: &Experiment,
    by: Option<By>,
    named: &[TableName],
    format: Format,
) -> Result<String, Failure> {
    let tables = match by {
        Some(by) => vec![result_tables::parts(&report.cases, by, experiment.measure.table.as_deref()).0],
        None => table_name::chosen(all_tables(report, experiment), named, &report.out)?,
    };
    Ok(format.write(&tables))
}

/// The cases whose flows come one by one and are shown by size, and all others.
fn by_table<'a>(report: &'a Report, experiment: &Experiment) -> [Vec<&'a CaseResult>; 2] {
    let is_named = experiment.measure.table.is_some();
    // Where goodput was published, it stands beside ours.
    let is_sized = |case: &&CaseResult| !is_named && case.arrivals && case.published.is_empty();
    let (sized, others) = report.cases.iter().partition(is_sized);
    [sized, others]
}

fn all_tables(report: &Report, experiment: &Experiment) -> Vec<(TableName, Table)> {
    let cases = &report.cases;
    let [sized, others] = by_table(report, experiment);
    let owned = |cases: &[&CaseResult]| cases.iter().map(|&case| case.clone()).collect::<Vec<_>>();
    let mut tables = Vec::new();
    if let Some(metrics) = &experiment.measure.table {
        tables.push((TableName::Cases, columns::of(cases, metrics)));
    } else if !others.is_empty() {
        tables.push((TableName::Cases, usual(&owned(&others))));
    }
    if !sized.is_empty() {
        tables.push((TableName::Sizes, result_tables::sizes(&sized)));
        tables.push((TableName::Losses, result_tables::losses(&owned(&sized))));
    }
    let below = [
        (TableName::Groups, result_tables::groups(cases)),
        (TableName::Slices, result_tables::slices(cases)),
        (TableName::Jobs, result_tables::jobs(cases)),
    ];
    tables.extend(below.into_iter().filter_map(|(name, table)| Some((name, table?))));
    tables
}

fn tables(
    report: &Report,
    experiment: &Experiment,
    publication: &Publication,
    out: &mut impl Write,
) -> io::Result<()> {
    let cases = &report.cases;
    let named = experiment.measure.table.as_ref();
    let [sized, others] = by_table(report, experiment);
    let all: Vec<Table> = all_tables(report, experiment).into_iter().map(|(_, table)| table).collect();
    write!(out, "{}", Format::Table.write(&all))?;
    if !sized.is_empty() {
        writeln!(out)?;
        note(out, "FCT: from a flow's start to the arrival of its last byte, mean and percentiles")?;
        note(out, "slowdown: FCT over the FCT on an empty network (`tresse explain measurement`)")?;
    }
    if let Some(line) = result_tables::unfinished(cases) {
        writeln!(out)?;
        note(out, &line)?;
    }
    let is_shown = |metric: &str| named.is_none_or(|names| names.iter().any(|n| n == metric));
    let shows_group = |c: &CaseResult| c.published_by.contains_key("group");
    if cases.iter().any(|c| shows_group(c) || c.published.keys().any(|m| is_shown(m))) {
        writeln!(out)?;
        note(out, &format!("paper: {}", publication.published.source))?;
    }
    if let Some(case) = cases.iter().find(|c| c.ci95.keys().any(|m| is_shown(m))) {
        let line = format!("±95 %: half the confidence interval of the mean, over {}", case.ci95_over);
        note(out, &line)?;
    }
    for wide in &report.too_wide {
        note(out, &format!("not enough seeds: {wide}"))?;
    }
    if named.is_none() {
        explain_optimum(&others, out)?;
    }
    Ok(())
}

fn end(report: &Report, out: &mut impl Write) -> io::Result<()> {
    // What has not ended, or was abandoned, has no digest.
    match &*report.digest {
        "" => writeln!(out, "\nresults: {}", report.out),
        digest => writeln!(out, "\nresults: {}  digest: {digest}", report.out),
    }
}

/// The table of an experiment that names no metrics.
pub fn usual(cases: &[CaseResult]) -> Table {
    let rest = [
        "Mbit/s",
        "±95 %",
        "paper",
        "ratio",
        "optimum",
        "apart %",
        "utility %",
        "p10",
        "p90",
        "RTOs",
        "resent",
        "flows",
    ];
    let axes = heads(cases.iter().map(|case| &case.case));
    let head: Vec<&str> = axes.iter().map(String::as_str).chain(rest).collect();
    let mut table = Table::new(&head).labels(axes.len());
    for case in cases {
        table.row(row(case, &axes));
    }
    table
}

/// What the columns of the optimum in the default table mean, and why some are empty.
fn explain_optimum(cases: &[&CaseResult], out: &mut impl Write) -> io::Result<()> {
    if cases.iter().any(|c| !c.optimum.is_empty()) {
        for line in [
            "optimum: mean goodput that the controller claims to reach while all flows of a round are active",
            "apart: mean distance of the flows from the optimum; late flows may be above it (`tresse explain optimum`)",
            "utility: the loss in total utility, as a share of rate",
        ] {
            note(out, line)?;
        }
    }
    // The reasons name schemes themselves.
    let reasons: IndexSet<&String> = cases.iter().filter_map(|case| case.no_optimum.as_ref()).collect();
    reasons.into_iter().try_for_each(|why| note(out, &format!("no optimum: {why}")))
}

/// Why cases have no `what`, by their labels; several cases may share a reason.
fn tell<'a>(
    out: &mut impl Write,
    what: &str,
    cases: impl ExactSizeIterator<Item = (String, Option<&'a String>)>,
) -> io::Result<()> {
    let all = cases.len();
    let mut reasons: IndexMap<&String, Vec<String>> = IndexMap::new();
    for (label, why) in cases {
        if let Some(why) = why {
            reasons.entry(why).or_default().push(label);
        }
    }
    reasons.into_iter().try_for_each(|(why, labels)| {
        let place = match labels.len() {
            n if n == all => String::new(),
            _ => format!(" {}", in_cases(&labels, all)),
        };
        note(out, &format!("no {what}{place}: {why}"))
    })
}

/// A line, or several lines that fit the terminal.
fn note(out: &mut impl Write, text: &str) -> io::Result<()> {
    writeln!(out, "{}", sentence(text, 2))
}

fn row(case: &CaseResult, axes: &[String]) -> Vec<Cell> {
    let cell = |value: Option<f64>, size: f64, decimals: usize| {
        value.map_or_else(Cell::none, |v| Cell::number(v / size, decimals))
    };
    let mbps = |v: Option<f64>| cell(v, 1e6, 1);
    let metric = |key: &str| case.metrics.get(key).map(|m| m.value());
    let mean = metric("goodput_mean_bps");
    let published = case.published.get("goodput_mean_bps").copied();
    // No "-0.0".
    let percent = |key: &str| cell(case.optimum.get(key).map(|d| (1e3 * d).round() / 10.0 + 0.0), 1.0, 1);
    let count = |key: &str| cell(metric(key), 1.0, 0);
    let rest = [
        mbps(mean),
        mbps(case.ci95.get("goodput_mean_bps").copied()),
        mbps(published),
        cell(mean.zip(published).map(|(m, p)| m / p), 1.0, 2),
        mbps(case.optimum.get("goodput_mean_bps").copied()),
        percent("goodput_distance_mean"),
        percent("utility_distance_mean"),
        mbps(metric("goodput_p10_bps")),
        mbps(metric("goodput_p90_bps")),
        count("timeouts"),
        count("retransmissions_pkts"),
        count("flows"),
    ];
    cells(&case.case, axes).into_iter().map(Cell::from).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_cases_share_is_told_once_with_their_names() {
        let told = |reasons: &[Option<&str>]| {
            let reasons: Vec<Option<String>> = reasons.iter().map(|why| why.map(str::to_owned)).collect();
            let cases = reasons.iter().enumerate().map(|(i, why)| (format!("case-{i}"), why.as_ref()));
            let mut out = Vec::new();
            tell(&mut out, "recovery time", cases).expect("memory");
            String::from_utf8(out).expect("text")
        };
        let [a, b] = [Some("a"), Some("b")];
        assert_eq!(told(&[a, a]), "no recovery time: a\n");
        assert_eq!(
            told(&[a, b, a, None]),
            "no recovery time in case-0; case-2: a\nno recovery time in case-1: b\n"
        );
        assert_eq!(told(&[a, a, a, a, None]), "no recovery time in 4 of 5 cases: a\n");
    }
}
