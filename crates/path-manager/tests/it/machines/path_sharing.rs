//! Algorithm 2 of vMCC: cases by hand, and a naive implementation over random scripts.

use proptest::prelude::*;
use tresse_path_manager::{Ack, Action, ConfiguredManager, Memory};
use tresse_units::Value;

use super::common::{Host, US, opening, scheme};

fn detection(subflows: u64, settings: &[(&str, Value)]) -> ConfiguredManager {
    let mut all = vec![("subflows", Value::Whole(subflows)), ("by", Value::Choice("port".to_owned()))];
    all.extend_from_slice(settings);
    scheme("path-sharing", &all)
}

fn closes(word: &str) -> (&'static str, Value) {
    ("close", Value::Choice(word.to_owned()))
}

/// Plays (subflow, marked ACKs, srtt in us) and returns the subflows that are closed.
fn closed(scheme: &ConfiguredManager, script: &[(usize, u64, u64)]) -> Vec<usize> {
    let mut memory = Memory::default();
    let mut host = Host::connected(scheme, &opening(0, 1, 0), &mut memory);
    for (now, &(subflow, marked, srtt_us)) in (1..).zip(script) {
        host.ack(now, &mut memory, Ack { subflow, outstanding: 1, marked, srtt: srtt_us * US });
    }
    let closes = host.log.iter().filter_map(|&(_, action)| match action {
        Action::Close { subflow } => Some(subflow),
        _ => None,
    });
    closes.collect()
}

#[test]
fn of_two_that_are_alike_one_is_closed() {
    let second = detection(2, &[closes("second")]);
    let recent = detection(2, &[]);
    let script = [(1, 8, 100), (0, 9, 100), (0, 1, 105)];
    assert_eq!(closed(&second, &script), [1]);
    assert_eq!(closed(&recent, &script), [0], "its mark came last");
}

#[test]
fn the_thresholds_themselves_are_not_alike() {
    let of = |theta, delta| {
        let settings = [("theta", Value::Whole(theta)), ("delta", Value::Whole(delta)), closes("second")];
        detection(2, &settings)
    };
    // Counts 10 and 7: they differ by 3.
    assert!(closed(&of(3, 10), &[(1, 7, 100), (0, 10, 100)]).is_empty());
    assert_eq!(closed(&of(4, 10), &[(1, 7, 100), (0, 10, 100)]), [1]);
    // RTTs of 90 and 100 us: they differ by 10 % of the larger.
    assert!(closed(&of(3, 10), &[(1, 9, 90), (0, 10, 100)]).is_empty());
    assert_eq!(closed(&of(3, 11), &[(1, 9, 90), (0, 10, 100)]), [1]);
}

#[test]
fn the_detection_runs_once_and_at_gamma() {
    let second = detection(2, &[closes("second")]);
    assert!(closed(&second, &[(1, 9, 100), (0, 9, 100)]).is_empty(), "9 marks are below gamma");
    // At the trigger the RTTs differ; their later agreement comes too late.
    assert!(closed(&second, &[(1, 9, 300), (0, 10, 100), (1, 1, 100), (1, 1, 100)]).is_empty());
}

#[test]
fn a_subflow_without_an_rtt_is_like_none() {
    assert!(closed(&detection(2, &[("theta", Value::Whole(20))]), &[(0, 10, 100)]).is_empty());
}

fn marked(subflow: usize, marked: u64) -> Ack {
    Ack { subflow, outstanding: 1, marked, srtt: 100 * US }
}

#[test]
fn a_trigger_without_a_pair_does_not_count() {
    let mut memory = Memory::default();
    let mut host = Host::new(&detection(2, &[]), &opening(0, 1, 0), &mut memory);
    host.establish(0, &mut memory, 0);
    host.ack(1, &mut memory, marked(0, 10));
    host.establish(2, &mut memory, 1);
    host.ack(3, &mut memory, marked(1, 9));
    let found = host.ack(4, &mut memory, marked(0, 10)).to_vec();
    assert_eq!(found, [(4, Action::Close { subflow: 0 })]);
}

/// Marks from before all subflows had joined, on any subflow, neither trigger nor distinguish.
#[test]
fn a_subflow_that_joins_starts_the_counts_anew() {
    let mut memory = Memory::default();
    let mut host = Host::new(&detection(3, &[]), &opening(0, 1, 0), &mut memory);
    host.establish(0, &mut memory, 0);
    host.ack(1, &mut memory, marked(0, 9));
    host.establish(2, &mut memory, 1);
    assert!(host.ack(3, &mut memory, marked(0, 9)).is_empty(), "18 marks, but 9 since the second is there");
    host.ack(4, &mut memory, marked(1, 5));
    host.establish(5, &mut memory, 2);
    for (now, subflow, count) in [(6, 0, 8), (7, 1, 8), (8, 2, 9)] {
        assert!(host.ack(now, &mut memory, marked(subflow, count)).is_empty(), "{subflow}");
    }
    // 10, 8 and 9: the first is the most recent of both pairs; it is closed once, then the third.
    let found = host.ack(9, &mut memory, marked(0, 2)).to_vec();
    assert_eq!(found, [(9, Action::Close { subflow: 0 }), (9, Action::Close { subflow: 2 })]);
}

