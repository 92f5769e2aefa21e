//! The slides' experiments: one and two bottlenecks, and the fat tree with 20 us per link.

use tresse_reproduction::Publication;
use tresse_units::{MILLISECOND, SECOND, Time};

use crate::rows::common::{Row, full, seen};

const ONE_BOTTLENECK: [&str; 2] = ["dcm/coexist", "dcm/fairness"];
const TREES: [&str; 4] = ["dcm/exp1", "dcm/exp2", "dcm/exp3", "dcm/incast-summary"];

/// "Rate = 1Gbps, RTT = 240us, K = 10pkt", where the author's code marks if 10 packets wait, and a port if
/// more than `mark` do; in the fat tree, 240 us is the largest, over 12 links.
#[test]
fn empty_paths_have_240_us_and_1_gbps() {
    for name in ONE_BOTTLENECK.iter().chain(&["dcm/shift"]).chain(&TREES) {
        let row = full(name);
        let configs = &row.plan.fabric().configs;
        assert!(configs.iter().all(|c| c.rate == 1_000_000_000 && c.mark.value() == 9), "{name}");
        let (from, to) = if TREES.contains(name) { (0, 127) } else { (row.host("S2"), row.host("D2")) };
        assert_eq!(row.rtt_us(from, to).0, 240.0, "{name}");
        let transport = &row.plan.cases[0].bound_schemes[0].transport;
        assert_eq!((transport.mss, transport.delayed_ack.every, transport.initial_window), (1400, 1, 1));
    }
    assert!(TREES.iter().all(|tree| full(tree).plan.fabric().hosts() == 128));
}

/// When flows start, s, by their place; each with its subflows.
fn starts(row: &Row, label: &str) -> Vec<u64> {
    let seen = seen(&row.case(label).parts[0], 100 * SECOND, |_| Time::MAX);
    let mut starts: Vec<_> = seen.starts.iter().map(|(at, s)| (s.name, at / SECOND)).collect();
    starts.sort_unstable();
    starts.into_iter().map(|(_, at)| at).collect()
}

/// XMP(1), XMP(8), DCMPTCP(1) and DCMPTCP(8), each with two DCTCP flows.
#[test]
fn coexistence_is_one_flow_of_1_or_8_subflows_and_two_of_dctcp() {
    let row = full("dcm/coexist");
    for (scheme, subflows) in [("xmp", 1), ("xmp", 8), ("dcm", 1), ("dcm", 8)] {
        let case = row.case(&format!("{scheme}-{subflows} staggered k-10"));
        let bound_schemes: Vec<_> = case.bound_schemes.iter().map(|c| (&*c.scheme, c.subflows)).collect();
        assert_eq!(bound_schemes, [(scheme, Some(subflows)), ("dctcp", Some(1))]);
        assert_eq!(case.groups, ["multipath", "dctcp 1", "dctcp 2"]);
        assert_eq!(starts(row, &case.label()), [0, 1, 2]);
        let random = row.case(&format!("{scheme}-{subflows} random-starts k-10"));
        assert_eq!(random.groups, ["multipath", "dctcp"]);
        let dctcp = seen(&random.parts[1], SECOND, |_| Time::MAX);
        assert_eq!(dctcp.starts.len(), 2);
        assert!(dctcp.starts.iter().all(|(at, _)| *at < 100 * MILLISECOND));
    }
    assert_eq!(row.named("S1", "D1").len(), 1);
}

/// A flow with a subflow on each bottleneck, along with a flow on one and then one on the other.
#[test]
fn traffic_shifts_between_two_bottlenecks() {
    let row = full("dcm/shift");
    for (label, others) in [("dcm-2 beside-dctcp", "dctcp"), ("xmp-2 beside-its-own", "xmp")] {
        let case = row.case(label);
        assert_eq!(case.groups, ["multipath", "on 1", "on 2"]);
        assert_eq!(starts(row, label), [0, 10, 20]);
        let last = case.bound_schemes.last().expect("two bound_schemes");
        assert_eq!(
            (case.bound_schemes[0].subflows, &*last.scheme, last.subflows),
            (Some(2), others, Some(1))
        );
    }
    let over = |from, to| row.named(from, to).iter().map(|r| row.passes(r)[0].to_owned()).collect::<Vec<_>>();
    assert_eq!(over("S2", "D2"), ["DN1 in", "DN2 in"]);
    assert_eq!((over("B1", "C1"), over("B2", "C2")), (vec!["DN1 in".to_owned()], vec!["DN2 in".to_owned()]));
}

/// 4 x DCMP(4), and 4 x XMP(4).
#[test]
fn fairness_is_of_four_flows_with_four_subflows() {
    let row = full("dcm/fairness");
    for label in ["dcm-4 four k-10", "xmp-4 four k-10"] {
        assert_eq!(starts(row, label), [0, 5, 10, 15]);
    }
}

