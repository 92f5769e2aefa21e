//! Equilibria over links with a capacity: published optima, closed forms of the utilities, invariances.

use Signal::{PerPacket, PerRound};
use proptest::prelude::*;
use tresse_controllers::built_in;
use tresse_optimum::fluid::{Connection, Fluid, Law, Link, Network, RateBounds, Signal, State};

use crate::networks::{
    MBPS, RENO, connection, eutcp, named, near, network, of_controller, path, settle, weighted, xmp,
};

fn mbps(state: &State, connection: usize, path: usize) -> f64 {
    state.rates_bps[connection][path] / 1e6
}

/// THESIS Fig. 3.2 and 4.2: x11 on a private link, x12 and x2 on a shared one; x2 runs `single`.
fn two_paths(scheme: Law, single: Law, private: u64, shared: u64) -> Network {
    let links = vec![Link::Capacity(private * MBPS), Link::Capacity(shared * MBPS)];
    let double = connection(scheme, vec![path(&[0], 0.4), path(&[1], 0.4)]);
    network(PerRound, links, vec![double, connection(single, vec![path(&[1], 0.4)])])
}

/// x11, x12, x2 in Mbit/s.
fn assert_rates(state: &State, expected: [f64; 3], what: &str) {
    let ours = [mbps(state, 0, 0), mbps(state, 0, 1), mbps(state, 1, 0)];
    for (ours, expected) in ours.into_iter().zip(expected) {
        // 0 is reached only as 1/t: both links have the same price there, so nothing drives x12 away.
        assert!((ours - expected).abs() < 2e-4 * expected.max(1000.0), "{what}: {ours} is not {expected}");
    }
}

#[test]
fn the_thesis_two_path_optima() {
    let exact = Law::HolnetUta { weight: 1.0, gamma: 1.0, bounds: RateBounds::NONE };
    for scheme in [eutcp(1.0), exact, named("semicoupled", 2)] {
        let rates = |private| settle(two_paths(scheme, RENO, private, 1024));
        assert_rates(&rates(1024), [1024.0, 0.0, 1024.0], "fig. 3.3");
        assert_rates(&rates(8), [8.0, 508.0, 516.0], "fig. 3.4");
    }
    for omega in [0.25, 0.5, 0.5_f64.sqrt()] {
        let state = settle(two_paths(weighted(omega), RENO, 1024, 1024));
        assert_rates(&state, [1024.0, 1024.0 * omega / (1.0 + omega), 1024.0 / (1.0 + omega)], "fig. 3.5");
    }
    let hmptcp = |private| settle(two_paths(named("hmptcp", 2), RENO, private, 1024));
    assert_rates(&hmptcp(1024), [1024.0, 1024.0 / 3.0, 2048.0 / 3.0], "fig. 4.3");
    assert_rates(&hmptcp(8), [8.0, 508.0, 516.0], "fig. 4.4");
}

#[test]
fn holnet_mcc_is_at_the_optimum_of_fig_2_4() {
    let mcc = named("holnet_mcc", 1);
    assert_rates(&settle(two_paths(mcc, mcc, 60, 100)), [60.0, 20.0, 80.0], "fig. 2.4");
}

#[test]
fn holnet_cc_shares_by_its_weights() {
    let cc = |alpha, weight, min_bps| {
        let bounds = RateBounds { min_bps, ..RateBounds::NONE };
        // In Mbit/s^alpha, and fast.
        let weight = weight * libm::pow(1e6, alpha);
        let gain = libm::pow(1e6, 1.0 - alpha);
        connection(Law::HolnetCc { alpha, weight, gain, bounds }, vec![path(&[0], 1.0)])
    };
    let share = |connections| {
        let state = settle(network(PerRound, vec![Link::Capacity(100 * MBPS)], connections));
        (mbps(&state, 0, 0), mbps(&state, 1, 0))
    };
    let (first, second) = share(vec![cc(0.5, 2.0, 0.0), cc(0.5, 1.0, 0.0)]);
    near(first, 80.0, 1e-6, "THESIS 2.4.1, alpha 1/2");
    near(second, 20.0, 1e-6, "THESIS 2.4.1, alpha 1/2");
    let weight = libm::pow(5.588, 0.75);
    near(weight, 3.63, 2e-3, "THESIS eq. (2.9)");
    let (nre, rra) = share(vec![cc(0.75, 1.0, 0.0), cc(0.75, weight, 20e6)]);
    near(nre, 15.2, 2e-3, "THESIS 2.4.1, alpha 3/4");
    near(rra, 84.8, 1e-3, "THESIS 2.4.1, alpha 3/4");
}

