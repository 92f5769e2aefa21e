//! XMP's experiments with few flows: §2.1, §4 and §5.1.

use tresse_experiment::schema::fabric::Layered;
use tresse_fabric::Threshold;
use tresse_units::{Mark, Queue, SECOND, Time};

use crate::rows::common::{Row, full, seen};

/// When flows start and stop, s, in their order; `None` if they continue to the end.
fn times(row: &Row) -> Vec<(u64, Option<u64>)> {
    let seen = seen(&row.plan.cases[0].parts[0], 1000 * SECOND, |_| Time::MAX);
    let end = |name| seen.ends.get(&name).map(|end| end / SECOND);
    let mut times: Vec<_> =
        seen.starts.iter().map(|(at, start)| (start.name, at / SECOND, end(start.name))).collect();
    times.sort_unstable();
    times.into_iter().map(|(_, start, end)| (start, end)).collect()
}

/// A bandwidth-delay product in packets of 1500 bytes.
fn bdp(mbps: f64, rtt_us: f64) -> f64 {
    mbps * rtt_us / 8.0 / 1500.0
}

/// "RTT is about 225us", "we start or stop a flow with an interval of 5s"; the BDP is about 19 packets.
#[test]
fn fig_1_has_a_bdp_of_19_packets_and_flows_every_5_seconds() {
    let row = full("xmp/fig1");
    assert_eq!(row.plan.fabric().hosts(), 8);
    for i in 1..=4 {
        let [from, to] = ["S", "D"].map(|end| row.host(&format!("{end}{i}")));
        let routes = row.routes(from, to);
        assert_eq!((routes.len(), row.rates(&routes[0])), (1, vec![10_000, 1000, 10_000]));
        let (_, rtt) = row.rtt_us(from, to);
        assert!((rtt - 225.0).abs() < 0.5, "{rtt}");
        assert!((18.5..19.5).contains(&bdp(1000.0, rtt)));
    }
    let wanted = [(0, 20), (5, 25), (10, 30), (15, 35)].map(|(start, stop)| (start, Some(stop)));
    assert_eq!(times(row), wanted);
    let controllers = row.plan.cases.iter().map(|c| c.bound_schemes[0].controllers.controller().name());
    assert_eq!(controllers.collect::<Vec<_>>(), ["dctcp", "dctcp", "halving", "halving"]);
    assert_eq!(thresholds(row), [10, 20, 10, 20].map(k));
}

/// K as a number of packets.
fn k(packets: u64) -> Option<Layered<Mark>> {
    Some(Layered::All(Mark::Length(Queue::Packets(packets))))
}

/// K of the class of each case.
fn thresholds(row: &Row) -> Vec<Option<Layered<Mark>>> {
    let classes = &row.experiment().fabric.classes;
    row.plan.cases.iter().map(|c| classes[usize::from(c.bound_schemes[0].class)].mark.clone()).collect()
}

/// The value of a parameter of each case's first scheme.
fn parameters(row: &Row) -> Vec<u64> {
    row.plan.cases.iter().map(|c| c.bound_schemes[0].controllers.values()[0]).collect()
}

/// "The average RTT is roughly 1.8ms", "the capacity of bottleneck links to 300Mbps so as to achieve a BDP of about 45
/// packets", K = 15, a queue of 100.
fn is_testbed(row: &Row, pairs: &[(&str, &str)]) {
    for (from, to) in pairs {
        let (_, rtt) = row.rtt_us(row.host(from), row.host(to));
        assert!((rtt - 1800.0).abs() < 2.0, "{from}: {rtt} us");
        assert!((44.5..45.5).contains(&bdp(300.0, rtt)));
        for route in row.named(from, to) {
            assert_eq!(row.rates(&route), [1000, 300, 1000], "{from}");
            let bottleneck = &row.plan.fabric().configs[route.there[1] as usize];
            let limits = [bottleneck.limit, bottleneck.mark];
            assert_eq!(limits, [100, 15].map(Threshold::packets));
        }
    }
    assert_eq!(parameters(row), [4, 6, 16]);
}

