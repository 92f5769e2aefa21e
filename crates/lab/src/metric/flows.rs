//! The metrics of flows.

use tresse_experiment::schema::metrics::{METRICS, MetricRow, Of, Summary};
use tresse_results::record::flow::Flow;
use tresse_results::record::metric::{Metric, NamedMetrics, percentile};
use tresse_results::tables::flows::FlowRow;
use tresse_results::tables::{Column, Row};
use tresse_units::{Time, seconds};

use super::fairness::jain;
use super::{WindowSum, mean_seconds, misses};

/// The metrics of flows, all or some, in the order of their rows.
pub(super) fn of_flows(flows: impl IntoIterator<Item = Flow>) -> NamedMetrics {
    let mut sums = FlowSums::new();
    flows.into_iter().for_each(|flow| sums.add(&flow));
    sums.metrics()
}

/// What the metrics of flows are made of, flow by flow. Only the values of which there are percentiles are kept: there
/// may be millions of flows.
#[derive(Debug)]
pub(super) struct FlowSums {
    flows: u64,
    unfinished: u64,
    /// With the columns that they are of.
    columns: Vec<(&'static Column<FlowRow>, ColumnSum)>,
    goodputs: Vec<u64>,
    completions: Vec<Time>,
    slowdowns: Vec<f64>,
    windows: WindowSum,
    /// Of those of which it is known whether they missed their deadline.
    missed: Vec<bool>,
}

/// A column of which there is a metric.
#[derive(Debug, Default)]
struct ColumnSum {
    count: u64,
    sum: u128,
    /// If there are percentiles of it.
    values: Option<Vec<u64>>,
}

impl FlowSums {
    pub fn new() -> Self {
        let mut columns: Vec<(&Column<FlowRow>, ColumnSum)> = Vec::new();
        for (summary, name) in rows().filter_map(|row| row.value) {
            let place = columns.iter().position(|(own, _)| own.name == name).unwrap_or_else(|| {
                let own = FlowRow::COLUMNS.iter().find(|own| own.name == name);
                columns.push((own.expect("a test names the columns"), ColumnSum::default()));
                columns.len() - 1
            });
            if matches!(summary, Summary::Percentile(_)) {
                columns[place].1.values.get_or_insert_default();
            }
        }
        Self {
            flows: 0,
            unfinished: 0,
            columns,
            goodputs: Vec::new(),
            completions: Vec::new(),
            slowdowns: Vec::new(),
            windows: WindowSum::default(),
            missed: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.flows == 0
    }

    pub fn add(&mut self, flow: &Flow) {
        self.flows += 1;
        self.unfinished += u64::from(!flow.record.complete);
        let row = FlowRow { flow: *flow, optimum: None };
        for (column, sum) in &mut self.columns {
            let Some(value) = column.number(&row) else { continue };
            sum.count += 1;
            sum.sum += u128::from(value);
            sum.values.iter_mut().for_each(|values| values.push(value));
        }
        self.goodputs.push(flow.record.goodput());
        self.completions.extend(flow.completion());
        self.slowdowns.extend(flow.slowdown());
        self.windows.add(flow);
        self.missed.extend(flow.missed());
    }

    /// The metrics, in the order of their rows.
    pub fn metrics(mut self) -> NamedMetrics {
        for values in self.columns.iter_mut().filter_map(|(_, sum)| sum.values.as_mut()) {
            values.sort_unstable();
        }
        let own = self.with_code();
        let value = |row: &MetricRow| match row.value {
            Some((summary, name)) => {
                let (_, sum) = self.columns.iter().find(|(column, _)| column.name == name)?;
                sum.summary(summary)
            }
            None => own.get(row.name).copied(),
        };
        rows().filter_map(|row| Some((row.name, value(row)?))).collect()
    }

    /// Those metrics of flows that are more than a summary of a column.
    fn with_code(&mut self) -> NamedMetrics {
        let mut metrics = NamedMetrics::new();
        let goodputs = &mut self.goodputs;
        goodputs.sort_unstable();
        if !goodputs.is_empty() {
            metrics.insert("goodput_total_bps", Metric::Count(goodputs.iter().sum()));
            metrics.extend(jain(goodputs.iter().map(|&g| g as f64)).map(|j| ("jain_ratio", Metric::Real(j))));
        }
        let fct = &mut self.completions;
        fct.sort_unstable();
        if !fct.is_empty() {
            metrics.insert("fct_mean_s", Metric::Real(mean_seconds(fct)));
            for (name, percent) in [("fct_p50_s", 50), ("fct_p99_s", 99), ("fct_max_s", 100)] {
                metrics.insert(name, Metric::Real(seconds(percentile(fct, percent))));
            }
        }
        let slowdown = &mut self.slowdowns;
        slowdown.sort_unstable_by(f64::total_cmp);
        if !slowdown.is_empty() {
            let mean = slowdown.iter().sum::<f64>() / slowdown.len() as f64;
            metrics.insert("slowdown_mean_ratio", Metric::Real(mean));
            for (name, percent) in [("slowdown_p50_ratio", 50), ("slowdown_p99_ratio", 99)] {
                metrics.insert(name, Metric::Real(percentile(slowdown, percent)));
            }
        }
        metrics.extend(self.windows.mean().map(|w| ("cwnd_mean_pkts", Metric::Real(w))));
        metrics.insert("flows", Metric::Count(self.flows));
        metrics.insert("unfinished_flows", Metric::Count(self.unfinished));
        metrics.extend(misses(&self.missed, ["deadline_flows", "deadline_misses", "deadline_miss_ratio"]));
        metrics
    }
}

impl ColumnSum {
    /// `None` without values, but for a sum.
    fn summary(&self, summary: Summary) -> Option<Metric> {
        match (summary, &self.values) {
            (Summary::Sum, _) => Some(Metric::Count(self.sum as u64)),
            _ if self.count == 0 => None,
            (Summary::Mean, _) => Some(Metric::Real(self.sum as f64 / self.count as f64)),
            (Summary::Percentile(percent), values) => {
                Some(Metric::Count(percentile(values.as_ref()?, percent.into())))
            }
        }
    }
}

/// The metrics that are of flows.
fn rows() -> impl Iterator<Item = &'static MetricRow> {
    METRICS.iter().filter(|row| row.of == Of::Flows)
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
