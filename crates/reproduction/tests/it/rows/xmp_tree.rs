//! XMP's experiments on the fat tree: §5.2, Tables 1 to 3 and Figs. 8 to 11.

use std::collections::{BTreeMap, BTreeSet};

use tresse_experiment::Profile;
use tresse_fabric::Locality;
use tresse_units::{MILLISECOND, SECOND, Time};

use crate::rows::common::{Row, full, seen, source, with, within};

/// "80 8-port switches and 128 hosts", 1 Gbps; "RTT with no queuing delay is between 105us and 435us".
#[test]
fn the_tree_has_105_to_435_us_and_up_to_16_paths() {
    for row in ["xmp/table1", "xmp/table2"].map(full) {
        let fabric = row.plan.fabric();
        assert_eq!((fabric.hosts(), fabric.network.nodes - fabric.network.hosts), (128, 80));
        assert!(fabric.configs.iter().all(|c| c.rate == 1_000_000_000));
        // 4 hosts a rack, 4 racks a pod; two-level routing names 16 cores, of which 4 or 16 ways differ.
        for (to, rtt, paths) in [(1, 104.6, 1), (4, 249.3, 4), (16, 434.0, 16)] {
            let (_, with_packets) = row.rtt_us(0, to);
            assert!((with_packets - rtt).abs() < 0.1, "{with_packets}");
            assert!((104.5..435.0).contains(&with_packets));
            let mut routes: Vec<_> = row.routes(0, to).into_iter().map(|r| r.there).collect();
            routes.sort();
            routes.dedup();
            assert_eq!(routes.len(), paths);
        }
    }
}

/// "Every host transfers data to one other host chosen at random with the constraint that each host serves as
/// the destination of only one flow", 64 to 512 MB; more than 2000 flows, about 600 GB. Fig. 8's kinds of
/// flows occur by chance.
#[test]
fn permutation_sends_600_gb_in_2048_flows() {
    let row = full("xmp/table1");
    let seen = seen(&row.case("dctcp-1 permutation").parts[0], Time::MAX - 1, |_| SECOND);
    assert_eq!(seen.starts.len(), 2048);
    assert!(within(0.03, seen.bytes() as f64, 600e9 * 288.0 / 293.0), "{}", seen.bytes());
    assert!(seen.starts.iter().all(|(_, s)| (64_000_000..=512_000_000).contains(&s.bytes.unwrap_or(0))));
    assert_eq!((seen.most_at_a_time(|s| s.from), seen.most_at_a_time(|s| s.to)), (1, 1));
    let mut kinds: BTreeMap<&str, f64> = BTreeMap::new();
    for (_, start) in &seen.starts {
        *kinds.entry(row.plan.fabric().locality(start.from, start.to).name()).or_default() += 1.0 / 2048.0;
    }
    let of = |kind: Locality| kinds[kind.name()];
    assert!(within(0.03, of(Locality::InterPod), 112.0 / 127.0), "{kinds:?}");
    assert!(within(0.25, of(Locality::InterRack), 12.0 / 127.0), "{kinds:?}");
    assert!(within(0.5, of(Locality::InnerRack), 3.0 / 127.0), "{kinds:?}");
}

/// "Each host serves as the destination of no more than 4 flows. When a host finishes data transfer, it immediately
/// chooses another host"; Pareto, 1.5, 192 MB, at most 768 MB. The means with the bound are the catalogue's (A6.5).
#[test]
fn random_sends_one_flow_a_host_and_at_most_4_to_one() {
    for (beyond, mean) in [("resample", 140e6), ("clip", 155e6)] {
        let size = format!("workloads.random.size.beyond={beyond}");
        let row = with("xmp/table1", &["workloads.random.flows=40000", &size]);
        // Flows take as long as at 250 Mbps.
        let takes = |start: &tresse_workload::Start| start.bytes.unwrap_or(0) * 32_000;
        let seen = seen(&row.case("dctcp-1 random").parts[0], Time::MAX - 1, takes);
        assert_eq!(seen.starts.len(), 40_000);
        assert_eq!((seen.most_at_a_time(|s| s.from), seen.most_at_a_time(|s| s.to)), (1, 4), "{beyond}");
        assert!(within(0.03, seen.bytes() as f64 / 40e3, mean), "{beyond}: {}", seen.bytes() / 40_000);
        let sizes: Vec<u64> = seen.starts.iter().filter_map(|(_, s)| s.bytes).collect();
        assert!(sizes.iter().all(|s| (64_000_000..=768_000_000).contains(s)));
        assert_eq!(sizes.iter().filter(|s| **s == 768_000_000).count() > 100, beyond == "clip");
        // At once: when a flow ends its host starts the next, as long as there are any.
        let ends: BTreeSet<Time> = seen.ends.values().copied().collect();
        assert!(seen.starts.iter().all(|(at, _)| *at == 0 || ends.contains(at)));
    }
    assert_eq!(full("xmp/table1").experiment().workloads["random"].own["flows"].as_integer(), Some(2048));
}

