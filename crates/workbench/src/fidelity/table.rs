//! What the comparison of packets and rounds says: errors by kind of case, and whether schemes come in the same order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::{Compared, Fidelity};

/// The errors of one metric in one kind of cases.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Which cases: what the schemes answer, and how flows come.
    pub kind: String,
    pub metric: String,
    /// How many cases have it.
    pub cases: usize,
    /// The median and the 90th percentile of |rounds / packets - 1|.
    pub median: f64,
    pub p90: f64,
    /// The geometric mean of rounds / packets.
    pub bias: f64,
}

fn kind(case: &Compared) -> String {
    let answers = if case.marks { "marks" } else { "losses" };
    let flows = if case.arrivals { "flows that arrive" } else { "flows that last" };
    format!("{answers}, {flows}")
}

/// By kind of case and metric. Queues and timeouts are only in the cases' own table.
pub fn summaries(all: &Fidelity) -> Vec<Summary> {
    let mut ratios: BTreeMap<(String, &str), Vec<f64>> = BTreeMap::new();
    for case in &all.cases {
        for (metric, [packets, rounds]) in &case.values {
            if metric != "timeouts" && metric != "queue_mean_pkts" && *rounds > 0.0 {
                ratios.entry((kind(case), metric)).or_default().push(rounds / packets);
            }
        }
    }
    let summary = |((kind, metric), ratios): ((String, &str), Vec<f64>)| {
        let mut errors: Vec<f64> = ratios.iter().map(|ratio| (ratio - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let at = |percent: usize| errors[((errors.len() * percent).div_ceil(100)).max(1) - 1];
        let bias = libm::exp(ratios.iter().map(|r| libm::log(*r)).sum::<f64>() / ratios.len() as f64);
        Summary { kind, metric: metric.to_owned(), cases: ratios.len(), median: at(50), p90: at(90), bias }
    };
    ratios.into_iter().map(summary).collect()
}

/// Pairs of schemes in one setting whose goodputs differ by more than 5 % by packets, and how many of them rounds order in
/// the same way.
pub fn orders(all: &Fidelity) -> [usize; 2] {
    let goodput = |case: &Compared| {
        case.values.iter().find(|(name, _)| name == "goodput_mean_bps").map(|(_, values)| *values)
    };
    let (mut pairs, mut same) = (0, 0);
    for (i, one) in all.cases.iter().enumerate() {
        for other in &all.cases[i + 1..] {
            let (Some(a), Some(b)) = (goodput(one), goodput(other)) else { continue };
            let alike = one.experiment == other.experiment && one.setting == other.setting;
            if alike && (a[0] / b[0] - 1.0).abs() > 0.05 {
                pairs += 1;
                same += usize::from((a[0] > b[0]) == (a[1] > b[1]));
            }
        }
    }
    [same, pairs]
}

/// Whether a rate, a time or a queue is more than a tenth off.
fn is_off(case: &Compared) -> bool {
    let off = |[packets, rounds]: [f64; 2]| (rounds / packets - 1.0).abs() > 0.1;
    case.values.iter().any(|(name, values)| name != "timeouts" && off(*values))
}

impl Fidelity {
    /// The page: Markdown.
    pub fn page(&self) -> String {
        let mut page = String::new();
        let [same, pairs] = orders(self);
        let [packets, rounds] =
            [0, 1].map(|way| self.seconds.iter().map(|(_, seconds)| seconds[way]).sum::<f64>());
        write!(
            page,
            "# How far rounds are from packets\n\n\
             `tresse fidelity -o docs/fidelity.md` writes this page: {} cases, each by packets and by rounds \
             (`tresse explain rounds`), seed 1.\nBy packets they took {packets:.0} s, by rounds {rounds:.0} s.\n\n\
             Schemes whose goodputs differ by more than 5 % by packets come in the same order by rounds in {same} of \
             {pairs} pairs.\n\n\
             | schemes answer, | metric | cases | median error | 90 % are within | rounds over packets, mean |\n\
             |---|---|---|---|---|---|\n",
            self.cases.len()
        )
        .expect("a string");
        for s in summaries(self) {
            let [median, p90] = [s.median, s.p90].map(|error| format!("{:.1} %", 100.0 * error));
            writeln!(page, "| {} | {} | {} | {median} | {p90} | {:.2} |", s.kind, s.metric, s.cases, s.bias)
                .expect("a string");
        }
        page += "\n## Cases that are more than a tenth off\n\n\
                 Values by rounds over values by packets; timeouts are counts. `tresse fidelity --json` has all cases.\n\n\
                 | experiment | case | goodput | fct p50 | fct p99 | mean queue | timeouts |\n|---|---|---|---|---|---|---|\n";
        for case in self.cases.iter().filter(|case| is_off(case)) {
            let ratio = |name: &str| match case.values.iter().find(|(own, _)| own == name) {
                Some((_, [packets, rounds])) if name == "timeouts" => format!("{packets:.0}, {rounds:.0}"),
                Some((_, [packets, rounds])) => format!("{:.2}", rounds / packets),
                None => String::new(),
            };
            let columns = super::METRICS.map(ratio).join(" | ");
            writeln!(page, "| {} | {} | {columns} |", case.experiment, case.case).expect("a string");
        }
        page
    }
}
