//! The fluid models against the rules that they average, packet by packet.

use tresse_optimum::fluid::Signal;

use crate::networks::{alone, named};
use crate::walk::Walk;

/// A few thousand signals: means to 2 or 3 %.
const PACKETS: u64 = 4_000_000;

/// Mean packets per second of each subflow.
fn walk(name: &str, probabilities: [f64; 2], rtts_ms: [f64; 2]) -> [f64; 2] {
    let rtts = rtts_ms.map(|t| t / 1e3);
    let windows = [10.0; 2];
    let walk = Walk {
        name,
        probabilities,
        rtts,
        windows,
        packets: PACKETS,
        seed: 7,
        step: 1.0,
        recovery: false,
        informed: false,
    };
    walk.rates()
}

/// The ratio of the walk to the fluid model: each path, and the sum.
fn ratios(name: &str, p: [f64; 2], rtts_ms: [f64; 2]) -> [f64; 3] {
    let walked = walk(name, p, rtts_ms);
    let state = alone(named(name, 2), Signal::PerPacket, &p, &rtts_ms);
    let fluid: Vec<f64> = state.rates_bps[0].iter().map(|bps| bps / 12_000.0).collect();
    let sum = (walked[0] + walked[1]) / (fluid[0] + fluid[1]);
    [walked[0] / fluid[0], walked[1] / fluid[1], sum]
}

const GRID: [([f64; 2], [f64; 2]); 3] =
    [([0.001, 0.001], [20.0, 20.0]), ([0.001, 0.004], [20.0, 20.0]), ([0.001, 0.001], [20.0, 60.0])];

/// The mean of a window is below the window at which its mean change is 0: by 1.3098/sqrt(2) for Reno under
/// independent losses (Ott, Kemperman, Mathis 1996).
#[test]
fn reno_is_below_its_fluid_by_the_constant_that_theory_gives() {
    for (p, rtts) in GRID {
        let [first, second, sum] = ratios("reno", p, rtts);
        let theory = 1.3098 / 2.0_f64.sqrt();
        for (ratio, error) in [(first, 0.03), (second, 0.06), (sum, 0.02)] {
            assert!((ratio - theory).abs() < error, "{ratio} at {p:?} {rtts:?}");
        }
    }
}

#[test]
fn smaller_cuts_are_nearer_to_their_fluid() {
    for (p, rtts) in GRID {
        for ratio in ratios("xmp", p, rtts) {
            assert!((0.88..1.03).contains(&ratio), "xmp: {ratio} at {p:?} {rtts:?}");
        }
        for ratio in ratios("dctcp", p.map(|p| 10.0 * p), rtts) {
            assert!((0.94..1.03).contains(&ratio), "dctcp: {ratio} at {p:?} {rtts:?}");
        }
    }
}

/// Reno's constant again, and the effect of coupled windows that vary together.
#[test]
fn coupled_schemes_split_as_their_fluid_does() {
    for name in ["lia", "balia", "semicoupled"] {
        for (p, rtts) in GRID {
            for ratio in ratios(name, p, rtts) {
                assert!((0.82..1.05).contains(&ratio), "{name}: {ratio} at {p:?} {rtts:?}");
            }
        }
    }
}

/// OLIA estimates p from two intervals between losses, so a worse path is often mistaken for the best; the
/// fluid model, as published, knows p itself, and gives that path up.
#[test]
fn olia_keeps_a_path_that_its_fluid_gives_up() {
    for (p, rtts) in &GRID[1..] {
        let walked = walk("olia", *p, *rtts);
        let share = walked[1] / (walked[0] + walked[1]);
        assert!((0.02..0.2).contains(&share), "{share} at {p:?} {rtts:?}");
        let sum = ratios("olia", *p, *rtts)[2];
        assert!((0.8..1.0).contains(&sum), "{sum} at {p:?} {rtts:?}");
    }
}
