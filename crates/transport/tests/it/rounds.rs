//! The mean window is over rounds: each counts once, with the window under which it was sent.

use tresse_transport::Config;

use crate::pipe::{Pipe, SECOND, config};

/// Rounds, and the sum of their windows, after `segments` with these initial window and losses.
fn rounds(initial_window: u32, segments: u32, lost: &[(u32, u32)]) -> (u64, u64) {
    let pipe = Pipe::single(Config { initial_window, ..config() }, segments).lose(lost).run(10 * SECOND);
    let counters = pipe.settle(20 * SECOND).sender.counters(0);
    (counters.rounds, counters.windows)
}

/// Without losses slow start sends w, 2w, 4w ... in a round. Of 20 segments the last round has 5; three ACKs
/// release them, and the window, which is no longer the limit, stays at 8 + 3.
#[test]
fn slow_start_doubles_the_window_each_round() {
    assert_eq!(rounds(1, 1, &[]), (1, 1));
    assert_eq!(rounds(1, 31, &[]), (5, 1 + 2 + 4 + 8 + 16));
    assert_eq!(rounds(1, 20, &[]), (5, 1 + 2 + 4 + 8 + 11));
    assert_eq!(rounds(10, 70, &[]), (3, 10 + 20 + 40));
}

/// The whole second round is lost: 200 ms pass without a round, and the next one has the timeout's window.
#[test]
fn a_timeout_adds_no_rounds_but_a_round_of_one() {
    let lost: Vec<_> = (10..30).map(|seq| (seq, 1)).collect();
    assert_eq!(rounds(10, 30, &lost), (2, 10 + 1));
}
