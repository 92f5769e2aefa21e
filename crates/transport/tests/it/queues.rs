//! Linux's scheduler: data given to a subflow waits there, and goes to others only when it is taken back.

use std::collections::BTreeSet;

use tresse_transport::tcp::Sender;
use tresse_transport::{Ack, Config, Origin, Scheduler, Transmit};
use tresse_units::Time;

use crate::pipe::{
    Fate, Link, MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, ack, config, header, scheme, sender,
};

/// Segments in a burst of 64 kB.
const BURST: u32 = 45;

/// Segments given to a subflow with a send buffer of 128 kB: 57 fill it, with Linux's overhead in addition to the payload,
/// but the last ones come with their fragment of 32 kB, 23 segments.
const BUFFER: u32 = 45 + 23;

fn linux() -> Config {
    Config { initial_window: 4, scheduler: Scheduler::Linux, ..config() }
}

fn poll(sender: &mut Sender, now: Time) -> Vec<Transmit> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

/// The data sequence numbers of the packets of one origin that subflow `i` sends.
fn of(packets: &[Transmit], i: usize, origin: Origin) -> Vec<u32> {
    packets.iter().filter(|t| t.subflow == i && t.origin == origin).map(|t| header(t).dsn).collect()
}

/// ACKs all that `subflow` has in flight until nothing more comes. Returns what it has sent meanwhile.
fn drain(sender: &mut Sender, subflow: usize, now: Time) -> Vec<Transmit> {
    let mut sent = Vec::new();
    while sender.outstanding(subflow) > 0 {
        let next = u32::try_from(sender.counters(subflow).sent).expect("a short test");
        let wire = Ack { dsn: 0, ..ack(next, now - MILLISECOND, 0) };
        sender.handle_ack(now, subflow, &wire);
        sent.extend(poll(sender, now));
    }
    sent
}

#[test]
fn bursts_go_to_subflows_whose_windows_are_full() {
    let mut sender = sender(linux(), 2, 200);
    let sent = poll(&mut sender, 0);
    assert_eq!(of(&sent, 0, Origin::New), [0, 1, 2, 3], "the first burst is its own");
    assert_eq!(of(&sent, 1, Origin::New), [45, 46, 47, 48], "the second burst is the other's");
    assert_eq!((sent.len(), sender.sent()), (8, 8));

    // With every ACK it sends the data that it was given first, not the next data of all: the rest of its
    // burst, and what its buffer had room for when both had theirs.
    let sent = drain(&mut sender, 0, SECOND);
    let expected = (4..BURST).chain(2 * BURST..BURST + BUFFER);
    let first: Vec<u32> = expected.collect();
    assert_eq!(of(&sent, 0, Origin::New)[..first.len()], first);
    assert_eq!(of(&sent, 1, Origin::New), [0; 0], "its window is full");
}

/// Data given to one subflow before the other joined is sent only by that subflow.
#[test]
fn a_short_message_stays_on_the_first_subflow() {
    let mut sender = Sender::new(linux(), scheme("reno"), 1, u64::from(BUFFER * MSS));
    assert_eq!(poll(&mut sender, 0).len(), 4);
    assert_eq!(sender.open(3), 1);
    assert_eq!(poll(&mut sender, 0), [], "all of the message is the first one's");
    assert_eq!(drain(&mut sender, 0, SECOND).len() as u32, BUFFER - 4);
    assert_eq!(sender.counters(1).sent, 0);
}

/// The connection keeps data that has not arrived: beyond all send buffers nothing is given, and an
/// application that found them full continues when a third is free.
#[test]
fn a_missing_segment_holds_up_the_connection() {
    let mut sender = sender(linux(), 2, 5000);
    poll(&mut sender, 0);
    drain(&mut sender, 0, SECOND);
    // Nothing has arrived as far as the DATA_ACKs say, although subflow 0 is all ACKed.
    assert_eq!(sender.outstanding(0), 0);
    let sent = u32::try_from(sender.counters(0).sent).expect("a short test");
    let kept = sent + BUFFER;
    let arrived = |dsn| Ack { dsn, ..ack(sent, SECOND - MILLISECOND, 0) };
    let third = kept - kept / 3 * 2;
    sender.handle_ack(SECOND, 0, &arrived(third - 1));
    assert_eq!(poll(&mut sender, SECOND), []);
    sender.handle_ack(SECOND, 0, &arrived(third));
    assert_eq!(
        poll(&mut sender, SECOND).len() as u32,
        BURST,
        "then the other would be done first, and is full"
    );
}

