//! Whether a controller's code does what it declares: its mean rates on paths that signal at random, beside those of
//! its declared law under the same signals, and beside the rate that its declared utility asks for at that price.
//!
//! The law is compared under losses or marks of packets and of rounds; the utility under the price that is
//! declared. [`tresse_controllers::check::rates`] has the code's rates.

use tresse_controllers::ConfiguredController;
use tresse_controllers::check::rates::{Draw, Trial, TrialPath, mean_windows_of};
use tresse_controllers::law::{Family, Payment};

use crate::claims::{Subflows, claim};
use crate::fluid::{Path, Signal, Walk, connections};
use crate::problem::Pooling;
use crate::utility::Utility;

/// A trial, and what the controller's declaration says of it. Rates are sums over the paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The trial.
    pub trial: Trial,
    /// The code's mean rate, packets/s.
    pub code_pps: f64,
    /// The declared law's mean rate, packets/s; `None` if no law is declared.
    pub law_pps: Option<f64>,
    /// The rate at which the declared utility's marginal is the trial's price, packets/s; `None` if the trial has
    /// another price, or one that differs by path.
    pub utility_pps: Option<f64>,
}

impl Comparison {
    /// By how much the code's rate differs from the law's, as a share of the law's.
    pub fn law_error(&self) -> Option<f64> {
        self.law_pps.map(|law| self.code_pps / law - 1.0)
    }

    /// By how much the code's rate differs from the one that the utility asks for, as a share of that.
    pub fn utility_error(&self) -> Option<f64> {
        self.utility_pps.map(|rate| self.code_pps / rate - 1.0)
    }
}

/// The largest of some errors.
pub fn largest(errors: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    errors.flatten().map(f64::abs).reduce(f64::max)
}

/// 1/8 us in a second.
const EIGHTHS: f64 = 8e6;
/// The RTTs of single paths, 1/8 us: 200 us and 10 ms.
const RTTS: [u32; 2] = [1600, 80_000];
/// A utility is compared where it asks for windows of more than this many times the smallest.
const FLOORS: f64 = 3.0;
/// A packet, bits. The size of packets does not matter to windows.
const PACKET: f64 = 12_000.0;

/// The trials of a controller: those whose signals it answers. Empty if it declares nothing to compare, or if it
/// hears packets by `report`.
pub fn trials(scheme: &ConfiguredController) -> Vec<Trial> {
    let controller = scheme.controller();
    let none = !controller.declares_law() && !controller.declares_utility();
    if none || controller.reports() {
        return Vec::new();
    }
    let way = |rtt, probability| TrialPath { rtt, queueing: 0, probability };
    if payment(scheme) == Payment::Delay {
        let delayed = |rtt, part| TrialPath { rtt, queueing: rtt / part, probability: 0.0 };
        let singles = RTTS.into_iter().flat_map(|rtt| [2, 5].map(|part| vec![delayed(rtt, part)]));
        let both = vec![delayed(RTTS[1], 5); 2];
        return singles.chain([both]).map(|ways| Trial { ways, draw: Draw::Packets }).collect();
    }
    let mut all = Vec::new();
    for (draw, probabilities) in [(Draw::Packets, [0.002, 0.005, 0.016]), (Draw::Rounds, [0.02, 0.05, 0.1])] {
        all.push(Trial { ways: vec![way(RTTS[0], probabilities[1])], draw });
        all.extend(probabilities.map(|p| Trial { ways: vec![way(RTTS[1], p)], draw }));
        // Probable enough for a mean: a coupled flow moves between paths that signal alike, which takes many signals.
        let p = match draw {
            Draw::Packets => probabilities[1] / 2.0,
            Draw::Rounds => probabilities[2],
        };
        // Alike; one with more signals; one longer.
        let seconds = [way(RTTS[1], p), way(RTTS[1], 2.0 * p), way(2 * RTTS[1], p)];
        let pairs = seconds.into_iter().filter(|_| controller.coupled());
        all.extend(pairs.map(|second| Trial { ways: vec![way(RTTS[1], p), second], draw }));
    }
    all
}

fn payment(scheme: &ConfiguredController) -> Payment {
    scheme.maximises().map_or(Payment::Rounds, |declared| declared.payment)
}

