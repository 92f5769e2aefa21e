//! The tables of metrics in `docs/explain/metrics.md`: the rows of the metrics, and nothing else.

use std::fmt::Write as _;

use tresse_experiment::keys::metrics::{METRICS, MetricRow, OPTIMUM_METRICS, WINDOW_METRICS};

/// The page, with up-to-date tables.
///
/// # Errors
/// If one of the tables is missing.
pub fn page(there: &str) -> Result<String, String> {
    let tables =
        [("metric", METRICS), ("metric of windows", WINDOW_METRICS), ("key of the optimum", OPTIMUM_METRICS)];
    tables.into_iter().try_fold(there.to_owned(), |page, (head, rows)| with(&page, head, rows))
}

/// The page with these rows in the table with this head. A table ends at an empty line or at the end of the
/// page.
fn with(page: &str, head: &str, rows: &[MetricRow]) -> Result<String, String> {
    let head = format!("| {head} | unit | meaning |\n|---|---|---|\n");
    let (before, rest) =
        page.split_once(&head).ok_or_else(|| format!("docs/explain/metrics.md has no table\n{head}"))?;
    let end = if rest.starts_with('\n') { Some(0) } else { rest.find("\n\n").map(|end| end + 1) };
    let after = end.map_or("", |end| &rest[end..]);
    let mut table = String::new();
    for MetricRow { name, unit, meaning, .. } in rows {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        writeln!(table, "| `{name}` |{unit} | {meaning} |").expect("a string takes everything");
    }
    Ok(format!("{before}{head}{table}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_around_a_table_stays() {
        let head = "| metric | unit | meaning |\n|---|---|---|\n";
        for old in ["", "| `old` | s | gone |\n"] {
            let page =
                with(&format!("before\n\n{head}{old}\nafter\n"), "metric", &METRICS[..1]).expect("a table");
            assert!(page.starts_with("before\n\n| metric |") && page.ends_with(" |\n\nafter\n"), "{page}");
            assert_eq!(page.matches("\n| `").count(), 1);
        }
        assert!(with("no table", "metric", METRICS).is_err());
    }
}
