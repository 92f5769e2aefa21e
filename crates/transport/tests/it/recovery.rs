//! How losses are repaired: what is sent again and when, and what happens to the window.
//!
//! One Reno subflow, RTT 1 ms, an ACK for every packet, an initial window of 10 in slow start; so an
//! ACK of a new segment adds one packet to the window until a loss is seen. Expectations are worked
//! out by hand in the comments.

use tresse_controllers::State;
use tresse_transport::{Config, Counters, Recovery, Reduction, TimeoutCut};
use tresse_units::Time;

use crate::pipe::{Fate, Link, MILLISECOND, MSS, Pipe, SECOND, config, scheme};

const RTT: Time = MILLISECOND;

const RECOVERIES: [Recovery; 4] = [Recovery::Reno, Recovery::RenoOnce, Recovery::NewReno, Recovery::Sack];

fn with(recovery: Recovery) -> Config {
    Config { recovery, ..config() }
}

/// Counters of a subflow, without those that do not matter in a scenario.
fn repairs(pipe: &Pipe) -> (u64, u64, u64) {
    let Counters { retransmissions, recoveries, timeouts, .. } = pipe.sender.counters(0);
    (retransmissions, recoveries, timeouts)
}

/// Segment 5 of 200 is lost. Segments 0-4 are ACKed: the window is 15, and 5..20 are outstanding with
/// 15..20 just sent. ACKs of 6, 7, 8 are duplicates: the third starts a recovery with a cut to 7.
#[test]
fn a_single_loss_is_one_fast_retransmit_and_half_the_window() {
    for recovery in RECOVERIES {
        for reduction in [Reduction::Immediate, Reduction::Prr] {
            let config = Config { reduction, ..with(recovery) };
            let pipe = Pipe::single(config, 200).lose(&[(5, 1)]).run(SECOND);
            assert_eq!(repairs(&pipe), (1, 1, 0), "{recovery:?}, {reduction:?}");
            assert_eq!(pipe.retransmissions()[0].1, 5);
            let states = [State::Open, State::Disorder, State::Recovery, State::Open];
            assert_eq!(pipe.states(), states);

            let entry = pipe.trace.iter().position(|s| s.state == State::Recovery).expect("it recovers");
            assert_eq!((pipe.trace[entry - 1].cwnd, pipe.trace[entry].ssthresh), (15, 7));
            // The third duplicate ACK is that of segment 8, an RTT and nine packets' time after 0.
            assert_eq!(pipe.trace[entry].now, RTT + 9_000_000);
            assert_eq!(pipe.retransmissions()[0].0, pipe.trace[entry].now);
            // The recovery ends with the window at ssthresh; the ACK that ends it may add a packet's share.
            let exit = pipe.trace[entry..].iter().find(|s| s.state == State::Open).expect("it ends");
            assert_eq!((exit.cwnd, exit.ssthresh), (7, 7), "{recovery:?}, {reduction:?}");
            let round = exit.now - pipe.trace[entry].now;
            assert!((RTT..3 * RTT).contains(&round), "{round} ps");
        }
    }
}

/// Three losses in one window of 20: 5, 9 and 13.
const THREE: [(u32, u32); 3] = [(5, 1), (9, 1), (13, 1)];

#[test]
fn new_reno_repairs_one_loss_a_round_trip() {
    let config = Config { initial_window: 20, ..with(Recovery::NewReno) };
    let pipe = Pipe::single(config, 300).lose(&THREE).run(SECOND);
    assert_eq!(repairs(&pipe), (3, 1, 0));
    let again = pipe.retransmissions();
    assert_eq!(again.iter().map(|r| r.1).collect::<Vec<_>>(), [5, 9, 13]);
    for pair in again.windows(2) {
        // A round trip, and the packets ahead in the pipe.
        assert!((RTT..RTT + RTT / 5).contains(&(pair[1].0 - pair[0].0)), "{again:?}");
    }
    // One cut for all three: from 20 + 5 to 12. The packets of a round trip fit the new window.
    assert!(pipe.trace.iter().filter(|s| s.now > 2 * RTT).all(|s| s.ssthresh == 12));
    for start in again.iter().map(|r| r.0) {
        let round = pipe.data.iter().filter(|s| (start..start + RTT).contains(&s.now)).count();
        assert!(round <= 13, "{round} packets in the round trip after {start}");
    }
    assert_eq!(pipe.receiver.duplicates(), 0);
}

