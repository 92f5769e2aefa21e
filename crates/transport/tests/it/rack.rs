//! RACK-TLP (RFC 8985): losses found by time, probes instead of timeouts.
//!
//! One Reno subflow as in `recovery.rs`; the RTT is 1 ms, so the reordering window is 250 us at first.

use tresse_controllers::State;
use tresse_transport::{Block, Config, Count, Recovery};
use tresse_units::Time;

use crate::pipe::{
    Fate, Link, MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, ack, config, data, poll, scheme, sender,
};

const RTT: Time = MILLISECOND;

fn with(recovery: Recovery) -> Config {
    Config { recovery, ..config() }
}

fn rack() -> Config {
    with(Recovery::Rack)
}

/// (retransmissions, recoveries, timeouts, probes) of the only subflow.
fn repairs(pipe: &Pipe) -> (u64, u64, u64, u64) {
    let c = pipe.sender.counters(0);
    (c.retransmissions, c.recoveries, c.timeouts, c.probes)
}

/// §7: the last two of ten segments are lost. Two smoothed RTTs after the last ACK, the last segment is sent
/// again; its arrival shows that the one before it was lost. Without probes this costs 200 ms
/// (`recovery.rs`).
#[test]
fn a_lost_tail_is_repaired_by_a_probe() {
    let pipe = Pipe::single(rack(), 10).lose(&[(8, 1), (9, 1)]).run(SECOND);
    assert_eq!(repairs(&pipe), (2, 1, 0, 1));
    let again = pipe.retransmissions();
    assert_eq!(again.iter().map(|r| r.1).collect::<Vec<_>>(), [9, 8]);
    // Samples are 1001 to 1008 us.
    let wait = again[0].0 - (RTT + 8 * MICROSECOND);
    assert!((2 * RTT..2 * RTT + 16 * MICROSECOND).contains(&wait), "{wait} ps");
    assert_eq!(again[1].0, again[0].0 + RTT + MICROSECOND);
    assert_eq!(pipe.now, again[1].0 + RTT / 2 + MICROSECOND);
}

/// §7.3: as long as there is new data, the probe is a new segment. The whole second flight is lost;
/// the SACK of the probe shows it, and no timer fires.
#[test]
fn a_probe_is_new_data_if_there_is_any() {
    let pipe = Pipe::single(rack(), 100)
        .data_fate(|s| if (10..30).contains(&s.seq) && s.attempt == 1 { Fate::Drop } else { Fate::Pass })
        .run(SECOND);
    assert_eq!(repairs(&pipe), (20, 1, 0, 1));
    let probe = pipe.data.iter().find(|s| s.seq == 30).expect("it is sent");
    let flight = pipe.data.iter().find(|s| s.seq == 29).expect("it is sent");
    let wait = probe.now - flight.now;
    assert!((2 * RTT..2 * RTT + 20 * MICROSECOND).contains(&wait), "{wait} ps");
    assert_eq!(pipe.receiver.duplicates(), 0);
}

/// §7.3: one probe at a time. If it is lost, the timeout follows, counted from the probe.
#[test]
fn a_lost_probe_is_followed_by_the_timeout() {
    let pipe = Pipe::single(rack(), 10).lose(&[(8, 1), (9, 2)]).run(SECOND);
    assert_eq!((pipe.sender.counters(0).probes, pipe.timeouts().len()), (1, 1));
    assert_eq!(pipe.timeouts()[0], pipe.retransmissions()[0].0 + 200 * MILLISECOND);
    let order: Vec<_> = pipe.retransmissions().iter().map(|r| r.1).collect();
    assert_eq!(order, [9, 8, 9]);
}

