//! Subflows that are opened, closed and paused, and data that is sent once more on another one.

use tresse_transport::tcp::{Sender, Step};
use tresse_transport::{Ack, Body, Config, Origin, Scheduler, Stamp, Transmit};
use tresse_units::Time;

use crate::pipe::{MILLISECOND, SECOND, ack, config, header, scheme, sender};

/// Everything that there is to send now.
fn poll(sender: &mut Sender, now: Time) -> Vec<Transmit> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// (subflow, data sequence number) of the packets of one origin.
fn of(origin: Origin, packets: &[Transmit]) -> Vec<(usize, u32)> {
    packets.iter().filter(|t| t.origin == origin).map(|t| (t.subflow, header(t).dsn)).collect()
}

fn narrow() -> Config {
    Config { initial_window: 2, ..config() }
}

/// An ACK on a subflow for all below `seq`, when all data below `dsn` has arrived.
fn ack_all(seq: u32, dsn: u32, stamp: Time) -> Ack {
    Ack { dsn, ..ack(seq, stamp, 0) }
}

#[test]
fn round_robin_begins_with_the_first_and_takes_turns() {
    let config = Config { scheduler: Scheduler::RoundRobin, initial_window: 3, ..config() };
    let mut sender = sender(config, 3, 100);
    let turns: Vec<_> = poll(&mut sender, 0).iter().map(|t| t.subflow).collect();
    assert_eq!(turns, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    // A subflow that takes no data or is full is skipped.
    sender.set_takes_data(1, false);
    for i in 0..3 {
        sender.handle_ack(MILLISECOND, i, &ack(1, 0, 0));
    }
    let turns: Vec<_> = poll(&mut sender, MILLISECOND).iter().map(|t| t.subflow).collect();
    assert_eq!(turns, [0, 2, 0, 2], "slow start: two more for each ACK");
}

#[test]
fn what_a_closed_subflow_had_in_flight_goes_on_the_others_once() {
    let mut sender = sender(narrow(), 3, 100);
    assert_eq!(of(Origin::New, &poll(&mut sender, 0)), [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5)]);
    sender.close(1);
    assert!(!sender.is_open(1) && sender.group().len() == 2);
    assert_eq!(poll(&mut sender, 0), [], "there is no room");
    // Segment 2 has arrived meanwhile, and an ACK on another subflow says so.
    sender.handle_ack(MILLISECOND, 0, &ack_all(2, 3, 0));
    let sent = poll(&mut sender, MILLISECOND);
    assert_eq!(of(Origin::Reinjected, &sent), [(0, 3)]);
    assert_eq!(of(Origin::New, &sent), [(0, 6), (0, 7), (0, 8)]);
    assert_eq!(sender.counters(0).reinjections, 1);
    // ACKs for a closed subflow report only data; closing again does nothing.
    sender.handle_ack(2 * MILLISECOND, 1, &ack_all(2, 4, 0));
    sender.close(1);
    assert_eq!(sender.deadline(1), tresse_units::NEVER);
}

/// Data does not go again on the subflow that it is already on, however much room there is.
#[test]
fn reinjected_data_goes_elsewhere_or_waits() {
    let mut sender = sender(narrow(), 2, 6);
    assert_eq!(poll(&mut sender, 0).len(), 4);
    sender.reinject(0);
    sender.reinject(0); // requested twice, sent once
    // Room on subflow 0 alone: new data goes there, data to be sent again waits.
    sender.handle_ack(MILLISECOND, 0, &ack_all(1, 0, 0));
    let sent = poll(&mut sender, MILLISECOND);
    assert_eq!((of(Origin::Reinjected, &sent), of(Origin::New, &sent)), (vec![], vec![(0, 4), (0, 5)]));
    // Room on subflow 1: segments 0 and 1, of which 0 has arrived, and which were in flight on subflow 0.
    sender.handle_ack(2 * MILLISECOND, 1, &ack_all(1, 1, 0));
    let sent = poll(&mut sender, 2 * MILLISECOND);
    assert_eq!(of(Origin::Reinjected, &sent), [(1, 1)]);
    assert_eq!(sent.len(), 1);
}

/// When two subflows give data away, data that has a place is not held up by data that has none.
#[test]
fn reinjected_data_that_waits_holds_up_no_other() {
    let mut sender = sender(narrow(), 2, 4);
    assert_eq!(poll(&mut sender, 0).len(), 4);
    sender.reinject(0);
    sender.reinject(1);
    sender.handle_ack(MILLISECOND, 0, &ack_all(1, 0, 0));
    // Segments 0 and 1 may go on subflow 1 only; 2 and 3 may go on subflow 0.
    assert_eq!(of(Origin::Reinjected, &poll(&mut sender, MILLISECOND)), [(0, 2), (0, 3)]);
}

