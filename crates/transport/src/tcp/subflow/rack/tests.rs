//! RACK against an implementation of RFC 8985's pseudocode, and cases that no connection with one message can
//! show.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::{ConfiguredController, Group, INFINITE_SSTHRESH, State, find};

use tresse_units::Time;

use super::{Alarm, Subflow};
use crate::{Ack, Block, Config, Recovery, Reduction};

const MS: Time = 1_000_000_000;

fn config() -> Config {
    Config {
        initial_window: 1000,
        recovery: Recovery::Rack,
        reduction: Reduction::Prr,
        tso: 1,
        ..Config::default()
    }
}

fn group() -> Group {
    let reno = find("reno").expect("it is built in");
    Group::new(Arc::new(ConfiguredController::new(reno, []).expect("it has defaults")), 1, 1000)
}

fn ack(seq: u32, stamp: Time, blocks: &[Block]) -> Ack {
    let empty = Ack { stamp: stamp.into(), seq, ..Ack::default() };
    empty.with_sack(blocks.iter().copied())
}

/// A segment as in §5.1.
#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    xmit: Time,
    lost: bool,
    again: bool,
    acked: bool,
}

/// RFC 8985 §6.2, step by step, over all segments. As in `rack.rs`, a DSACK counts only once
/// reordering was seen.
#[derive(Debug, Default)]
struct Reading {
    segments: Vec<Segment>,
    xmit: Time,
    end: u32,
    rtt: Time,
    fack: u32,
    reordering: bool,
    dsack_round: Option<u32>,
    mult: u64,
    persist: u32,
}

impl Reading {
    fn handle_ack(&mut self, now: Time, header: &Ack, dsack: bool, min_rtt: Time) {
        let blocks = header.sack();
        let covers = |seq| seq < header.seq || blocks.iter().any(|b| b.start <= seq && seq < b.end);
        for seq in 0..self.segments.len() as u32 {
            let s = &mut self.segments[seq as usize];
            if s.acked || !covers(seq) {
                continue;
            }
            s.acked = true;
            if seq + 1 > self.fack {
                self.fack = seq + 1;
            } else if !s.again {
                self.reordering = true;
            }
            if s.again && (header.stamp.time() < s.xmit || now - s.xmit < min_rtt) {
                continue;
            }
            self.rtt = now - s.xmit;
            if s.xmit > self.xmit || (s.xmit == self.xmit && seq + 1 > self.end) {
                (self.xmit, self.end) = (s.xmit, seq + 1);
            }
        }
        if self.dsack_round.is_some_and(|round| header.seq >= round) {
            self.dsack_round = None;
        }
        if dsack && self.reordering && self.dsack_round.is_none() {
            self.dsack_round = Some(self.segments.len() as u32);
            (self.mult, self.persist) = (self.mult + 1, 16);
        }
    }

    fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.mult = 0;
        }
    }

    fn detect(&mut self, now: Time, una: u32, recovering: bool, min_rtt: Time, srtt: Time) {
        let sacked = self.segments[una as usize..].iter().filter(|s| s.acked).count();
        let window = if !self.reordering && (recovering || sacked >= 3) {
            0
        } else {
            ((1 + self.mult) * (min_rtt / 4)).min(srtt)
        };
        for (seq, s) in self.segments.iter_mut().enumerate() {
            let before = s.xmit < self.xmit || (s.xmit == self.xmit && seq as u32 + 1 < self.end);
            if !s.acked && !s.lost && before && s.xmit + self.rtt + window <= now {
                s.lost = true;
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Send(u32),
    /// Among the transmissions in flight, the one at this place (per mille) arrives and is ACKed.
    Arrive(usize),
    Lose(usize),
}

fn steps() -> impl Strategy<Value = Vec<(Time, Step)>> {
    let step = prop_oneof![
        2 => (1..6u32).prop_map(Step::Send),
        6 => prop_oneof![3 => Just(0), 1 => 0..1000usize].prop_map(Step::Arrive),
        2 => prop_oneof![Just(0), 0..1000usize].prop_map(Step::Lose),
    ];
    prop::collection::vec((1..400_000_000u64, step), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any arrivals in any order: after every ACK and every expiry of the reordering timer, the same
    /// segments wait for a retransmission.
    #[test]
    fn the_same_segments_are_lost(steps in steps()) {
        let (config, mut group) = (config(), group());
        let mut subflow = Subflow::new(&config, 0);
        let mut reading = Reading::default();
        let (mut now, mut under_way, mut received) = (0, Vec::new(), BTreeSet::new());
        for (pause, step) in steps {
            let until = now + pause;
            while subflow.alarm == Alarm::Reordering && subflow.deadline <= until {
                now = subflow.deadline;
                let recovering = group[0].state >= State::Recovery;
                reading.detect(now, subflow.board.una(), recovering, subflow.rtt.min(), subflow.rtt.srtt());
                subflow.handle_timeout(now, &config, &mut group, 0, false);
            }
            now = until;
            match step {
                Step::Send(n) => {
                    for _ in 0..n {
                        let seq = subflow.transmit(now, 0, &config, group[0].state);
                        reading.segments.push(Segment { xmit: now, ..Segment::default() });
                        under_way.push((now, seq));
                    }
                }
                Step::Lose(_) | Step::Arrive(_) if under_way.is_empty() => continue,
                Step::Lose(at) => {
                    under_way.remove(at * under_way.len() / 1000);
                    continue;
                }
                Step::Arrive(at) => {
                    let (stamp, seq) = under_way.remove(at * under_way.len() / 1000);
                    let duplicate = !received.insert(seq);
                    let next = (0..).find(|s| !received.contains(s)).expect("a finite set");
                    let mut block = Block { start: seq, end: seq + 1 };
                    while !duplicate && received.contains(&block.end) {
                        block.end += 1;
                    }
                    let told = if duplicate || seq >= next { vec![block] } else { vec![] };
                    // A duplicate above the cumulative ACK is within a second block.
                    let told = if duplicate && seq >= next { vec![block, block] } else { told };
                    let header = ack(next, stamp, &told);
                    let (state, high) = (group[0].state, subflow.high_seq);
                    let (una, before) = (subflow.board.una(), subflow.rtt.min());
                    subflow.handle_ack(now, &header, &config, &mut group, 0);
                    let ends = state >= State::Recovery && next >= high;
                    // Step 1 comes first, for an ACK that gives a sample by RFC 7323.
                    let min_rtt = if next > una { subflow.rtt.min() } else { before };
                    reading.handle_ack(now, &header, duplicate, min_rtt);
                    if ends {
                        reading.recovered();
                    }
                    let recovering = state >= State::Recovery && !ends;
                    let (min, srtt) = (subflow.rtt.min(), subflow.rtt.srtt());
                    reading.detect(now, next, recovering, min, srtt);
                }
            }
            let lost = reading.segments.iter_mut().enumerate().filter(|(_, s)| s.lost && !s.acked);
            let mut expected: Vec<_> = lost.map(|(seq, _)| seq as u32).collect();
            let mut waiting = Vec::new();
            now += 1; // after the current transmissions, because only new data would follow them in the list
            while let Some((seq, _)) = subflow.board.retransmit(now) {
                waiting.push(seq);
                under_way.push((now, seq));
            }
            for &seq in &waiting {
                let s = &mut reading.segments[seq as usize];
                (s.xmit, s.lost, s.again) = (now, false, true);
            }
            waiting.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(waiting, expected);
        }
    }
}

/// §7.4.2: a probe sent the last segment again, and later data is ACKed without a sign of a duplicate: the
/// first one was lost, and the window is cut for it. With a DSACK it is not.
#[test]
fn a_loss_that_a_probe_repaired_costs_half_the_window() {
    for (dsack, ssthresh) in [(false, 500), (true, INFINITE_SSTHRESH)] {
        let (config, mut group) = (config(), group());
        let mut subflow = Subflow::new(&config, 0);
        for dsn in 0..3 {
            subflow.transmit(0, dsn, &config, State::Open);
        }
        subflow.handle_ack(MS, &ack(1, 0, &[]), &config, &mut group, 0);
        assert_eq!((subflow.deadline, subflow.alarm), (3 * MS, Alarm::Probe));
        subflow.handle_timeout(3 * MS, &config, &mut group, 0, false);
        assert_eq!(subflow.retransmit(3 * MS, 1000, &config), Some((2, 2)));
        let told = [Block { start: 2, end: 3 }];
        subflow.handle_ack(4 * MS, &ack(3, 3 * MS, &told[..dsack.into()]), &config, &mut group, 0);
        subflow.transmit(4 * MS, 3, &config, State::Open);
        subflow.handle_ack(5 * MS, &ack(4, 4 * MS, &[]), &config, &mut group, 0);
        assert_eq!((group[0].ssthresh, group[0].state), (ssthresh, State::Open), "DSACK: {dsack}");
    }
}

/// §6.3: a timeout declares the first segment lost, and those sent an RTT ago, but not later ones.
#[test]
fn a_timeout_spares_what_was_just_sent() {
    let (config, mut group) = (config(), group());
    let mut subflow = Subflow::new(&config, 0);
    for dsn in 0..3 {
        subflow.transmit(0, dsn, &config, State::Open);
    }
    subflow.handle_ack(MS, &ack(1, 0, &[]), &config, &mut group, 0);
    subflow.alarm = Alarm::Retransmission;
    let now = 300 * MS;
    subflow.board.push(now - MS, 3);
    subflow.board.push(now - MS + 1, 4);
    subflow.handle_timeout(now, &config, &mut group, 0, true);
    // 1, 2 and 3 are lost, 4 is in flight.
    assert_eq!((subflow.board.lost(), group[0].cwnd, group[0].state), (3, 2, State::Loss));
    assert_eq!(subflow.retransmit(now, 2, &config), Some((1, 1)));
    assert_eq!(subflow.retransmit(now, 2, &config), None);
}