/// A comparison of each of `trials`, of which `windows` are the code's mean windows by path, packets, and `laws` what
/// [`law`] says.
pub fn compare(
    scheme: &ConfiguredController,
    trials: Vec<Trial>,
    windows: &[Vec<f64>],
    laws: &[Option<f64>],
) -> Vec<Comparison> {
    let comparison = |(trial, (windows, law)): (Trial, (&Vec<f64>, &Option<f64>))| {
        let rates = trial.ways.iter().zip(windows).map(|(way, w)| w / seconds(way.rtt + way.queueing));
        Comparison { code_pps: rates.sum(), law_pps: *law, utility_pps: utility(scheme, &trial), trial }
    };
    trials.into_iter().zip(windows.iter().zip(laws)).map(comparison).collect()
}

fn seconds(eighths: u32) -> f64 {
    f64::from(eighths) / EIGHTHS
}

/// The declared law's mean rate in the same trial, packets/s; `None` if none is declared.
pub fn law(scheme: &ConfiguredController, trial: &Trial) -> Option<f64> {
    let controller = scheme.controller();
    let rtts: Vec<f64> = trial.ways.iter().map(|way| seconds(way.rtt)).collect();
    let subflows = Subflows { rtts: &rtts, packet: PACKET };
    let path = |(i, way): (usize, &TrialPath)| Path {
        links: vec![i],
        rtt_ps: u64::from(way.rtt) * 125_000,
        loss: 0.0,
    };
    let paths = trial.ways.iter().enumerate().map(path).collect();
    let floor = f64::from(controller.min_cwnd());
    let signal = match trial.draw {
        Draw::Packets => Signal::PerPacket,
        Draw::Rounds => Signal::PerRound,
    };
    let (mut ways, mut total) = (&trial.ways[..], 0.0);
    for connection in connections(scheme, subflows, paths, floor)? {
        let (own, rest) = ways.split_at(connection.paths.len());
        let paths: Vec<(f64, f64)> = own.iter().map(|way| (seconds(way.rtt), way.probability)).collect();
        let mut walk = Walk::new(connection.scheme, signal, PACKET, floor, &paths);
        let trial = Trial { ways: own.to_vec(), draw: trial.draw };
        let windows = mean_windows_of(&mut walk, &trial, controller.needs_ecn());
        total += windows.iter().zip(&paths).map(|(window, (rtt, _))| window / rtt).sum::<f64>();
        ways = rest;
    }
    Some(total)
}

/// The rate at which the declared utility's marginal is the price of `trial`, packets/s.
fn utility(scheme: &ConfiguredController, trial: &Trial) -> Option<f64> {
    let declared = scheme.maximises()?;
    let first = trial.ways[0];
    let [p, delay] = [first.probability, seconds(first.queueing)];
    let price = match (declared.payment, trial.draw, declared.family) {
        // XMP (4), (6) state U' = p, THESIS (2.12)-(2.13) U' = -ln(1 - p).
        (Payment::Rounds, Draw::Rounds, Family::Bos) => p,
        (Payment::Rounds, Draw::Rounds, _) => -libm::log1p(-p),
        (Payment::Packets, Draw::Packets, _) => p,
        (Payment::Delay, _, _) => delay,
        _ => return None,
    };
    if trial.ways.iter().any(|way| *way != first) {
        return None;
    }
    let rtts = vec![seconds(first.rtt); trial.ways.len()];
    let objective = claim(scheme, Subflows { rtts: &rtts, packet: PACKET })?.objective?;
    if objective.limits != (0.0, f64::INFINITY) {
        return None;
    }
    // Maximise c U(x) - price x for a path, U(c y) - price y for the flow.
    let rate = |utility: &Utility, c: f64| match objective.pooling {
        Pooling::Separate => utility.rate_at(price / (objective.weight * c)),
        Pooling::Pooled => utility.rate_at(price / (objective.weight * c)).map(|y| y / c),
    };
    let total: f64 = match objective.pooling {
        Pooling::Pooled => rate(&objective.utility, objective.coefficients[0])?,
        Pooling::Separate => {
            let of_paths = objective.by_path.iter().zip(&objective.coefficients);
            of_paths.map(|(utility, &c)| rate(utility, c)).sum::<Option<f64>>()?
        }
    };
    // Where the smallest window alone is as much, it decides, and not the utility.
    let windows = total / PACKET * rtts[0] / trial.ways.len() as f64;
    let floor = f64::from(scheme.controller().min_cwnd());
    (windows > FLOORS * floor).then_some(total / PACKET)
}
