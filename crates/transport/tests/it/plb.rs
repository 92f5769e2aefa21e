//! Protective Load Balancing: after which rounds, pauses and timeouts a subflow asks for another path.

use proptest::prelude::*;
use tresse_controllers::State;
use tresse_transport::tcp::Sender;
use tresse_transport::{Config, Echo, Plb};
use tresse_units::Time;

use crate::pipe::{Fate, MILLISECOND, Pipe, SECOND, ack, config, poll, sender};

/// Without the idle rule, unless a test turns it on: the tests' flows are often idle.
const PLB: Plb = Plb { cong_thresh: 128, rehash_rounds: 12, idle_rehash_rounds: 0, suspend: SECOND, seed: 7 };

/// A flow under the test's control: nothing is ACKed or sent unless the test says so.
struct Flow {
    sender: Sender,
    now: Time,
    una: u32,
}

impl Flow {
    fn new(plb: Plb, initial_window: u32) -> Self {
        let config = Config { plb: Some(plb), initial_window, ..config() };
        let mut flow = Self { sender: sender(config, 1, 1 << 20), now: 0, una: 0 };
        flow.send();
        flow
    }

    /// Sends what the window allows. Returns whether it asks for another path.
    fn send(&mut self) -> bool {
        poll(&mut self.sender, self.now);
        self.sender.take_rehash(0)
    }

    /// An ACK of `segments`, a millisecond later. Returns whether the flow asks for another path.
    fn ack(&mut self, segments: u32, ce: u8) -> bool {
        self.una += segments;
        self.now += MILLISECOND;
        self.sender.handle_ack(self.now, 0, &ack(self.una, self.now - MILLISECOND, ce));
        self.sender.take_rehash(0)
    }

    /// An ACK of one segment, and the segments that it releases. With a window of one or two, every ACK ends
    /// a round.
    fn one(&mut self, ce: u8) -> bool {
        let asked = self.ack(1, ce);
        assert!(!self.send(), "only the ACK asks");
        asked
    }

    /// The retransmission timeout. Returns whether the flow asks for another path.
    fn timeout(&mut self) -> bool {
        self.now = self.sender.deadline(0);
        self.sender.handle_timeout(self.now, 0);
        self.send()
    }

    /// One ACK of all outstanding segments, a round, and the segments that it releases.
    fn all(&mut self, ce: u8) -> bool {
        let asked = self.ack(self.sender.outstanding(0), ce);
        assert!(!self.send(), "only the ACK asks");
        asked
    }

    /// How many segments, one after the other and all marked, it takes until the flow asks for another path.
    fn segments_until_it_asks(&mut self) -> usize {
        (1..100_000).find(|_| self.one(1)).expect("it asks at last")
    }
}

/// The window of a marked flow that began with one segment is one or two, and each ACK is a round.
#[test]
fn twelve_congested_rounds_on_end_ask_for_another_path() {
    let mut flow = Flow::new(PLB, 1);
    let asked: Vec<_> = (1..=36).filter(|_| flow.one(1)).collect();
    assert_eq!(asked, [12, 24, 36]);
    // Eleven, one without marks, and eleven again.
    for _ in 0..2 {
        assert!((0..11).all(|_| !flow.one(1)));
        assert!(!flow.one(0));
    }
    assert_eq!(flow.segments_until_it_asks(), 12);
}

/// A flow with every packet marked asks in every twelfth of its rounds, with any echo.
#[test]
fn rounds_are_those_of_dctcp_in_linux() {
    for echo in [Echo::Dctcp, Echo::TwoBit, Echo::Rfc3168] {
        let config = Config { echo, initial_window: 40, plb: Some(PLB), ..config() };
        let mut pipe = Pipe::single(config, 400).data_fate(|_| Fate::Mark);
        pipe.transmit();
        let (mut rounds, mut round_end, mut asked) = (0, 0, 0);
        while !pipe.receiver.messages().complete() {
            let (sent, samples) = (pipe.data.len(), pipe.trace.len());
            assert!(pipe.step(), "{echo:?}");
            let una = pipe.data.len() - pipe.sender.outstanding(0) as usize;
            let mut due = false;
            if pipe.trace.len() > samples && una >= round_end {
                (rounds, round_end) = (rounds + 1, sent);
                due = rounds % 12 == 0;
            }
            let asks = pipe.sender.take_rehash(0);
            assert_eq!(asks, due, "{echo:?}: round {rounds}");
            asked += u32::from(asks);
        }
        assert!(asked > 10, "{echo:?}: {asked}");
    }
}

