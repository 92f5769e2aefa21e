//! VMCC's experiments on virtualised hosts.

use std::collections::BTreeSet;

use tresse_experiment::Profile;
use tresse_units::{MILLISECOND, SECOND, Time};
use tresse_workload::distributions;

use crate::rows::common::{Row, full, seen, source, within};

const FIGURES: [(&str, u32); 6] = [
    ("vmcc/fig2", 24),
    ("vmcc/fig4", 36),
    ("vmcc/fig5", 24),
    ("vmcc/fig7", 12),
    ("vmcc/fig9", 2),
    ("vmcc/fig10", 24),
];

/// "Each of the virtual machines is configured with two virtual NICs, and then leverages two disjoint paths"; 600 Mbps a
/// machine, 10 Gbps a NIC. In Fig. 7 all subflows share a path.
#[test]
fn machines_have_two_disjoint_paths_below_600_mbps() {
    for (name, machines) in FIGURES {
        let row = full(name);
        assert_eq!(row.plan.fabric().hosts(), machines, "{name}");
        let (from, to) = (0, machines / if name == "vmcc/fig4" { 3 } else { 2 });
        let caps: Vec<u64> = row
            .plan
            .fabric()
            .addresses(from)
            .map(|address| {
                let out = |port: &u32| row.plan.fabric().network.ends[*port as usize][0] == address;
                let ports: Vec<u32> = (0..row.plan.fabric().configs.len() as u32).filter(out).collect();
                assert_eq!(ports.len(), 1);
                row.plan.fabric().rate(ports[0]) / 1_000_000
            })
            .collect();
        let wanted = if name == "vmcc/fig7" { vec![600] } else { vec![300, 300] };
        assert_eq!(caps, wanted, "{name}");
        let most: usize =
            row.plan.cases.iter().filter_map(|c| c.bound_schemes[0].subflows).max().expect("subflows")
                as usize;
        let used = row.routes(from, to)[..most.min(caps.len())].to_vec();
        let ports: BTreeSet<u32> = used.iter().flat_map(|r| r.there.clone()).collect();
        assert_eq!(
            ports.len(),
            used.iter().map(|r| r.there.len()).sum::<usize>(),
            "{name}: they share no link"
        );
        for route in &used {
            let rates = row.rates(route);
            assert_eq!((rates[0], rates[1]), (caps[0], 10_000), "{name}");
            assert_eq!(row.rtt_us_of(route), 100.0, "{name}");
        }
    }
}

/// 12 machines x 100 connections, Cubic along with LIA and DCTCP along with XMP.
#[test]
fn fig_2_has_1200_connections() {
    let row = full("vmcc/fig2");
    let schemes: BTreeSet<_> = row.plan.cases.iter().map(|c| (&*c.scheme, c.subflows)).collect();
    let of = |scheme, n| (scheme, Some(n));
    assert!(schemes.into_iter().eq([of("cubic", 1), of("dctcp", 1), of("lia", 2), of("xmp", 2)]));
    let seen = seen(&row.plan.cases[0].parts[0], SECOND, |_| Time::MAX);
    assert_eq!(seen.starts.len(), 1200);
    assert!(seen.starts.iter().all(|(_, s)| s.from < 12 && s.to >= 12 && s.bytes == Some(10_000_000)));
    assert_eq!((seen.most_at_a_time(|s| s.from), row.plan.cases[0].duration), (100, Some(60 * SECOND)));
}

/// "Background UDP traffic with the sending rate set at 1 Gbps on one path every 10 seconds. The UDP traffic lasted for 5
/// seconds", 60 s long.
#[test]
fn fig_4_has_udp_of_1_gbps_for_5_of_every_10_seconds() {
    let row = full("vmcc/fig4");
    for (pattern, sources) in [("own-nics", 12), ("other-host", 1)] {
        let case = row.case(&format!("lia-2 {pattern}"));
        let [nfs, udp] = &case.parts[..] else { panic!("two parts") };
        assert_eq!(seen(nfs, SECOND, |_| Time::MAX).starts.len(), 1200);
        let rate = udp.datagrams.expect("datagrams");
        assert!(within(1e-4, (rate * sources) as f64, 1e9));
        let seen = seen(udp, 60 * SECOND, |_| Time::MAX);
        assert_eq!(seen.starts.len() as u64, 6 * sources);
        for (at, start) in &seen.starts {
            assert_eq!((at % (10 * SECOND), seen.ends[&start.name] - at), (0, 5 * SECOND));
        }
        // One path: the first, over the first physical NIC.
        let used =
            |start: &tresse_workload::Start| row.passes(&row.routes(start.from, start.to)[0])[0].to_owned();
        let first: BTreeSet<String> = seen.starts.iter().map(|(_, s)| used(s)).collect();
        assert_eq!(
            first.into_iter().collect::<Vec<_>>(),
            [if sources == 1 { "bridge 2.0" } else { "bridge 0.0" }]
        );
    }
    // The other host's machine has no cap on that path.
    assert_eq!(row.rates(&row.routes(24, 12)[0])[0], 10_000);
}