/// §7.2, `TLP_calc_PTO`, after one sample of 100 ms, so that the timeout is 300 ms: two smoothed RTTs; with a
/// single segment, plus the worst delay of its ACK; no later than the timeout.
#[test]
fn a_probe_timeout_is_two_round_trips_and_the_delay_of_an_ack() {
    for (outstanding, rto_min, slack, expected) in
        [(2, 10, 0, 200), (2, 10, 8, 208), (1, 10, 0, 210), (1, 10, 8, 210), (1, 200, 0, 300)]
    {
        let config = Config {
            initial_window: 1 + outstanding,
            rto_min: rto_min * MILLISECOND,
            timer_slack: slack * MILLISECOND,
            ..rack()
        };
        let mut sender = sender(config, 1, 1 + outstanding);
        assert_eq!(poll(&mut sender, 0).len() as u32, 1 + outstanding);
        let now = 100 * MILLISECOND;
        sender.handle_ack(now, 0, &ack(1, 0, 0));
        assert_eq!(sender.deadline(0) - now, expected * MILLISECOND, "{outstanding} outstanding");
    }
}

/// §7.4.2: the segments had arrived, only their ACKs were lost. The receiver reports the duplicate (RFC
/// 2883), and the window stays.
#[test]
fn a_probe_for_nothing_costs_nothing() {
    let mut told = 0;
    let pipe = Pipe::single(rack(), 10)
        .ack_fate(move |wire| {
            told += 1;
            if wire.seq > 8 && told <= 10 { Fate::Drop } else { Fate::Pass }
        })
        .run(SECOND)
        .settle(SECOND);
    assert_eq!(repairs(&pipe), (1, 0, 0, 1));
    let (_, last) = pipe.acks.last().expect("the probe is ACKed");
    assert_eq!((last.seq, last.count, last.blocks[0]), (10, Count::One, Block { start: 9, end: 10 }));
    assert!(pipe.states().iter().all(|&s| s == State::Open));
    assert!(pipe.trace.iter().all(|s| s.ssthresh > 1000));
}

/// §6.2: data sent after a retransmission has arrived, but the retransmission has not: it was lost too. No
/// other recovery finds this without a timeout (`recovery.rs`).
#[test]
fn a_lost_retransmission_is_found() {
    let pipe = Pipe::single(rack(), 60).lose(&[(5, 2)]).run(SECOND);
    assert_eq!(repairs(&pipe), (2, 1, 0, 0));
    let again = pipe.retransmissions();
    let next = pipe.data.iter().find(|s| s.now > again[0].0).expect("the recovery goes on");
    assert_eq!(again[1].0, next.now + RTT + MICROSECOND);
    assert_eq!(pipe.receiver.duplicates(), 0);
}

#[test]
fn a_retransmission_that_is_lost_thrice_is_found_thrice() {
    let pipe = Pipe::single(rack(), 400).lose(&[(5, 4)]).run(SECOND);
    assert_eq!((pipe.retransmissions().len(), pipe.timeouts().len()), (4, 0));
}

/// Adjacent losses are found with the first SACK after them and repaired in a round trip.
#[test]
fn losses_of_a_window_are_repaired_in_one_round_trip() {
    let config = Config { initial_window: 20, ..rack() };
    let pipe = Pipe::single(config, 300).lose(&[(5, 1), (9, 1), (13, 1)]).run(SECOND);
    assert_eq!(repairs(&pipe), (3, 1, 0, 0));
    let again = pipe.retransmissions();
    assert!(again[2].0 - again[0].0 < RTT, "{again:?}");
    assert_eq!(pipe.receiver.duplicates(), 0);
}

/// Packets follow each other by 20 us. Each of these segments is late by this much.
fn late(recovery: Recovery, late: &'static [(u32, Time)]) -> Pipe {
    let link = Link { delay: RTT / 2, gap: 20 * MICROSECOND };
    let config = Config { initial_window: 40, ..with(recovery) };
    Pipe::new(config, &scheme("reno"), &[link], 400 * u64::from(MSS))
        .data_fate(move |s| match late.iter().find(|l| l.0 == s.seq && s.attempt == 1) {
            Some(&(_, by)) => Fate::Late(by),
            None => Fate::Pass,
        })
        .run(SECOND)
}