/// Exactly half of a round's segments, and 1/256 less.
#[test]
fn a_round_is_congested_from_the_threshold_on() {
    for (cong_thresh, marked, congested) in [(128, 4, true), (129, 4, false), (128, 3, false), (96, 3, true)]
    {
        let mut flow = Flow::new(Plb { cong_thresh, rehash_rounds: 1, ..PLB }, 9);
        // The first ACK is a round; the other eight segments are the next.
        assert!(!flow.ack(1, 0));
        let asked: Vec<_> = (0..8).map(|k| flow.ack(1, u8::from(k < marked))).collect();
        assert_eq!(asked, [false, false, false, false, false, false, false, congested], "{cong_thresh}");
    }
}

/// With nothing in flight three congested rounds are enough, with something they are not.
#[test]
fn when_idle_three_rounds_are_enough() {
    for (idle_rehash_rounds, expected) in [(3, 3), (1, 1), (0, 12), (31, 12)] {
        let mut flow = Flow::new(Plb { idle_rehash_rounds, ..PLB }, 1);
        assert_eq!((1..100).find(|_| flow.all(1)), Some(expected), "{idle_rehash_rounds}");
    }
    let mut flow = Flow::new(Plb { idle_rehash_rounds: 3, ..PLB }, 4);
    assert!((0..9).all(|_| !flow.one(1)), "something is always in flight");
    while flow.sender.outstanding(0) > 1 {
        assert!(!flow.ack(1, 1), "one is in flight");
    }
    assert!(flow.ack(1, 1), "nothing is");
}

/// A timeout asks for another path. For 1 to 2 times the parameter, depending on the seed, congestion does
/// not. Then it does at once, and after that every twelve rounds.
#[test]
fn a_timeout_asks_and_then_suspends() {
    let mut ends = Vec::new();
    for seed in 0..8 {
        let mut flow = Flow::new(Plb { seed, ..PLB }, 1);
        assert!((0..11).all(|_| !flow.one(u8::from(seed % 2 > 0))));
        assert!((0..3).all(|_| !flow.one(0)));
        assert!(flow.timeout());
        let began = flow.now;
        flow.segments_until_it_asks();
        let length = flow.now - began;
        assert!((SECOND..2 * SECOND + MILLISECOND).contains(&length), "{length}");
        ends.push(length);
        assert_eq!(flow.segments_until_it_asks(), 12);
    }
    ends.sort_unstable();
    ends.dedup();
    assert!(ends.len() > 4, "{ends:?}");
}

/// The next timeout for the same segment asks again; the suspension stays as it is.
#[test]
fn a_timeout_in_the_same_episode_does_not_suspend_anew() {
    let end = |timeouts| {
        let mut flow = Flow::new(PLB, 1);
        flow.one(0);
        assert!((0..timeouts).all(|_| flow.timeout()), "each asks");
        let between = flow.now;
        flow.segments_until_it_asks();
        (between, flow.now)
    };
    let ((first, one), (second, two)) = (end(1), end(2));
    assert!(second >= first + 200 * MILLISECOND);
    assert!(one.abs_diff(two) <= MILLISECOND, "{one} {two}");
}

/// Two congested rounds, a timeout in the third, and then it takes three again, even without a suspension.
#[test]
fn a_timeout_starts_the_count_anew() {
    let mut flow = Flow::new(Plb { cong_thresh: 1, rehash_rounds: 3, suspend: 0, ..PLB }, 8);
    assert!((0..8).all(|_| !flow.one(1)), "the first ACK and the rest of the window");
    assert!(!flow.one(0), "and one of the third round");
    assert_eq!(flow.sender.group()[0].state, State::Open);
    assert!(flow.timeout());
    assert_eq!((1..100).find(|_| flow.all(1)), Some(3));
}

/// A suspension ends while nothing is sent: the next packet already takes another path.
#[test]
fn a_flow_that_starts_again_asks_before_its_first_packet() {
    let mut flow = Flow::new(Plb { idle_rehash_rounds: 3, ..PLB }, 1);
    assert!(flow.timeout());
    assert!((0..9).all(|_| !flow.all(1)));
    assert!(!flow.ack(flow.sender.outstanding(0), 1));
    flow.now += 2 * SECOND;
    assert!(flow.send());
}

