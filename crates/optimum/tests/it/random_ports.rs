//! Equilibria over ports that signal with a given probability: closed forms, worked out from each rule.

use Signal::{PerPacket, PerRound};
use tresse_optimum::fluid::{Fluid, FluidError, Law, Link, Signal};

use crate::networks::{
    BALIA, LIA, OLIA, RENO, alone, connection, dctcp, eutcp, hmptcp, named, near, network, of_controller,
    path, settle, vmcc, weighted, xmp,
};

const PROBABILITIES: [f64; 4] = [1e-5, 1e-3, 0.02, 0.3];

/// The window of one path of 10 ms.
fn window(scheme: Law, signal: Signal, probability: f64) -> f64 {
    alone(scheme, signal, &[probability], &[10.0]).windows_pkts[0][0]
}

#[test]
fn reno_and_what_degenerates_to_it_have_the_square_root() {
    for p in PROBABILITIES {
        // (1 - p)/w = p w/2.
        let root = (2.0 * (1.0 - p) / p).sqrt();
        for name in ["reno", "lia", "olia", "balia", "semicoupled", "ewtcp", "wutcp", "hmptcp"] {
            near(window(named(name, 1), PerPacket, p), root, 1e-6, name);
        }
    }
}

#[test]
fn a_weight_counts_as_its_root_per_packet_and_as_itself_per_round() {
    for p in PROBABILITIES {
        for weight in [0.25, 0.5, 2.0] {
            let scheme = weighted(weight);
            near(window(scheme, PerPacket, p), (2.0 * weight * (1.0 - p) / p).sqrt(), 1e-6, "per packet");
            near(window(scheme, PerRound, p), 2.0 * weight * (1.0 - p) / p, 1e-6, "per round");
        }
    }
}

#[test]
fn bos_is_at_the_equilibrium_that_the_paper_states() {
    for p in PROBABILITIES {
        for beta in [2.0, 4.0, 6.0] {
            let w = window(xmp(beta), PerRound, p);
            near(1.0 / (1.0 + w / beta), p, 1e-6, "XMP eq. (3)");
            near(window(xmp(beta), PerPacket, p), (beta / p).sqrt(), 1e-6, "per packet");
        }
    }
}

#[test]
fn trash_couples_windows_by_the_shortest_rtt() {
    let (beta, q, rtts) = (4.0, [0.001, 0.002], [10.0, 30.0]);
    let state = alone(xmp(beta), PerPacket, &q, &rtts);
    // XMP eq. (9): delta = w/(y min T); delta = q w w/beta.
    let y = (beta * (1.0 / (q[0] * rtts[0]) + 1.0 / (q[1] * rtts[1])) / rtts[0]).sqrt();
    for (w, q) in state.windows_pkts[0].iter().zip(q) {
        near(*w, beta / (q * y * rtts[0]), 1e-6, "XMP eq. (9)");
    }
}

#[test]
fn weights_go_by_the_number_of_paths() {
    assert_eq!(named("ewtcp", 2), weighted(0.25));
    assert_eq!(named("wutcp", 2), weighted(0.5));
    assert_eq!(named("hmptcp", 4), hmptcp(0.25));
    let given = of_controller("ewtcp", &[("rule", 2)], 4);
    assert_eq!(given, Some(weighted(0.25)));
    let given = of_controller("wutcp", &[("omega", 700)], 2);
    assert_eq!(given, Some(weighted(0.7)));
}

#[test]
fn dctcp_cuts_in_proportion_to_the_marks() {
    for p in [0.02, 0.1, 0.3] {
        // 1 - p = p w alpha/2 with alpha = p.
        near(window(dctcp(0.0625), PerRound, p), 2.0 * (1.0 - p) / (p * p), 1e-6, "per round");
        // (1/(1 + pw)) 1 = (pw/(1 + pw)) w p/2.
        near(window(dctcp(0.0625), PerPacket, p), 2.0_f64.sqrt() / p, 1e-6, "per packet");
        near(window(vmcc(0.0625), PerPacket, p), 2.0_f64.sqrt() / p, 1e-6, "vMCC on one path");
    }
}

#[test]
fn lia_takes_together_what_reno_would_on_its_best_path() {
    for (p, q, t, u) in [(0.001, 0.004, 20.0, 20.0), (0.001, 0.004, 50.0, 10.0), (0.01, 0.01, 10.0, 30.0)] {
        let state = alone(LIA, PerPacket, &[p, q], &[t, u]);
        let w = &state.windows_pkts[0];
        let total = w[0] / t + w[1] / u;
        let a = (w[0] / (t * t)).max(w[1] / (u * u)) / (total * total);
        for (w, p) in [(w[0], p), (w[1], q)] {
            near((1.0 - p) * a.min(1.0 / w), p * w / 2.0, 1e-6, "RFC 6356 eq. (1)");
        }
        if a < 1.0 / w[0] && a < 1.0 / w[1] {
            let best = ((2.0 * (1.0 - p) / p).sqrt() / t).max((2.0 * (1.0 - q) / q).sqrt() / u);
            near(total, best, 1e-6, "RFC 6356's goal");
        }
    }
}

