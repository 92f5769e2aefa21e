//! The tables of metrics in `docs/explain/results.md` are the rows of the metrics, and nothing else.

use std::fmt::Write as _;

use tresse_experiment::keys::metrics::{METRICS, MetricRow, OPTIMUM_METRICS, WINDOW_METRICS};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explain/results.md");

/// Writes the tables instead of comparing them.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

#[test]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
fn the_page_of_results_has_the_rows_of_the_metrics() {
    let there = std::fs::read_to_string(PAGE).expect("the page is there");
    let tables =
        [("metric", METRICS), ("metric of windows", WINDOW_METRICS), ("key of the optimum", OPTIMUM_METRICS)];
    let page = tables.into_iter().fold(there.clone(), |page, (head, rows)| with(&page, head, rows));
    if std::env::var(UPDATE).is_ok() {
        std::fs::write(PAGE, page).expect("the page can be written");
        return;
    }
    let hint = format!(
        "hint: {UPDATE}=1 cargo test -p tresse-experiment --test it results_page writes docs/explain/results.md"
    );
    for (there, new) in there.lines().zip(page.lines()) {
        assert_eq!(there, new, "{hint}");
    }
    assert!(there == page, "docs/explain/results.md has more lines, or fewer\n{hint}");
}

/// The page with these rows in the table with this head. A table ends at an empty line, or with the page.
fn with(page: &str, head: &str, rows: &[MetricRow]) -> String {
    let head = format!("| {head} | unit | meaning |\n|---|---|---|\n");
    let (before, rest) = page.split_once(&head).unwrap_or_else(|| panic!("a table with the head {head}"));
    let after = rest.find("\n\n").map_or("", |end| &rest[end + 1..]);
    let mut table = String::new();
    for MetricRow { name, unit, meaning, .. } in rows {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        writeln!(table, "| `{name}` |{unit} | {meaning} |").expect("a string takes everything");
    }
    format!("{before}{head}{table}{after}")
}
