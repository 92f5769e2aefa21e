//! The receive buffer of a connection: how far new data may run ahead of the first that is missing, and what happens while
//! it may not.

use tresse_controllers::State;
use tresse_transport::tcp::Sender;
use tresse_transport::{
    Ack, Blocked, BufferRule, Config, DelayedAck, Gro, Origin, ReceiveBuffer, Recovery, Scheduler, Transmit,
};
use tresse_units::{Stream, Time};

use crate::pipe::{
    Fate, Link, MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, ack, config, data, header, scheme, sender,
};

/// Room for this many segments.
fn within(segments: u64, blocked: Blocked) -> Config {
    let receive_buffer =
        Some(ReceiveBuffer { bytes: segments * u64::from(MSS), rule: BufferRule::Fixed, blocked });
    Config { receive_buffer, ..config() }
}

/// Everything that there is to send now, as (subflow, data sequence number, origin).
fn poll(sender: &mut Sender, now: Time) -> Vec<(usize, u32, Origin)> {
    let all = std::iter::from_fn(|| sender.poll_transmit(now));
    all.map(|t: Transmit| (t.subflow, header(&t).dsn, t.origin)).collect()
}

fn new(packets: &[(usize, u32, Origin)]) -> Vec<(usize, u32)> {
    let new = packets.iter().filter(|(.., origin)| *origin == Origin::New);
    new.map(|&(subflow, dsn, _)| (subflow, dsn)).collect()
}

fn again(packets: &[(usize, u32, Origin)]) -> Vec<(usize, u32)> {
    let again = packets.iter().filter(|(.., origin)| *origin == Origin::Reinjected);
    again.map(|&(subflow, dsn, _)| (subflow, dsn)).collect()
}

/// An ACK on a subflow for all below `seq`, when all data below `dsn` has arrived.
fn ack_all(seq: u32, dsn: u32, stamp: Time) -> Ack {
    Ack { dsn, ..ack(seq, stamp, 0) }
}

/// Whatever subflow has room, and whatever subflow brings the DATA_ACK.
#[test]
fn new_data_waits_for_the_connections_window() {
    for scheduler in [Scheduler::LowestRtt, Scheduler::RoundRobin, Scheduler::Linux] {
        let mut sender = sender(Config { scheduler, ..within(5, Blocked::Wait) }, 2, 100);
        assert_eq!(poll(&mut sender, 0).len(), 5, "{scheduler:?}: two windows of ten would take more");
        // Two segments of the second have arrived, but not the first one of the connection.
        let on_second = sender.sent() - sender.outstanding(0);
        sender.handle_ack(MILLISECOND, 1, &ack_all(on_second, 0, 0));
        assert_eq!(poll(&mut sender, MILLISECOND), [], "{scheduler:?}: nothing opens the window");
        // The ACK of one subflow opens it for both; the first one is full.
        sender.handle_ack(2 * MILLISECOND, 1, &ack_all(on_second, 3, 0));
        let sent = poll(&mut sender, 2 * MILLISECOND);
        let dsns: Vec<u32> = new(&sent).iter().map(|&(_, dsn)| dsn).collect();
        assert_eq!((dsns, sent.len()), (vec![5, 6, 7], 3), "{scheduler:?}");
        assert_eq!(sender.data_acked(), 3);
    }
}

/// Bytes, of which only whole segments count.
#[test]
fn a_buffer_holds_whole_segments_and_at_least_one() {
    for (bytes, segments) in [(1, 1), (1460, 1), (2919, 1), (2920, 2), (u64::MAX, 10)] {
        let receive_buffer = Some(ReceiveBuffer { bytes, rule: BufferRule::Fixed, blocked: Blocked::Wait });
        let mut sender = sender(Config { receive_buffer, ..config() }, 1, 100);
        assert_eq!(poll(&mut sender, 0).len(), segments, "{bytes} bytes");
    }
}

/// Segments 0 and 1 on the first of two subflows, which falls silent; the rest on the other, up to the window's edge.
fn blocked_by_the_first(config: Config) -> Sender {
    let mut sender = sender(Config { initial_window: 2, ..config }, 2, 100);
    assert_eq!(new(&poll(&mut sender, 0)), [(0, 0), (0, 1), (1, 2), (1, 3)]);
    sender.set_takes_data(0, false); // as if it were the slower one
    sender.handle_ack(MILLISECOND, 1, &ack_all(2, 0, 0));
    assert_eq!(new(&poll(&mut sender, MILLISECOND)), [(1, 4), (1, 5), (1, 6), (1, 7)]);
    sender
}

