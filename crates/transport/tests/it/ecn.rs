//! Marks: one cut per window, no growth while it is being cut, and an echo that loses none.

use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::{ConfiguredController, State, find};
use tresse_transport::tcp::{Receiver, Sender};
use tresse_transport::{Config, DelayedAck, Echo, Recovery, Reduction, Segment};

use crate::pipe::{
    Fate, Link, MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, Sent, ack, config, data, poll, scheme, sender,
};

const ECHOES: [Echo; 3] = [Echo::Rfc3168, Echo::Dctcp, Echo::TwoBit];

fn with(echo: Echo) -> Config {
    Config { echo, ..config() }
}

/// Window 10, segments 0-9 outstanding, every one of them marked. The first ACK cuts to 5; the next
/// nine must neither cut nor grow; the state holds until the ACK of segment 10, the first that was
/// sent after the cut.
#[test]
fn a_window_of_marks_is_one_cut_and_no_growth() {
    for echo in ECHOES {
        let mut sender = sender(with(echo), 1, 1000);
        assert_eq!(poll(&mut sender, 0).len(), 10);
        for seq in 1..=10 {
            sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, 1));
            let own = &sender.group()[0];
            assert_eq!((own.state, own.cwnd, own.ssthresh), (State::Cwr, 5, 5), "{echo:?}, ACK {seq}");
            poll(&mut sender, MILLISECOND);
        }
        assert_eq!((sender.counters(0).mark_cuts, sender.counters(0).marks), (1, 10));
        // Half a window has gone out meanwhile: 10-14.
        assert_eq!(sender.outstanding(0), 5);

        sender.handle_ack(2 * MILLISECOND, 0, &ack(11, MILLISECOND, 0));
        assert_eq!((sender.group()[0].state, sender.group()[0].cwnd), (State::Open, 5));
        // Four more ACKs make a packet of five fifths.
        for seq in 12..=15 {
            poll(&mut sender, 2 * MILLISECOND);
            sender.handle_ack(2 * MILLISECOND, 0, &ack(seq, MILLISECOND, 0));
        }
        assert_eq!(sender.group()[0].cwnd, 6, "{echo:?}");
    }
}

/// CWR ends before the controller hears of the ACK that ends it: BOS adds its packet for the round that ends with that
/// ACK, and the ACK's own mark cuts again.
#[test]
fn the_round_that_ends_with_a_cut_counts() {
    let bos = |last: u8| {
        let config = Config { initial_ssthresh: 10, ..with(Echo::Dctcp) };
        let mut sender = Sender::new(config, scheme("bos"), 1, 1_000_000);
        poll(&mut sender, 0);
        sender.handle_ack(MILLISECOND, 0, &ack(1, 0, 1));
        for seq in 2..=10 {
            poll(&mut sender, MILLISECOND);
            sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, 0));
            assert_eq!((sender.group()[0].state, sender.group()[0].cwnd), (State::Cwr, 8), "ACK {seq}");
        }
        sender.handle_ack(2 * MILLISECOND, 0, &ack(11, MILLISECOND, last));
        (sender.group()[0].state, sender.group()[0].cwnd, sender.counters(0).mark_cuts)
    };
    assert_eq!(bos(0), (State::Open, 9, 1));
    assert_eq!(bos(1), (State::Cwr, 6, 2));
}

/// `grow_in_cwr`: the same window of marks, and every ACK after the first adds its part: nine fifths, one of
/// them a packet while the window was 5, four sixths left over. The growth stays when the round ends.
#[test]
fn a_window_may_grow_while_it_is_being_cut() {
    let mut sender = sender(Config { grow_in_cwr: true, ..with(Echo::Dctcp) }, 1, 1000);
    poll(&mut sender, 0);
    for (seq, cwnd) in (1..=10).zip([5, 5, 5, 5, 6, 6, 6, 6, 6, 6]) {
        sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, 1));
        poll(&mut sender, MILLISECOND);
        let own = &sender.group()[0];
        assert_eq!((own.state, own.cwnd, own.ssthresh), (State::Cwr, cwnd, 5), "ACK {seq}");
    }
    sender.handle_ack(2 * MILLISECOND, 0, &ack(11, MILLISECOND, 0));
    assert_eq!((sender.group()[0].state, sender.group()[0].cwnd), (State::Open, 7), "6 + 5/5 + 6/6");
    assert_eq!(sender.counters(0).mark_cuts, 1);
}

