//! How well path-sharing detection decided (VMCC Table II): what it closed, against what the simulator knows.

use tresse_path_manager::Score;
use tresse_sim::Path;

use crate::metrics::Metric;
use crate::unit::Flow;

/// The truth: whether any two of these paths have a port in common, there or back. Virtual NICs that are
/// mapped to one physical NIC, at either end, have its ports in common.
pub(crate) fn share_a_port(paths: &[Path]) -> bool {
    let ports = |path: &Path| -> Vec<u32> { path.there.iter().chain(&path.back).copied().collect() };
    let all: Vec<Vec<u32>> = paths.iter().map(ports).collect();
    all.iter().enumerate().any(|(i, a)| all[i + 1..].iter().any(|b| a.iter().any(|port| b.contains(port))))
}

/// The metrics of the flows whose path manager detects path sharing; none without such flows. A share is
/// missing where it is undefined.
pub(crate) fn metrics<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<(&'static str, Metric)> {
    let mut score = Score::default();
    let mut flows = flows.filter_map(|f| Some((f.shares?, f.record.closed != 0))).peekable();
    if flows.peek().is_none() {
        return Vec::new();
    }
    flows.for_each(|(shares, terminated)| score.record(shares, terminated));
    let mut metrics = vec![
        ("sharing_flows", Metric::Count(score.true_positives + score.false_negatives)),
        ("terminated_flows", Metric::Count(score.true_positives + score.false_positives)),
    ];
    let shares = [
        ("sharing_precision_ratio", score.precision()),
        ("sharing_recall_ratio", score.recall()),
        ("sharing_f_ratio", score.f_score()),
    ];
    metrics.extend(shares.into_iter().filter_map(|(name, share)| Some((name, Metric::Real(share?)))));
    metrics
}

#[cfg(test)]
mod tests {
    use tresse_fabric::Locality;
    use tresse_sim::FlowRecord;

    use super::*;

    fn path(there: &[u32], back: &[u32]) -> Path {
        Path { there: there.to_vec(), back: back.to_vec() }
    }

    fn flow(shares: Option<bool>, closed: u64) -> Flow {
        let record =
            FlowRecord { id: 0, bytes: 1, start: 0, end: 1, opened: 2, closed, counters: Default::default() };
        Flow { round: 0, from: 0, to: 1, locality: Locality::InterRack, shares, record }
    }

    #[test]
    fn paths_share_what_both_pass() {
        let disjoint = [path(&[0, 1], &[4, 5]), path(&[2, 3], &[6, 7])];
        assert!(!share_a_port(&disjoint));
        assert!(!share_a_port(&disjoint[..1]));
        let [a, b] = disjoint;
        assert!(share_a_port(&[a.clone(), b.clone(), path(&[8, 3], &[9])]), "the last two, there");
        assert!(share_a_port(&[a, b, path(&[8], &[5, 9])]), "the first and the last, back");
    }

    #[test]
    fn a_sample_is_a_connection() {
        // 3 of 5 that share are terminated, so is 1 of 3 that do not: P = 3/4, R = 3/5, F = 6/9.
        let cells = [(true, 0b10, 3), (true, 0, 2), (false, 0b01, 1), (false, 0, 2)];
        let flows: Vec<Flow> =
            cells.iter().flat_map(|&(shares, closed, n)| vec![flow(Some(shares), closed); n]).collect();
        assert_eq!(
            metrics(flows.iter()),
            [
                ("sharing_flows", Metric::Count(5)),
                ("terminated_flows", Metric::Count(4)),
                ("sharing_precision_ratio", Metric::Real(0.75)),
                ("sharing_recall_ratio", Metric::Real(0.6)),
                ("sharing_f_ratio", Metric::Real(6.0 / 9.0)),
            ]
        );
        assert_eq!(metrics([flow(None, 1)].iter()), [], "nothing was to be detected");
        let quiet = metrics([flow(Some(true), 0)].iter());
        assert_eq!(
            quiet[2..],
            [("sharing_recall_ratio", Metric::Real(0.0)), ("sharing_f_ratio", Metric::Real(0.0))]
        );
    }
}
