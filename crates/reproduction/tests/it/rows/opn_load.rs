//! MPTCP_OPN's Poisson arrivals, §Performance under realistic workload and §Performance in asymmetric
//! scenario: the offered load, and the part that the network carries.

use tresse_experiment::Profile;
use tresse_experiment::plan::patterns::Offered;
use tresse_units::SECOND;
use tresse_workload::distributions;

use crate::rows::common::{Row, full, seen, source, with, within};

const SIZES: [(&str, &str); 4] = [
    ("data-mining", "datamining-expresspass"),
    ("web-search", "websearch-expresspass"),
    ("cache-follower", "cachefollower-expresspass"),
    ("web-server", "webserver-expresspass"),
];

/// The load offered by the first part of a case.
fn offered(row: &Row, label: &str) -> Offered {
    row.case(label).parts[0].pattern.offered.expect("arrivals at a load")
}

/// Half of the capacity of the leaves' uplinks, 40 x 20 Gbps. Hosts can send 2.5 times as much.
#[test]
fn fig_13_offers_half_of_the_uplinks() {
    let row = full("opn/fig13");
    for (pattern, _) in SIZES {
        let offered = offered(row, &format!("ecmp-1 {pattern}"));
        let uplinks = 800e9;
        assert!(within(1e-9, offered.capacity.bisection, uplinks), "{pattern}: {offered:?}");
        assert!(within(1e-9, offered.capacity.access, 2.5 * uplinks));
        assert!(within(1e-9, offered.rate, uplinks / 2.0));
    }
}

/// Counted: 10^5 arrivals of each distribution have its mean, and offer the load within 1 %; on 4 of the 40 leaves, whose
/// uplinks carry 80 Gbps.
#[test]
fn a_hundred_thousand_arrivals_offer_the_load_and_have_the_mean() {
    let flows: Vec<String> = SIZES.iter().map(|(w, _)| format!("workloads.{w}.flows=100000")).collect();
    let settings: Vec<&str> = flows.iter().map(String::as_str).chain(["fabric.leaves=4"]).collect();
    let row = Row::new(source("opn/fig13"), Profile::Full, &settings, &["scheme=ecmp"]);
    for (pattern, sizes) in SIZES {
        let case = row.case(&format!("ecmp-1 {pattern}"));
        let seen = seen(&case.parts[0], 1_000_000 * SECOND, |_| 1);
        assert_eq!(seen.starts.len(), 100_000);
        let last = seen.starts.iter().map(|(at, _)| *at).max().unwrap_or(0) as f64 / 1e12;
        let rate = seen.bytes() as f64 * 8.0 / last;
        assert!(within(0.01, rate, 40e9), "{pattern}: {rate} bit/s");
        let mean = distributions::find(sizes).expect("built in").distribution().mean();
        assert!(within(0.01, seen.bytes() as f64 / 1e5, mean), "{pattern}");
        assert!(seen.starts.iter().all(|(_, s)| s.from / 50 != s.to / 50));
    }
}

/// "We reduce the bandwidth of 8 paths to 100 Mbps, and the other 12 paths still have the bandwidth of 1
/// Gbps. When 50 hosts send": of 20 Gbps, 12.8 are left; the traffic stays at a load of 0.5 of the original
/// capacity.
#[test]
fn fig_15_slows_8_of_20_paths() {
    let row = full("opn/fig15");
    let slow = |row: &Row| row.routes(0, 50).iter().filter(|r| row.rates(r)[1] == 100).count();
    assert_eq!(slow(row), 8);
    // In both directions, only for this rack.
    assert_eq!(row.routes(50, 0).iter().filter(|r| row.rates(r)[2] == 100).count(), 8);
    assert!(row.routes(50, 100).iter().all(|r| row.rates(r) == [1000; 4]));
    for (pattern, _) in SIZES {
        let offered = offered(row, &format!("ecmp-1 {pattern}"));
        assert!(within(1e-9, offered.capacity.bisection, 12.8e9), "{offered:?}");
        assert!(within(1e-9, offered.rate, 10e9));
    }
    let patterns = |row: &str| full(row).experiment().workloads.keys().cloned().collect::<Vec<_>>();
    assert_eq!(patterns("opn/fig15"), SIZES.map(|(pattern, _)| pattern));
    assert_eq!(
        (patterns("opn/fig16"), patterns("opn/fig17")),
        (patterns("opn/fig15")[..2].to_vec(), patterns("opn/fig16"))
    );
}

/// The points of Figs. 16 and 17: the capacity of the uplinks with slow paths of these rates, or with this
/// many of them. Two leaves are enough for this.
#[test]
fn figs_16_and_17_sweep_rate_and_number_of_slow_paths() {
    let rates = [(100, 12.8), (300, 14.4), (500, 16.0), (700, 17.6), (1000, 20.0)];
    let rates = rates.map(|(mbps, carries)| (format!("{mbps}-mbps"), carries)).to_vec();
    let counts = [1, 2, 4, 6, 8].map(|n| (format!("{n}-slow"), 20.0 - 0.9 * f64::from(n))).to_vec();
    for (figure, points) in [("opn/fig16", rates), ("opn/fig17", counts)] {
        let row = with(figure, &["fabric.leaves=2"]);
        for (variant, carries) in points {
            let offered = offered(&row, &format!("ecmp-1 data-mining {variant}"));
            assert!(within(1e-9, offered.rate, 10e9), "the traffic stays");
            let carried = offered.capacity.bisection / 1e9;
            assert!(within(1e-9, carried, carries), "{figure} {variant}: {carried}");
        }
    }
}

/// The catalogue's sweep of the load, on two leaves.
#[test]
fn the_load_can_be_swept() {
    for load in [0.3, 0.8] {
        let settings = [&*format!("workloads.web-search.load={load}"), "fabric.leaves=2"];
        let row = with("opn/fig13", &settings);
        assert!(within(1e-9, offered(&row, "ecmp-1 web-search").rate, load * 40e9));
    }
}