/// Algorithms 1 and 2 line by line, with floats and no regard for speed.
struct Reading {
    c_e: Vec<f64>,
    rtt: Vec<Option<f64>>,
    /// Its handshake is complete, and it is not closed.
    open: Vec<bool>,
    /// The subflows in the order of their last marked ACKs.
    history: Vec<usize>,
    performed: bool,
}

impl Reading {
    fn new(subflows: usize) -> Self {
        Self {
            c_e: vec![0.0; subflows],
            rtt: vec![None; subflows],
            open: vec![false; subflows],
            history: Vec::new(),
            performed: false,
        }
    }

    /// All counts begin here.
    fn on_join(&mut self, r: usize) {
        self.open[r] = true;
        self.c_e.fill(0.0);
        self.history.clear();
    }

    fn on_ack(&mut self, r: usize, ece: u64, rtt: f64, limits: (f64, f64, f64), recent: bool) -> Vec<usize> {
        if !self.open[r] {
            return Vec::new();
        }
        self.rtt[r] = (rtt > 0.0).then_some(rtt);
        if ece == 0 {
            return Vec::new();
        }
        self.c_e[r] += ece as f64;
        self.history.retain(|&other| other != r);
        self.history.push(r);
        let (gamma, theta, delta) = limits;
        let number_of_subflows = self.open.iter().filter(|&&open| open).count();
        if self.c_e[r] < gamma || self.performed || number_of_subflows <= 1 {
            return Vec::new();
        }
        self.performed = true;
        let mut closed = Vec::new();
        for s1 in 0..self.open.len() {
            for s2 in s1 + 1..self.open.len() {
                let (Some(rtt1), Some(rtt2)) = (self.rtt[s1], self.rtt[s2]) else { continue };
                let counts_alike = (self.c_e[s1] - self.c_e[s2]).abs() < theta;
                // The same inequality times 100, so that whole numbers stay whole.
                let rtts_alike = 100.0 * (rtt1 - rtt2).abs() < delta * rtt1.max(rtt2);
                if self.open[s1] && self.open[s2] && counts_alike && rtts_alike {
                    let place = |s| self.history.iter().position(|&other| other == s);
                    let victim = if recent && place(s1) > place(s2) { s1 } else { s2 };
                    self.open[victim] = false;
                    closed.push(victim);
                }
            }
        }
        closed
    }
}

proptest! {
    #[test]
    fn the_machine_is_the_algorithm(
        subflows in 1usize..6,
        gamma in 1u64..15,
        theta in 1u64..8,
        delta in 1u64..60,
        recent: bool,
        joins in prop::collection::vec(0usize..40, 6),
        script in prop::collection::vec((0usize..6, 0u64..4, 0u64..40), 1..100),
    ) {
        let settings = [
            ("gamma", Value::Whole(gamma)),
            ("theta", Value::Whole(theta)),
            ("delta", Value::Whole(delta)),
            closes(if recent { "recent" } else { "second" }),
        ];
        let mut memory = Memory::default();
        let scheme = detection(subflows as u64, &settings);
        let mut host = Host::new(&scheme, &opening(0, 1, 0), &mut memory);
        let mut reading = Reading::new(subflows);
        host.establish(0, &mut memory, 0);
        reading.on_join(0);
        let mut joined = vec![false; subflows];
        joined[0] = true;
        for (now, (subflow, marked, srtt)) in (1..).zip(script) {
            for r in 1..subflows {
                if joins[r] + 1 == now as usize {
                    joined[r] = true;
                    host.establish(now, &mut memory, r);
                    reading.on_join(r);
                }
            }
            let subflow = subflow % subflows;
            if !joined[subflow] {
                continue;
            }
            let ack = Ack { subflow, outstanding: 1, marked, srtt };
            let ours: Vec<_> = host.ack(now, &mut memory, ack).iter().map(|&(_, action)| action).collect();
            let limits = (gamma as f64, theta as f64, delta as f64);
            let theirs = reading.on_ack(subflow, marked, srtt as f64, limits, recent);
            let theirs: Vec<_> = theirs.into_iter().map(|subflow| Action::Close { subflow }).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}
