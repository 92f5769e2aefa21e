//! Rows that run for milliseconds: every topology and every kind of workload delivers something, and no host
//! more than its link carries.

use tresse_experiment::{Profile, Source};
use tresse_results::CaseResult;

use crate::rows::common::{self, Row, source};

/// The row a hundred times as fast; `only` one case.
fn fast(row: &str, only: &[&str]) -> Vec<CaseResult> {
    Row::new(common::fast(row), Profile::Full, &["measure.links=false"], only).run()
}

/// The quick profile with these settings.
fn quick(row: &str, settings: &[&str], only: &[&str]) -> Vec<CaseResult> {
    Row::new(source(row), Profile::Quick, settings, only).run()
}

/// A metric of a group of flows.
fn of(case: &CaseResult, group: &str, metric: &str) -> f64 {
    case.by["group"][group][metric].value()
}

/// Over the whole time, all these groups together have at most this rate, Mbit/s, and each has something.
fn shares(case: &CaseResult, groups: &[&str], mbps: f64) {
    let megabits = case.metrics["simulated_s"].value() * 1e6 / 8.0;
    let rates: Vec<f64> = groups.iter().map(|group| of(case, group, "delivered_bytes") / megabits).collect();
    assert!(rates.iter().all(|rate| *rate > 0.0), "{:?}: {rates:?}", case.case);
    assert!(rates.iter().sum::<f64>() < mbps, "{:?}: {rates:?}", case.case);
}

/// The dumbbell: four flows come and go, and share the link.
#[test]
fn fig_1_of_xmp_shares_a_gigabit() {
    let flows = ["flow 1", "flow 2", "flow 3", "flow 4"];
    for case in fast("xmp/fig1", &["scheme=dctcp-10,halving-20"]) {
        let total: f64 = flows.iter().map(|flow| of(&case, flow, "delivered_bytes")).sum();
        // 0.35 s of 973 Mbps of payload.
        assert!((0.85..1.0).contains(&(total / 42.6e6)), "{:?}: {total}", case.case);
    }
}

/// Testbed (a): flow 2 has both bottlenecks, which all five fill together.
#[test]
fn fig_4_of_xmp_fills_two_bottlenecks() {
    for case in fast("xmp/fig4", &["scheme=beta-4"]) {
        assert_eq!(of(&case, "flow 2", "subflows_opened_mean"), 2.0);
        shares(&case, &["flow 1", "flow 2", "flow 3"], 600.0);
        let total = case.metrics["delivered_bytes"].value() * 8.0 / 0.4 / 1e6;
        assert!((400.0..580.0).contains(&total), "{total} Mbps");
    }
}

/// Testbed (b): as many subflows as the paper says, on one path.
#[test]
fn fig_6_of_xmp_opens_3_2_1_and_1_subflows() {
    for case in fast("xmp/fig6", &["scheme=beta-4"]) {
        let opened = [1, 2, 3, 4].map(|i| of(&case, &format!("flow {i}"), "subflows_opened_mean"));
        assert_eq!(opened, [3.0, 2.0, 1.0, 1.0]);
        let total = case.metrics["delivered_bytes"].value() * 8.0 / 0.3 / 1e6;
        assert!((200.0..291.0).contains(&total), "{total} Mbps");
    }
}

/// The torus, with a link that closes.
#[test]
fn fig_7_of_xmp_goes_around_the_ring() {
    for case in fast("xmp/fig7", &["scheme=beta-4"]) {
        let flows: Vec<String> = (1..=5).map(|i| format!("flow {i}")).collect();
        shares(&case, &flows.iter().map(String::as_str).collect::<Vec<_>>(), 6000.0);
        assert!(flows.iter().all(|flow| of(&case, flow, "subflows_opened_mean") == 2.0));
        assert!((1..=4).all(|i| of(&case, &format!("background {i}"), "delivered_bytes") > 0.0));
        assert!(case.metrics["lost_pkts"].value() > 0.0, "what waited for L3 when it closed");
    }
}

/// The fat tree: Permutation, Random and Incast with small flows.
#[test]
fn table_1_of_xmp_has_goodput_and_jobs() {
    let settings = [
        "fabric.k=4",
        "workloads.permutation.size=100kB",
        "workloads.random.size=100kB",
        "workloads.random.flows=40",
        "workloads.incast.parts.large.size=1MB",
        "workloads.incast.parts.large.flows=32",
    ];
    for case in quick("xmp/table1", &settings, &["scheme=xmp", "subflows=2"]) {
        match case.case["pattern"].as_str() {
            Some("permutation") => assert_eq!(case.metrics["flows"].value(), 4.0 * 16.0),
            Some("incast") => {
                assert_eq!(of(&case, "large", "flows"), 32.0);
                assert!(case.metrics["jobs"].value() >= 8.0 && case.metrics["jct_mean_s"].value() > 0.0);
            }
            _ => assert_eq!(case.metrics["flows"].value(), 40.0),
        }
    }
}

