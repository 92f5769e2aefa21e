//! Which subflow new data goes to, and how a window goes down.

use tresse_controllers::State;
use tresse_transport::tcp::Sender;
use tresse_transport::{Config, Recovery, Reduction};
use tresse_units::Time;

use crate::pipe::{
    Fate, Link, MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, ack, config, poll, scheme, sender,
};

/// How many segments of `sent` are on subflow `first`, and whether they come first.
fn shares(sent: &[(usize, u32)], first: usize) -> (usize, bool) {
    let count = sent.iter().filter(|s| s.0 == first).count();
    (count, sent[..count].iter().all(|s| s.0 == first))
}

/// Two subflows with full windows of eight; the RTT of subflow 0 is `rtt[0]`.
fn two(rtt: [Time; 2]) -> Sender {
    let mut sender = sender(Config { initial_window: 4, ..config() }, 2, 1000);
    poll(&mut sender, 0);
    for (i, rtt) in rtt.into_iter().enumerate() {
        for seq in 1..=4 {
            sender.handle_ack(SECOND, i, &ack(seq, SECOND - rtt, 0));
        }
    }
    assert_eq!(poll(&mut sender, SECOND).len(), 16);
    sender
}

#[test]
fn data_goes_to_the_lowest_rtt_that_has_room() {
    for (fast, slow) in [(0, 1), (1, 0)] {
        let mut rtt = [10 * MILLISECOND; 2];
        rtt[fast] = MILLISECOND;
        let mut sender = two(rtt);
        // Three ACKs on each release six segments: the windows are still in slow start.
        for seq in 5..=7 {
            sender.handle_ack(SECOND, slow, &ack(seq, SECOND - rtt[slow], 0));
            sender.handle_ack(SECOND, fast, &ack(seq, SECOND - rtt[fast], 0));
        }
        let sent = poll(&mut sender, SECOND);
        assert_eq!(shares(&sent, fast), (6, true), "the fast one first, as far as it has room");
        assert_eq!(sent.len(), 12);
    }
}

/// Subflow 1 has room and subflow 0 does not: data does not wait for the lower RTT.
#[test]
fn a_full_subflow_is_passed_over() {
    let mut sender = two([MILLISECOND, 10 * MILLISECOND]);
    sender.handle_ack(SECOND, 1, &ack(5, SECOND - 10 * MILLISECOND, 0));
    assert_eq!(shares(&poll(&mut sender, SECOND), 1), (2, true));
}

/// A subflow without a sample comes first, so that it gets one; equals go by their number.
#[test]
fn a_subflow_without_a_sample_comes_first() {
    let mut sender = sender(Config { initial_window: 2, ..config() }, 3, 1000);
    let order: Vec<_> = poll(&mut sender, 0).iter().map(|s| s.0).collect();
    assert_eq!(order, [0, 0, 1, 1, 2, 2]);

    // A message that fits the first window uses one subflow.
    let mut short = crate::pipe::sender(config(), 3, 10);
    assert!(poll(&mut short, 0).iter().all(|s| s.0 == 0));
}

/// Lost segments go out before new data, even on the slower subflow.
#[test]
fn what_was_lost_goes_first() {
    let mut sender = two([MILLISECOND, 10 * MILLISECOND]);
    // Three duplicates on the slow subflow, and room on the fast one.
    for _ in 0..3 {
        sender.handle_ack(SECOND, 1, &ack(4, SECOND - 10 * MILLISECOND, 0));
    }
    sender.handle_ack(SECOND, 0, &ack(5, SECOND - MILLISECOND, 0));
    let sent = poll(&mut sender, SECOND);
    assert_eq!(sent[0], (1, 4), "the segment that the duplicates ask for");
    assert_eq!(shares(&sent[1..], 0), (2, true));
    assert_eq!(sent.len(), 3);
}

/// Two pipes, nothing lost: the lower RTT carries more, and both are in use.
#[test]
fn both_subflows_carry_data() {
    let link = |delay| Link { delay, gap: 10 * MICROSECOND };
    let links = [link(5 * MILLISECOND), link(500 * MICROSECOND)];
    let pipe = Pipe::new(config(), &scheme("reno"), &links, 2000 * u64::from(MSS)).run(10 * SECOND);
    let (slow, fast) = (pipe.sender.counters(0).sent, pipe.sender.counters(1).sent);
    assert!(slow > 10 && fast > slow, "{slow} and {fast}");
    assert_eq!(slow + fast, 2000);
}

