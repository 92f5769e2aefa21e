//! Path managers by rounds beside packets: subflows that open, are paused, and close.

use tresse_path_manager::{ConfiguredManager, find};
use tresse_sim::{FlowRecord, FlowSpec, Manager};
use tresse_units::{MICROSECOND, MILLISECOND, Time, Value};

use crate::beside_packets::{Both, LINKS, flow, networks};

fn managed(mut spec: FlowSpec, name: &str, settings: &[(&'static str, Value)]) -> FlowSpec {
    let declared = find(name).expect("declared");
    spec.manager = ConfiguredManager::new(declared, settings.iter().cloned()).expect("valid").into();
    spec
}

/// How the message ends by packets and by rounds; `between` is what happens before, and returns what has ended until then.
fn ended(spec: &FlowSpec, between: impl Fn(&mut dyn Both) -> Vec<FlowRecord>) -> [FlowRecord; 2] {
    networks(2).map(|mut network| {
        network.begin(spec.clone());
        let before = between(&mut *network);
        before.into_iter().chain(network.until(10_000 * MILLISECOND)).next().expect("it ends")
    })
}

fn milliseconds(record: &FlowRecord) -> f64 {
    record.end as f64 / MILLISECOND as f64
}

/// A link fails for good. OPN's shifting moves new data to the other one, and sends there what was in flight on the first;
/// two subflows without it end only with the first one's retransmissions, which never arrive.
#[test]
fn traffic_shifts_away_from_a_failed_link() {
    for timer in [200, 2000] {
        let fixed = [
            ("timer_1", Value::Choice("fixed".to_owned())),
            ("delta", Value::Whole(timer)),
            ("timer_2", Value::Whole(10_000_000)),
        ];
        let spec = managed(flow(0, "xmp", 2, 20_000_000), "opn-shifting", &fixed);
        // Which packets of a window it takes depends on when the link fails.
        let mut reinjected = [0, 0];
        for failure in [40_000, 41_100, 42_200, 43_300] {
            let [packets, rounds] = ended(&spec, |network| {
                let ended = network.until(failure * MICROSECOND);
                network.link(LINKS[0], false);
                ended
            });
            for (record, reinjected) in [&packets, &rounds].into_iter().zip(&mut reinjected) {
                assert!(record.complete);
                assert!(record.counters.reinjections > 0, "{record:?}");
                assert_eq!(record.closed, 0);
                *reinjected += record.counters.reinjections;
            }
            let [by_packets, by_rounds] = [milliseconds(&packets), milliseconds(&rounds)];
            let ratio = by_rounds / by_packets;
            assert!((ratio - 1.0).abs() < 0.03, "{timer} us: {by_packets:.2} {by_rounds:.2} ms");
        }
        // What was in flight: a window (measured: 126 and 97).
        let ratio = reinjected[1] as f64 / reinjected[0] as f64;
        assert!((ratio - 1.0).abs() < 0.3, "{timer} us: {reinjected:?}");
    }
}

/// No path is silent where nothing fails, although the manager hears of ACKs a batch at a time: new data is never taken off a
/// subflow. (With timer_1 = twice the RTT; a shorter one would do it by packets too.)
#[test]
fn no_path_is_silent_between_the_acks_of_a_batch() {
    for controller in ["xmp", "dctcp"] {
        let spec = managed(flow(0, controller, 2, 20_000_000), "opn-shifting", &[]);
        let [packets, rounds] = ended(&spec, |_| Vec::new());
        for record in [&packets, &rounds] {
            assert_eq!(record.counters.reinjections, 0, "{controller}: {record:?}");
        }
        let [by_packets, by_rounds] = [milliseconds(&packets), milliseconds(&rounds)];
        assert!((by_rounds / by_packets - 1.0).abs() < 0.03, "{controller}: {by_packets:.2} {by_rounds:.2}");
    }
}

/// Two subflows of one link have like RTTs: one of them is closed, and the other ends the message, with what was in flight on
/// the first.
#[test]
fn one_of_two_subflows_that_share_a_link_is_closed() {
    let settings = [("theta", Value::Whole(1000)), ("gamma", Value::Whole(100)), ("delta", Value::Whole(60))];
    let mut spec = managed(flow(0, "xmp", 2, 20_000_000), "path-sharing", &settings);
    let tresse_sim::Paths::Fixed(paths) = &mut spec.paths else { panic!("they are fixed") };
    paths[1] = paths[0].clone();
    let [packets, rounds] = ended(&spec, |_| Vec::new());
    assert!(packets.closed.count_ones() == 1 && rounds.closed.count_ones() == 1, "{packets:?} {rounds:?}");
    let [by_packets, by_rounds] = [milliseconds(&packets), milliseconds(&rounds)];
    assert!((by_rounds / by_packets - 1.0).abs() < 0.03, "{by_packets:.2} {by_rounds:.2} ms");
    assert!(rounds.counters.reinjections > 0);
}

/// Opens, pauses, reopens and closes subflows all the time.
#[derive(Debug)]
struct Restless {
    next: Time,
    opened: usize,
    open: Vec<usize>,
    actions: std::collections::VecDeque<tresse_path_manager::Action>,
}

impl Restless {
    fn open(&mut self) {
        use tresse_path_manager::{Action, PathChoice};
        let path = PathChoice::Addresses { local: (self.opened % 2) as u16, remote: 0 };
        self.actions.push_back(Action::Open { subflow: self.opened, path });
        self.opened += 1;
    }
}

impl tresse_path_manager::PathManager for Restless {
    fn handle_established(&mut self, _: Time, _: &mut tresse_path_manager::Memory, subflow: usize) {
        self.open.push(subflow);
    }
    fn handle_closed(&mut self, _: Time, _: &mut tresse_path_manager::Memory, _: usize) {}
    fn handle_timeout(&mut self, now: Time, _: &mut tresse_path_manager::Memory) {
        use tresse_path_manager::Action;
        self.next = now + MILLISECOND;
        if self.open.len() > 1 {
            let subflow = self.open.remove(0);
            self.actions.push_back(Action::Reinject { subflow: self.open[0] });
            self.actions.push_back(Action::Close { subflow });
        }
        if self.opened < 60 {
            self.open();
        }
    }
    fn deadline(&self) -> Time {
        self.next
    }
    fn poll_action(&mut self) -> Option<tresse_path_manager::Action> {
        self.actions.pop_front()
    }
}

/// Whatever opens and closes, also where links lose much: every byte counts once, and the message ends; where it loses little,
/// when it does by packets.
#[test]
fn every_byte_counts_once_whatever_closes() {
    for controller in ["xmp", "lia", "reno"] {
        for bytes in [10_000, 300_000, 5_000_000] {
            let mut spec = flow(0, controller, 2, bytes);
            spec.manager = Manager::new(|opening, _| {
                let mut manager = Restless {
                    next: opening.now + 300 * MICROSECOND,
                    opened: 0,
                    open: Vec::new(),
                    actions: std::collections::VecDeque::new(),
                };
                manager.open();
                Box::new(manager)
            });
            let [packets, rounds] = ended(&spec, |network| {
                let mut ended = network.until(4 * MILLISECOND);
                network.link(LINKS[0], false);
                ended.extend(network.until(9 * MILLISECOND));
                network.link(LINKS[0], true);
                ended
            });
            for record in [&packets, &rounds] {
                assert!(record.complete, "{record:?}");
                assert_eq!(record.bytes, bytes);
            }
            if controller == "xmp" {
                let [by_packets, by_rounds] = [milliseconds(&packets), milliseconds(&rounds)];
                let near = (by_rounds - by_packets).abs() < 0.25 * by_packets + 1.0;
                assert!(near, "{bytes} bytes: {by_packets:.2} {by_rounds:.2} ms");
            }
        }
    }
}