#[test]
fn a_timeout_sends_missing_data_on_an_idle_subflow() {
    for (is_idle, expected) in [(true, vec![(1, 0), (1, 1)]), (false, vec![])] {
        let mut sender = blocked_by_the_first(within(8, Blocked::Wait));
        sender.handle_ack(2 * MILLISECOND, 1, &ack_all(if is_idle { 6 } else { 5 }, 0, MILLISECOND));
        assert_eq!(poll(&mut sender, 2 * MILLISECOND), [], "the window is closed");
        let timeout = sender.deadline(0);
        assert_eq!(timeout, SECOND, "the first subflow has no RTT sample");
        sender.handle_timeout(timeout, 0);
        let sent = poll(&mut sender, timeout);
        assert_eq!(again(&sent), expected, "idle: {is_idle}");
        assert_eq!(new(&sent), [], "the window is still closed");
    }
}

/// Where the window is not closed, a timeout does what it does without a receive buffer.
#[test]
fn a_timeout_in_an_open_window_is_the_subflows_own() {
    for blocked in [Blocked::Wait, Blocked::Reinject] {
        let mut sender = blocked_by_the_first(within(1000, blocked));
        sender.handle_ack(2 * MILLISECOND, 1, &ack_all(6, 0, MILLISECOND));
        let timeout = sender.deadline(0);
        sender.handle_timeout(timeout, 0);
        assert_eq!(again(&poll(&mut sender, timeout)), []);
    }
}

/// A subflow ten times as fast sends the first missing segment, once, and halves the window of the slow one, once in its
/// RTT.
#[test]
fn a_fast_subflow_helps_and_the_slow_one_pays() {
    let mut sender = sender(Config { initial_window: 16, ..within(40, Blocked::Reinject) }, 2, 1000);
    assert_eq!(new(&poll(&mut sender, 0)).len(), 32);
    // RTTs of 10 and 1 ms: the first subflow has 16 to 31 in flight, and then new data.
    sender.handle_ack(MILLISECOND, 1, &ack_all(16, 0, 0));
    let sent = poll(&mut sender, MILLISECOND);
    assert_eq!(new(&sent).len(), 8, "up to the window's edge");
    assert_eq!(again(&sent), [], "an RTT that is unknown is not slow");
    sender.handle_ack(10 * MILLISECOND, 0, &ack_all(1, 1, 0));
    let before = (sender.group()[0].cwnd, sender.group()[1].cwnd);
    let sent = poll(&mut sender, 10 * MILLISECOND);
    assert_eq!((new(&sent), again(&sent)), (vec![(1, 40)], vec![(1, 1)]), "the first that is missing");
    assert_eq!(sender.group()[0].cwnd, before.0 / 2);
    assert_eq!((sender.group()[0].ssthresh, sender.group()[1].cwnd), (before.0 / 2, before.1));
    assert_eq!((sender.counters(1).reinjections, sender.counters(0).reinjections), (1, 0));
    // The next one: it gets help too, but the window was halved in this RTT.
    sender.handle_ack(12 * MILLISECOND, 1, &ack_all(26, 2, 10 * MILLISECOND));
    let sent = poll(&mut sender, 12 * MILLISECOND);
    assert_eq!((new(&sent), again(&sent)), (vec![(1, 41)], vec![(1, 2)]));
    assert_eq!(sender.group()[0].cwnd, before.0 / 2);
    sender.handle_ack(21 * MILLISECOND, 1, &ack_all(28, 3, 12 * MILLISECOND));
    assert_eq!(again(&poll(&mut sender, 21 * MILLISECOND)), [(1, 3)]);
    assert_eq!(sender.group()[0].cwnd, before.0 / 4, "an RTT later");
}