/// A subflow's buffer is smaller than its window, and grows only if the application waits for room.
#[test]
fn a_message_that_fits_the_buffers_keeps_windows_small() {
    let config = Config { initial_window: 70, ..linux() };
    for (segments, in_flight) in [(80, BUFFER), (200, 70)] {
        let mut sender = sender(config, 1, segments);
        assert_eq!(poll(&mut sender, 0).len() as u32, in_flight, "of {segments} segments");
    }
}

/// It grows to two windows, in which a segment counts `send_segment`: with 1000 bytes they hold fewer segments than one.
#[test]
fn what_a_segment_counts_decides_how_far_a_buffer_grows() {
    for (send_segment, in_flight) in [(4352, 200..=200), (1000, 174..=196)] {
        let config = Config { initial_window: 200, send_segment, ..linux() };
        let mut sender = sender(config, 1, 5000);
        let sent = poll(&mut sender, 0).len();
        assert!(in_flight.contains(&sent), "{sent} with {send_segment} bytes");
    }
}

/// Linux's slow start after idle. A burst that waits is given to the subflow at once, and each segment of it halves the window.
#[test]
fn a_subflow_without_data_for_longer_than_its_timeout_starts_with_its_first_window() {
    let after = |pause: Time, segments| {
        let mut sender = sender(linux(), 1, 20);
        poll(&mut sender, 0);
        drain(&mut sender, 0, 10 * MILLISECOND);
        let before = sender.group()[0].cwnd;
        assert!(before > 10, "{before}");
        sender.append(segments * u64::from(MSS));
        (before, poll(&mut sender, 10 * MILLISECOND + pause).len() as u32)
    };
    let (window, sent) = after(150 * MILLISECOND, 100);
    assert_eq!(sent, window, "shorter than the least timeout, 200 ms");
    assert_eq!(after(250 * MILLISECOND, 100).1, 4, "the first window");
}

#[test]
fn a_closed_subflow_gives_back_what_it_has_not_sent() {
    let mut sender = sender(linux(), 2, 200);
    let mut sent = poll(&mut sender, 0);
    sender.close(1);
    sent.extend(poll(&mut sender, 0));
    sent.extend(drain(&mut sender, 0, SECOND));
    assert_eq!(of(&sent, 0, Origin::Reinjected), [45, 46, 47, 48], "they were in flight");
    let new: Vec<u32> = sent.iter().filter(|t| t.origin == Origin::New).map(|t| header(t).dsn).collect();
    assert_eq!(new.iter().copied().collect::<BTreeSet<_>>(), (0..200).collect());
    assert_eq!((new.len(), sender.sent()), (200, 200), "each once");
}

/// A path manager's backup keeps nothing; without another subflow it gets the data again.
#[test]
fn what_is_taken_back_comes_again_where_there_is_no_other() {
    let mut sender = sender(linux(), 1, 100);
    poll(&mut sender, 0);
    sender.set_takes_data(0, false);
    sender.reinject(0);
    assert_eq!(drain(&mut sender, 0, SECOND), [], "it waits");
    sender.set_takes_data(0, true);
    let mut sent = poll(&mut sender, SECOND);
    sent.extend(drain(&mut sender, 0, SECOND + MILLISECOND));
    assert_eq!(of(&sent, 0, Origin::New), (4..100).collect::<Vec<_>>());
}

/// Two pipes, one ten times as fast, both with losses: all arrives, and the fast one carries most.
#[test]
fn both_subflows_carry_data_and_losses_are_repaired() {
    let link = |delay, gap| Link { delay, gap };
    let links = [link(MILLISECOND, 100 * MICROSECOND), link(MILLISECOND, 10 * MICROSECOND)];
    let pipe = Pipe::new(linux(), &scheme("reno"), &links, 4000 * u64::from(MSS))
        .data_fate(|s| if s.seq % 97 == 13 && s.attempt == 1 { Fate::Drop } else { Fate::Pass })
        .run(20 * SECOND);
    let (slow, fast) = (pipe.sender.counters(0), pipe.sender.counters(1));
    assert_eq!(slow.sent + fast.sent, 4000);
    assert!(slow.sent > 100 && fast.sent > slow.sent, "{} and {}", slow.sent, fast.sent);
    assert!(slow.retransmissions > 0 && fast.retransmissions > 0);
}
