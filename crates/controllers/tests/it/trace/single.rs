//! Controllers that look at their own subflow only, and the events themselves.

use super::{assert_trace, assert_trace_with};

/// It is counted, it ends rounds and reductions, and its mark cuts; but the window does not rise.
#[test]
fn an_ack_while_the_application_is_the_limit() {
    assert_trace(
        "bos",
        10,
        &[
            ("ack 10 limited=no", "ack 0 10 - open"),
            ("ack 11", "ack 0 21 - open"),
            ("ack 1 marked=1 limited=no", "mark 0 21 21 cwr"),
            ("ack 21 limited=no", "ack 0 21 21 open"),
            // A round ends, and what it has earned comes with the next ACK that may raise the window,
            ("ack 21 limited=no", "ack 0 21 21 open"),
            ("ack 1", "ack 0 22 21 open"),
            ("ack 22 limited=no", "ack 0 22 21 open"),
            // unless the window was restarted since.
            ("window 10", "window 0 10 21 open"),
            ("ack 1", "ack 0 11 21 open"),
        ],
    );
}

#[test]
fn reno_by_hand() {
    assert_trace(
        "reno",
        4,
        &[
            // Slow start: 4 + 4.
            ("ack 4", "ack 0 8 - open"),
            // 8/2; the reduction lasts for the 8 packets of the window that was cut.
            ("loss", "loss 0 4 4 recovery"),
            ("ack 4", "ack 0 4 4 recovery"),
            // The last 4 of the 8. They count: 4 * 1/4 = 1, and a quarter is exact in binary.
            ("ack 4", "ack 0 5 4 open"),
            // 6 * 1/5 = 1.2: one packet, 0.2 is kept.
            ("ack 6", "ack 0 6 4 open"),
            // 0.2 + 5 * 1/6 = 1.033.
            ("ack 5", "ack 0 7 4 open"),
            // Half of 7 is 3 whole packets; a timeout leaves 1 of them.
            ("timeout", "timeout 0 1 3 loss"),
            // Slow start up to 3.
            ("ack 1", "ack 0 2 3 loss"),
            ("ack 1", "ack 0 3 3 loss"),
            // 1/3 of a packet.
            ("ack 1", "ack 0 3 3 loss"),
            // 1/3 + 3 * 1/3 = 1.33.
            ("ack 3", "ack 0 4 3 loss"),
            // The last of the 7 packets that were outstanding.
            ("ack 1", "ack 0 4 3 open"),
            // Half of 4 is the floor, and stays there.
            ("loss", "loss 0 2 2 recovery"),
        ],
    );
}

#[test]
fn events_from_outside_by_hand() {
    assert_trace(
        "reno",
        10,
        &[
            ("window 20 ssthresh=8", "window 0 20 8 open"),
            ("ack 20", "ack 0 21 8 open"),
            ("local", "local 0 10 10 cwr"),
            ("local", "local 0 10 10 cwr"), // a window is cut once
            ("window 6", "window 0 6 10 open"),
            ("ack 1", "ack 0 7 10 open"),           // the reduction is over
            ("next_hop 1", "next_hop 0 7 10 open"), // Reno does not ask
        ],
    );
}

#[test]
fn dctcp_by_hand() {
    assert_trace(
        "dctcp",
        10,
        &[
            // Slow start. alpha = 1.
            ("ack 10", "ack 0 20 - open"),
            // A round begins; the one before had no marks: alpha = 15/16 = 0.9375.
            // The cut: 20 * 0.9375/2 = 9.375, 9 whole packets.
            ("ack 21 marked=5", "mark 0 11 11 cwr"),
            // The marked round: F = 5/21; alpha = 0.9375 * 15/16 + 0.2381/16 = 0.89379.
            // The 20 packets of the reduction are ACKed; 21/11 = 1.909.
            ("ack 21", "ack 0 12 11 open"),
            // F = 0: alpha = 0.89379 * 15/16 = 0.83793. 12 * 0.83793/2 = 5.03: 5.
            ("ack 13 marked=12", "mark 0 7 7 cwr"),
            // F = 12/13: alpha = 0.83793 * 15/16 + 0.92308/16 = 0.84325. 13/7 = 1.857.
            ("ack 13", "ack 0 8 7 open"),
            // F = 0: alpha = 0.84325 * 15/16 = 0.79055. 8 * 0.79055/2 = 3.16: 3.
            ("ack 9 marked=1", "mark 0 5 5 cwr"),
            // A loss in the reduction: half of the 8 packets before it, for a window is cut once.
            ("loss", "loss 0 4 4 recovery"),
            // 9 packets: the 8 of the reduction are over. 9/4 = 2.25.
            ("ack 9", "ack 0 6 4 open"),
            // A loss halves, whatever alpha is.
            ("loss", "loss 0 3 3 recovery"),
        ],
    );
}

