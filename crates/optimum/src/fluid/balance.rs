//! HOLNET's in-network balancers (THESIS eq. (2.15)-(2.18), Table 2.1), averaged.
//!
//! The unknowns are shares, as in the percentage balancer. The rate balancer (2.15) moves the rates x_l of a
//! node's ports; its shares p_l = x_l / X, X the sum, move as
//!
//! ```text
//! dp_l/dt = (dx_l/dt X - x_l dX/dt) / X^2 = (dx_l/dt sum_(j != l) p_j - p_l sum_(j != l) dx_j/dt) / X
//! ```
//!
//! which is (2.17) with the gain z/X. The source decides the arriving rate, so the two differ only in speed.

use super::Signal;
use super::laws::{Subflow, congested};
use super::network::{Balancer, Connection, Feedback};
use super::system::any;

/// Below this share a path's share fades instead of falling below 0.
const BAND: f64 = 1e-3;

/// The reactions of the source and the balancing node to the links' congestion.
pub(super) struct Balanced {
    /// The source's `(1 - cg) r^out`.
    pub free: f64,
    /// The change of each share in a round.
    pub shares: Vec<f64>,
}

/// The share of path `i`; the unknowns are normalised, because only their ratios count.
pub(super) fn share(shares: &[f64], i: usize) -> f64 {
    shares[i].max(0.0) / shares.iter().map(|p| p.max(0.0)).sum::<f64>()
}

/// All paths, as the source sees them: one rate.
pub(super) fn whole(subflows: &[Subflow]) -> Subflow {
    let mut whole = subflows[0];
    whole.set_window(subflows.iter().map(Subflow::window).sum());
    whole
}

pub(super) fn heard(
    balancer: &Balancer,
    c: &Connection,
    subflows: &[Subflow],
    probabilities: &[f64],
    signal: Signal,
) -> Balanced {
    let all = whole(subflows);
    // A share of the source's rounds, if the links signal per packet.
    let congestion = |links: &[usize]| {
        let signalled = any(links.iter().map(|&l| probabilities[l]));
        congested(&all.with_signal(signalled), signal)
    };
    let own = congestion(&c.paths[0].links[..balancer.node]);
    let local: Vec<f64> =
        c.paths.iter().map(|p| congestion(&p.links[balancer.node..=balancer.node])).collect();
    let beyond = c.paths.iter().map(|p| {
        let beyond = &p.links[balancer.node + 1..];
        match balancer.feedback {
            Feedback::OneHop => congestion(&beyond[..beyond.len().min(1)]),
            Feedback::Backward => congestion(beyond),
        }
    });
    let beyond: Vec<f64> = beyond.collect();
    let weights: Vec<f64> = subflows.iter().map(|s| s.window() / all.window()).collect();
    let reported: f64 = (0..weights.len())
        .map(|l| {
            let farther = if balancer.feedback == Feedback::Backward { beyond[l] } else { 0.0 };
            weights[l] * any([local[l], farther].into_iter())
        })
        .sum();
    let free = (1.0 - own) * (1.0 - (1.0 - balancer.r_min) * reported);

    // (2.18) on average. If the port is free, r^in is r_max if its next hop is congested (then r^out is
    // r_min), or any other port or next hop is.
    let pull = |l: usize| {
        let others =
            any((0..weights.len()).filter(|&j| j != l).map(|j| any([local[j], beyond[j]].into_iter())));
        let next_free = (1.0 - beyond[l]) * (1.0 + (balancer.r_max - 1.0) * others);
        (1.0 - local[l]) * (beyond[l] * balancer.r_min * balancer.r_max + next_free) - 1.0
    };
    let pulls: Vec<f64> = (0..weights.len()).map(pull).collect();
    let total: f64 = pulls.iter().sum();
    // (2.17) with shares that add up to 1.
    let moved = pulls.iter().zip(&weights).map(|(pull, share)| {
        let change = balancer.gain * (pull - share * total);
        if change < 0.0 { change * (share / BAND).min(1.0) } else { change }
    });
    Balanced { free, shares: moved.collect() }
}
