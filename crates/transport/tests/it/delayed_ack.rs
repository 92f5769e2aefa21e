//! When the receiver sends an ACK (catalogue 0.2): for every second packet, at once while the subflow
//! is young, on a gap, on a change of CE and on the last segment, and after 40 ms in any case.

use tresse_transport::tcp::Receiver;
use tresse_transport::{Ack, Config, DelayedAck, Echo, Recovery, Segment};
use tresse_units::NEVER;

use crate::pipe::{MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, config, data};

/// The catalogue's rule, from the first packet on.
const RULE: DelayedAck = DelayedAck { every: 2, timer: 40 * MILLISECOND, quick: 0, quick_again: false };

fn with(delayed_ack: DelayedAck) -> Config {
    Config { delayed_ack, echo: Echo::TwoBit, ..config() }
}

fn receiver(config: Config, subflows: usize) -> Receiver {
    Receiver::new(config, subflows, 1000 * u64::from(MSS))
}

/// The sequence numbers of the ACKs that a packet triggers.
fn seqs(acks: [Option<Ack>; 2]) -> Vec<u32> {
    acks.into_iter().flatten().map(|wire| wire.seq).collect()
}

fn feed(receiver: &mut Receiver, seq: u32) -> Vec<u32> {
    seqs(receiver.handle_data(0, 0, &data(seq, 0), false))
}

#[test]
fn sixteen_segments_are_acked_one_by_one_then_every_second() {
    let mut receiver = receiver(with(DelayedAck { quick: 16, ..RULE }), 1);
    for seq in 0..16 {
        assert_eq!(feed(&mut receiver, seq), [seq + 1]);
    }
    for seq in (16..60).step_by(2) {
        assert!(feed(&mut receiver, seq).is_empty());
        assert_eq!(feed(&mut receiver, seq + 1), [seq + 2]);
    }
}

#[test]
fn each_subflow_is_young_for_itself() {
    let mut receiver = receiver(with(DelayedAck { quick: 2, ..RULE }), 2);
    let mut dsn = 0;
    let mut feed = |subflow: usize, seq: u32| {
        let wire = Segment { dsn, ..data(seq, 0) };
        dsn += 1;
        seqs(receiver.handle_data(0, subflow, &wire, false)).len()
    };
    assert_eq!((0..6).map(|seq| feed(0, seq)).collect::<Vec<_>>(), [1, 1, 0, 1, 0, 1]);
    assert_eq!((0..6).map(|seq| feed(1, seq)).collect::<Vec<_>>(), [1, 1, 0, 1, 0, 1]);
}

#[test]
fn an_ack_may_cover_more_than_two() {
    let mut receiver = receiver(with(DelayedAck { every: 5, ..RULE }), 1);
    let acked: Vec<_> = (0..20).flat_map(|seq| feed(&mut receiver, seq)).collect();
    assert_eq!(acked, [5, 10, 15, 20]);
}

/// RFC 5681 §4.2: out of order, a gap filled wholly or in part, a duplicate: each is ACKed at once.
#[test]
fn a_gap_is_acked_at_once() {
    let mut receiver = receiver(Config { recovery: Recovery::Sack, ..with(RULE) }, 1);
    assert!(feed(&mut receiver, 0).is_empty());
    assert_eq!(feed(&mut receiver, 2), [1], "out of order");
    assert_eq!(feed(&mut receiver, 4), [1], "a second gap");
    assert_eq!(feed(&mut receiver, 5), [1], "still behind a gap");
    assert_eq!(feed(&mut receiver, 1), [3], "one gap is filled");
    assert_eq!(feed(&mut receiver, 3), [6], "and the other");
    assert_eq!(feed(&mut receiver, 3), [6], "a duplicate");
    assert_eq!(receiver.duplicates(), 1);
    assert!(feed(&mut receiver, 6).is_empty(), "in order again");
    assert_eq!(feed(&mut receiver, 7), [8]);
}

/// RFC 8257 §3.2: the packets before the change are ACKed with their own state, the new one at once.
#[test]
fn dctcp_acks_a_change_of_ce_at_once() {
    let mut receiver = receiver(Config { echo: Echo::Dctcp, ..with(RULE) }, 1);
    let mut feed = |seq, ce| -> Vec<(u32, u8)> {
        let acks = receiver.handle_data(0, 0, &data(seq, 0), ce);
        acks.into_iter().flatten().map(|wire| (wire.seq, wire.ce)).collect()
    };
    assert_eq!(feed(0, false), []);
    assert_eq!(feed(1, true), [(1, 0), (2, 1)], "one unmarked was waiting");
    assert_eq!(feed(2, true), []);
    assert_eq!(feed(3, true), [(4, 1)]);
    assert_eq!(feed(4, false), [(5, 0)], "none was waiting");
    assert_eq!(feed(5, false), []);
    assert_eq!(feed(6, false), [(7, 0)]);
}

