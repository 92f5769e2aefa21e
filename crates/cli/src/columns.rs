//! The table of an experiment that names its metrics: a column for each, in a unit for people.

use tresse_lab::{CaseResult, Metric};

use crate::run::{axes, point};
use crate::table::Table;

/// How the metrics with an ending are shown.
pub struct Unit {
    /// Of the metric's name.
    pub ending: &'static str,
    /// After the metric's name; empty if it has none.
    pub name: &'static str,
    /// How many of the metric's own make one.
    pub size: f64,
    /// Of what is shown.
    pub decimals: usize,
}

const UNITS: [Unit; 6] = [
    Unit { ending: "_bps", name: ", Mbit/s", size: 1e6, decimals: 1 },
    Unit { ending: "_s", name: ", ms", size: 1e-3, decimals: 3 },
    Unit { ending: "_pkts", name: ", pkt", size: 1.0, decimals: 2 },
    Unit { ending: "_bytes", name: ", MB", size: 1e6, decimals: 1 },
    Unit { ending: "_ratio", name: "", size: 1.0, decimals: 4 },
    Unit { ending: "", name: "", size: 1.0, decimals: 1 },
];

/// `metrics` of the cases; one that has a confidence interval has a second column for it, and one of which
/// numbers were published a column for them.
pub fn of(cases: &[CaseResult], metrics: &[String]) -> Table {
    let has_interval = |metric: &str| cases.iter().any(|c| c.ci95.contains_key(metric));
    let is_published = |metric: &str| cases.iter().any(|c| c.published.contains_key(metric));
    let mut head: Vec<String> = axes(cases).into_iter().map(str::to_owned).collect();
    for metric in metrics {
        let unit = unit(metric);
        head.push(metric.strip_suffix(unit.ending).unwrap_or(metric).replace('_', " ") + unit.name);
        head.extend(has_interval(metric).then(|| "±95 %".to_owned()));
        head.extend(is_published(metric).then(|| "paper".to_owned()));
    }
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for case in cases {
        let mut row = point(case);
        for metric in metrics {
            let unit = unit(metric);
            let value = case.metrics.get(metric.as_str()).copied();
            row.push(value.map_or_else(|| "-".to_owned(), |v| show(v, unit)));
            if has_interval(metric) {
                let width = case.ci95.get(metric.as_str()).map(|&w| show(Metric::Real(w), unit));
                row.push(width.unwrap_or_else(|| "-".to_owned()));
            }
            if is_published(metric) {
                let number = case.published.get(metric.as_str()).map(|&n| show(Metric::Real(n), unit));
                row.push(number.unwrap_or_else(|| "-".to_owned()));
            }
        }
        table.row(row);
    }
    table
}

/// How a metric is shown.
pub fn unit(metric: &str) -> &'static Unit {
    UNITS.iter().find(|u| metric.ends_with(u.ending)).expect("every name ends with nothing")
}

/// A count stays whole, unless it is shown in a larger unit.
pub fn show(value: Metric, unit: &Unit) -> String {
    let whole = matches!(value, Metric::Count(_)) && unit.size == 1.0;
    format!("{:.*}", if whole { 0 } else { unit.decimals }, value.value() / unit.size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_have_units_for_people() {
        for (name, value, shown) in [
            ("goodput_p10_bps", Metric::Count(513_600_000), "513.6"),
            ("fct_mean_s", Metric::Real(0.012_345_6), "12.346"),
            ("cwnd_mean_pkts", Metric::Real(5.25), "5.25"),
            ("drops_pkts", Metric::Count(7), "7"),
            ("timeouts", Metric::Count(3), "3"),
            ("timeouts_mean", Metric::Real(3.0), "3.0"),
            ("sharing_f_ratio", Metric::Real(0.813_8), "0.8138"),
        ] {
            assert_eq!(show(value, unit(name)), shown, "{name}");
        }
        let head = of(&[], &["fct_p99_s".to_owned(), "timeouts_max".to_owned()]).to_string();
        assert_eq!(head, "scheme  pattern  fct p99, ms  timeouts max\n");
    }
}