/// "FatTree, 128 nodes, full bisection bandwidth, random permutation, all flows are long-lived".
#[test]
fn experiment_1_is_a_permutation_without_an_end() {
    let row = full("dcm/exp1");
    let labels: Vec<_> = row.plan.cases.iter().map(|c| (&*c.scheme, c.subflows)).collect();
    let wanted = ["dcm", "xmp"].map(|scheme| [1, 2, 4, 8].map(|n| (scheme, Some(n))));
    assert_eq!(labels, wanted.concat());
    let case = &row.plan.cases[0];
    let seen = seen(&case.parts[0], SECOND, |_| Time::MAX);
    assert_eq!((seen.starts.len(), case.duration), (128, Some(10 * SECOND)));
    assert!(seen.starts.iter().all(|(at, s)| *at == 0 && s.bytes.is_none()));
    assert_eq!(seen.most_at_a_time(|s| s.to), 1);
    // Full bisection: 8 pods, each with 16 links of 1 Gbps to cores for its 16 hosts.
    let up = |pod: u32| {
        let is_up = |port: &u32| {
            let [from, to] = row.plan.fabric().end_names(*port);
            to.starts_with("core") && from.starts_with("aggregation") && {
                let number: u32 = from["aggregation ".len()..].parse().expect("a number");
                number / 4 == pod
            }
        };
        (0..row.plan.fabric().configs.len() as u32).filter(is_up).count()
    };
    assert!((0..8).all(|pod| up(pod) == 16));
}

/// "MPTCP flows with 2 subflows", XMP : DCTCP and DCMPTCP : DCTCP, half of the hosts each.
#[test]
fn experiment_2_halves_the_hosts() {
    let row = full("dcm/exp2");
    let groups: Vec<_> = row.plan.cases.iter().map(|c| c.groups.join(":")).collect();
    assert_eq!(groups, ["dcm-2:dctcp-1", "xmp-2:dctcp-1", "dcm-1:dctcp-1"]);
    let seen = seen(&row.plan.cases[0].parts[0], Time::MAX - 1, |s| s.bytes.unwrap_or(0) * 32_000);
    assert_eq!(
        (seen.starts.len(), seen.most_at_a_time(|s| s.to), seen.most_at_a_time(|s| s.from)),
        (2048, 4, 1)
    );
}

/// XMP's jobs along with long flows with 2 and 8 subflows, in the readings that the slides leave open.
#[test]
fn experiment_3_has_jobs_beside_long_flows() {
    let row = full("dcm/exp3");
    let jobs = |label: &str| seen(&row.case(label).parts[1], 10 * MILLISECOND, |_| MILLISECOND);
    for label in
        ["dcm-2 incast tcp-jobs", "dcm-2 incast dcm-jobs", "xmp-2 incast dropped", "xmp-2 incast xmp-jobs"]
    {
        let jobs = jobs(label);
        assert_eq!(jobs.starts.iter().filter(|(at, _)| *at == 0).count(), 8 * 8, "{label}");
        let bytes = jobs.starts.iter().map(|(_, s)| s.bytes).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(bytes.into_iter().collect::<Vec<_>>(), [Some(2000), Some(64_000)], "{label}");
    }
    // The jobs of a scheme have one subflow of it.
    for (label, scheme) in [("dcm-2 incast dcm-jobs", "dcm-alone"), ("xmp-2 incast xmp-jobs", "xmp-alone")] {
        let jobs = row.case(label).bound_schemes.iter().find(|c| c.scheme == scheme).expect(scheme);
        assert_eq!(jobs.subflows, Some(1));
    }
    // How many long flows a receiver has at a time.
    for (label, most) in [("dcm-2 incast tcp-jobs", 1), ("dcm-2 incast four-each", 4)] {
        let long = seen(&row.case(label).parts[0], SECOND, |_| MILLISECOND);
        assert_eq!(long.most_at_a_time(|s| s.to), most, "{label}");
    }
    let publication = Publication::of(row.experiment()).expect("it was checked");
    let values = &publication.published.values;
    let of = |variant: &str| values.iter().filter(|v| v.variant.as_deref() == Some(variant)).count();
    assert_eq!((of("tcp-jobs"), of("four-each"), values.len()), (12, 4, 16));
}

/// The summary's sweeps: 1 to 8 subflows of one long flow a host, 1 to 4 long flows of 8 subflows.
#[test]
fn the_incast_summary_sweeps_subflows_and_long_flows() {
    let row = full("dcm/incast-summary");
    // The two sweeps, and their last corner with floors of two packets.
    assert_eq!(row.plan.cases.len(), 2 * 4 + 2 * 3 + 2);
    for per_host in 1..=4 {
        let case = row.case(&format!("dcm-8 incast long-{per_host}"));
        let long = seen(&case.parts[0], Time::MAX - 1, |_| SECOND);
        assert_eq!(long.most_at_a_time(|s| s.from), per_host);
        assert!(long.most_at_a_time(|s| s.to) <= 4);
    }
}

/// One setting at a time: `table2` and `table3` have XMP's, `slides` the author's.
#[test]
fn the_contradictions_go_from_one_papers_settings_to_the_others() {
    for (file, ends, pattern) in
        [("dcm/sharing", ["table2", "slides"], "half"), ("dcm/job-tail", ["table3", "slides"], "incast")]
    {
        let row = full(file);
        let [xmp, slides] =
            ends.map(|end| &row.case(&format!("xmp-2 {pattern} {end}")).bound_schemes[0].transport);
        assert_eq!((xmp.mss, xmp.delayed_ack.every, xmp.floor), (1460, 2, None), "{file}");
        assert_eq!((slides.mss, slides.delayed_ack.every, slides.floor), (1400, 1, Some(1)), "{file}");
        assert!(slides.receive_window == 46 && xmp.receive_window > 100_000, "{file}");
    }
}
