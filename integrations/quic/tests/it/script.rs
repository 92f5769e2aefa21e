//! The same random events for noq's controllers and for the small host of `tresse controller trace`: the same windows.

use tresse_controllers::trace::{Event, Hosts};
use tresse_controllers::{Group, INFINITE_SSTHRESH, Signal, State, built_in};

use crate::network::now;
use crate::played::{PACKET, Played};
use crate::{factory, scheme};

/// These use rounds or the time, which the small host measures in packets.
const BY_TIME: &[&str] = &["cubic", "wvegas"];

/// The subflow's smoothed RTTs, ms.
const RTTS: [u64; 2] = [20, 30];

#[test]
fn windows_are_those_of_the_small_host() {
    let mut tried = 0;
    for controller in built_in() {
        let enough = controller.signals().iter().all(|signal| matches!(signal, Signal::Loss | Signal::Ecn));
        if enough && !BY_TIME.contains(&controller.name()) {
            (1..=20).for_each(|seed| play(controller.name(), seed));
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried}");
}

fn play(name: &str, seed: u64) {
    let factory = factory(name);
    let start = now();
    let mut quic = RTTS.map(|ms| Played::new(&factory, start, std::time::Duration::from_millis(ms)));
    let mut group = Group::new(scheme(name), 2, 10);
    (0..2).for_each(|i| group[i].mss = PACKET as u32);
    let mut hosts = Hosts::new(2, 10);
    // Packets until a reduction ends.
    let mut left = [0; 2];
    let mut random = Random(seed);
    let mut played = Vec::new();

    for _ in 0..400 {
        let i = random.below(2) as usize;
        let (before, state) = (group[i].cwnd, group[i].state);
        let event = match random.below(20) {
            0 => Event::Loss { subflow: i },
            1 if random.below(4) == 0 => Event::Timeout { subflow: i },
            _ => {
                let wanted = 1 + random.below(before.min(64));
                // noq knows for each packet whether it left before the cut, while the small host counts
                // packets: so no ACK may span the cut.
                let packets = if left[i] == 0 { wanted } else { wanted.min(left[i] - 1).max(1) };
                let (marked, limited) = (u32::from(random.below(20) == 0), random.below(8) > 0);
                Event::Ack { packets, marked, rtt: Some(RTTS[i] as u32 * 8000), limited, subflow: i }
            }
        };
        let step = hosts.play(&mut group, event);
        let path = &mut quic[i];
        match event {
            Event::Ack { packets, marked, limited, .. } => {
                path.in_flight = group[i].in_flight;
                path.ack(packets, left[i] <= 1, limited);
                if marked > 0 {
                    path.mark();
                }
                left[i] = if step.event == "mark" { before } else { left[i].saturating_sub(packets) };
            }
            Event::Loss { .. } => {
                path.lose(state == State::Open, false);
                left[i] = if state == State::Open { before } else { left[i] };
            }
            _ => {
                path.lose(matches!(state, State::Open | State::Recovery), true);
                let cut = matches!(state, State::Open | State::Recovery);
                left[i] = if cut { before.min(step.ssthresh) } else { before };
            }
        }
        played.push(event.to_string());
        for (i, path) in quic.iter().enumerate() {
            let ssthresh = Some(group[i].ssthresh).filter(|&packets| packets != INFINITE_SSTHRESH);
            let metrics = path.controller.metrics();
            assert_eq!(
                (path.packets(), metrics.ssthresh.map(|bytes| bytes / PACKET)),
                (group[i].cwnd.max(2).into(), ssthresh.map(u64::from)),
                "{name}, seed {seed}, subflow {i} after:\n{}",
                played.join("\n")
            );
        }
    }
}

struct Random(u64);

impl Random {
    /// Knuth's MMIX generator: its upper bits.
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % n
    }
}
