//! The retransmission timeout (RFC 6298), seen through the sender's deadline.

use proptest::prelude::*;
use tresse_controllers::{SRTT_LEAST, SRTT_LIMIT};
use tresse_transport::{Config, Rto};
use tresse_units::{NEVER, Time};

use crate::pipe::{MICROSECOND, MILLISECOND, Pipe, SECOND, ack, config, poll, sender};

/// Feeds RTT samples, one ACK each. Returns the timeout after each of them.
fn timeouts(config: Config, samples: &[Time]) -> Vec<Time> {
    let mut sender = sender(config, 1, 1 << 20);
    let mut now = 0;
    (1..)
        .zip(samples)
        .map(|(seq, rtt)| {
            poll(&mut sender, now);
            now += rtt;
            sender.handle_ack(now, 0, &ack(seq, now - rtt, 0));
            sender.deadline(0) - now
        })
        .collect()
}

#[test]
fn the_timer_starts_with_its_initial_value_and_stops_when_all_is_acked() {
    let mut sender = sender(config(), 1, 2);
    assert_eq!(sender.deadline(0), NEVER);
    poll(&mut sender, 5 * MICROSECOND);
    assert_eq!(sender.deadline(0), SECOND + 5 * MICROSECOND);
    sender.handle_ack(MILLISECOND, 0, &ack(1, 0, 0));
    assert_eq!(sender.deadline(0), 201 * MILLISECOND);
    sender.handle_ack(2 * MILLISECOND, 0, &ack(2, 0, 0));
    assert_eq!(sender.deadline(0), NEVER);
}

/// RFC 6298 §2: SRTT = R and RTTVAR = R/2 at first, so RTO = 3R; then RTTVAR = 3/4 RTTVAR + 1/4
/// |SRTT - R| with the old SRTT, and SRTT = 7/8 SRTT + 1/8 R.
#[test]
fn the_timeout_is_srtt_and_four_variations() {
    let ms = |n: &[Time]| n.iter().map(|t| t * MILLISECOND).collect::<Vec<_>>();
    let measured = timeouts(config(), &ms(&[100, 100, 180]));
    // 100 + 4 x 50; 100 + 4 x 37.5; variation 28.125 + 20, SRTT 110.
    assert_eq!(measured, [300_000, 250_000, 302_500].map(|us| us * MICROSECOND));
}

/// Linux's floor is one of the variation (`tcp_rtt_estimator`, `__tcp_set_rto`): on a path of 200 ms, a delayed ACK is
/// not a loss.
#[test]
fn the_timeout_of_linux_is_srtt_and_at_least_the_floor() {
    let linux = Config { rto_rule: Rto::Linux, ..config() };
    let ms = |n: &[Time]| n.iter().map(|t| t * MILLISECOND).collect::<Vec<_>>();
    // 100 + 4 x 50; then 4 x 37.5 and less are below the floor.
    assert_eq!(timeouts(linux, &ms(&[100, 100, 100])), ms(&[300, 300, 300]));
    // 4 x 42.2 is below the floor on a longer path too.
    assert_eq!(timeouts(linux, &ms(&[200; 4]))[3], 400 * MILLISECOND);
    assert_eq!(timeouts(config(), &ms(&[200; 4]))[3], 368_750 * MICROSECOND);
}

#[test]
fn the_timeout_keeps_between_its_bounds() {
    assert_eq!(timeouts(config(), &[100 * MICROSECOND; 3]), [200 * MILLISECOND; 3]);
    assert_eq!(timeouts(config(), &[30 * SECOND; 2]), [60 * SECOND; 2]);
    let config = Config { rto_min: 10 * MILLISECOND, rto_max: 20 * MILLISECOND, ..config() };
    assert_eq!(
        timeouts(config, &[MILLISECOND, 5 * MILLISECOND, SECOND]),
        [10, 10, 20].map(|t| t * MILLISECOND)
    );
}

/// RFC 6298 §5.3: an ACK of new data restarts the timer, a duplicate does not.
#[test]
fn only_new_data_restarts_the_timer() {
    let mut sender = sender(config(), 1, 1000);
    poll(&mut sender, 0);
    sender.handle_ack(MILLISECOND, 0, &ack(1, 0, 0));
    poll(&mut sender, MILLISECOND);
    let deadline = sender.deadline(0);
    for n in 0..5 {
        sender.handle_ack((2 + n) * MILLISECOND, 0, &ack(1, 0, 0));
        poll(&mut sender, (2 + n) * MILLISECOND);
        assert_eq!(sender.deadline(0), deadline);
    }
    sender.handle_ack(10 * MILLISECOND, 0, &ack(2, 9 * MILLISECOND, 0));
    assert_eq!(sender.deadline(0), 210 * MILLISECOND);
}

/// What a controller sees: 1/8 us, 0 as long as there is no sample, never 0 after, and below the
/// bound of its arithmetic.
#[test]
fn controllers_see_eighths_of_microseconds() {
    for (rtt, eighths) in [
        (MILLISECOND, 8000),
        (434 * MICROSECOND, 3472),
        (125_000, SRTT_LEAST),
        (1, SRTT_LEAST),
        (SECOND, 8_000_000),
        (2 * SECOND, 16_000_000),
        (20 * SECOND, SRTT_LIMIT - 1),
    ] {
        let mut sender = sender(config(), 1, 1000);
        poll(&mut sender, 0);
        assert_eq!((sender.group()[0].srtt, sender.group()[0].min_rtt), (0, 0));
        sender.handle_ack(rtt, 0, &ack(1, 0, 0));
        assert_eq!((sender.group()[0].srtt, sender.group()[0].min_rtt), (eighths, eighths));
    }
}

/// Timestamps show which transmission was ACKed: a retransmission gives its own sample, not the time since
/// the first (RFC 7323 §4; Karn's algorithm is not needed).
#[test]
fn a_retransmission_gives_its_own_sample() {
    let pipe = Pipe::single(config(), 3).lose(&[(0, 1), (1, 1), (2, 1)]).run(10 * SECOND).settle(10 * SECOND);
    assert_eq!(pipe.timeouts(), [SECOND]);
    // 1001 us and 1002 us.
    assert!((8008..8017).contains(&pipe.sender.group()[0].srtt), "{}", pipe.sender.group()[0].srtt);
}

proptest! {
    /// RFC 6298 in real numbers; the integers may fall short by a few picoseconds a sample.
    #[test]
    fn any_samples_give_the_rfcs_timeout(samples in prop::collection::vec(1..5 * SECOND, 1..60)) {
        let (mut srtt, mut variation) = (0.0, 0.0);
        for (i, timeout) in timeouts(config(), &samples).into_iter().enumerate() {
            let rtt = samples[i] as f64;
            if i == 0 {
                (srtt, variation) = (rtt, rtt / 2.0);
            } else {
                variation = 0.75 * variation + 0.25 * f64::abs(srtt - rtt);
                srtt = 0.875 * srtt + 0.125 * rtt;
            }
            let expected = (srtt + 4.0 * variation).clamp(200.0 * MILLISECOND as f64, 60.0 * SECOND as f64);
            prop_assert!((timeout as f64 - expected).abs() < 200.0, "{} instead of {}", timeout, expected);
        }
    }
}