#[test]
fn sack_repairs_all_losses_in_one_round_trip() {
    for reduction in [Reduction::Immediate, Reduction::Prr] {
        let config = Config { initial_window: 20, reduction, ..with(Recovery::Sack) };
        let pipe = Pipe::single(config, 300).lose(&THREE).run(SECOND);
        assert_eq!(repairs(&pipe), (3, 1, 0));
        let again = pipe.retransmissions();
        assert_eq!(again.iter().map(|r| r.1).collect::<Vec<_>>(), [5, 9, 13]);
        assert!(again[2].0 - again[0].0 < RTT, "{again:?}");
        let (first, last) = (again[0].0, again[2].0);
        let open = pipe.trace.iter().find(|s| s.now > first && s.state == State::Open).expect("it ends");
        assert!(open.now < last + RTT + RTT / 5, "the last repair's ACK ends the recovery");
        assert_eq!((open.cwnd, open.ssthresh), (12, 12));
        assert_eq!(pipe.receiver.duplicates(), 0);
    }
}

/// RFC 5681 §3.2: the first ACK of new data ends the recovery, and a second loss needs three further
/// duplicate ACKs. Window 10, losses 1, 3 and 5: the ACK of 0 makes it 11, and 10 and 11 are sent; eight
/// duplicate ACKs. Two of them release 12 and 13 (limited transmit), the third cuts to 5 and repairs 1; five
/// more release as many as half a window has room for. The ACK up to 3 ends the recovery with some ten
/// segments outstanding and room for five: too few duplicates follow.
#[test]
fn reno_needs_a_timeout_for_three_losses_in_a_window() {
    let pipe = Pipe::single(with(Recovery::Reno), 300).lose(&[(1, 1), (3, 1), (5, 1)]).run(2 * SECOND);
    let partial = pipe.trace.iter().position(|s| s.state == State::Recovery).expect("it recovers");
    let after = pipe.trace[partial..].iter().find(|s| s.state != State::Recovery).expect("it ends");
    // The ACK that ends it has not seen three duplicates for 3: it is not sent again at that moment.
    assert!(!pipe.retransmissions().contains(&(after.now, 3)), "{:?}", pipe.retransmissions());
    assert_eq!(pipe.sender.counters(0).timeouts, 1, "{:?}", pipe.retransmissions());
}

/// With Reno, the second hole is repaired only after three more duplicate ACKs.
#[test]
fn renos_second_loss_needs_duplicates_of_its_own() {
    // A large window: the segments sent in the first recovery make the duplicates for the second hole.
    let config = Config { initial_window: 40, ..with(Recovery::Reno) };
    let pipe = Pipe::single(config, 300).lose(&[(5, 1), (9, 1)]).run(2 * SECOND);
    let second = pipe.retransmissions().iter().find(|r| r.1 == 9).expect("9 is repaired").0;
    let told = pipe.acks.iter().filter(|(now, wire)| wire.seq == 9 && now + RTT / 2 <= second).count();
    // One ACK that asks for 9 first, then three duplicates.
    assert!(told >= 4, "9 is sent again after {told} ACKs that ask for it");
}