/// The leaf-spine: flows that start in a window, of one size and of two.
#[test]
fn figs_10_and_11_of_opn_complete() {
    let settings = ["fabric.leaves=2", "fabric.hosts_per_leaf=10", "workloads.200-packets.flows=20"];
    for case in quick("opn/fig10", &settings, &["variant=all-hosts"]) {
        assert_eq!(case.metrics["flows"].value(), 20.0, "{:?}", case.case);
    }
    let flows = ["workloads.mix.parts.long.flows=4", "workloads.mix.parts.short.flows=16", "fabric.leaves=2"];
    for case in quick("opn/fig11", &flows, &["variant=all-hosts", "scheme=opn,mptcp"]) {
        assert_eq!((of(&case, "long", "flows"), of(&case, "short", "flows")), (4.0, 16.0));
    }
}

/// Flows with their own paths, and flows that choose among all.
#[test]
fn fig_12_of_opn_shares_the_last_hop() {
    let settings = ["workloads.last-hop.duration=30ms"];
    for case in quick("opn/fig12", &settings, &["variant=10-flows"]) {
        assert_eq!(
            (of(&case, "opn", "unfinished_flows"), of(&case, "tcp", "unfinished_flows")),
            (10.0, 100.0)
        );
        shares(&case, &["opn", "tcp"], 1000.0);
    }
}

/// Poisson arrivals, with and without slow paths; and their load next to the access links'.
#[test]
fn figs_13_and_15_of_opn_have_arrivals() {
    for (row, share) in [("opn/fig13", 0.5), ("opn/fig15", 10.0 / 12.8)] {
        let settings = ["workloads.web-server.flows=40"];
        for case in quick(row, &settings, &["pattern=web-server", "scheme=ecmp,rps,opn"]) {
            assert_eq!(case.metrics["flows"].value(), 40.0, "{:?}", case.case);
            let offered = case.metrics["offered_bisection_ratio"].value();
            assert!((offered - share).abs() < 1e-9, "{row}: {offered}");
        }
    }
}

/// The slides' dumbbell and two bottlenecks.
#[test]
fn the_slides_flows_share_their_bottlenecks() {
    let run = |row, only: &[&str]| {
        let settings = ["measure.links=false", "measure.samples=1ms"];
        Row::new(common::fast(row), Profile::Full, &settings, only).run()
    };
    for case in run("dcm/coexist", &["subflows=8"]) {
        assert_eq!(of(&case, "multipath", "subflows_opened_mean"), 8.0);
        let dctcp: &[&str] = match case.case["pattern"].as_str() {
            Some("staggered") => &["dctcp 1", "dctcp 2"],
            _ => &["dctcp"],
        };
        shares(&case, &[&["multipath"], dctcp].concat(), 1000.0);
    }
    for case in run("dcm/shift", &["pattern=beside-dctcp"]) {
        shares(&case, &["multipath", "on 1", "on 2"], 3000.0);
    }
    for case in run("dcm/fairness", &["scheme=dcm"]) {
        assert_eq!(case.metrics["subflows_opened_mean"].value(), 4.0);
    }
}

/// The slides' fat tree: endless flows, halves, and jobs.
#[test]
fn the_slides_fat_tree_has_goodput_and_jobs() {
    let only = ["subflows=2", "scheme=dcm"];
    let settings = ["fabric.k=4", "workloads.permutation.duration=10ms"];
    for case in quick("dcm/exp1", &settings, &only) {
        assert_eq!(case.metrics["unfinished_flows"].value(), 16.0);
        assert!(case.metrics["goodput_mean_bps"].value() > 3e8);
    }
    let settings = ["fabric.k=4", "workloads.half.size=200kB", "workloads.half.flows=16"];
    for case in quick("dcm/exp2", &settings, &["scheme=dcm", "subflows=2"]) {
        assert_eq!((of(&case, "dcm-2", "flows"), of(&case, "dctcp-1", "flows")), (8.0, 8.0));
    }
    let settings = ["fabric.k=4", "workloads.incast.duration=60ms"];
    let only = ["subflows=2", "scheme=dcm", "variant=tcp-jobs,four-each,dcm-jobs"];
    for case in quick("dcm/exp3", &settings, &only) {
        assert!(case.metrics["jobs"].value() > 0.0, "{:?}", case.case);
    }
    for case in quick("dcm/incast-summary", &settings, &["subflows=2", "scheme=dcm", "variant=long-1"]) {
        assert!(case.metrics["jobs"].value() > 0.0, "{:?}", case.case);
    }
}

