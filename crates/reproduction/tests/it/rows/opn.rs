//! MPTCP_OPN's networks, schemes and flows of given sizes: §Performance evaluation, Figs. 10 to 12, Table 2.

use std::collections::BTreeSet;

use tresse_experiment::Profile;
use tresse_units::{MILLISECOND, SECOND, Time};
use tresse_workload::distributions;

use crate::rows::common::{Row, full, seen, with};

const FIGURES: [&str; 6] = ["opn/fig10", "opn/fig11", "opn/fig13", "opn/fig15", "opn/fig16", "opn/fig17"];

/// "40 ToR and 20 Core switches ... 50 hosts under each ToR switch and 20 available equivalent paths", 256
/// packets, 1 Gbps; an RTT of 100 us, or, with 100 us per link, 800 us.
#[test]
fn the_leaf_spine_has_2000_hosts_20_paths_and_100_us() {
    for figure in FIGURES {
        let row = full(figure);
        let fabric = row.plan.fabric();
        assert_eq!((fabric.hosts(), fabric.network.nodes - fabric.network.hosts), (2000, 60), "{figure}");
        let routes = row.routes(0, 1999);
        let spines: BTreeSet<_> = routes.iter().map(|r| row.passes(r)[1].to_owned()).collect();
        assert_eq!((routes.len(), spines.len()), (20, 20));
        assert_eq!(row.routes(0, 49).len(), 1);
        let switch = |port: &usize| fabric.network.ends[*port][0] >= 2000;
        assert!((0..fabric.configs.len()).filter(switch).all(|p| fabric.configs[p].limit.value() == 256));
        let rtts = routes.iter().map(|r| fabric.base_rtt(&r.there, 0, 0));
        assert!(rtts.into_iter().all(|rtt| rtt == 100_000_000), "{figure}");
    }
    let row = with("opn/fig10", &["fabric.delay=100us"]);
    assert_eq!(row.rtt_us(0, 1999).0, 800.0);
}

/// OPN, ECMP and RPS with DCTCP, MPTCP and MMPTCP over all paths; an RTO of 200 ms.
#[test]
fn five_schemes_are_compared() {
    for figure in FIGURES {
        let row = full(figure);
        let told = |scheme: &str| {
            let bound_scheme = row.bound_scheme(scheme);
            assert_eq!(bound_scheme.transport.rto_min, 200 * MILLISECOND);
            (
                bound_scheme.controllers.controller().name().to_owned(),
                bound_scheme.subflows,
                bound_scheme.decides,
            )
        };
        assert_eq!(told("opn"), ("lia".into(), None, Some("opn")), "{figure}");
        assert_eq!(told("ecmp"), ("dctcp".into(), Some(1), None));
        assert_eq!(told("rps"), ("dctcp".into(), Some(1), None));
        assert_eq!(told("mptcp"), ("lia".into(), Some(20), None));
        assert_eq!(told("mmptcp"), ("lia".into(), Some(20), Some("mmptcp")));
        let routing =
            |scheme: &str| row.experiment().schemes[scheme].routing.as_ref().map(|r| r.name.clone());
        assert_eq!((routing("rps"), routing("ecmp")), (Some("spray".into()), None));
        assert_eq!(row.experiment().fabric.routing.as_ref().map(|r| &*r.name), Some("ecmp"));
    }
}

/// 1000 flows of 200 packets between racks, within 10 ms, from any of the 2000 hosts.
#[test]
fn fig_10_has_1000_flows_of_200_packets() {
    let row = full("opn/fig10");
    let window = 10 * MILLISECOND;
    for variant in ["all-hosts", "handshake"] {
        let case = row.case(&format!("ecmp-1 200-packets {variant}"));
        let seen = seen(&case.parts[0], SECOND, |_| MILLISECOND);
        assert_eq!(seen.starts.len(), 1000);
        assert!(seen.starts.iter().all(|(_, s)| s.bytes == Some(200 * 1460)));
        assert!(seen.starts.iter().all(|(_, s)| s.from / 50 != s.to / 50));
        let last = seen.starts.iter().map(|(at, _)| *at).max().unwrap_or(Time::MAX);
        assert!(last <= window && last >= window / 100 * 98, "{variant}: {last}");
        let from: BTreeSet<u32> = seen.starts.iter().map(|(_, s)| s.from).collect();
        assert!(from.len() >= 700, "{variant}: {} senders", from.len());
    }
}

