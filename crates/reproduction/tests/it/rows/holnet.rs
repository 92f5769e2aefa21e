//! The thesis's chapter 2: HOLNET's host controllers at one and two bottlenecks, and HOLNET-UTA on a leaf-spine.

use tresse_experiment::Profile;
use tresse_units::{SECOND, Time};
use tresse_workload::distributions;

use crate::rows::common::{Row, full, seen, source, within};

/// Two flows share 100 Mbps from the start; the weights are 2 to 1, and 3.63 to 1 with a least rate of 20 Mbps.
#[test]
fn fig_2_3_has_two_weighted_flows_on_100_mbps() {
    for (name, weights) in [("holnet/fig2.3-1", [2000, 1000]), ("holnet/fig2.3-2", [1000, 3630])] {
        let row = full(name);
        for (from, to) in [("S1", "D1"), ("S2", "D2")] {
            let routes = row.named(from, to);
            assert_eq!((routes.len(), row.rates(&routes[0])), (1, vec![1000, 100, 1000]), "{name}");
            assert_eq!(row.rtt_us(row.host(from), row.host(to)).0, 10_000.0);
        }
        let bound_schemes = row.plan.cases[0].bound_schemes.iter().take(2).map(|c| {
            let declared = c.controllers.controller().parameters();
            let value =
                |name: &str| declared.iter().position(|p| p.name == name).map(|i| c.controllers.values()[i]);
            (value("weight"), value("min_rate"))
        });
        let least = |name: &str| if name == "holnet/fig2.3-2" { [None, Some(20_000)] } else { [None, None] };
        let wanted: Vec<_> = weights.map(Some).into_iter().zip(least(name)).collect();
        assert_eq!(bound_schemes.collect::<Vec<_>>(), wanted, "{name}");
        assert_eq!(starts(row), [0, 0]);
    }
    // (2.9): w1/w2 = (x1/x2)^alpha, of 80:20 and 84.8:15.2 Mbps.
    assert!(within(1e-9, 2.0_f64.powi(2), 80.0 / 20.0));
    assert!(within(0.01, 3.63_f64.powi(4), (84.8_f64 / 15.2).powi(3)));
}

/// When the flows of the first case start, s.
fn starts(row: &Row) -> Vec<u64> {
    let seen = seen(&row.plan.cases[0].parts[0], SECOND, |_| Time::MAX);
    assert!(seen.starts.iter().all(|(_, s)| s.bytes.is_none()), "flows are endless");
    seen.starts.iter().map(|(at, _)| at / SECOND).collect()
}

/// "x11 takes a path with the bandwidth of 60 Mbps, and subflow x12 and x2 share a 100 Mbps link".
#[test]
fn fig_2_4_has_a_private_and_a_shared_path() {
    let row = full("holnet/fig2.4");
    let rates = |from, to| row.named(from, to).iter().map(|r| row.rates(r)[1]).collect::<Vec<_>>();
    assert_eq!((rates("S1", "D1"), rates("S2", "D2")), (vec![60, 100], vec![100]));
    for case in &row.plan.cases {
        let of = |n: usize| {
            let bound_scheme = &case.bound_schemes[n];
            (bound_scheme.controllers.controller().name().to_owned(), bound_scheme.subflows)
        };
        let name = if case.scheme == "mcc" { "holnet_mcc" } else { "lia" };
        // LIA on one path is Reno.
        assert_eq!([of(0), of(1)], [(name.to_owned(), Some(2)), (name.to_owned(), Some(1))]);
    }
    assert_eq!(starts(row), [0, 0]);
}

/// "A 6x6 leaf-spine network topology with 24 hosts per rack ... 10Gbps/10us between a host and a leaf node, and at
/// 20Gbps/30us between a leaf and a spine node. The queue size in a leaf/spine node is 150/300 Kbytes. The ECN marking
/// threshold is set at 65% of queue size": an RTT of 160 us between racks, two to one.
#[test]
fn fig_2_5_is_a_leaf_spine_of_144_hosts_and_160_us() {
    let row = full("holnet/fig2.5");
    let fabric = row.plan.fabric();
    assert_eq!((fabric.hosts(), fabric.network.nodes - fabric.network.hosts), (144, 12));
    let routes = row.routes(0, 143);
    assert_eq!((routes.len(), row.rates(&routes[0])), (6, vec![10_000, 20_000, 20_000, 10_000]));
    assert_eq!(row.rtt_us(0, 143).0, 160.0);
    let limits = routes[0].there[1..].iter().map(|&port| {
        let config = fabric.configs[port as usize];
        (config.limit.value(), config.mark.value())
    });
    assert_eq!(limits.collect::<Vec<_>>(), [(300_000, 195_000), (300_000, 195_000), (150_000, 97_500)]);
    let routing = |scheme: &str| row.experiment().schemes[scheme].routing.as_ref().map(|r| &*r.name);
    let wanted = [("uta", "holnet-percentage"), ("drill", "drill"), ("ecmp", "ecmp")];
    assert!(wanted.iter().all(|(scheme, name)| routing(scheme) == Some(name)));
    assert!(row.bound_scheme("uta").flags.is_some());
    assert_eq!(row.bound_scheme("uta").transport.recovery, tresse_transport::Recovery::GoBackN);
}

/// Poisson arrivals of data mining between racks, at 0.3 to 0.9 of the uplinks' 720 Gbps.
#[test]
fn fig_2_5_offers_03_to_09_of_the_uplinks() {
    let row = full("holnet/fig2.5");
    for tenths in 3..=9 {
        let offered =
            row.case(&format!("ecmp-1 load-{tenths}0 rto-200ms")).parts[0].pattern.offered.expect("a load");
        assert!(within(1e-9, offered.capacity.bisection, 720e9), "{offered:?}");
        assert!(within(1e-9, offered.capacity.access, 1440e9));
        assert!(within(1e-9, offered.rate, 72e9 * f64::from(tenths)));
    }
    let of = |pattern: &str| row.case(pattern).parts[0].pattern.offered.expect("a load").rate;
    assert!(within(1e-9, of("drill-1 access-40 rto-200ms"), of("drill-1 load-80 rto-200ms")));
    let many = ["workloads.load-90.flows=100000"];
    let row = Row::new(source("holnet/fig2.5"), Profile::Full, &many, &["pattern=load-90"]);
    let seen = seen(&row.case("uta-1 load-90 rto-200ms").parts[0], 1_000_000 * SECOND, |_| 1);
    let last = seen.starts.iter().map(|(at, _)| *at).max().unwrap_or(0) as f64 / 1e12;
    assert!(within(0.01, seen.bytes() as f64 * 8.0 / last, 648e9));
    let mean = distributions::find("datamining-pfabric-pkts").expect("built in").distribution().mean();
    assert!(within(0.01, seen.bytes() as f64 / 1e5, mean), "{}", seen.bytes());
    assert!(seen.starts.iter().all(|(_, s)| s.from / 24 != s.to / 24));
}