/// The same losses as above: with RFC 6582 §3.2 step 2 the second one's duplicates start nothing, because it
/// was sent before the first fast retransmit.
#[test]
fn reno_once_leaves_a_second_loss_of_the_window_to_the_timeout() {
    for (recovery, recoveries, timeouts) in [(Recovery::Reno, 2, 0), (Recovery::RenoOnce, 1, 1)] {
        let config = Config { initial_window: 40, ..with(recovery) };
        let pipe = Pipe::single(config, 300).lose(&[(5, 1), (9, 1)]).run(2 * SECOND);
        let counters = pipe.sender.counters(0);
        assert_eq!((counters.recoveries, counters.timeouts), (recoveries, timeouts), "{recovery:?}");
    }
}

/// Where that window ends: if the first segment after the fast retransmit is lost, ACKs reach only `recover`,
/// so it waits for the timeout; the loss of the second is repaired at once.
#[test]
fn reno_once_repairs_what_was_sent_after_its_fast_retransmit() {
    let run = |lost: &[(u32, u32)]| Pipe::single(with(Recovery::RenoOnce), 300).lose(lost).run(2 * SECOND);
    let pipe = run(&[(5, 1)]);
    let again = pipe.retransmissions()[0].0;
    let next = 1 + pipe.data.iter().filter(|s| s.now < again).map(|s| s.seq).max().expect("some were sent");
    for (lost, recoveries, timeouts) in [(next, 1, 1), (next + 1, 2, 0)] {
        let counters = run(&[(5, 1), (lost, 1)]).sender.counters(0);
        assert_eq!((counters.recoveries, counters.timeouts), (recoveries, timeouts), "{lost} is lost");
    }
}

/// The last two segments of ten are lost, so no duplicate reports it. The RTO fell from its initial 1 s to
/// 200 ms with the first sample, and the timer with it: it fires 200 ms after the last ACK.
#[test]
fn a_lost_tail_is_repaired_after_the_least_timeout() {
    for recovery in RECOVERIES {
        let pipe = Pipe::single(with(recovery), 10).lose(&[(8, 1), (9, 1)]).run(SECOND);
        let last_ack = RTT + 8_000_000;
        assert_eq!(pipe.timeouts(), [last_ack + 200 * MILLISECOND]);
        assert_eq!(repairs(&pipe), (2, 0, 1));
        // 8 goes out at the timeout, 9 when 8 is ACKed; the message is complete half an RTT later.
        let (first, second) = (pipe.retransmissions()[0], pipe.retransmissions()[1]);
        assert_eq!(first, (last_ack + 200 * MILLISECOND, 8));
        assert_eq!(second, (first.0 + RTT + 1_000_000, 9));
        assert_eq!(pipe.now, second.0 + RTT / 2 + 1_000_000);
    }
}

/// RFC 6582 §3.2: a partial ACK repairs the next hole regardless of the window. Window 20, segments 0 and 2
/// are lost, and all but three of the 18 duplicate ACKs: their segments seem to be in flight.
#[test]
fn a_partial_ack_repairs_although_the_window_is_full() {
    let config = Config { initial_window: 20, ..with(Recovery::NewReno) };
    let mut duplicates = 0;
    let pipe = Pipe::single(config, 60)
        .lose(&[(0, 1), (2, 1)])
        .ack_fate(move |wire| {
            duplicates += u32::from(wire.seq == 0);
            if wire.seq == 0 && duplicates > 3 { Fate::Drop } else { Fate::Pass }
        })
        .run(SECOND);
    assert_eq!(repairs(&pipe), (2, 1, 0));
}

/// Only its own timeout can show that a retransmission was lost.
#[test]
fn a_lost_retransmission_needs_a_timeout() {
    for recovery in RECOVERIES {
        let pipe = Pipe::single(with(recovery), 60).lose(&[(5, 2)]).run(SECOND);
        assert_eq!((pipe.timeouts().len(), pipe.sender.counters(0).recoveries), (1, 1), "{recovery:?}");
        // The timer was last set by the ACK of segment 4.
        assert_eq!(pipe.timeouts()[0], RTT + 5_000_000 + 200 * MILLISECOND);
        let again: Vec<_> = pipe.retransmissions().iter().filter(|r| r.1 == 5).map(|r| r.0).collect();
        assert_eq!(again, [RTT + 9_000_000, pipe.timeouts()[0]]);
    }
}