/// "200 long flows and 800 short flows are randomly set in the range of [600, 800] and [40, 60] packets".
#[test]
fn fig_11_has_200_long_and_800_short_flows() {
    let row = full("opn/fig11");
    for variant in ["all-hosts", "handshake"] {
        let parts = &row.case(&format!("rps-1 mix {variant}")).parts;
        for (part, (name, flows, packets)) in
            parts.iter().zip([("long", 200, 600..=800), ("short", 800, 40..=60)])
        {
            let seen = seen(part, SECOND, |_| MILLISECOND);
            assert_eq!((&*part.name, seen.starts.len()), (name, flows));
            let sizes: Vec<f64> =
                seen.starts.iter().map(|(_, s)| s.bytes.unwrap_or(0) as f64 / 1460.0).collect();
            let (least, most) = (f64::from(*packets.start()), f64::from(*packets.end()));
            assert!(sizes.iter().all(|s| (least..=most).contains(s)));
            let mean = sizes.iter().sum::<f64>() / flows as f64;
            assert!((mean - (least + most) / 2.0).abs() < (most - least) / 10.0, "{name}: {mean} packets");
        }
    }
}

/// x OPN flows and 100 TCP flows over 20 paths, or 100 on each, to one receiver; x from 10 to 100.
#[test]
fn fig_12_has_a_last_hop_for_opn_and_tcp_flows() {
    for (file, opns, tcp) in
        [("opn/fig12", &[10, 20, 40, 60, 80, 100][..], 100), ("opn/fig12-per-path", &[10, 100], 2000)]
    {
        let row = full(file);
        for opn in opns {
            for scheme in ["lia", "olia"] {
                let case = row.case(&format!("{scheme} last-hop {opn}-flows"));
                let starts: Vec<_> =
                    case.parts.iter().flat_map(|part| seen(part, SECOND, |_| SECOND).starts).collect();
                assert!(starts.iter().all(|(at, s)| *at == 0 && s.to == 50 && s.bytes.is_none()));
                let from = |host: u32| starts.iter().filter(|(_, s)| s.from == host).count();
                assert_eq!((from(20), starts.len()), (*opn, opn + tcp), "{file}");
                assert!((0..20).all(|host| from(host) == tcp / 20));
            }
        }
        // A path each: TCP flows name it, MPTCP_OPN has all.
        let flows = row.experiment().workloads["last-hop"].parts["tcp"].own["flow"].as_array();
        let via = flows.into_iter().flatten().filter_map(|flow| flow["via"].as_array()).flatten();
        let via: BTreeSet<_> = via.map(ToString::to_string).collect();
        assert_eq!(via.len(), 20);
        assert_eq!(row.bound_scheme("lia").paths, 20);
        let routes = row.routes(20, 50);
        assert_eq!((routes.len(), row.rates(&routes[0])), (20, vec![1000; 4]));
    }
}

/// The shares of flows up to 10 kB, 100 kB and 1 MB, and above, in the paper's table against the files of its
/// source. They agree within three points except for Web Search, whose row sums to 90 %.
#[test]
fn table_2_fits_the_files_but_for_web_search() {
    for (name, table) in [
        ("datamining-expresspass", [78.0, 5.0, 8.0, 9.0]),
        ("cachefollower-expresspass", [50.0, 3.0, 18.0, 29.0]),
        ("webserver-expresspass", [63.0, 18.0, 19.0, 0.0]),
    ] {
        let shares = distributions::find(name).expect("built in").distribution().shares();
        let near = shares.iter().zip(table).all(|(share, percent)| (share * 100.0 - percent).abs() < 3.0);
        assert!(near, "{name}: {shares:?}");
    }
    let search = distributions::find("websearch-expresspass").expect("built in").distribution().shares();
    // 15.5, 38.8, 15.7 and 30.0 % (docs/explain/distributions.md) for 49, 3, 18 and 20 %: only the part below
    // 100 kB fits.
    let wanted = [15.5, 38.8, 15.7, 30.0];
    assert!(
        search.iter().zip(wanted).all(|(share, percent)| (share * 100.0 - percent).abs() < 0.1),
        "{search:?}"
    );
    assert!((search[0] + search[1] - 0.52).abs() < 0.03);
}

/// Fewer flows need fewer leaves for the same load: four of the same network.
#[test]
fn fig_13_is_four_leaves_in_the_quick_profile() {
    let row = Row::new(crate::rows::common::source("opn/fig13"), Profile::Quick, &[], &["scheme=ecmp"]);
    assert_eq!((row.plan.fabric().hosts(), row.routes(0, 50).len()), (200, 20));
}