/// `ect_acks`: two flows one against the other, with queues that drop packets that they cannot mark. ACKs
/// meet the other flow's data, and are dropped above K unless they are ECN-capable.
#[test]
fn acks_that_are_ect_are_not_dropped_at_k() {
    let text = r#"
title = "Two ways"
[fabric]
topology = "dumbbell"
pairs = 1
rate = "1Gbps"
delay = "40us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
host_mark = "10pkt"
non_ect = "drop"
[transport]
profile = "ns3"
[schemes.dctcp]
controller = "dctcp"
[workloads.both]
pattern = "flows"
duration = "100ms"
flow = [{ from = "S1", to = "D1" }, { from = "D1", to = "S1" }]
"#;
    let drops = |acks: &str| {
        let source = Source { name: "two-ways".into(), text: text.to_owned() };
        let cases = Row::new(source, Profile::Full, &[acks], &[]).run();
        cases[0].metrics["drops_pkts"].value()
    };
    assert!(drops("transport.ect_acks=false") > 0.0);
    assert_eq!(drops("transport.ect_acks=true"), 0.0);
}

/// The thesis's small networks, with links that change.
#[test]
fn the_thesis_flows_share_their_links() {
    for row in ["holnet/fig2.3-1", "holnet/fig2.3-2"] {
        for case in fast(row, &[]) {
            shares(&case, &["x1", "x2"], 100.0);
        }
    }
    for case in fast("holnet/fig2.4", &[]) {
        shares(&case, &["x1", "x2"], 160.0);
        assert_eq!(of(&case, "x1", "subflows_opened_mean"), 2.0);
    }
    for (row, only, most) in [
        ("holnet/fig3.3", "scheme=balia", 2048.0),
        ("holnet/fig3.5", "scheme=wutcp-half", 2048.0),
        ("holnet/fig4.4", "scheme=hmptcp", 1032.0),
        ("holnet/fig4.5", "scheme=emptcp", 2048.0),
    ] {
        for case in fast(row, &[only]) {
            shares(&case, &["x1", "x2"], most);
            assert_eq!(of(&case, "x1", "subflows_opened_mean"), 2.0, "{row}");
        }
    }
    for case in fast("holnet/table3.2", &["scheme=lia"]) {
        let flows = ["multipath", "tcp"].map(|group| of(&case, group, "unfinished_flows"));
        assert_eq!(flows, [5.0, 5.0]);
        shares(&case, &["multipath", "tcp"], 2048.0);
    }
}

/// HOLNET-UTA, DRILL and ECMP.
#[test]
fn fig_2_5_of_holnet_completes() {
    let settings = ["workloads.load-30.size=20kB", "workloads.load-30.flows=100"];
    for case in quick("holnet/fig2.5", &settings, &["pattern=load-30"]) {
        assert_eq!(case.metrics["flows"].value(), 100.0, "{:?}", case.case);
    }
}

/// Virtual hosts: many connections, UDP on one path, fan-in, a shuffle, short objects.
#[test]
fn virtual_machines_deliver() {
    let cap = 12.0 * 600.0;
    let settings = ["workloads.nfs.duration=20ms", "workloads.nfs.connections=2"];
    for case in quick("vmcc/fig2", &settings, &["scheme=lia,dctcp"]) {
        assert!(case.metrics["delivered_bytes"].value() > 0.0);
        assert!(case.metrics["goodput_total_bps"].value() / 1e6 < cap);
    }
    for pattern in ["own-nics", "other-host"] {
        let settings = [
            format!("workloads.{pattern}.duration=20ms"),
            format!("workloads.{pattern}.parts.nfs.connections=1"),
            format!("workloads.{pattern}.parts.udp.on=5ms"),
            format!("workloads.{pattern}.parts.udp.off=5ms"),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let [case] = &quick("vmcc/fig4", &settings, &["scheme=xmp", &format!("pattern={pattern}")])[..]
        else {
            panic!("one case")
        };
        // 10 ms of 1 Gbps in all, if nothing is dropped.
        let sent = of(case, "udp", "delivered_bytes") * 8.0 / 10e-3 / 1e6;
        assert!((900.0..1010.0).contains(&sent), "{pattern}: {sent} Mbps");
        assert!(of(case, "nfs", "delivered_bytes") > 0.0);
    }
    let settings = ["workloads.2-connections.size=10kB"];
    for case in quick("vmcc/fig5", &settings, &["pattern=2-connections"]) {
        assert_eq!((case.metrics["flows"].value(), case.metrics["jobs"].value()), (22.0, 1.0));
    }
    for case in quick("vmcc/fig7", &["workloads.shuffle.size=240kB"], &["subflows=4"]) {
        assert_eq!(case.metrics["flows"].value(), 132.0);
        assert_eq!(case.metrics["subflows_opened_mean"].value(), 4.0);
    }
    let settings = ["workloads.nfs.duration=50ms", "workloads.nfs.connections=5"];
    for case in quick("vmcc/fig9", &settings, &[]) {
        let total = case.metrics["goodput_total_bps"].value() / 1e6;
        assert!((300.0..600.0).contains(&total), "{:?}: {total} Mbps", case.case);
    }
    for case in quick("vmcc/fig10", &["workloads.memcached.flows=30"], &["scheme=vmcc"]) {
        assert_eq!(case.metrics["flows"].value(), 30.0);
    }
}
