//! Pacing and the size of bursts: Linux's `tcp_update_pacing_rate`, `tcp_tso_autosize` and
//! `tcp_update_skb_after_send`, worked out by hand.

use tresse_transport::Config;
use tresse_transport::tcp::Sender;
use tresse_units::{NEVER, Time};

use crate::pipe::{MICROSECOND, MILLISECOND, MSS, Pipe, SECOND, ack, config, poll, sender};

fn paced(initial_window: u32, tso: u32) -> Config {
    Config { initial_window, tso, pacing: true, ..config() }
}

/// Runs the sender at its deadlines until it waits for an ACK. Returns (time, segments) of each burst.
fn bursts(sender: &mut Sender, mut now: Time) -> Vec<(Time, usize)> {
    let mut bursts = Vec::new();
    loop {
        match poll(sender, now).len() {
            0 => return bursts,
            n => bursts.push((now, n)),
        }
        if sender.deadline(0) > now + 100 * MILLISECOND {
            return bursts; // the retransmission timer
        }
        now = sender.deadline(0);
        sender.handle_timeout(now, 0);
    }
}

/// A window of `n` leaves at once, before there is an RTT; then one ACK for all of it after `rtt`
/// doubles the window.
fn second_round(config: Config, rtt: Time) -> (Sender, Vec<(Time, usize)>) {
    let n = config.initial_window;
    let mut sender = sender(config, 1, 10_000);
    assert_eq!(bursts(&mut sender, 0), [(0, n as usize)]);
    sender.handle_ack(rtt, 0, &ack(n, 0, 0));
    assert_eq!(sender.group()[0].cwnd, 2 * n);
    let bursts = bursts(&mut sender, rtt);
    (sender, bursts)
}

/// 40 packets in half a round trip of 1 ms: one every 12.5 us. The pause before is forgiven, up to half
/// of the first interval.
#[test]
fn departures_are_evenly_spaced() {
    let (_, bursts) = second_round(paced(20, 1), MILLISECOND);
    assert_eq!(bursts.len(), 40);
    assert!(bursts.iter().all(|b| b.1 == 1));
    let gaps: Vec<_> = bursts.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert_eq!(gaps[0], 6_250_000);
    assert!(gaps[1..].iter().all(|&gap| gap == 12_500_000), "{gaps:?}");
}

/// In congestion avoidance 120 %: a mark halves 20 to 10; from the next round on, a packet every
/// srtt / 12.
#[test]
fn congestion_avoidance_is_paced_a_fifth_faster_than_the_window() {
    let mut sender = sender(paced(20, 1), 1, 10_000);
    assert_eq!(poll(&mut sender, 0).len(), 20);
    sender.handle_ack(MILLISECOND, 0, &ack(20, 0, 1));
    assert_eq!((sender.group()[0].cwnd, sender.group()[0].ssthresh), (10, 10));
    // The first round has no growth yet: nothing was sent in this state.
    let sent = bursts(&mut sender, MILLISECOND);
    assert_eq!(sent.len(), 10);
    let gap = sent[2].0 - sent[1].0;
    assert_eq!(gap, MILLISECOND * 10 / 120);
}

/// A burst is the amount that the rate carries in 1/1024 s, plus 64 kB halved for every 512 us of the RTT; at
/// most 64 kB and half the window, at least two segments.
#[test]
fn bursts_follow_the_rate_and_the_distance() {
    let size = |initial_window, rtt| second_round(paced(initial_window, 100), rtt).1[0].1 as u32;
    // Near: 64 kB, 44 segments, unless half the window is less.
    assert_eq!(size(20, 100 * MICROSECOND), 20);
    assert_eq!(size(60, 100 * MICROSECOND), 65_536 / MSS);
    // 7 halvings, 512 B; 24 packets in 4 ms at 200 %: 17.52 MB/s, 17109 B in 1/1024 s: 11.7 and 0.35.
    assert_eq!(size(12, 4 * MILLISECOND), 12);
    assert_eq!(size(12, 4096 * MICROSECOND), 11);
    // Far: 5.84 MB/s and 1.17 MB/s.
    assert_eq!(size(20, 20 * MILLISECOND), 5_840_000 / 1024 / MSS);
    assert_eq!(size(20, 100 * MILLISECOND), 2);
    assert_eq!(second_round(paced(20, 7), MILLISECOND).1[0].1, 7);
}

/// The bursts of a round are as far apart as they are long.
#[test]
fn bursts_keep_the_rate() {
    let (_, bursts) = second_round(paced(20, 4), MILLISECOND);
    assert_eq!(bursts.iter().map(|b| b.1).collect::<Vec<_>>(), [4; 10]);
    assert!(bursts[1..].windows(2).all(|w| w[1].0 - w[0].0 == 50 * MICROSECOND), "{bursts:?}");
}

/// With pacing, the window is full at few ACKs; it still grows, and the message takes about as long.
#[test]
fn pacing_does_not_keep_the_window_small() {
    let time = |pacing| {
        let pipe = Pipe::single(Config { pacing, ..config() }, 3000).run(SECOND).settle(SECOND);
        assert_eq!((pipe.receiver.duplicates(), pipe.sender.deadline(0)), (0, NEVER));
        (pipe.now, pipe.sender.group()[0].cwnd)
    };
    let ((free, window), (paced, paced_window)) = (time(false), time(true));
    assert!(paced < free * 3 / 2, "{paced} ps instead of {free}");
    assert!(paced_window > window / 2, "{paced_window} instead of {window}");
}

/// A retransmission after a timeout and a probe do not wait for the pacing.
#[test]
fn a_timeout_is_not_paced() {
    let pipe = Pipe::single(paced(10, 1), 12).lose(&[(11, 1)]).run(SECOND);
    assert_eq!(pipe.retransmissions(), [(pipe.timeouts()[0], 11)]);
}
