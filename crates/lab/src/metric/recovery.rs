//! The metrics of recovery from changes of links, and why some are missing.

use tresse_experiment::plan::Case;
use tresse_results::record::metric::{Metric, NamedMetrics};
use tresse_results::record::outcome::Outcome;
use tresse_results::record::recovery::{Recoveries, Recovery};
use tresse_units::{Duration, Time, seconds};

use super::mean_seconds;

/// How long all flows together took, and the slowest one; empty if that was not observed. A time that would leave out a
/// change without recovery is missing: a scheme that recovers from nothing would have the best one.
pub fn metrics<'a>(all: impl Iterator<Item = &'a Recoveries> + Clone) -> NamedMetrics {
    let mut metrics = NamedMetrics::new();
    let total: Vec<Option<Time>> = all.clone().flat_map(|own| &own.total).map(|own| own.time).collect();
    let times: Vec<Time> = total.iter().flatten().copied().collect();
    if times.len() == total.len()
        && let Some(&max) = times.iter().max()
    {
        metrics.insert("recovery_time_mean_s", Metric::Real(mean_seconds(&times)));
        metrics.insert("recovery_time_max_s", Metric::Real(seconds(max)));
    }
    if !total.is_empty() {
        metrics.insert("unrecovered", Metric::Count((total.len() - times.len()) as u64));
    }
    let slowest = all.clone().filter_map(|own| own.slowest_flow).max();
    let unrecovered = all.map(|own| own.unrecovered_flows).sum();
    if let Some(slowest) = slowest.filter(|_| unrecovered == 0) {
        metrics.insert("flow_recovery_time_max_s", Metric::Real(seconds(slowest)));
    }
    if slowest.is_some() || unrecovered > 0 {
        metrics.insert("unrecovered_flows", Metric::Count(unrecovered));
    }
    metrics
}

/// Why recovery times are missing, or are not those of all changes, if they were requested.
pub fn why_none(case: &Case, outcomes: &[&Outcome]) -> Option<String> {
    let criterion = case.setting.recovery?;
    let total: Vec<&Recovery> = outcomes.iter().flat_map(|own| &own.recoveries.total).collect();
    let mut unjudged: Vec<Time> = outcomes.iter().flat_map(|own| &own.recoveries.unjudged).copied().collect();
    unjudged.sort_unstable();
    unjudged.dedup();
    let (share, hold) = (100.0 * criterion.share, Duration(criterion.hold));
    let unrecovered: Vec<&Recovery> = total.iter().copied().filter(|own| own.time.is_none()).collect();
    let worst = unrecovered.iter().min_by_key(|own| own.after * 1000 / own.before);
    let never = worst.map(|worst| {
        format!(
            "the goodput of all flows did not stay at {share} % of what it was before, for {hold}, after {} of {} changes of \
             links (over all seeds); after the change at {} it ended at {:.0} %",
            unrecovered.len(),
            total.len(),
            Duration(worst.at),
            100.0 * worst.after as f64 / worst.before as f64
        )
    });
    let flows: u64 = outcomes.iter().map(|own| own.recoveries.unrecovered_flows).sum();
    let slow = (flows > 0).then(|| format!("single flows without recovery: {flows}"));
    let unknown = unjudged.first().map(|&first| {
        let more = match unjudged.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        format!(
            "after the change at {}{more} it is not known: there is less than {hold} of goodput before it or after it, or goodput \
             was back for less than that when the run ended (`for` in `recovery`)",
            Duration(first)
        )
    });
    let reasons: Vec<String> = [never, slow, unknown].into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recoveries(times: &[Option<Time>], slowest_flow: Option<Time>, unrecovered_flows: u64) -> Recoveries {
        let total = times.iter().map(|&time| Recovery { at: 1, time, before: 100, after: 50 }).collect();
        Recoveries { total, unjudged: Vec::new(), slowest_flow, unrecovered_flows }
    }

    fn values(all: &[Recoveries]) -> Vec<(&'static str, f64)> {
        metrics(all.iter()).into_iter().map(|(name, value)| (name, value.value())).collect()
    }

    #[test]
    fn a_time_that_would_leave_out_a_change_is_missing() {
        let [one, two] = [Some(1_000_000_000), Some(3_000_000_000)];
        assert_eq!(values(&[Recoveries::default()]), []);
        let all = [
            ("recovery_time_mean_s", 0.002),
            ("recovery_time_max_s", 0.003),
            ("unrecovered", 0.0),
            ("flow_recovery_time_max_s", 0.003),
            ("unrecovered_flows", 0.0),
        ];
        assert_eq!(values(&[recoveries(&[one], one, 0), recoveries(&[two], two, 0)]), all);
        let some = [("unrecovered", 1.0), ("unrecovered_flows", 2.0)];
        assert_eq!(values(&[recoveries(&[one, None], one, 0), recoveries(&[two], two, 2)]), some);
    }
}
