//! Small networks that the tests share.

use tresse_controllers::{ConfiguredController, find};
use tresse_optimum::claims::Subflows;
use tresse_optimum::fluid::{
    self, Answer, Connection, Cut, Fluid, Growth, Law, Link, Network, Path, Signal, State,
};

pub const MBPS: u64 = 1_000_000;
pub const MILLISECOND_PS: u64 = 1_000_000_000;

const HALF: Cut = Cut::Part { factor: 1.0, divisor: 2.0 };

pub const RENO: Law = weighted(1.0);
pub const LIA: Law = Law::Window { growth: Growth::Linked, cut: HALF, answer: Answer::Signals };
pub const OLIA: Law = Law::Window { growth: Growth::Opportunistic, cut: HALF, answer: Answer::Signals };
pub const BALIA: Law = Law::Window { growth: Growth::Balanced, cut: Cut::Balanced, answer: Answer::Signals };

pub const fn weighted(weight: f64) -> Law {
    Law::Window { growth: Growth::Separate { weight }, cut: HALF, answer: Answer::Signals }
}

pub const fn hmptcp(weight: f64) -> Law {
    Law::Window { growth: Growth::Larger { weight }, cut: HALF, answer: Answer::Signals }
}

pub const fn eutcp(gamma: f64) -> Law {
    let cut = Cut::Part { factor: gamma, divisor: 2.0 };
    Law::Window { growth: Growth::Shared, cut, answer: Answer::Signals }
}

pub const fn xmp(beta: f64) -> Law {
    let cut = Cut::Part { factor: 1.0, divisor: beta };
    Law::Window { growth: Growth::ByShortest, cut, answer: Answer::Rounds }
}

pub const fn dctcp(g: f64) -> Law {
    let growth = Growth::Separate { weight: 1.0 };
    Law::Window { growth, cut: Cut::Marked { g }, answer: Answer::Rounds }
}

pub const fn vmcc(g: f64) -> Law {
    Law::Window { growth: Growth::Linked, cut: Cut::Marked { g }, answer: Answer::Rounds }
}

pub fn path(links: &[usize], rtt_ms: f64) -> Path {
    Path { links: links.to_vec(), rtt_ps: (rtt_ms * MILLISECOND_PS as f64) as u64, loss: 0.0 }
}

pub fn connection(scheme: Law, paths: Vec<Path>) -> Connection {
    Connection { scheme, paths, min_window_pkts: 0.0, balancer: None }
}

pub fn network(signal: Signal, links: Vec<Link>, connections: Vec<Connection>) -> Network {
    Network { packet_bytes: 1500, signal, links, connections }
}

pub fn settle(network: Network) -> State {
    Fluid::new(network).unwrap().equilibrium().unwrap()
}

/// One connection whose path i crosses only link i, which signals with `probabilities[i]`.
pub fn alone(scheme: Law, signal: Signal, probabilities: &[f64], rtts_ms: &[f64]) -> State {
    let links = probabilities.iter().map(|p| Link::Random(*p)).collect();
    let paths = rtts_ms.iter().enumerate().map(|(i, rtt)| path(&[i], *rtt)).collect();
    settle(network(signal, links, vec![connection(scheme, paths)]))
}

pub fn near(ours: f64, expected: f64, relative: f64, what: &str) {
    assert!((ours - expected).abs() <= relative * expected.abs(), "{what}: {ours} is not {expected}");
}

/// The fluid model of a built-in controller with `paths` subflows and its own defaults.
pub fn named(name: &str, paths: usize) -> Law {
    of_controller(name, &[], paths).unwrap_or_else(|| panic!("{name} has no model"))
}

/// As [`named`], with values for some parameters; `None` if there is no model.
pub fn of_controller(name: &str, set: &[(&str, u64)], paths: usize) -> Option<Law> {
    let controllers = ConfiguredController::new(find(name).unwrap(), set.iter().copied()).unwrap();
    let subflows = Subflows { rtts: &vec![0.01; paths], packet: 12_000.0 };
    let ways = (0..paths).map(|i| path(&[i], 10.0)).collect();
    Some(fluid::connections(&controllers, subflows, ways, 0.0)?[0].scheme)
}