/// Segments that were SACKed before a timeout are not sent again after it, although an ACK has room for only
/// three of the six waiting runs.
#[test]
fn sack_sends_only_what_is_missing_after_a_timeout() {
    let lost = [5, 10, 15, 20, 25, 30];
    let pipe = Pipe::single(with(Recovery::Sack), 60).lose(&lost.map(|seq| (seq, 2))).run(SECOND);
    assert_eq!(pipe.timeouts().len(), 1);
    assert_eq!(pipe.retransmissions().iter().map(|r| r.1).collect::<Vec<_>>(), [lost, lost].concat());
    assert_eq!(pipe.receiver.duplicates(), 0);
}

/// To a controller a timeout is a loss, and so is a fast retransmit: XMP halves its window for them, while a
/// mark in slow start would leave it unchanged.
#[test]
fn a_controller_is_told_of_a_loss() {
    let link = Link { delay: RTT / 2, gap: 1_000_000 };
    for (segments, lost) in [(10, 9), (200, 5)] {
        let bytes = u64::from(segments * MSS);
        let pipe = Pipe::new(with(Recovery::NewReno), &scheme("xmp"), &[link], bytes)
            .data_fate(move |s| if s.seq == lost && s.attempt == 1 { Fate::Drop } else { Fate::Pass })
            .run(SECOND);
        let after = pipe.trace.iter().position(|s| s.ssthresh < 100).expect("it is cut");
        assert_eq!(pipe.trace[after].ssthresh, pipe.trace[after - 1].cwnd / 2);
    }
}

/// Without a sample the timeouts come at 1, 3, 7 and 15 s; with one, after 200, 400, 800 ms.
#[test]
fn a_timeout_doubles_the_next_one() {
    let pipe = Pipe::single(config(), 1).lose(&[(0, 4)]).run(100 * SECOND);
    assert_eq!(pipe.timeouts(), [1, 3, 7, 15].map(|t| t * SECOND));

    let pipe = Pipe::single(config(), 10).lose(&[(9, 3)]).run(100 * SECOND);
    let last_ack = RTT + 9_000_000;
    assert_eq!(pipe.timeouts(), [200, 600, 1400].map(|t| last_ack + t * MILLISECOND));
}

/// RFC 6298 §2.5, §5.7: never above the maximum, and back to normal once something is ACKed.
#[test]
fn the_back_off_has_a_ceiling_and_ends_with_an_ack() {
    let config = Config { rto_max: 3 * SECOND, initial_window: 1, ..config() };
    let pipe = Pipe::single(config, 40).lose(&[(0, 5), (39, 1)]).run(100 * SECOND);
    let timeouts = pipe.timeouts();
    // 1, 2, then 3 s each.
    assert_eq!(timeouts[..5], [1, 3, 6, 9, 12].map(|t| t * SECOND));
    assert_eq!(timeouts.len(), 6);
    let before = pipe.trace.iter().rfind(|s| s.now < timeouts[5]).expect("ACKs came").now;
    assert_eq!(timeouts[5] - before, 200 * MILLISECOND);
}

/// The window is cut when the timer first fires, not each time that it fires again (RFC 5681 §3.1: ssthresh
/// is held constant when a segment is retransmitted by the timer again).
#[test]
fn a_timeout_cuts_once_however_often_it_backs_off() {
    for recovery in RECOVERIES {
        let lost: Vec<_> = (8..18).map(|seq| (seq, 4)).collect();
        let pipe = Pipe::single(with(recovery), 18).lose(&lost).run(100 * SECOND);
        // With the ACK of segment 3 the whole message has been sent, and one more ACK finds the window full:
        // it is 15, the cut is to 7.
        let cuts: Vec<_> = pipe.trace.iter().filter(|s| s.timeout).map(|s| (s.cwnd, s.ssthresh)).collect();
        assert_eq!(cuts[..4], [(1, 7); 4], "{recovery:?}");
    }
}