/// RFC 8257 §3.5: a loss, or a timeout, in the round after a mark's small cut leaves what it would have left alone.
#[test]
fn a_loss_in_the_window_of_a_mark_is_answered() {
    for (event, after) in [("loss", "loss 0 50 50 recovery"), ("timeout", "timeout 0 1 50 loss")] {
        assert_trace_with(
            "dctcp",
            &[("alpha_start", 10)],
            10,
            &[
                ("window 100 ssthresh=50", "window 0 100 50 open"),
                ("ack 1 rtt=100us", "ack 0 100 50 open"),
                // alpha = 10/1024: 100 * 0.0049 is no packet.
                ("ack 1 marked=1", "mark 0 100 100 cwr"),
                (event, after),
            ],
        );
    }
    // What halved already is not cut again.
    let halves = [("window 100 ssthresh=50", "window 0 100 50 open"), ("ack 1 marked=1", "mark 0 50 50 cwr")];
    assert_trace("dctcp", 10, &[&halves[..], &[("loss", "loss 0 50 50 recovery")]].concat());
    assert_trace("dctcp", 10, &[&halves[..], &[("timeout", "timeout 0 1 50 loss")]].concat());
}

/// A timeout in a fast recovery does not cut the window a second time (Linux's `tcp_enter_loss`), until something that
/// was sent after the loss is ACKed; a second timeout in a row does not either.
#[test]
fn a_timeout_after_a_loss_does_not_cut_again() {
    for (name, cut) in [("cubic", 70), ("reno", 50), ("lia", 50), ("olia", 50), ("dctcp", 50), ("xmp", 50)] {
        let loss = format!("loss 0 {cut} {cut} recovery");
        let timeout = format!("timeout 0 1 {cut} loss");
        assert_trace(
            name,
            10,
            &[
                ("window 100 ssthresh=50", "window 0 100 50 open"),
                ("loss", &loss),
                ("timeout", &timeout),
                ("timeout", &timeout),
            ],
        );
    }
    assert_trace(
        "reno",
        10,
        &[
            ("window 100 ssthresh=50", "window 0 100 50 open"),
            ("timeout", "timeout 0 1 50 loss"),
            // The timer fires again after progress: that is a loss of its own, of a window of 2, the floor.
            ("ack 1", "ack 0 2 50 loss"),
            ("timeout", "timeout 0 1 2 loss"),
        ],
    );
}

/// Linux's `tcp_undo_cwnd_reduction`: the window before, and three quarters of it as the threshold.
#[test]
fn what_was_no_loss_is_undone() {
    assert_trace(
        "reno",
        10,
        &[
            ("window 40 ssthresh=20", "window 0 40 20 open"),
            ("undo", "undo 0 40 20 open"),
            ("loss", "loss 0 20 20 recovery"),
            ("undo", "undo 0 40 30 open"),
            ("timeout", "timeout 0 1 20 loss"),
            ("undo", "undo 0 40 30 open"),
            // A cut for a mark is no mistake.
            ("ack 1 marked=1", "mark 0 20 20 cwr"),
            ("undo", "undo 0 20 20 cwr"),
        ],
    );
}

#[test]
fn bos_by_hand() {
    assert_trace(
        "bos",
        10,
        &[
            // Slow start; a mark only ends it.
            ("ack 10", "ack 0 20 - open"),
            ("ack 21 marked=1", "mark 0 20 20 cwr"),
            // The ACK that ends the round ends the reduction first: a packet a round.
            ("ack 21", "ack 0 21 20 open"),
            ("ack 21", "ack 0 22 20 open"),
            ("ack 22", "ack 0 23 20 open"),
            // 23/4 = 5 whole packets less.
            ("ack 23 marked=1", "mark 0 18 18 cwr"),
            // Half of 23; of 11.
            ("loss", "loss 0 11 11 recovery"),
            ("ack 23", "ack 0 11 11 open"),
            ("timeout", "timeout 0 1 5 loss"),
        ],
    );
}