#[test]
fn holnet_holds_a_minimum_and_a_maximum() {
    for scheme in ["holnet_cc_cos", "holnet_uta"] {
        // kbit/s; 0: none.
        let class = |min: u64, max: u64| {
            let bounds = [("min_rate", min), ("max_rate", max)];
            connection(of_controller(scheme, &bounds, 1).unwrap(), vec![path(&[0], 1.0)])
        };
        let rate = |c: Connection| {
            let others = vec![c, class(0, 0), class(0, 0)];
            let state = settle(network(PerRound, vec![Link::Capacity(90 * MBPS)], others));
            near(state.loads_bps[0], 90e6, 1e-6, "full");
            mbps(&state, 0, 0)
        };
        near(rate(class(0, 0)), 30.0, 1e-6, "even shares");
        let held = rate(class(60_000, 0));
        assert!((60.0..60.0 * 1.02).contains(&held), "{scheme}: {held} under a minimum of 60");
        let held = rate(class(0, 10_000));
        assert!((10.0 * 0.98..=10.0).contains(&held), "{scheme}: {held} above a maximum of 10");
    }
}

#[test]
fn xmp_solves_its_utility_where_each_path_has_one_bottleneck() {
    let (beta, t) = (4.0, 0.35e-3);
    // Fig. 7's torus: flow i on links i and i + 1.
    let capacities = [800, 1200, 2000, 1500, 500];
    let links: Vec<Link> = capacities.iter().map(|c| Link::Capacity(c * MBPS)).collect();
    let torus = |i: usize| connection(xmp(beta), vec![path(&[i], 0.35), path(&[(i + 1) % 5], 0.35)]);
    let state = settle(network(PerRound, links, (0..5).map(torus).collect()));
    for (i, paths) in state.path_probabilities.iter().enumerate() {
        let y = state.connection_rates_bps()[i] / 12_000.0;
        // XMP eq. (7): U'(y) = 1/(1 + y T/beta); a path in use is this congested, and no path less.
        let marginal = 1.0 / (1.0 + y * t / beta);
        for (r, p) in paths.iter().enumerate() {
            let used = state.rates_bps[i][r] > 1e-6 * state.connection_rates_bps()[i];
            assert!(*p > marginal * (1.0 - 1e-5), "{i} {r}: {p} {marginal}");
            assert!(!used || *p < marginal * (1.0 + 1e-5), "{i} {r}: {p} {marginal}");
        }
    }
    for (load, capacity) in state.loads_bps.iter().zip(capacities) {
        near(*load, (capacity * MBPS) as f64, 1e-6, "full");
    }
}

#[test]
fn xmp_takes_twice_what_ecn_reno_takes() {
    let links = vec![Link::Capacity(300 * MBPS)];
    let both = [xmp(4.0), RENO].map(|s| connection(s, vec![path(&[0], 1.8)]));
    let state = settle(network(PerRound, links, both.into()));
    near(mbps(&state, 0, 0), 200.0, 1e-6, "a quarter against a half");
}

#[test]
fn per_packet_loss_splits_a_bottleneck_by_roots_and_rtts() {
    let links = vec![Link::Capacity(100 * MBPS)];
    let flow = |weight, rtt| connection(weighted(weight), vec![path(&[0], rtt)]);
    let state = settle(network(PerPacket, links, vec![flow(1.0, 20.0), flow(0.25, 20.0), flow(1.0, 80.0)]));
    // x = w/T, w as sqrt(weight): 1 : 1/2 : 1/4.
    near(mbps(&state, 0, 0), 400.0 / 7.0, 1e-6, "the first");
    near(mbps(&state, 1, 0), 200.0 / 7.0, 1e-6, "a quarter of the weight");
    near(mbps(&state, 2, 0), 100.0 / 7.0, 1e-6, "four times the RTT");
}

#[test]
fn every_scheme_fills_one_link_alone_and_shares_it_with_itself() {
    for name in built_in().iter().map(|c| c.name()) {
        let Some(scheme) = of_controller(name, &[], 1) else { continue };
        for signal in [PerRound, PerPacket] {
            let links = vec![Link::Capacity(60 * MBPS)];
            let both = [0, 1].map(|_| connection(scheme, vec![path(&[0], 4.0)]));
            let state = settle(network(signal, links, both.into()));
            near(mbps(&state, 0, 0), 30.0, 1e-5, name);
            near(mbps(&state, 1, 0), 30.0, 1e-5, name);
        }
    }
}