/// Window 20, segment 0 marked. RFC 6937 §3: over the round in which the other 20 segments are
/// ACKed, one segment goes out for every two ACKs, the first at once; so the window falls by one with
/// every second ACK. With the 19th ten are in flight, and ten remain: ten have gone out.
#[test]
fn prr_takes_a_round_to_reach_ssthresh() {
    let config = Config { initial_window: 20, reduction: Reduction::Prr, ..config() };
    let mut sender = sender(config, 1, 1000);
    assert_eq!(poll(&mut sender, 0).len(), 20);
    let (mut windows, mut sent) = (Vec::new(), 0);
    for seq in 1..=20 {
        sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, u8::from(seq == 1)));
        let own = &sender.group()[0];
        assert_eq!((own.state, own.ssthresh), (State::Cwr, 10));
        windows.push(own.cwnd);
        sent += poll(&mut sender, MILLISECOND).len();
    }
    let expected: Vec<u32> = (1..=20).map(|n| if n < 19 { 20 - n / 2 } else { 10 }).collect();
    assert_eq!(windows, expected);
    assert_eq!((sent, sender.outstanding(0)), (10, 10));
    sender.handle_ack(2 * MILLISECOND, 0, &ack(21, MILLISECOND, 0));
    assert_eq!((sender.group()[0].state, sender.group()[0].cwnd), (State::Open, 10));
}

/// The same at once: the window is 10 with the first ACK, and nothing goes out until ten are ACKed.
#[test]
fn an_immediate_cut_takes_one_ack() {
    let config = Config { initial_window: 20, ..config() };
    let mut sender = sender(config, 1, 1000);
    poll(&mut sender, 0);
    let mut sent = Vec::new();
    for seq in 1..=20 {
        sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, u8::from(seq == 1)));
        assert_eq!((sender.group()[0].state, sender.group()[0].cwnd), (State::Cwr, 10));
        sent.push(poll(&mut sender, MILLISECOND).len());
    }
    assert_eq!(sent, [[0; 10], [1; 10]].concat());
}

/// Losses in a window of 40, few or most of it: no ACK of a recovery with SACK releases more than two
/// packets, even with immediate cuts (catalogue 0.16: a burst would lose its own retransmissions).
#[test]
fn sack_recovery_sends_no_bursts() {
    for (reduction, losses) in
        [(Reduction::Immediate, 10), (Reduction::Immediate, 30), (Reduction::Prr, 10), (Reduction::Prr, 30)]
    {
        let config = Config { initial_window: 40, recovery: Recovery::Sack, reduction, ..config() };
        let lost: Vec<_> = (3..3 + losses).map(|seq| (seq, 1)).collect();
        let pipe = Pipe::single(config, 400).lose(&lost).run(SECOND);
        assert_eq!((pipe.sender.counters(0).timeouts, pipe.retransmissions().len()), (0, losses as usize));
        let recovery: Vec<_> = pipe.trace.iter().filter(|s| s.state == State::Recovery).collect();
        assert!(recovery.len() > 20);
        for sample in recovery {
            let burst = pipe.data.iter().filter(|s| s.now == sample.now).count();
            assert!(burst <= 2, "{burst} at {}", sample.now);
        }
    }
}

/// A mark, then a loss in the same window: the recovery continues where the reduction was, and ends at the
/// same ssthresh; nothing is cut twice and nothing stalls.
#[test]
fn a_recovery_takes_over_a_reduction() {
    for reduction in [Reduction::Immediate, Reduction::Prr] {
        for recovery in [Recovery::NewReno, Recovery::Sack] {
            let config = Config { initial_window: 40, recovery, reduction, ..config() };
            let pipe = Pipe::single(config, 400)
                .data_fate(|s| match (s.seq, s.attempt) {
                    (0, _) => Fate::Mark,
                    (10 | 11, 1) => Fate::Drop,
                    _ => Fate::Pass,
                })
                .run(SECOND);
            assert_eq!(pipe.states()[..4], [State::Open, State::Cwr, State::Recovery, State::Open]);
            assert!(pipe.trace.iter().all(|s| s.ssthresh == 20));
            let open = pipe.trace.iter().find(|s| s.state == State::Open).expect("it ends");
            assert_eq!(open.cwnd, 20, "{reduction:?}, {recovery:?}");
            // 400 segments at 20 to 30 a round trip.
            assert!(pipe.now < 25 * MILLISECOND, "{reduction:?}, {recovery:?}: {}", pipe.now);
        }
    }
}