#[test]
fn cubic_by_hand() {
    assert_trace(
        "cubic",
        100,
        &[
            // 0.7 * 100. W_max = 100, K = cbrt(30/0.4) = 4.217 s.
            ("loss", "loss 0 70 70 recovery"),
            // The stage begins at W = W_est = 70; W_est += 0.529 * 100/70 = 0.756. W(0) = 70 is less.
            ("ack 100 rtt=100us", "ack 0 70 70 open"),
            // Half a window takes half an RTT. At t = K, W = 100, and W(t + T) for a smoothed RTT of 1.05 s
            // is 100.47: 35/70 of 100.47 - 70.756 is 14.9.
            ("ack 35 rtt=8434ms", "ack 0 85 70 open"),
            // W_max = 85: 59 are left, less than 59.5.
            ("ack 1 marked=1 rtt=100us", "mark 0 59 59 cwr"),
            // A loss there asks for no more than the mark did: a window is cut once, and W_max is as it was.
            ("loss", "loss 0 59 59 recovery"),
            // Below the last W_max, so the next is 59 * 0.85 = 50.15; 41 are left.
            ("ack 85 rtt=100us", "ack 0 59 59 open"),
            ("loss", "loss 0 41 41 recovery"),
            ("ack 59 rtt=100us", "ack 0 41 41 open"),
            // K = cbrt(9.15/0.4) = 2.838 s: at 3.338 s W = 50.15 + 0.05 = 50.20, and a smoothed RTT of 1.04 s
            // later 51.6; 41/41 of the way from 41.76 (W_est after 59 packets).
            ("ack 41 rtt=3338ms", "ack 0 51 41 open"),
        ],
    );
}

#[test]
fn odctcp_by_hand() {
    assert_trace(
        "odctcp",
        10,
        &[
            ("ack 10", "ack 0 20 - open"),
            // Slow start: alpha = 0, nothing is cut, but it ends.
            ("ack 21 marked=5", "mark 0 20 20 cwr"),
            // The marked round: alpha = 5/21 = 0.238; 21 * 0.762/20 = 0.8.
            ("ack 21", "ack 0 20 20 open"),
            // alpha = 0: 21/20 more make 1.85. The mark is ignored.
            ("ack 21 marked=15", "ack 0 21 20 open"),
            // alpha = 15/21 = 0.714: 21 * 0.357 = 7.5, 7 whole packets less.
            ("ack 22 marked=1", "mark 0 14 14 cwr"),
            ("ack 22", "ack 0 15 14 open"),
        ],
    );
}

#[test]
fn wvegas_by_hand() {
    assert_trace(
        "wvegas",
        20,
        &[
            // Three samples of 100 us; then a round begins: no queue, slow start.
            ("ack 5 rtt=100us", "ack 0 25 - open"),
            ("ack 5 rtt=100us", "ack 0 30 - open"),
            ("ack 11 rtt=100us", "ack 0 41 - open"),
            // (125 + 125 + 128)/3 = 126 us: 45 * 26/126 = 9 packets queue. 45 * 100/126 + 1 = 36.
            ("ack 2 rtt=125us", "ack 0 43 - open"),
            ("ack 2 rtt=125us", "ack 0 45 - open"),
            ("ack 50 rtt=128us", "ack 0 36 - open"),
            // 120 us: 36 * 20/120 = 6 packets, more than 2: alpha = 10 for a single subflow. One more.
            ("ack 2 rtt=120us", "ack 0 36 - open"),
            ("ack 2 rtt=120us", "ack 0 36 - open"),
            ("ack 17 rtt=120us", "ack 0 37 - open"),
            // 150 us: 37 * 50/150 = 12: one less; and 50 us are more than twice 20: 36 * 100/300 = 12.
            ("ack 2 rtt=150us", "ack 0 37 - open"),
            ("ack 2 rtt=150us", "ack 0 37 - open"),
            ("ack 32 rtt=150us", "ack 0 12 - open"),
            // Slow start ended at 36, and 36 again is less than 37: up to 35 it is slow start once more.
            ("ack 2 rtt=100us", "ack 0 14 - open"),
            ("ack 2 rtt=100us", "ack 0 16 - open"),
            ("ack 33 rtt=100us", "ack 0 35 - open"),
            ("loss", "loss 0 17 17 recovery"),
            // Nothing has been ACKed since: the window is cut once.
            ("timeout", "timeout 0 1 17 loss"),
        ],
    );
}