#[test]
fn an_idle_link_has_no_price() {
    // No path takes the third link.
    let links = [10, 11, 5].map(|c| Link::Capacity(c * MBPS)).to_vec();
    let flow = connection(RENO, vec![path(&[0, 1], 20.0)]);
    let state = settle(network(PerPacket, links, vec![flow]));
    near(state.loads_bps[1], 10e6, 1e-6, "the narrower link limits");
    assert!(state.link_probabilities[1] < 1e-10 && state.link_probabilities[0] > 1e-4, "{state:?}");
    assert_eq!((state.loads_bps[2], state.link_probabilities[2]), (0.0, 0.0));
}

#[test]
fn rates_follow_a_capacity_that_changes() {
    let mut thesis = two_paths(eutcp(1.0), RENO, 1024, 1024);
    thesis.connections[0].min_window_pkts = 2.0;
    thesis.connections[1].min_window_pkts = 2.0;
    let mut fluid = Fluid::new(thesis).unwrap();
    let before = fluid.advance(5.0, 10).unwrap();
    assert_eq!(before.len(), 10);
    let floor = 2.0 * 12_000.0 / 0.4e-3 / 1e6; // two packets an RTT
    near(mbps(&before[9], 0, 1), floor, 1e-2, "x12 at its floor");
    fluid.set_capacity(0, 8 * MBPS).unwrap();
    let soon = fluid.advance(2e-3, 1).unwrap();
    assert!(mbps(&soon[0], 0, 1) < 300.0, "{soon:?}");
    let later = fluid.advance(1.0, 1).unwrap();
    near(later[0].time_s, 6.002, 1e-12, "time goes on");
    // Two packets an RTT are more than x11's link of 8 carries: its floor decides.
    near(mbps(&later[0], 0, 0), floor, 1e-2, "x11 at its floor");
    near(mbps(&later[0], 0, 0) + mbps(&later[0], 0, 1), mbps(&later[0], 1, 0), 1e-3, "pooled again");
}

fn schemes() -> impl Strategy<Value = Law> {
    let names =
        vec!["reno", "lia", "balia", "eutcp", "wutcp", "hmptcp", "xmp", "dctcp", "vmcc", "holnet_mcc"];
    prop::sample::select(names).prop_map(|name| named(name, 2))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Rates belong to paths, not to their places.
    #[test]
    fn the_order_of_paths_and_connections_does_not_matter(
        scheme in schemes(),
        capacities in prop::array::uniform3(5u64..50),
        rtts in prop::array::uniform4(4.0f64..20.0),
    ) {
        let links = capacities.map(|c| Link::Capacity(c * MBPS));
        let first = connection(scheme, vec![path(&[0], rtts[0]), path(&[1], rtts[1])]);
        let second = connection(scheme, vec![path(&[1], rtts[2]), path(&[2], rtts[3])]);
        let there = settle(network(PerPacket, links.to_vec(), vec![first.clone(), second.clone()]));
        let turned = |c: Connection| Connection { paths: c.paths.into_iter().rev().collect(), ..c };
        let back = settle(network(PerPacket, links.to_vec(), vec![turned(second), turned(first)]));
        for c in 0..2 {
            for r in 0..2 {
                let (a, b) = (mbps(&there, c, r), mbps(&back, 1 - c, 1 - r));
                prop_assert!((a - b).abs() < 1e-4 * 50.0, "{a} {b}");
            }
        }
    }

    /// No link carries more than its capacity, and one with a price carries all of it.
    #[test]
    fn links_are_full_or_free(scheme in schemes(), capacities in prop::array::uniform3(5u64..50)) {
        let links = capacities.map(|c| Link::Capacity(c * MBPS));
        let first = connection(scheme, vec![path(&[0, 2], 5.0), path(&[1], 9.0)]);
        let second = connection(scheme, vec![path(&[2], 7.0)]);
        let state = settle(network(PerRound, links.to_vec(), vec![first, second]));
        for (l, capacity) in capacities.iter().enumerate() {
            let use_of = state.loads_bps[l] / (capacity * MBPS) as f64;
            prop_assert!(use_of < 1.0 + 1e-6, "{use_of}");
            prop_assert!(use_of > 1.0 - 1e-4 || state.link_probabilities[l] < 1e-8, "{state:?}");
        }
    }
}
