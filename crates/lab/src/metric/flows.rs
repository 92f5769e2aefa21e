//! The metrics of flows.

use indexmap::IndexMap;
use tresse_experiment::schema::metrics::{METRICS, MetricRow, Of, Summary};
use tresse_results::record::flow::Flow;
use tresse_results::record::metric::{Metric, NamedMetrics, percentile};
use tresse_results::tables::Row;
use tresse_results::tables::flows::FlowRow;
use tresse_units::{Time, seconds};

use super::fairness::jain;
use super::{mean, mean_seconds, mean_window, misses};

/// The metrics of flows, all or some, in the order of their rows.
pub(super) fn of_flows(flows: &[&Flow]) -> NamedMetrics {
    let own = with_code(flows);
    let mut columns = SortedColumns { flows, known: IndexMap::new() };
    let rows = METRICS.iter().filter(|row| row.of == Of::Flows);
    let value = |row: &MetricRow| match row.value {
        Some((summary, column)) => columns.summary(summary, column),
        None => own.get(row.name).copied(),
    };
    let values: Vec<_> = rows.clone().map(value).collect();
    rows.zip(values).filter_map(|(row, value)| Some((row.name, value?))).collect()
}

/// The columns of some flows, each sorted once.
struct SortedColumns<'a> {
    flows: &'a [&'a Flow],
    known: IndexMap<&'static str, Vec<u64>>,
}

impl SortedColumns<'_> {
    /// A summary of a column; `None` without values, but for a sum.
    fn summary(&mut self, summary: Summary, column: &'static str) -> Option<Metric> {
        let sorted = self.known.entry(column).or_insert_with(|| {
            let own =
                FlowRow::COLUMNS.iter().find(|own| own.name == column).expect("a test names the columns");
            let row = |&flow: &&Flow| own.number(&FlowRow { flow: *flow, optimum: None });
            let mut values: Vec<u64> = self.flows.iter().filter_map(row).collect();
            values.sort_unstable();
            values
        });
        match summary {
            Summary::Sum => Some(Metric::Count(sorted.iter().sum())),
            _ if sorted.is_empty() => None,
            Summary::Mean => Some(Metric::Real(mean(sorted))),
            Summary::Percentile(percent) => Some(Metric::Count(percentile(sorted, percent.into()))),
        }
    }
}

/// Those metrics of flows that are more than a summary of a column.
fn with_code(flows: &[&Flow]) -> NamedMetrics {
    let mut metrics = NamedMetrics::new();
    if !flows.is_empty() {
        let mut goodput: Vec<u64> = flows.iter().map(|f| f.record.goodput()).collect();
        goodput.sort_unstable();
        metrics.insert("goodput_total_bps", Metric::Count(goodput.iter().sum()));
        metrics.extend(jain(goodput.iter().map(|&g| g as f64)).map(|j| ("jain_ratio", Metric::Real(j))));
    }
    let mut fct: Vec<Time> = flows.iter().filter_map(|f| f.completion()).collect();
    fct.sort_unstable();
    if !fct.is_empty() {
        metrics.insert("fct_mean_s", Metric::Real(mean_seconds(&fct)));
        for (name, percent) in [("fct_p50_s", 50), ("fct_p99_s", 99), ("fct_max_s", 100)] {
            metrics.insert(name, Metric::Real(seconds(percentile(&fct, percent))));
        }
    }
    let mut slowdown: Vec<f64> = flows.iter().filter_map(|f| f.slowdown()).collect();
    slowdown.sort_by(f64::total_cmp);
    if !slowdown.is_empty() {
        let mean = slowdown.iter().sum::<f64>() / slowdown.len() as f64;
        metrics.insert("slowdown_mean_ratio", Metric::Real(mean));
        for (name, percent) in [("slowdown_p50_ratio", 50), ("slowdown_p99_ratio", 99)] {
            metrics.insert(name, Metric::Real(percentile(&slowdown, percent)));
        }
    }
    metrics.extend(mean_window(flows.iter().copied()).map(|w| ("cwnd_mean_pkts", Metric::Real(w))));
    let unfinished = flows.iter().filter(|f| !f.record.complete).count();
    metrics.insert("flows", Metric::Count(flows.len() as u64));
    metrics.insert("unfinished_flows", Metric::Count(unfinished as u64));
    let missed: Vec<bool> = flows.iter().filter_map(|f| f.missed()).collect();
    metrics.extend(misses(&missed, ["deadline_flows", "deadline_misses", "deadline_miss_ratio"]));
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_of_columns_with_numbers() {
        for (row, column) in METRICS.iter().filter_map(|row| Some((row, row.value?.1))) {
            let own = FlowRow::COLUMNS.iter().find(|own| own.name == column);
            assert!(row.of == Of::Flows && own.is_some_and(|own| own.is_number()), "{}", row.name);
        }
    }
}
