//! The page of the metrics: its text, with tables from the rows that the experiment's file knows.

use std::fmt::Write as _;

use tresse_experiment::schema::metrics::{METRICS, MetricRow, OPTIMUM_METRICS, WINDOW_METRICS};

/// The text of the page; a comment stands for the rows of a table.
const TEXT: &str = include_str!("metrics.md");

/// The page, in Markdown.
pub fn page() -> String {
    [("metrics", METRICS), ("optimum", OPTIMUM_METRICS), ("windows", WINDOW_METRICS)]
        .into_iter()
        .fold(TEXT.to_owned(), |page, (name, of)| page.replace(&format!("<!-- {name} -->\n"), &rows(of)))
}

fn rows(of: &[MetricRow]) -> String {
    let mut rows = String::new();
    for MetricRow { name, unit, meaning, .. } in of {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        writeln!(rows, "| `{name}` |{unit} | {meaning} |").expect("a string takes everything");
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_line() {
        let page = page();
        let all = METRICS.iter().chain(OPTIMUM_METRICS).chain(WINDOW_METRICS);
        assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), all.clone().count());
        for row in all {
            assert!(page.contains(&format!("| `{}` |", row.name)), "{}", row.name);
        }
        assert!(!page.contains("<!--"), "{page}");
    }
}