/// With every packet marked Reno stays at its floor of 2 packets; a `floor` of 1 goes below it, and a higher
/// one leaves more.
#[test]
fn a_floor_takes_the_place_of_the_controllers() {
    for (floor, least) in [(None, 2), (Some(1), 1), (Some(2), 2), (Some(3), 3)] {
        let pipe = Pipe::single(Config { floor, ..config() }, 500).data_fate(|_| Fate::Mark).run(SECOND);
        let windows = pipe.trace.iter().skip(30).map(|s| s.cwnd);
        assert_eq!(windows.min(), Some(least), "{floor:?}");
        assert_eq!(pipe.sender.counters(0).timeouts, 0, "{floor:?}");
    }
}

/// No more segments in flight than the receive window, and no window above it.
#[test]
fn a_receive_window_bounds_what_is_in_flight() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let pipe = Pipe::single(Config { receive_window: 46, recovery, ..config() }, 2000)
            .data_fate(|s| if (s.seq, s.attempt) == (700, 1) { Fate::Drop } else { Fate::Pass })
            .run(SECOND);
        let most = pipe.trace.iter().map(|s| s.cwnd).max();
        assert_eq!(most, Some(46), "{recovery:?}");
        assert_eq!(pipe.sender.counters(0).recoveries, 1, "{recovery:?}");
    }
}

/// The ACK that ends a cut may begin the next one: the segment after the cut was marked too.
#[test]
fn marks_in_the_next_window_cut_again() {
    for echo in ECHOES {
        let mut sender = sender(with(echo), 1, 1000);
        poll(&mut sender, 0);
        for seq in 1..=11 {
            sender.handle_ack(MILLISECOND, 0, &ack(seq, 0, 1));
            poll(&mut sender, MILLISECOND);
        }
        let own = &sender.group()[0];
        assert_eq!((own.state, own.cwnd, sender.counters(0).mark_cuts), (State::Cwr, 2, 2), "{echo:?}");
    }
}

/// With every packet marked for a long time, cuts are no more frequent than round trips.
#[test]
fn cuts_lie_a_round_trip_apart() {
    for echo in ECHOES {
        for reduction in [Reduction::Immediate, Reduction::Prr] {
            let pipe =
                Pipe::single(Config { reduction, ..with(echo) }, 500).data_fate(|_| Fate::Mark).run(SECOND);
            let rounds = pipe.now / MILLISECOND;
            let cuts = pipe.sender.counters(0).mark_cuts;
            assert!((rounds / 2..=rounds).contains(&cuts), "{echo:?}, {reduction:?}: {cuts} in {rounds}");
            assert_eq!(pipe.sender.counters(0).retransmissions, 0);
            // The window stays on Reno's floor.
            assert!(pipe.trace.iter().skip(30).all(|s| s.cwnd <= 3), "{echo:?}, {reduction:?}");
        }
    }
}

/// A mark and a loss in one window cause one cut, whichever is seen first. RFC 3168 §6.1.2: the CWR flag
/// follows every reduction; without it the echo of a mark goes on after the recovery, and the window is cut
/// again.
#[test]
fn a_mark_and_a_loss_in_one_window_are_one_cut() {
    for echo in ECHOES {
        for recovery in [Recovery::NewReno, Recovery::Sack] {
            // Linux leaves a SACK recovery at high_seq, where the echo is still on, and cuts again.
            if (echo, recovery) == (Echo::Rfc3168, Recovery::Sack) {
                continue;
            }
            for marked in [2, 12] {
                let config = Config { recovery, ..with(echo) };
                let pipe = Pipe::single(config, 200)
                    .data_fate(move |s| match (s.seq, s.attempt) {
                        (5, 1) => Fate::Drop,
                        (seq, _) if seq == marked => Fate::Mark,
                        _ => Fate::Pass,
                    })
                    .run(SECOND);
                let what = format!("{echo:?}, {recovery:?}, segment {marked} marked");
                let c = pipe.sender.counters(0);
                assert_eq!((c.recoveries, c.timeouts, c.retransmissions), (1, 0, 1), "{what}");
                let mut cuts: Vec<_> = pipe.trace.iter().map(|s| s.ssthresh).collect();
                cuts.dedup();
                assert_eq!(cuts.len(), 2, "one value before the cut, one after: {cuts:?}, {what}");
            }
        }
    }
}