/// After a timeout the window is 1 and grows by a packet for each packet that is ACKed, up to ssthresh; then
/// by one packet a round trip. No duplicate reports the loss: everything after 8 is lost.
#[test]
fn a_timeout_starts_slow_start_from_one() {
    for recovery in RECOVERIES {
        let pipe = Pipe::single(with(recovery), 100)
            .data_fate(|s| if s.seq >= 8 && s.attempt == 1 && s.seq < 26 { Fate::Drop } else { Fate::Pass })
            .run(10 * SECOND);
        let start = pipe.trace.iter().position(|s| s.timeout).expect("the timer fires");
        assert_eq!(pipe.sender.counters(0).timeouts, 1);
        let after = &pipe.trace[start..];
        assert_eq!((after[0].cwnd, after[0].ssthresh, after[0].state), (1, 9, State::Loss));
        // One packet more for each of the first eight ACKs, then a ninth of a packet each.
        let windows: Vec<_> = after.iter().take(19).map(|s| s.cwnd).collect();
        let expected = [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10];
        assert_eq!(windows, expected, "{recovery:?}");
        assert_eq!(pipe.states(), [State::Open, State::Loss, State::Open]);
        assert_eq!(pipe.retransmissions().len(), 18);
    }
}

/// As a loss, a timeout leaves half the window and no slow start (THESIS §3.4: "once entering CAP after initial SSP, the
/// system will stay in CAP"); the same segments are sent again, as many at once as the window has room for.
#[test]
fn a_timeout_may_be_a_loss_like_any_other() {
    for recovery in [&RECOVERIES[..], &[Recovery::GoBackN, Recovery::Rack]].concat() {
        let config = Config { timeout_cut: TimeoutCut::AsLoss, ..with(recovery) };
        let pipe = Pipe::single(config, 100)
            .data_fate(|s| if s.seq >= 8 && s.attempt == 1 && s.seq < 26 { Fate::Drop } else { Fate::Pass })
            .run(10 * SECOND);
        let Some(start) = pipe.trace.iter().position(|s| s.timeout) else {
            assert_eq!(recovery, Recovery::Rack, "its probe finds the losses");
            continue;
        };
        let after = &pipe.trace[start..];
        assert_eq!((after[0].cwnd, after[0].ssthresh, after[0].state), (9, 9, State::Loss), "{recovery:?}");
        let windows: Vec<_> = after.iter().take(11).map(|s| s.cwnd).collect();
        assert_eq!(windows, [9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10], "{recovery:?}");
        let at_once = pipe.retransmissions().iter().filter(|(now, _)| *now == after[0].now).count();
        assert_eq!(at_once, 9, "{recovery:?}");
        assert_eq!(pipe.states(), [State::Open, State::Loss, State::Open], "{recovery:?}");
    }
}

/// Each timeout in a row is another loss: 15, 7, 3, and no less than two packets. TCP cuts once.
#[test]
fn timeouts_as_losses_cut_each_time() {
    let lost: Vec<_> = (8..18).map(|seq| (seq, 4)).collect();
    let config = Config { timeout_cut: TimeoutCut::AsLoss, ..with(Recovery::NewReno) };
    let pipe = Pipe::single(config, 18).lose(&lost).run(100 * SECOND);
    let cuts: Vec<_> = pipe.trace.iter().filter(|s| s.timeout).map(|s| s.cwnd).collect();
    assert_eq!(cuts[..4], [7, 3, 2, 2]);
}