/// A timeout while the window is being reduced for a mark begins no episode in Linux (`tcp_enter_loss`): it
/// asks for another path, and suspends nothing.
#[test]
fn a_timeout_within_a_reduction_does_not_suspend() {
    let mut flow = Flow::new(PLB, 1);
    assert!((0..11).all(|_| !flow.one(1)));
    assert_eq!(flow.sender.group()[0].state, State::Cwr);
    assert!(flow.timeout());
    assert!(flow.one(1), "the twelfth round");
}

/// Two subflows of a connection that time out together are not suspended for equally long.
#[test]
fn subflows_draw_their_own_suspensions() {
    let config = Config { plb: Some(PLB), initial_window: 1, ..config() };
    let mut sender = sender(config, 2, 1 << 20);
    poll(&mut sender, 0);
    let now = sender.deadline(0);
    for i in 0..2 {
        sender.handle_timeout(now, i);
        assert!(sender.take_rehash(i));
    }
    poll(&mut sender, now);
    let ends = [0, 1].map(|i| {
        let asks = (1..3000).find(|&seq| {
            let now = now + u64::from(seq) * MILLISECOND;
            sender.handle_ack(now, i, &ack(seq, now - MILLISECOND, 1));
            poll(&mut sender, now);
            sender.take_rehash(i)
        });
        asks.expect("the suspension ends")
    });
    assert_ne!(ends[0], ends[1]);
}

#[test]
fn without_plb_nothing_asks() {
    let mut sender = sender(Config { initial_window: 1, ..config() }, 1, 1000);
    poll(&mut sender, 0);
    sender.handle_timeout(sender.deadline(0), 0);
    assert!(!sender.take_rehash(0));
}

/// The rule as read from `tcp_plb.c` and `dctcp_update_alpha`, with fractions.
struct Reading {
    plb: Plb,
    rounds: u32,
    round_end: u32,
    delivered: f64,
    marked: f64,
}

impl Reading {
    fn ack(&mut self, una: u32, nxt: u32, delivered: u32, ce: bool) -> bool {
        self.delivered += f64::from(delivered);
        if ce {
            self.marked += f64::from(delivered);
        }
        if una < self.round_end {
            return false;
        }
        self.round_end = nxt;
        let fraction = self.marked / self.delivered;
        (self.delivered, self.marked) = (0.0, 0.0);
        self.rounds = if fraction < f64::from(self.plb.cong_thresh) / 256.0 { 0 } else { self.rounds + 1 };
        let idle = una == nxt && self.plb.idle_rehash_rounds != 0;
        let needed = if idle {
            self.plb.rehash_rounds.min(self.plb.idle_rehash_rounds)
        } else {
            self.plb.rehash_rounds
        };
        let asks = self.rounds >= needed;
        if asks {
            self.rounds = 0;
        }
        asks
    }
}

proptest! {
    /// Random ACKs, marks and pauses of the sender: it asks exactly when the reading does.
    #[test]
    fn a_flow_asks_when_the_reading_does(
        cong_thresh in 1u32..=256,
        rehash_rounds in 1u32..6,
        idle_rehash_rounds in 0u32..6,
        marks_in_256 in 0u32..=256,
        acks in prop::collection::vec((1u32..5, 0u32..256, any::<bool>()), 1..400),
    ) {
        let plb = Plb { cong_thresh, rehash_rounds, idle_rehash_rounds, ..PLB };
        let mut reading = Reading { plb, rounds: 0, round_end: 0, delivered: 0.0, marked: 0.0 };
        let mut flow = Flow::new(plb, 20);
        for (segments, chance, sends) in acks {
            let segments = segments.min(flow.sender.outstanding(0));
            if segments > 0 {
                let nxt = flow.una + flow.sender.outstanding(0);
                let ce = chance < marks_in_256;
                let asks = flow.ack(segments, u8::from(ce));
                prop_assert_eq!(asks, reading.ack(flow.una, nxt, segments, ce));
            }
            if sends || flow.sender.outstanding(0) == 0 {
                prop_assert!(!flow.send(), "what is due was asked for at the ACK");
            }
        }
    }
}