/// "First, 9 hosts are chosen at random ... each request is ... 2KB ... a response ... with the size of 64KB
/// ... There are totally 8 Jobs"; the large flows next to them leave their racks (footnote 8), and small
/// flows use TCP.
#[test]
fn incast_has_8_jobs_of_8_servers_beside_large_flows() {
    let row = full("xmp/table1");
    let case = row.case("xmp-2 incast");
    let [large, jobs] = &case.parts[..] else { panic!("two parts") };
    let bound_schemes: Vec<_> = case.bound_schemes.iter().map(|c| (&*c.scheme, c.subflows)).collect();
    assert_eq!(bound_schemes, [("xmp", Some(2)), ("tcp", Some(1))]);
    assert!(!case.bound_schemes[1].transport.ecn);
    let seen_jobs = seen(jobs, 100 * MILLISECOND, |_| MILLISECOND);
    assert_eq!(seen_jobs.starts.iter().filter(|(at, _)| *at == 0).count(), 64);
    // A request and a response take 1 ms each, and then there is the next job.
    assert_eq!(seen_jobs.jobs.len(), 8 * 50);
    assert!(seen_jobs.jobs.iter().all(|j| j.flows == 16 && j.end - j.start == 2 * MILLISECOND));
    let mut of_job: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for (at, start) in &seen_jobs.starts {
        of_job.entry(start.job.expect("a flow of a job")).or_default().push((*at, *start));
    }
    for flows in of_job.values().filter(|f| f.len() == 16) {
        let (requests, responses) = flows.split_at(8);
        assert!(requests.iter().all(|(at, s)| (*at, s.bytes) == (requests[0].0, Some(2000))));
        assert!(
            responses.iter().all(|(at, s)| (*at, s.bytes) == (requests[0].0 + MILLISECOND, Some(64_000)))
        );
        let client = requests[0].1.from;
        let servers: BTreeSet<u32> = requests.iter().map(|(_, s)| s.to).collect();
        assert!(servers.len() == 8 && !servers.contains(&client));
        assert!(responses.iter().all(|(_, s)| s.to == client && servers.contains(&s.from)));
    }
    let large = seen(large, Time::MAX - 1, |_| SECOND);
    assert_eq!((large.starts.len(), large.most_at_a_time(|s| s.to)), (2048, 4));
    let racks = &row.plan.fabric().racks;
    assert!(large.starts.iter().all(|(_, s)| racks[s.from as usize] != racks[s.to as usize]));
}

/// Table 2: XMP-2 along with LIA-2, TCP and DCTCP, with queues of 50 and of 100 packets.
#[test]
fn table_2_pairs_xmp_with_three_schemes_in_two_queues() {
    let row = full("xmp/table2");
    let groups: Vec<_> = row.plan.cases.iter().map(|c| c.groups.join(":")).collect();
    let pairs = ["xmp-2:lia-2", "xmp-2:tcp-1", "xmp-2:dctcp-1"];
    // Twice, and each of the three alone.
    assert_eq!(groups, [pairs, pairs, [""; 3]].concat());
    for case in &row.plan.cases {
        let limit = if case.variant.as_deref() == Some("queue-50") { 50 } else { 100 };
        let limits = case.setting.fabric.configs.iter().map(|c| (c.limit.value(), c.mark.value()));
        assert!(limits.into_iter().all(|l| l == (limit, 10)));
    }
    // Every host sends one flow, half of them with XMP.
    let quick = ["lia", "tcp", "dctcp"]
        .map(|w| [format!("workloads.{w}.size=20kB"), format!("workloads.{w}.flows=128")]);
    let settings: Vec<&str> = quick.iter().flatten().map(String::as_str).collect();
    for case in
        Row::new(source("xmp/table2"), Profile::Full, &settings, &["variant=queue-100,queue-50"]).run()
    {
        let flows: Vec<f64> = case.by["group"].values().map(|m| m["flows"].value()).collect();
        assert_eq!(flows, [64.0, 64.0], "{:?}", case.case);
    }
}
