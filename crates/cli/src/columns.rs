//! The table of an experiment that names its metrics: a column for each, in a readable unit.

use tresse_reproduction::metric_display;
use tresse_results::{CaseResult, Metric, Metrics};

use crate::points::{cells, heads};
use crate::table::{Cell, Table};

/// The table of `metrics` for the cases. A metric with a confidence interval has a second column for it, and one
/// with published numbers has a column for those.
pub fn of(cases: &[CaseResult], metrics: &[String]) -> Table {
    let has_interval = |metric: &str| cases.iter().any(|c| c.ci95.contains_key(metric));
    let is_published = |metric: &str| cases.iter().any(|c| c.published.contains_key(metric));
    let axes = heads(cases.iter().map(|case| &case.case));
    let mut head = axes.clone();
    for metric in metrics {
        head.push(metric_display::name(metric));
        head.extend(has_interval(metric).then(|| "±95 %".to_owned()));
        head.extend(is_published(metric).then(|| "paper".to_owned()));
    }
    let mut table = Table::new(&head).labels(axes.len());
    for case in cases {
        let mut row: Vec<Cell> = cells(&case.case, &axes).into_iter().map(Cell::from).collect();
        for metric in metrics {
            let value = case.metrics.get(metric.as_str()).copied();
            row.push(cell(&case.metrics, metric));
            if has_interval(metric) {
                row.push(real(metric, case.ci95.get(metric.as_str()).copied()));
            }
            if is_published(metric) {
                // What is counted here was counted there.
                let number = case.published.get(metric.as_str()).map(|&n| match value {
                    Some(Metric::Count(_)) if n.fract() == 0.0 => shown(metric, Metric::Count(n as u64)),
                    _ => shown(metric, Metric::Real(n)),
                });
                row.push(number.unwrap_or_else(Cell::none));
            }
        }
        table.row(row);
    }
    table
}

/// A metric in readable form, or a dash.
pub fn cell(metrics: &Metrics, metric: &str) -> Cell {
    metrics.get(metric).map_or_else(Cell::none, |&value| shown(metric, value))
}

/// A metric in readable form. A count stays a whole number, unless it is shown in a larger unit.
pub fn shown(metric: &str, value: Metric) -> Cell {
    match value {
        Metric::Count(n) => Cell { text: metric_display::count(metric, n), ..real(metric, Some(n as f64)) },
        Metric::Real(x) => real(metric, Some(x)),
    }
}

/// A value of `metric` in the unit of its name, or a dash.
pub fn real(metric: &str, value: Option<f64>) -> Cell {
    value.map_or_else(Cell::none, |value| {
        let (number, decimals) = metric_display::in_unit(metric, value);
        Cell::number(number, decimals)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_has_units_for_people() {
        let head = of(&[], &["fct_p99_s".to_owned(), "timeouts_max".to_owned()]).to_string();
        assert_eq!(head, "scheme  pattern  fct p99, ms  timeouts max\n");
        assert_eq!(shown("drops_pkts", Metric::Count(7)).text, "7");
        assert_eq!(shown("goodput_p10_bps", Metric::Count(513_600_000)).text, "513.6");
    }
}