/// What a fast subflow has sent already, another fast one does not send too.
#[test]
fn one_helper_is_enough() {
    let mut sender = sender(Config { initial_window: 10, ..within(40, Blocked::Reinject) }, 3, 1000);
    assert_eq!(new(&poll(&mut sender, 0)).len(), 30);
    // RTTs of 20, 1 and 1 ms: segments 0 to 9 are on the first subflow.
    sender.handle_ack(MILLISECOND, 1, &ack_all(10, 0, 0));
    sender.handle_ack(MILLISECOND, 2, &ack_all(10, 0, 0));
    assert_eq!(new(&poll(&mut sender, MILLISECOND)).len(), 10, "up to the window's edge");
    sender.handle_ack(20 * MILLISECOND, 0, &ack_all(1, 1, 0));
    let sent = poll(&mut sender, 20 * MILLISECOND);
    assert_eq!((new(&sent).len(), again(&sent).len()), (1, 1), "{sent:?}");
}

/// Two pending packets of different subflows are two, but a sender that has told no more room waits for both.
#[test]
fn half_a_window_is_told_at_once() {
    let delayed = DelayedAck { every: 2, timer: 40 * MILLISECOND, quick: 0, quick_again: false };
    let on = |dsn| tresse_transport::Segment { dsn, ..data(0, 0) };
    for (segments, told) in [(None, false), (Some(2), true), (Some(3), false)] {
        let base = segments.map_or(config(), |segments| within(segments, Blocked::Wait));
        let config = Config { delayed_ack: delayed, ..base };
        let mut receiver = tresse_transport::tcp::Receiver::new(config, 3, 1_000_000);
        let first = receiver.handle_data(0, 0, &on(0), false);
        assert_eq!(first[1].is_some(), told, "{segments:?}");
        // Data that waited behind a gap counts when the gap is filled.
        receiver.handle_data(0, 1, &on(2), false);
        let filled = receiver.handle_data(0, 2, &on(1), false);
        assert_eq!(filled[1].map(|ack| ack.dsn), segments.map(|_| 3), "{segments:?}");
    }
}

/// A random transport, paths and losses, a buffer of 1 to 64 segments.
struct Case {
    pipe: Pipe,
    window: u32,
    blocked: Blocked,
}

impl Case {
    fn draw(number: u64) -> Self {
        let mut random = Stream::new(1, "receive buffer", number);
        let pick = |random: &mut Stream, n: u64| random.below(n) as usize;
        let window = [1, 2, 3, 8, 64][pick(&mut random, 5)];
        let blocked = [Blocked::Wait, Blocked::Reinject][pick(&mut random, 2)];
        let every = 1 + random.below(2) as u32;
        let subflows = 1 + random.below(4);
        let config = Config {
            initial_window: 1 + random.below(10) as u32,
            recovery: [Recovery::NewReno, Recovery::Sack, Recovery::Rack, Recovery::RenoOnce]
                [pick(&mut random, 4)],
            scheduler: [Scheduler::LowestRtt, Scheduler::RoundRobin, Scheduler::Linux][pick(&mut random, 3)],
            pacing: random.below(2) == 0,
            stale_after: [0, 2][pick(&mut random, 2)],
            gro: [Gro::OFF, Gro { segments: 44, interval: 50 * MICROSECOND }][pick(&mut random, 2)],
            delayed_ack: DelayedAck { every, timer: 40 * MILLISECOND, quick: 4, quick_again: false },
            ..within(window, blocked)
        };
        let links: Vec<Link> = (0..subflows)
            .map(|_| Link {
                delay: (10 << random.below(10)) * MICROSECOND,
                gap: (1 << random.below(8)) * MICROSECOND,
            })
            .collect();
        // In one case of three the first path fails for two seconds, or for good if others can take its data.
        let (from, length) = (random.below(20 * MILLISECOND), 2 * SECOND);
        let until = match number % 6 {
            0 => from + length,
            3 if subflows > 1 && config.stale_after > 0 => tresse_units::NEVER,
            3 => from + length,
            _ => from,
        };
        let lossy = random.below(2);
        let mut losses = random.clone();
        let mut ack_losses = random.clone();
        let fails = move |now: Time, subflow: usize| subflow == 0 && (from..until).contains(&now);
        let scheme = scheme(["reno", "lia", "xmp"][pick(&mut random, 3)]);
        let bytes = 1 + random.below(400 * u64::from(MSS));
        let pipe = Pipe::new(config, &scheme, &links, bytes)
            .data_fate(move |sent| match losses.below(50) {
                _ if fails(sent.now, sent.subflow) => Fate::Drop,
                0 if lossy > 0 => Fate::Drop,
                1 if lossy > 0 => Fate::Late(losses.below(5 * MILLISECOND)),
                2 => Fate::Mark,
                _ => Fate::Pass,
            })
            .ack_fate(move |_| if lossy * ack_losses.below(40) == 1 { Fate::Drop } else { Fate::Pass });
        Self { pipe, window: window as u32, blocked }
    }
}