/// `DelayedAck` and catalogue 0.2 promise it "in any case": whether a packet waits or not.
#[test]
fn two_bits_ack_a_change_of_ce_at_once() {
    let mut receiver = receiver(with(RULE), 1);
    let mut feed = |seq, ce| -> Vec<(u32, u8)> {
        let acks = receiver.handle_data(0, 0, &data(seq, 0), ce);
        acks.into_iter().flatten().map(|wire| (wire.seq, wire.ce)).collect()
    };
    assert_eq!([feed(0, false), feed(1, false)], [vec![], vec![(2, 0)]], "every second packet");
    assert_eq!(feed(2, true), [(3, 1)], "the first marked packet, nothing waiting before it");
    assert_eq!(feed(3, false), [(4, 0)], "the first unmarked packet, nothing waiting before it");
}

/// XMP §2.1 relies on it: "one cumulative acknowledgement for at most every two consecutively
/// received packets", so two bits suffice. A run of marks is no reason to ACK each packet.
#[test]
fn two_bits_ack_a_run_of_marks_in_pairs() {
    let mut receiver = receiver(with(RULE), 1);
    let mut told = Vec::new();
    for seq in 0..41 {
        let acks = receiver.handle_data(0, 0, &data(seq, 0), true);
        told.extend(acks.into_iter().flatten().map(|wire| wire.ce));
    }
    assert_eq!(told.iter().map(|&ce| u32::from(ce)).sum::<u32>(), 41);
    assert_eq!(told, [vec![1], vec![2; 20]].concat(), "the change at once, then pairs");
}

/// Only the first mark: after it every ACK echoes it until CWR. Linux does the same
/// (`tcp_enter_quickack_mode` in `__tcp_ecn_check_ce`: "sender can have a very low cwnd").
#[test]
fn rfc_3168_acks_the_first_mark_at_once() {
    let mut receiver = receiver(Config { echo: Echo::Rfc3168, ..with(RULE) }, 1);
    let mut feed = |seq, ce| seqs(receiver.handle_data(0, 0, &data(seq, 0), ce));
    assert!(feed(0, false).is_empty());
    assert_eq!(feed(1, false), [2]);
    assert_eq!(feed(2, true), [3]);
}

#[test]
fn the_last_segment_is_acked_at_once() {
    let mut receiver = receiver(with(RULE), 1);
    let last = Segment { last: true, ..data(0, 0) };
    assert_eq!(seqs(receiver.handle_data(0, 0, &last, false)), [1]);
    assert_eq!(receiver.deadline(0), NEVER);
}

#[test]
fn a_lone_packet_is_acked_after_forty_milliseconds() {
    let mut receiver = receiver(with(RULE), 1);
    assert_eq!(receiver.deadline(0), NEVER);
    let now = 7 * MICROSECOND;
    assert_eq!(receiver.handle_data(now, 0, &data(0, 3), false), [None; 2]);
    assert_eq!(receiver.deadline(0), now + 40 * MILLISECOND);
    let wire = receiver.handle_timeout(0).expect("one packet waits");
    assert_eq!((wire.seq, wire.stamp.time()), (1, 3));
    assert_eq!(receiver.deadline(0), NEVER);
    assert_eq!(receiver.handle_timeout(0), None);

    // The second packet brings the ACK, and the timer stops.
    receiver.handle_data(now, 0, &data(1, 0), false);
    assert_ne!(receiver.deadline(0), NEVER);
    receiver.handle_data(now, 0, &data(2, 0), false);
    assert_eq!(receiver.deadline(0), NEVER);
}

/// The timer runs from the first packet that waits, and its timestamp is echoed (RFC 7323 §4.3).
#[test]
fn the_first_packet_that_waits_sets_the_timer_and_the_timestamp() {
    let mut receiver = receiver(with(DelayedAck { every: 4, ..RULE }), 1);
    for (seq, now) in [(0, 100), (1, 200), (2, 300)] {
        assert_eq!(receiver.handle_data(now, 0, &data(seq, now - 50), false), [None; 2]);
        assert_eq!(receiver.deadline(0), 100 + 40 * MILLISECOND);
    }
    let acks = receiver.handle_data(400, 0, &data(3, 350), false);
    assert_eq!(acks[1].map(|wire| (wire.seq, wire.stamp.time())), Some((4, 50)));
}

/// A message of 115 segments without loss: 16 ACKs, then one for every second segment of 99, the last one
/// separately. Nothing waits for the timer while the window is large.
#[test]
fn a_message_costs_half_as_many_acks_as_segments() {
    let pipe = Pipe::single(with(DelayedAck { quick: 16, ..RULE }), 115).run(SECOND);
    assert_eq!(pipe.acks.len(), 16 + 49 + 1);
    assert!(pipe.now < 10 * MILLISECOND);
}

/// With a window of 1 and no quick ACKs, the first segment waits for the timer: catalogue 0.2's reason.
#[test]
fn a_window_of_one_waits_for_the_timer_once() {
    for (quick, wait) in [(0, 40 * MILLISECOND), (16, 0)] {
        let config = Config { initial_window: 1, ..with(DelayedAck { quick, ..RULE }) };
        let pipe = Pipe::single(config, 2).run(SECOND);
        // One and a half round trips, and the pipe's microsecond for each of the two.
        assert_eq!(pipe.now, wait + 1500 * MICROSECOND + 2 * MICROSECOND);
    }
}