#[test]
fn a_lone_silent_subflow_sends_nothing_twice() {
    let config = Config { stale_after: 1, ..narrow() };
    for (subflows, reinjected) in [(1, 0), (2, 2)] {
        let mut sender = sender(config, subflows, 100);
        poll(&mut sender, 0);
        for i in 1..subflows {
            sender.handle_ack(MILLISECOND, i, &ack_all(2, 0, 0));
        }
        poll(&mut sender, MILLISECOND);
        let deadline = sender.deadline(0);
        sender.handle_timeout(deadline, 0);
        // The other subflow has room when its packets are ACKed.
        for i in 1..subflows {
            sender.handle_ack(deadline, i, &ack_all(6, 0, MILLISECOND));
        }
        let sent = poll(&mut sender, deadline);
        assert_eq!(of(Origin::Retransmitted, &sent)[0], (0, 0));
        assert_eq!(of(Origin::Reinjected, &sent).len(), reinjected, "of {subflows}");
        assert!(of(Origin::New, &sent).iter().all(|t| t.0 != 0), "a stale subflow gets nothing new");
    }
}

/// A subflow that wants to be alone (AMP) and takes no data keeps no other from sending.
#[test]
fn one_that_rests_is_not_alone() {
    let config = narrow();
    let mut sender = Sender::new(config, scheme("amp"), 2, 1_000_000);
    poll(&mut sender, 0);
    // AMP's mode: marks on both while their windows are at the floor (see controllers/amp.c).
    let mut now = 0;
    let mut seq = [0; 2];
    while !sender.group().one_is_alone() && now < 10 * SECOND {
        now += MILLISECOND;
        for (i, seq) in seq.iter_mut().enumerate() {
            if sender.outstanding(i) > 0 {
                *seq += 1;
                sender.handle_ack(now, i, &ack(*seq, now - MILLISECOND, 1));
            }
        }
        poll(&mut sender, now);
    }
    assert!(sender.group().one_is_alone(), "AMP has one subflow alone");
    let alone = (0..2).find(|&i| sender.group()[i].alone != 0).expect("one is");
    let other = 1 - alone;
    sender.set_takes_data(alone, false);
    now += MILLISECOND;
    while sender.outstanding(other) > 0 {
        seq[other] += 1;
        sender.handle_ack(now, other, &ack(seq[other], now - MILLISECOND, 0));
    }
    assert!(of(Origin::New, &poll(&mut sender, now)).iter().any(|t| t.0 == other), "the other one sends");
}

#[test]
fn a_handshake_tells_the_rtt_and_a_closed_one_ends() {
    let config = Config { handshake: true, ..narrow() };
    let mut sender = Sender::new(config, scheme("reno"), 0, 1_000_000);
    assert_eq!((sender.open(3), sender.open(3)), (0, 1));
    let syns = poll(&mut sender, 0);
    assert!(syns.len() == 2 && syns.iter().all(|t| t.body == Body::Handshake(Step::Syn, Stamp::from(0))));
    assert!(sender.handle_handshake(8 * MILLISECOND, 0, Step::SynAck, 0), "the first stands after SYN/ACK");
    assert!(
        !sender.handle_handshake(8 * MILLISECOND, 1, Step::SynAck, 0),
        "a joining one after the fourth packet"
    );
    assert_eq!(sender.group()[0].srtt, 8 * 8000, "in 1/8 us");
    assert_eq!(poll(&mut sender, 8 * MILLISECOND).iter().filter(|t| t.subflow == 1).count(), 1, "its ACK");
    sender.close(1);
    assert!(!sender.handle_handshake(9 * MILLISECOND, 1, Step::JoinAnswer, 0), "it was closed");
    assert!(!sender.is_open(1));
    assert_eq!(sender.deadline(1), tresse_units::NEVER);
}

#[test]
fn a_lost_packet_of_a_handshake_is_counted_and_is_no_timeout() {
    let config = Config { handshake: true, rto_initial: SECOND, rto_min: MILLISECOND, ..narrow() };
    let mut sender = Sender::new(config, scheme("reno"), 0, 1_000_000);
    sender.open(3);
    poll(&mut sender, 0);
    assert_eq!(sender.deadline(0), SECOND, "whatever the least timeout is");
    sender.handle_timeout(SECOND, 0);
    assert_eq!(poll(&mut sender, SECOND).len(), 1, "it is sent again");
    assert!(sender.handle_handshake(SECOND + MILLISECOND, 0, Step::SynAck, SECOND));
    let counters = sender.counters(0);
    assert_eq!((counters.handshake_timeouts, counters.timeouts), (1, 0));
}