/// No data is in flight or waits out of order beyond the window, at any step, and every message arrives: with windows of
/// one segment, losses in both directions, data that overtakes, and paths that fail.
#[test]
fn nothing_is_ever_beyond_the_window_and_everything_arrives() {
    let (mut full, mut reinjected) = (0, [0; 2]);
    for number in 0..600 {
        println!("case {number}");
        let Case { mut pipe, window, blocked } = Case::draw(number);
        pipe.transmit();
        let mut seen = 0;
        while !pipe.receiver.messages().complete() {
            let acked = pipe.sender.data_acked();
            // Data that was just sent, on top of all before it.
            for sent in &pipe.data[seen..] {
                assert!(sent.dsn < acked + window, "{} beyond {acked} with {window}", sent.dsn);
                full += u32::from(sent.dsn + 1 == acked + window);
            }
            seen = pipe.data.len();
            let messages = pipe.receiver.messages();
            assert!(acked <= messages.delivered(), "no ACK tells of data that has not arrived");
            let waiting = messages.arrived() - messages.delivered();
            assert!(waiting < window, "{waiting} wait for the first of {window}");
            assert!(pipe.step(), "nothing will happen any more");
            assert!(pipe.now < 3000 * SECOND, "not complete");
        }
        let counters = (0..pipe.sender.subflows()).map(|i| pipe.sender.counters(i).reinjections);
        reinjected[usize::from(blocked == Blocked::Reinject)] += counters.sum::<u64>();
    }
    assert!(full > 10_000, "the edge was reached {full} times");
    assert!(reinjected.iter().all(|&n| n > 100), "{reinjected:?}");
}

/// What was sent, when and where, and what was ACKed.
type Record = (Vec<(Time, usize, u32, u32)>, Vec<(Time, Ack)>, Vec<u32>);

#[test]
fn a_huge_buffer_is_none() {
    let run = |number: u64, buffer: Option<ReceiveBuffer>| -> Record {
        let mut random = Stream::new(2, "huge", number);
        let every = 1 + random.below(2) as u32;
        let config = Config {
            recovery: [Recovery::NewReno, Recovery::Sack, Recovery::Rack][random.below(3) as usize],
            scheduler: [Scheduler::LowestRtt, Scheduler::Linux][random.below(2) as usize],
            pacing: random.below(2) == 0,
            stale_after: random.below(2) as u32,
            delayed_ack: DelayedAck { every, timer: 40 * MILLISECOND, quick: 4, quick_again: false },
            receive_buffer: buffer,
            ..config()
        };
        let links: Vec<Link> = (0..1 + random.below(3))
            .map(|_| Link { delay: (10 << random.below(10)) * MICROSECOND, gap: 4 * MICROSECOND })
            .collect();
        let scheme = scheme(["reno", "lia", "xmp", "amp"][random.below(4) as usize]);
        let pipe =
            Pipe::new(config, &scheme, &links, 1 + random.below(2_000_000)).data_fate(move |_| match random
                .below(100)
            {
                0 => Fate::Drop,
                1 => Fate::Mark,
                _ => Fate::Pass,
            });
        let pipe = pipe.run(1000 * SECOND);
        let sent = pipe.data.iter().map(|s| (s.now, s.subflow, s.seq, s.dsn)).collect();
        (sent, pipe.acks, pipe.trace.iter().map(|s| s.cwnd).collect())
    };
    for number in 0..100 {
        let unlimited = run(number, None);
        for blocked in [Blocked::Wait, Blocked::Reinject] {
            let huge = run(number, Some(ReceiveBuffer { bytes: 1 << 40, rule: BufferRule::Fixed, blocked }));
            assert!(unlimited == huge, "case {number}, {blocked:?}");
        }
    }
}

/// A window that the buffer and not the subflow limits does not grow: it was not used.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let pipe = Pipe::single(within(20, Blocked::Wait), 5000).run(10 * SECOND);
    let most = pipe.trace.iter().map(|s| s.cwnd).max();
    assert!(most.is_some_and(|most| most <= 21), "{most:?}");
    assert!(pipe.states().iter().all(|&state| state == State::Open));
}