/// RFC 8257 §3.5: if a mark's cut is small, a loss in the same window takes it to half of the window before
/// both; if the mark has already halved it, the window is cut only once.
#[test]
fn a_loss_in_the_window_of_a_mark_is_answered() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        for reduction in [Reduction::Immediate, Reduction::Prr] {
            for (alpha, milder) in [(16, true), (1024, false)] {
                let config = Config { recovery, reduction, initial_window: 100, ..config() };
                let pipe = marked_and_lost(config, alpha, |seq| seq == 5);
                let what = format!("{recovery:?}, {reduction:?}, alpha {alpha}/1024");
                assert_eq!((pipe.sender.counters(0).recoveries, pipe.timeouts().len()), (1, 0), "{what}");
                let mark = pipe.trace.iter().position(|s| s.state == State::Cwr).expect("the mark cuts");
                let (before, cut) = (pipe.trace[mark - 1].cwnd, pipe.trace[mark].ssthresh);
                assert_eq!(cut > 9 * before / 10, milder, "{what}: {before} to {cut}");
                let loss = pipe.trace.iter().find(|s| s.state == State::Recovery).expect("it recovers");
                assert_eq!(loss.ssthresh, before / 2, "{what}");
                let end = pipe.trace.iter().find(|s| s.now > loss.now && s.state == State::Open);
                assert_eq!(end.expect("it ends").cwnd, before / 2, "{what}");
            }
        }
    }
}

/// The same if the timer detects the loss.
#[test]
fn a_timeout_in_the_window_of_a_mark_is_answered() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let pipe = marked_and_lost(Config { recovery, initial_window: 100, ..config() }, 16, |seq| seq > 2);
        let mark = pipe.trace.iter().position(|s| s.state == State::Cwr).expect("the mark cuts");
        let timeout = pipe.trace.iter().find(|s| s.timeout).expect("the timer fires");
        assert_eq!(timeout.ssthresh, pipe.trace[mark - 1].cwnd / 2, "{recovery:?}");
    }
}

/// DCTCP with this alpha, in 1/1024; segment 2 is marked, and `lost` decides which of the first 106 are lost.
fn marked_and_lost(config: Config, alpha: u64, lost: impl Fn(u32) -> bool + 'static) -> Pipe {
    let dctcp = find("dctcp").expect("it is built in");
    let scheme = ConfiguredController::new(dctcp, [("alpha_start", alpha)]).expect("in its range");
    let link = Link { delay: 500 * MICROSECOND, gap: MICROSECOND };
    Pipe::new(config, &Arc::new(scheme), &[link], 400 * u64::from(MSS))
        .data_fate(move |s| match (s.seq, s.attempt) {
            (2, 1) => Fate::Mark,
            (seq, 1) if seq < 106 && lost(seq) => Fate::Drop,
            _ => Fate::Pass,
        })
        .run(10 * SECOND)
}

fn cwr_flags(pipe: &Pipe) -> Vec<u32> {
    pipe.data.iter().filter(|s| s.cwr).map(|s| s.seq).collect()
}

/// RFC 3168 §6.1.2: the first new packet after a cut reports it, once.
#[test]
fn the_first_new_segment_after_a_cut_tells_of_it() {
    let marked = |s: &Sent| if s.seq == 3 { Fate::Mark } else { Fate::Pass };
    let pipe = Pipe::single(with(Echo::Rfc3168), 200).data_fate(marked).run(SECOND);
    assert_eq!(pipe.sender.counters(0).mark_cuts, 1);
    // Segments 0-2 were ACKed, each released two: 16 is the next.
    assert_eq!(cwr_flags(&pipe), [16]);
    // The echo lasts from segment 3 until 16 has arrived.
    let echoed: Vec<_> = pipe.acks.iter().filter(|(_, wire)| wire.ce > 0).map(|(_, wire)| wire.seq).collect();
    assert_eq!(echoed, (4..=16).collect::<Vec<_>>());
}

/// RFC 3168 §6.1.2: "reduces its congestion window for any reason": including a loss and a timeout.
#[test]
fn a_loss_is_told_as_a_cut_too() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let config = Config { recovery, ..with(Echo::Rfc3168) };
        let pipe = Pipe::single(config, 200).lose(&[(5, 1)]).run(SECOND);
        assert_eq!(cwr_flags(&pipe).len(), 1, "{recovery:?}: once after a fast retransmit");
    }
}

/// The same for a timeout: everything from 8 to 25 is lost.
#[test]
fn a_timeout_is_told_as_a_cut_too() {
    let lost: Vec<_> = (8..26).map(|seq| (seq, 1)).collect();
    let pipe = Pipe::single(with(Echo::Rfc3168), 200).lose(&lost).run(SECOND);
    assert_eq!(pipe.sender.counters(0).timeouts, 1);
    assert_eq!(cwr_flags(&pipe), [26]);
}