/// Fan-in to one machine, 1 to 100 connections each.
#[test]
fn fig_5_fans_in_with_1_to_100_connections() {
    let row = full("vmcc/fig5");
    let mut seen_connections = Vec::new();
    for case in row.plan.cases.iter().filter(|c| c.scheme == "lia") {
        let seen = seen(&case.parts[0], MILLISECOND, |_| SECOND);
        assert!(seen.starts.iter().all(|(at, s)| (*at, s.to) == (0, 12)));
        assert_eq!(seen.starts.iter().map(|(_, s)| s.from).collect::<BTreeSet<_>>().len(), 11);
        seen_connections.push(seen.starts.len() / 11);
    }
    assert_eq!(seen_connections, [1, 2, 5, 10, 20, 50, 100]);
}

/// 12 workers sort 1 TB: each sends every other a twelfth of its twelfth, over 1 to 8 subflows of one path.
#[test]
fn fig_7_shuffles_1_tb_over_subflows_of_one_path() {
    let row = full("vmcc/fig7");
    let counts: Vec<_> = row.plan.cases.iter().map(|c| c.subflows).collect();
    // Two schemes, and two buffers.
    assert_eq!(counts, [1, 2, 4, 8].repeat(4).into_iter().map(Some).collect::<Vec<_>>());
    assert_eq!(row.routes(0, 6).len(), 1);
    let seen = seen(&row.plan.cases[0].parts[0], Time::MAX - 1, |_| SECOND);
    assert_eq!(seen.starts.len(), 12 * 11);
    assert!(within(1e-6, seen.bytes() as f64, 1e12 * 11.0 / 12.0), "{}", seen.bytes());
}

/// One machine with 100 connections; vMCC, LIA and XMP.
#[test]
fn fig_9_has_100_connections_of_one_machine() {
    let row = full("vmcc/fig9");
    let labels: Vec<_> = row.plan.cases.iter().map(|c| c.label()).collect();
    let of = |buffer: u32| ["vmcc", "lia", "xmp"].map(|scheme| format!("{scheme}-2 nfs buffer-{buffer}"));
    assert_eq!(labels, [of(100), of(1000)].concat());
    let seen = seen(&row.plan.cases[0].parts[0], SECOND, |_| Time::MAX);
    assert!(seen.starts.len() == 100 && seen.starts.iter().all(|(_, s)| (s.from, s.to) == (0, 1)));
}

/// Poisson, sizes of a cache, half of the caps of 12 machines.
#[test]
fn fig_10_offers_half_of_the_caps() {
    let many = ["workloads.memcached.flows=100000"];
    let row = Row::new(source("vmcc/fig10"), Profile::Full, &many, &["scheme=vmcc"]);
    let part = &row.plan.cases[0].parts[0];
    let offered = part.pattern.offered.expect("a load");
    assert!(within(1e-9, offered.capacity.access, 7.2e9) && within(1e-9, offered.rate, 3.6e9), "{offered:?}");
    let seen = seen(part, 1_000_000 * SECOND, |_| 1);
    let last = seen.starts.iter().map(|(at, _)| *at).max().unwrap_or(0) as f64 / 1e12;
    assert!(within(0.01, seen.bytes() as f64 * 8.0 / last, 3.6e9));
    let mean = distributions::find("cachefollower-expresspass").expect("built in").distribution().mean();
    assert!(within(0.01, seen.bytes() as f64 / 1e5, mean));
    assert!(seen.starts.iter().all(|(_, s)| s.from < 12 && s.to >= 12));
}