/// §6.2 step 4: the first segment is passed by two others, too few for a loss, and shows that the path
/// reorders. The second is passed by ten within a quarter of the RTT: RACK waits for it. Counting to three,
/// as RFC 6675 does, sends it again needlessly.
#[test]
fn reordering_within_the_window_is_no_loss() {
    const LATE: &[(u32, Time)] = &[(10, 50 * MICROSECOND), (60, 200 * MICROSECOND)];
    let pipe = late(Recovery::Rack, LATE);
    assert_eq!(repairs(&pipe), (0, 0, 0, 0));
    assert!(pipe.states().contains(&State::Disorder));
    assert_eq!(pipe.retransmissions(), []);

    let counting = late(Recovery::Sack, LATE);
    assert_eq!((counting.retransmissions().len(), counting.receiver.duplicates()), (1, 1));
}

/// §6.2 step 4: without earlier reordering, three SACKed segments are a loss at once, as usual.
#[test]
fn three_sacked_segments_are_a_loss_on_a_path_in_order() {
    let pipe = Pipe::single(rack(), 200).lose(&[(5, 1)]).run(SECOND);
    // As the third duplicate ACK comes, or before it.
    let entry = pipe.trace.iter().find(|s| s.state == State::Recovery).expect("it recovers");
    assert_eq!(entry.now, RTT + 9 * MICROSECOND);
    assert_eq!((entry.ssthresh, repairs(&pipe)), (7, (1, 1, 0, 0)));
}

/// §6.2 step 5: with fewer than three SACKed segments the loss is declared when the window has passed.
#[test]
fn a_loss_before_the_tail_is_found_by_the_reordering_timer() {
    let pipe = Pipe::single(rack(), 10).lose(&[(7, 1)]).run(SECOND);
    assert_eq!(repairs(&pipe), (1, 1, 0, 0));
    let again = pipe.retransmissions()[0];
    // Sent at 0; 9 took RTT + 10 us less one for the missing packet; a quarter of the minimum RTT, 1001 us.
    assert_eq!(again, (RTT + 10 * MICROSECOND + 1001 * MICROSECOND / 4, 7));
}

/// Reordering beyond the window is taken for a loss; the DSACK of the duplicate widens the window to half an
/// RTT, and RACK waits for a segment that is later than a quarter.
///
/// In slow start each packet waits 10 us longer than the one before, and RACK's RTT grows with it: the
/// first window of 255 us passes after 26 packets, 520 us. After the cut the RTT is constant.
#[test]
fn a_duplicate_widens_the_window() {
    let pipe =
        late(Recovery::Rack, &[(10, 50 * MICROSECOND), (60, 700 * MICROSECOND), (250, 400 * MICROSECOND)]);
    assert_eq!(pipe.retransmissions().iter().map(|r| r.1).collect::<Vec<_>>(), [60]);
    assert_eq!(pipe.receiver.duplicates(), 1);
}

/// RFC 2883 §4: a duplicate comes first among the blocks, even for data above the cumulative ACK.
#[test]
fn duplicates_are_told_first() {
    let mut receiver = tresse_transport::tcp::Receiver::new(rack(), 1, 100 * u64::from(MSS));
    let mut feed = |seq| {
        let ack = receiver.handle_data(0, 0, &data(seq, 0), false)[1].expect("a gap is ACKed");
        ack.sack().iter().map(|b| (b.start, b.end)).collect::<Vec<_>>()
    };
    assert_eq!(feed(0), []);
    assert_eq!(feed(0), [(0, 1)]);
    assert_eq!(feed(3), [(3, 4)]);
    assert_eq!(feed(4), [(3, 5)]);
    assert_eq!(feed(4), [(4, 5), (3, 5)]);
    assert_eq!(feed(1), [(3, 5)]);
}