#[test]
fn semicoupled_and_eutcp_balance_in_proportion_to_1_over_p() {
    let (p, q) = (0.001, 0.004);
    for gamma in [1.0, 1.05] {
        let state = alone(eutcp(gamma), PerPacket, &[p, q], &[20.0, 20.0]);
        let w = &state.windows_pkts[0];
        // (1 - p)/(w1 + w2) = p gamma w/2.
        let (a, b) = (2.0 * (1.0 - p) / (gamma * p), 2.0 * (1.0 - q) / (gamma * q));
        near(w[0] / w[1], a / b, 1e-6, "shares");
        near(w[0] + w[1], (a + b).sqrt(), 1e-6, "sum");
    }
}

#[test]
fn olia_uses_only_the_best_paths() {
    // Other paths lose their windows as 1/t, so they are not 0 when the rates have settled.
    for (p, t) in [([0.001, 0.004], [20.0, 20.0]), ([0.002, 0.002], [10.0, 40.0])] {
        let state = alone(OLIA, PerPacket, &p, &t);
        let w = &state.windows_pkts[0];
        let total = w[0] / t[0] + w[1] / t[1];
        near(total, (2.0 * (1.0 - p[0]) / p[0]).sqrt() / t[0], 1e-6, "the rate of the best path");
        assert!(w[1] < 1e-3 * w[0], "{state:?}");
    }
    let state = alone(OLIA, PerPacket, &[0.002, 0.002], &[20.0, 20.0]);
    near(state.windows_pkts[0].iter().sum(), (2.0 * 0.998 / 0.002_f64).sqrt(), 1e-6, "two equal paths");
}

#[test]
fn balia_satisfies_its_own_balance() {
    let (p, q, t, u) = (0.001, 0.004, 20.0, 35.0);
    let state = alone(BALIA, PerPacket, &[p, q], &[t, u]);
    let w = &state.windows_pkts[0];
    let x = [w[0] / t, w[1] / u];
    for (r, (p, t)) in [(p, t), (q, u)].into_iter().enumerate() {
        let a = x[0].max(x[1]) / x[r];
        let sum = x[0] + x[1];
        let increase = w[r] / (t * t) / (sum * sum) * (1.0 + a) / 2.0 * (4.0 + a) / 5.0;
        near((1.0 - p) * increase, p * w[r] / 2.0 * a.min(1.5), 1e-6, "THESIS Table 3.1");
    }
}

#[test]
fn hmptcp_is_the_larger_of_its_two_halves() {
    // Very different paths: the better one is pooled, the worse one has its weight.
    let (p, q) = (0.0001, 0.01);
    let state = alone(named("hmptcp", 2), PerPacket, &[p, q], &[20.0, 20.0]);
    let w = &state.windows_pkts[0];
    near(w[1], (2.0 * 0.5 * (1.0 - q) / q).sqrt(), 1e-6, "weighted");
    near((1.0 - p) / (w[0] + w[1]), p * w[0] / 2.0, 1e-6, "pooled");
}

#[test]
fn vmcc_answers_losses_besides_marks() {
    let (mark, loss) = (0.01, 0.001);
    let mut lossy = path(&[0], 10.0);
    lossy.loss = loss;
    let c = connection(vmcc(0.0625), vec![lossy]);
    let state = settle(network(PerPacket, vec![Link::Random(mark)], vec![c]));
    let w = state.windows_pkts[0][0];
    let m = mark * w / (1.0 + mark * w);
    near((1.0 - loss) * (1.0 - m), m * mark * w / 2.0 + loss * w * w / 2.0, 1e-6, "the corrected eq. (2)");
}

#[test]
fn links_of_a_path_signal_independently() {
    let links = vec![Link::Random(0.01), Link::Random(0.02)];
    let c = connection(RENO, vec![path(&[0, 1], 10.0)]);
    let state = settle(network(PerPacket, links, vec![c]));
    near(state.path_probabilities[0][0], 1.0 - 0.99 * 0.98, 1e-12, "either");
}

#[test]
fn a_floor_holds_a_window_up() {
    let links = vec![Link::Random(0.001), Link::Random(0.1)];
    let mut c = connection(OLIA, vec![path(&[0], 20.0), path(&[1], 20.0)]);
    c.min_window_pkts = 2.0;
    let state = settle(network(PerPacket, links, vec![c]));
    near(state.windows_pkts[0][1], 2.0, 1e-3, "the worse path");
}

#[test]
fn a_window_that_nothing_limits_never_settles() {
    let c = connection(RENO, vec![path(&[0], 10.0)]);
    let error = Fluid::new(network(PerPacket, vec![Link::Random(0.0)], vec![c])).unwrap().equilibrium();
    assert!(matches!(error, Err(FluidError::NotSettled { .. })), "{error:?}");
}

#[test]
fn parameters_out_of_their_range_are_named() {
    let c = connection(xmp(0.5), vec![path(&[0], 10.0)]);
    let error = Fluid::new(network(PerRound, vec![Link::Random(0.1)], vec![c])).unwrap_err();
    assert_eq!(error.to_string(), "connection 0: expected a cut above 0 and below the window");
}
