//! The quality of path-sharing detection (VMCC Table II): the subflows that it closed, compared with the
//! simulator's knowledge.

use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::network::Routing;
use tresse_fabric::Path;
use tresse_path_manager::Score;
use tresse_sim::FlowRecord;

use crate::setup;
use tresse_results::record::flow::{Begun, Flow};
use tresse_results::record::metric::Metric;

/// The truth: whether any two of these paths have a port in common, there or back, beyond those that all paths
/// between the hosts have. Virtual NICs that are mapped to one physical NIC, at either end, have its ports in
/// common. A port that has the data of one subflow and the ACKs of another does not count: neither path contains it
/// twice.
fn share_a_port(paths: &[Path], unavoidable: &Path) -> bool {
    let share = |a: &[u32], b: &[u32], but: &[u32]| a.iter().any(|p| b.contains(p) && !but.contains(p));
    paths.iter().enumerate().any(|(i, a)| {
        paths[i + 1..].iter().any(|b| {
            share(&a.there, &b.there, &unavoidable.there) || share(&a.back, &b.back, &unavoidable.back)
        })
    })
}

/// Whether two subflows of a flow that has ended share a port, if its path manager detects path sharing and the
/// flow's paths are fixed.
pub(crate) fn shares(case: &Case, seed: u64, begun: &Begun, record: &FlowRecord) -> Option<bool> {
    let bound_scheme = &case.bound_schemes[begun.member.bound_scheme];
    match &*bound_scheme.routing {
        Routing::Fixed(routes) if bound_scheme.detects => {
            let paths = setup::paths(case, seed, begun);
            let opened = &paths.fixed()[..record.opened as usize];
            Some(share_a_port(opened, &routes.unavoidable(begun.start.from, begun.start.to)))
        }
        Routing::Fixed(_) | Routing::Nodes { .. } => None,
    }
}

/// Why the detection of `case` has no score, if there is detection.
pub(crate) fn why_none(case: &Case) -> Option<String> {
    let chosen = |c: &BoundScheme| c.detects && matches!(*c.routing, Routing::Nodes { .. });
    case.bound_schemes.iter().any(chosen).then(|| {
        "switches choose the paths, so it is not known which subflows share a port; only fixed routes have a score \
         (routing = \"shortest\", or \"two-level\" in a fat tree)"
            .to_owned()
    })
}

/// The metrics of the flows whose path manager detects path sharing; empty without such flows. Undefined shares are
/// missing.
pub(crate) fn metrics(flows: impl Iterator<Item = Flow>) -> Vec<(&'static str, Metric)> {
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
    use tresse_workload::Start;

    use super::*;
    use tresse_experiment::plan::parts::Member;

    fn path(there: &[u32], back: &[u32]) -> Path {
        Path { there: there.to_vec(), back: back.to_vec() }
    }

    fn flow(shares: Option<bool>, closed: u64) -> Flow {
        let record = FlowRecord {
            id: 0,
            bytes: 1,
            complete: true,
            start: 0,
            end: 1,
            opened: 2,
            closed,
            counters: Default::default(),
        };
        let start = Start { name: 0, from: 0, to: 1, bytes: Some(1), round: 0, job: None, deadline: None };
        let begun = Begun { part: 0, member: Member { bound_scheme: 0, group: 0 }, start };
        Flow { begun, locality: Locality::InterRack, shares, ideal: None, record }
    }

    #[test]
    fn paths_share_what_both_pass() {
        let disjoint = [path(&[0, 1], &[4, 5]), path(&[2, 3], &[6, 7])];
        let none = Path { there: Vec::new(), back: Vec::new() };
        assert!(!share_a_port(&disjoint, &none));
        assert!(!share_a_port(&disjoint[..1], &none));
        let [a, b] = disjoint;
        assert!(share_a_port(&[a.clone(), b.clone(), path(&[8, 3], &[9])], &none), "the last two, there");
        assert!(share_a_port(&[a.clone(), b, path(&[8], &[5, 9])], &none), "the first and the last, back");
        assert!(!share_a_port(&[a, path(&[8, 4], &[1, 9])], &none), "data beside ACKs");
    }

    #[test]
    fn what_all_paths_pass_is_not_shared() {
        let [a, b, c] = [[2, 3], [4, 5], [6, 3]].map(|[x, y]| path(&[0, x, y, 1], &[10, 12]));
        let only = Path { there: vec![0, 1], back: vec![10, 12] };
        assert!(!share_a_port(&[a.clone(), b.clone()], &only));
        assert!(share_a_port(&[a.clone(), b.clone()], &Path { there: vec![0], ..only.clone() }));
        assert!(share_a_port(&[a, b, c], &only), "the first and the last, in the middle");
    }

    #[test]
    fn a_sample_is_a_connection() {
        // 3 of 5 that share are terminated, so is 1 of 3 that do not: P = 3/4, R = 3/5, F = 6/9.
        let cells = [(true, 0b10, 3), (true, 0, 2), (false, 0b01, 1), (false, 0, 2)];
        let flows: Vec<Flow> =
            cells.iter().flat_map(|&(shares, closed, n)| vec![flow(Some(shares), closed); n]).collect();
        assert_eq!(
            metrics(flows.into_iter()),
            [
                ("sharing_flows", Metric::Count(5)),
                ("terminated_flows", Metric::Count(4)),
                ("sharing_precision_ratio", Metric::Real(0.75)),
                ("sharing_recall_ratio", Metric::Real(0.6)),
                ("sharing_f_ratio", Metric::Real(6.0 / 9.0)),
            ]
        );
        assert_eq!(metrics([flow(None, 1)].into_iter()), [], "nothing was to be detected");
        let quiet = metrics([flow(Some(true), 0)].into_iter());
        assert_eq!(
            quiet[2..],
            [("sharing_recall_ratio", Metric::Real(0.0)), ("sharing_f_ratio", Metric::Real(0.0))]
        );
    }
}