/// RFC 3168 §6.1.3: ECE on every ACK from the first mark until CWR arrives; a mark on the very packet that
/// carries CWR starts again.
#[test]
fn ece_stays_until_cwr_arrives() {
    let mut receiver = Receiver::new(with(Echo::Rfc3168), 1, 1 << 20);
    let packets =
        [(false, false), (true, false), (false, false), (false, false), (false, true), (false, false)];
    let again = [(true, false), (true, true), (false, false), (false, true)];
    let echo: Vec<u8> = (0..)
        .zip(packets.into_iter().chain(again))
        .map(|(seq, (ce, cwr))| {
            let acks = receiver.handle_data(0, 0, &Segment { cwr, ..data(seq, 0) }, ce);
            acks[1].expect("an ACK for every packet").ce
        })
        .collect();
    assert_eq!(echo, [0, 1, 1, 1, 0, 0, 1, 1, 1, 0]);
}

/// XMP §2.1: no ACK can report more than three marks; later ACKs report the rest.
#[test]
fn two_bits_tell_three_marks_and_keep_the_rest() {
    let delayed_ack = DelayedAck { every: 8, timer: 40 * MILLISECOND, quick: 0, quick_again: false };
    let mut receiver = Receiver::new(Config { delayed_ack, ..with(Echo::TwoBit) }, 1, 1 << 20);
    let mut told = Vec::new();
    for seq in 0..80 {
        let acks = receiver.handle_data(0, 0, &data(seq, 0), seq < 17);
        told.extend(acks.into_iter().flatten().map(|wire| u32::from(wire.ce)));
    }
    assert_eq!(told.iter().sum::<u32>(), 17);
    assert_eq!(told.iter().max(), Some(&3), "eight marks wait for an ACK: {told:?}");
}

/// Marks on a random part of the packets, then enough unmarked ones to report the rest.
fn marked() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec((any::<bool>(), 1..10usize), 1..25)
        .prop_map(|runs| runs.iter().flat_map(|&(ce, n)| std::iter::repeat_n(ce, n)).collect())
}

fn delayed_ack(every: std::ops::Range<u32>) -> impl Strategy<Value = DelayedAck> {
    (every, 0..17u32).prop_map(|(every, quick)| DelayedAck {
        every,
        timer: 40 * MILLISECOND,
        quick,
        quick_again: false,
    })
}

/// The marks that were set, those that ACKs reported, and those that the sender counted.
fn play(config: Config, marked: Vec<bool>, tail: u32) -> (u64, u64, u64) {
    let segments = marked.len() as u32 + tail;
    let pipe = Pipe::single(config, segments)
        .data_fate(move |s| if marked.get(s.seq as usize) == Some(&true) { Fate::Mark } else { Fate::Pass })
        .run(60 * SECOND)
        .settle(60 * SECOND);
    let most = if config.echo == Echo::TwoBit { 3 } else { 1 };
    assert!(pipe.acks.iter().all(|(_, wire)| wire.ce <= most));
    let told = pipe.acks.iter().map(|(_, wire)| u64::from(wire.ce)).sum();
    (pipe.marks, told, pipe.sender.counters(0).marks)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// RFC 8257 §3.2: the sender knows for each packet whether it was marked, with or without delayed ACKs.
    #[test]
    fn dctcp_counts_every_mark(marked in marked(), delayed_ack in delayed_ack(1..9)) {
        let (put, _, counted) = play(Config { delayed_ack, ..with(Echo::Dctcp) }, marked, 1);
        prop_assert_eq!(counted, put);
    }

    /// XMP §2.1: "echoes exactly each received CE". An ACK for at most three packets leaves none over.
    #[test]
    fn two_bits_count_every_mark(marked in marked(), delayed_ack in delayed_ack(1..4)) {
        let (put, told, counted) = play(Config { delayed_ack, ..with(Echo::TwoBit) }, marked, 0);
        prop_assert_eq!((told, counted), (put, put));
    }

    /// With longer delays marks are left over, and later ACKs report them.
    #[test]
    fn two_bits_count_every_mark_in_the_end(marked in marked(), delayed_ack in delayed_ack(4..9)) {
        let (put, told, counted) = play(Config { delayed_ack, ..with(Echo::TwoBit) }, marked, 600);
        prop_assert_eq!((told, counted), (put, put));
    }

    /// One mark on any packet causes one cut: never missed, never counted twice.
    #[test]
    fn a_lone_mark_is_one_cut_with_rfc_3168(seq in 0..100u32, delayed_ack in delayed_ack(1..4)) {
        let pipe = Pipe::single(Config { delayed_ack, ..with(Echo::Rfc3168) }, 150)
            .data_fate(move |s| if s.seq == seq { Fate::Mark } else { Fate::Pass })
            .run(SECOND)
            .settle(SECOND);
        prop_assert_eq!(pipe.sender.counters(0).mark_cuts, 1);
    }
}