/// Flow 2 has a path over each of DN1 and DN2, which the others share with it one each.
#[test]
fn fig_4_shifts_between_two_bottlenecks_of_300_mbps() {
    let row = full("xmp/fig4");
    is_testbed(row, &[("S1", "D1"), ("S2", "D2"), ("S3", "D3"), ("B1", "C1"), ("B2", "C2")]);
    let over = |from: &str, to: &str| {
        let routes = row.named(from, to);
        routes.iter().map(|r| row.passes(r)[0].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(over("S2", "D2"), ["DN1 in", "DN2 in"]);
    assert_eq!((over("S1", "D1"), over("B1", "C1")), (vec!["DN1 in".into()], vec!["DN1 in".into()]));
    assert_eq!((over("S3", "D3"), over("B2", "C2")), (vec!["DN2 in".into()], vec!["DN2 in".into()]));
    assert_eq!(times(row), [(0, None), (0, None), (0, None), (10, Some(20)), (20, Some(30))]);
    assert_eq!(row.plan.cases[0].duration, Some(40 * SECOND));
    assert_eq!(subflows(row), [Some(1), Some(2)]);
}

/// How many subflows the connections of a case have.
fn subflows(row: &Row) -> Vec<Option<u32>> {
    row.plan.cases[0].bound_schemes.iter().map(|c| c.subflows).collect()
}

/// All subflows share one path; flow 1 has three of them, flow 2 two.
#[test]
fn fig_6_has_four_flows_on_one_path() {
    let row = full("xmp/fig6");
    let pairs = [("S1", "D1"), ("S2", "D2"), ("S3", "D3"), ("S4", "D4")];
    is_testbed(row, &pairs);
    assert!(pairs.iter().all(|(from, to)| row.named(from, to).len() == 1));
    assert_eq!(times(row), [(0, None), (20, None), (0, Some(25)), (10, Some(25))]);
    assert_eq!(subflows(row), [Some(3), Some(2), Some(1)]);
    let opened = row.experiment().workloads["subflows"].own["flow"][0]["subflow_starts"].as_array();
    let opened: Vec<_> = opened.into_iter().flatten().filter_map(toml::Value::as_str).collect();
    assert_eq!(opened, ["0s", "5s", "15s"]);
}

/// L1 to L5 have 0.8, 1.2, 2, 1.5 and 0.5 Gbps; "RTT of every path to be 350us. So the BDP is between 15 and 60 packets".
#[test]
fn fig_7_is_a_ring_of_five_bottlenecks_with_350_us() {
    let row = full("xmp/fig7");
    let capacities = [800, 1200, 2000, 1500, 500];
    for i in 0..5 {
        let [from, to] = ["S", "D"].map(|end| row.host(&format!("{end}{}", i + 1)));
        let mut found: Vec<_> =
            row.routes(from, to).iter().map(|r| (row.passes(r)[0], row.rates(r)[1])).collect();
        found.sort_unstable();
        let names = [i, (i + 1) % 5].map(|l| (format!("L{} in", l + 1), capacities[l]));
        let mut wanted: Vec<_> = names.iter().map(|(name, rate)| (&**name, *rate)).collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        for route in row.routes(from, to) {
            assert_eq!(row.plan.fabric().base_rtt(&route.there, 0, 0) / 1_000_000, 350);
            let (packets, rates) = (row.plan.fabric().base_rtt(&route.there, 1500, 40), row.rates(&route));
            assert!(packets < 378_000_000 && (14.5..59.0).contains(&bdp(rates[1] as f64, 350.0)));
        }
    }
    assert!((1..=4).all(|i| {
        let routes = row.named(&format!("B{i}"), &format!("C{i}"));
        routes.len() == 1 && row.passes(&routes[0])[0] == "L3 in"
    }));
    let flows = (0..5).map(|i| (5 * i, None));
    let background = (0..4).map(|i| (25 + 5 * i, Some(45 + 5 * i)));
    assert_eq!(times(row), flows.chain(background).collect::<Vec<_>>());
    let [closed] = &row.experiment().changes[..] else { panic!("one change") };
    assert_eq!((closed.at.0, closed.failed), (60 * SECOND, Some(true)));
    // Each beta with its K, and beta = 4 once more with the other reading.
    assert_eq!(parameters(row), [4, 5, 6, 4]);
    assert_eq!(thresholds(row), [20, 15, 10, 20].map(k));
}