/// "A timeout will not trigger congestion control" (THESIS §2.5): HOLNET-UTA answers no losses, and keeps its window.
#[test]
fn a_controller_that_answers_no_losses_keeps_its_window() {
    let link = Link { delay: RTT / 2, gap: 1_000_000 };
    for (timeout_cut, kept) in [(TimeoutCut::AsLoss, true), (TimeoutCut::Restart, false)] {
        let config = Config { timeout_cut, ..with(Recovery::GoBackN) };
        let pipe = Pipe::new(config, &scheme("holnet_uta"), &[link], u64::from(100 * MSS))
            .data_fate(|s| if s.seq >= 8 && s.attempt == 1 && s.seq < 30 { Fate::Drop } else { Fate::Pass })
            .run(10 * SECOND);
        let start = pipe.trace.iter().position(|s| s.timeout).expect("the timer fires");
        let (before, after) = (pipe.trace[start - 1].cwnd, pipe.trace[start].cwnd);
        assert_eq!(after, if kept { before } else { 1 });
        assert!(before > 10);
    }
}

/// After a timeout without SACK, segments that had arrived are sent again and make duplicate ACKs. They
/// indicate no loss: none may start a fast recovery (RFC 6582 §4.1), neither during the repair after the
/// timeout nor right after it.
///
/// Window 40; segments 0 and 20 are lost, and so is every ACK of that window. The timer fires at 1 s;
/// segment 0 brings an ACK up to 20 and, in slow start, 20 packets of window: 20-39 go out, of which
/// only 20 was missing. 19 duplicate ACKs follow.
#[test]
fn duplicates_of_what_was_sent_again_are_no_loss() {
    for recovery in [Recovery::Reno, Recovery::RenoOnce, Recovery::NewReno] {
        let config = Config { initial_window: 40, ..with(recovery) };
        let mut acks = 0;
        let pipe = Pipe::single(config, 400)
            .lose(&[(0, 1), (20, 1)])
            .ack_fate(move |_| {
                acks += 1;
                if acks <= 38 { Fate::Drop } else { Fate::Pass }
            })
            .run(10 * SECOND);
        assert_eq!(pipe.receiver.duplicates(), 19);
        let Counters { timeouts, recoveries, .. } = pipe.sender.counters(0);
        assert_eq!((timeouts, recoveries), (1, 0), "{recovery:?}");
        assert!(pipe.retransmissions().iter().all(|r| r.1 < 40), "{recovery:?}");
    }
}

/// Duplicates that are left over when a recovery ends do not start the next one: the third duplicate
/// for a new hole does. Every ACK arrives twice, so there are more duplicates than segments.
#[test]
fn a_recovery_begins_with_duplicates_of_its_own() {
    let pipe = Pipe::single(with(Recovery::NewReno), 120)
        .lose(&[(5, 1)])
        .ack_fate(|wire| if wire.seq == 5 { Fate::Twice } else { Fate::Pass })
        .run(SECOND);
    assert_eq!(pipe.sender.counters(0).recoveries, 1);
    assert_eq!(pipe.retransmissions().iter().map(|r| r.1).collect::<Vec<_>>(), [5]);
}

/// A second loss after the first recovery is a second cut.
#[test]
fn a_loss_in_a_later_window_cuts_again() {
    for recovery in RECOVERIES {
        let pipe = Pipe::single(with(recovery), 300).lose(&[(5, 1), (60, 1)]).run(SECOND);
        assert_eq!(repairs(&pipe), (2, 2, 0), "{recovery:?}");
        let mut cuts: Vec<_> = pipe.trace.iter().map(|s| s.ssthresh).collect();
        cuts.dedup();
        assert_eq!(cuts.len(), 3, "{cuts:?}");
    }
}

/// `initial_ssthresh`: the first slow start ends there, at 20 packets, and the next 19 ACKs add no packet.
#[test]
fn slow_start_ends_at_the_initial_threshold() {
    let config = Config { initial_ssthresh: 20, ..config() };
    let pipe = Pipe::single(config, 200).run(SECOND);
    let windows: Vec<_> = pipe.trace.iter().map(|s| s.cwnd).take(30).collect();
    let slow = (11..=20).chain(std::iter::repeat_n(20, 19)).chain([21]);
    assert_eq!(windows, slow.collect::<Vec<_>>());
}
