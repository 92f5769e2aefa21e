//! Generic receive offload, and Linux's returns to quick-ACKs.

use proptest::prelude::*;
use tresse_transport::tcp::Receiver;
use tresse_transport::{Ack, Config, DelayedAck, Echo, Gro, Recovery, Segment};
use tresse_units::{NEVER, Time};

use crate::pipe::{MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, config, data};

const RULE: DelayedAck = DelayedAck { every: 2, timer: 40 * MILLISECOND, quick: 0, quick_again: false };
const GRO: Gro = Gro { segments: 44, interval: 50 * MICROSECOND };

fn with(gro: Gro) -> Config {
    Config { gro, delayed_ack: RULE, recovery: Recovery::Rack, ..config() }
}

/// A receiver, the time that it has reached, and (time, next expected segment, ECE) of its ACKs.
struct Host {
    receiver: Receiver,
    acks: Vec<(Time, u32, u8)>,
}

impl Host {
    fn new(config: Config) -> Self {
        Self { receiver: Receiver::new(config, 1, 1000 * u64::from(MSS)), acks: Vec::new() }
    }

    fn note(&mut self, now: Time, wires: impl IntoIterator<Item = Ack>) {
        self.acks.extend(wires.into_iter().map(|wire| (now / MICROSECOND, wire.seq, wire.ce)));
    }

    /// Lets its timers fire up to and including `now`.
    fn wait(&mut self, now: Time) {
        while self.receiver.deadline(0) <= now {
            let at = self.receiver.deadline(0);
            let ack = self.receiver.handle_timeout(0);
            self.note(at, ack);
        }
    }

    fn feed(&mut self, us: u64, wire: &Segment, ce: bool) {
        let now = us * MICROSECOND;
        self.wait(now);
        let acks = self.receiver.handle_data(now, 0, wire, ce);
        self.note(now, acks.into_iter().flatten());
    }
}

/// Packets every 12 us, as on 1 Gbit/s: the first is polled at once and waits for a second one; those of the
/// next 50 us get one ACK.
#[test]
fn a_burst_is_acked_once_a_poll() {
    let mut host = Host::new(with(GRO));
    for seq in 0..14 {
        host.feed(12 * u64::from(seq), &data(seq, 0), false);
    }
    assert_eq!(host.acks, [(50, 5, 0), (100, 9, 0), (150, 13, 0)]);
    // The last one is alone at its poll, at 200 us, and then waits for the timer.
    host.wait(SECOND);
    assert_eq!(host.acks[3..], [(40_200, 14, 0)]);
    assert_eq!(host.receiver.deadline(0), NEVER);
}

/// Packets that are less frequent than polls are not delayed.
#[test]
fn sparse_packets_are_not_delayed() {
    let mut host = Host::new(with(GRO));
    for seq in 0..6 {
        host.feed(50 * u64::from(seq), &data(seq, 0), false);
    }
    assert_eq!(host.acks, [(50, 2, 0), (150, 4, 0), (250, 6, 0)]);
}

#[test]
fn no_more_than_64_kb_are_merged() {
    let mut host = Host::new(with(Gro { segments: 3, ..GRO }));
    for seq in 0..8 {
        host.feed(u64::from(seq), &data(seq, 0), false);
    }
    assert_eq!(host.acks, [(3, 4, 0), (6, 7, 0)]);
}

/// A change of CE, a gap, a duplicate and the last segment end the merging.
#[test]
fn only_like_segments_in_a_row_are_merged() {
    let mut host = Host::new(Config { echo: Echo::Dctcp, ..with(GRO) });
    host.feed(0, &data(0, 0), false);
    for (us, seq, ce) in [(1, 1, false), (2, 2, true), (3, 3, true), (4, 4, false)] {
        host.feed(us, &data(seq, 0), ce);
    }
    assert_eq!(host.acks, [(2, 2, 0), (4, 4, 1)]);
    host.feed(5, &data(6, 0), false);
    host.feed(6, &data(7, 0), false);
    // 4 was marked differently from 3, which is ACKed at once; 6 and 7 are behind a gap and get one ACK.
    assert_eq!(host.acks[2..], [(5, 5, 0)]);
    host.feed(7, &data(5, 0), false);
    assert_eq!(host.acks[3..], [(7, 5, 0)]);
    host.feed(8, &Segment { last: true, ..data(8, 0) }, false);
    assert_eq!(host.acks[4..], [(8, 8, 0), (8, 9, 0)]);
}

#[test]
fn a_message_costs_fewer_acks() {
    let count = |gro| Pipe::single(with(gro), 2000).run(SECOND).settle(SECOND).acks.len();
    let (alone, merged) = (count(Gro::OFF), count(GRO));
    // At most one per poll, and two for the ends of each of some eight rounds.
    assert!(alone >= 1000, "{alone}");
    assert!(merged < alone / 4, "{merged} instead of {alone}");
}

/// A duplicate shows that the sender missed an ACK; a pause of more than `rto_min` shows that it may restart
/// with a small window.
#[test]
fn quick_acks_come_back() {
    let delayed_ack = DelayedAck { quick: 3, quick_again: true, ..RULE };
    let mut host = Host::new(Config { delayed_ack, ..with(Gro::OFF) });
    let acks = |host: &mut Host, us, seqs: std::ops::Range<u32>| {
        let before = host.acks.len();
        for seq in seqs {
            host.feed(us, &data(seq, 0), false);
        }
        host.acks[before..].iter().map(|a| a.1).collect::<Vec<_>>()
    };
    assert_eq!(acks(&mut host, 0, 0..7), [1, 2, 3, 5, 7]);
    assert_eq!(acks(&mut host, 200_000, 7..9), [9], "a pause of 200 ms");
    assert_eq!(acks(&mut host, 400_001, 9..16), [10, 11, 12, 14, 16], "and a picosecond more");
    assert_eq!(acks(&mut host, 400_002, 8..9), [16], "a duplicate");
    assert_eq!(acks(&mut host, 400_003, 16..22), [17, 18, 20, 22]);
}

proptest! {
    /// In order, without loss, with any times and marks: every segment is covered, no ACK is later than a
    /// poll and the timer, and with DCTCP's echo every segment's mark is reported correctly.
    #[test]
    fn merging_tells_every_mark(
        arrivals in prop::collection::vec((0..120u64, any::<bool>()), 1..200),
        segments in 1..45u32,
        interval in 0..100u64,
    ) {
        let gro = Gro { segments, interval: interval * MICROSECOND };
        let mut host = Host::new(Config { echo: Echo::Dctcp, ..with(gro) });
        let (mut us, mut times) = (0, Vec::new());
        for (seq, &(pause, ce)) in (0..).zip(&arrivals) {
            us += pause;
            times.push(us);
            host.feed(us, &data(seq, 0), ce);
        }
        host.wait(SECOND);
        let mut next = 0;
        for &(at, seq, ce) in &host.acks {
            for covered in next..seq {
                prop_assert_eq!(arrivals[covered as usize].1, ce == 1, "segment {}", covered);
                prop_assert!(at <= times[covered as usize] + interval + 40_000);
            }
            next = seq;
        }
        prop_assert_eq!(next as usize, arrivals.len());
    }
}
