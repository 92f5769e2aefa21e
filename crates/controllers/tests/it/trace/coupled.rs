//! Controllers that look at their siblings.

use super::assert_trace;

#[test]
fn lia_by_hand() {
    assert_trace(
        "lia",
        16,
        &[
            ("subflows 2", ""),
            // Slow start is each subflow's own.
            ("ack 16 rtt=1ms subflow=1", "ack 1 32 - open"),
            ("loss subflow=1", "loss 1 16 16 recovery"),
            ("loss", "loss 0 8 8 recovery"),
            ("ack 15 rtt=100us", "ack 0 8 8 recovery"),
            ("ack 31 subflow=1", "ack 1 16 16 recovery"),
            // In units of 100 us: w/T^2 = 8 and 16/100; sum of w/T = 8 + 16/10 = 9.6.
            // 8/9.6^2 = 0.08681 a packet, less than 1/8.
            ("ack 1", "ack 0 8 8 open"),
            // 12 * 0.08681 = 1.0417.
            ("ack 11", "ack 0 9 8 open"),
            // w/T^2 = 9 and 16/100; sum = 9 + 1.6 = 10.6: 9/10.6^2 = 0.0801, but a TCP on the
            // longer path would take 1/16 = 0.0625: so does this subflow.
            ("ack 1 subflow=1", "ack 1 16 16 open"),
            // 15/16, and not yet 1.2.
            ("ack 14 subflow=1", "ack 1 16 16 open"),
            // 17/16.
            ("ack 2 subflow=1", "ack 1 17 16 open"),
            // sum = 9 + 1.7 = 10.7: 9/10.7^2 = 0.07861. 0.0417 + 12 * 0.07861 = 0.985.
            ("ack 12", "ack 0 9 8 open"),
            ("ack 1", "ack 0 10 8 open"),
            // Marks and losses are answered alike.
            ("ack 1 marked=1", "mark 0 5 5 cwr"),
        ],
    );
}

#[test]
fn xmp_by_hand() {
    assert_trace(
        "xmp",
        10,
        &[
            ("subflows 2", ""),
            // Slow start.
            ("ack 10", "ack 0 20 - open"),
            // A mark in slow start: the window stays, slow start ends.
            ("ack 21 marked=1", "mark 0 20 20 cwr"),
            // The ACK that ends the round ends the reduction first. The sibling has told no rate yet:
            // delta = 20/20 = 1; then 21/21.
            ("ack 21", "ack 0 21 20 open"),
            ("ack 21", "ack 0 22 20 open"),
            ("ack 11 marked=1 subflow=1", "mark 1 10 10 cwr"),
            // The sibling's last round had 21 packets: delta = 10/31; three times 0.323 is no packet.
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            // delta = 22/32 = 0.6875; twice that is 1.375.
            ("ack 22", "ack 0 22 20 open"),
            ("ack 22", "ack 0 23 20 open"),
            // delta = 10/32: 0.968 + 0.3125 = 1.280; then 11/33: 0.614.
            ("ack 11 subflow=1", "ack 1 11 10 open"),
            ("ack 11 subflow=1", "ack 1 11 10 open"),
            // A mark: 23/4 = 5 whole packets less; the round's delta is dropped.
            ("ack 23 marked=2", "mark 0 18 18 cwr"),
            // The reduction is over, and its round counts: delta = 18/(18 + 11) = 0.6207.
            // 0.375 + 0.621 = 0.996; then 1.616; then 0.616 + 19/30 = 1.250.
            ("ack 23", "ack 0 18 18 open"),
            ("ack 18", "ack 0 19 18 open"),
            ("ack 18", "ack 0 20 18 open"),
            // Half of 11.
            ("loss subflow=1", "loss 1 5 5 recovery"),
            ("timeout", "timeout 0 1 10 loss"),
        ],
    );
}

#[test]
fn olia_by_hand() {
    assert_trace(
        "olia",
        16,
        &[
            ("subflows 2", ""),
            // Slow start is each subflow's own. The RTTs are equal: T = 1.
            ("ack 16 rtt=100us", "ack 0 32 - open"),
            ("loss subflow=1", "loss 1 8 8 recovery"),
            ("loss", "loss 0 16 16 recovery"),
            ("ack 31", "ack 0 16 16 recovery"),
            ("ack 15 rtt=100us subflow=1", "ack 1 8 8 recovery"),
            // l = 32 and 15, w = 16 and 8: the best path has the largest window, so alpha = 0.
            // 16/24^2 = 0.0278.
            ("ack 1", "ack 0 16 16 open"),
            // l = 40 and is the best now: alpha = 1/2. 8/24^2 + 1/2/8 = 0.0764; 25 of them: 1.91.
            ("ack 25 subflow=1", "ack 1 9 8 open"),
            // alpha = -1/2: 16/25^2 - 1/2/16 = -0.00565; of 0.0278, 0.0221 is left.
            ("ack 1", "ack 0 16 16 open"),
            // Five of them, -0.0283: 15.9939.
            ("ack 5", "ack 0 15 16 open"),
            // No slow start. l = 39: 15/24^2 - 1/2/15 = -0.0073: 15.9866.
            ("ack 1", "ack 0 15 16 open"),
            // l = 40 and 40, both best; B without M is still the other: 15.9793.
            ("ack 1", "ack 0 15 16 open"),
            // l = 41: alpha = 0, and 15/24^2 = 0.0260 makes 16.0053.
            ("ack 1", "ack 0 16 16 open"),
            // Half of 9. Nothing has been ACKed when the timer fires: the window is cut once. Slow start again.
            ("loss subflow=1", "loss 1 4 4 recovery"),
            ("timeout subflow=1", "timeout 1 1 4 loss"),
            ("ack 1 subflow=1", "ack 1 2 4 loss"),
        ],
    );
}

#[test]
fn balia_by_hand() {
    assert_trace(
        "balia",
        16,
        &[
            ("subflows 2", ""),
            ("ack 16 rtt=100us", "ack 0 32 - open"),
            // Nothing is known of its RTT: a = 1, half.
            ("loss subflow=1", "loss 1 8 8 recovery"),
            ("ack 15 rtt=100us subflow=1", "ack 1 8 8 recovery"),
            // The best path: half.
            ("loss", "loss 0 16 16 recovery"),
            // a = 1: 16/24^2 = 0.0278; 32 of them: 0.889; and 5 more: 1.028.
            ("ack 32", "ack 0 16 16 open"),
            ("ack 5", "ack 0 17 16 open"),
            // a = 17/8: 8/25^2 (1 + a)/2 (4 + a)/5 = 0.0128 * 1.914 = 0.0245; 42 of them: 1.029.
            ("ack 1 subflow=1", "ack 1 8 8 open"),
            ("ack 41 subflow=1", "ack 1 9 8 open"),
            // a = 17/9, more than 3/2: 9 - 6.75, rounded down.
            ("loss subflow=1", "loss 1 2 2 recovery"),
            // 17 - 8.5, rounded down.
            ("loss", "loss 0 8 8 recovery"),
            // 8/10^2 = 0.08; 17 of them: 1.36.
            ("ack 17", "ack 0 9 8 open"),
            // A quarter of 2 is no packet: the floor is 1.
            ("window 2 ssthresh=2 subflow=1", "window 1 2 2 open"),
            ("timeout subflow=1", "timeout 1 1 1 loss"),
            // a = 9: 1/10^2 * 10/2 * 13/5 = 0.13; 8 of them: 1.04.
            ("ack 1 subflow=1", "ack 1 1 1 loss"),
            ("ack 7 subflow=1", "ack 1 2 1 open"),
        ],
    );
}

#[test]
fn dcm_by_hand() {
    assert_trace(
        "dcm",
        10,
        &[
            ("subflows 2", ""),
            // As DCTCP: slow start; the round without marks leaves alpha = 15/16, and
            // 20 * 0.9375/2 = 9.375.
            ("ack 10 rtt=100us", "ack 0 20 - open"),
            ("ack 21 marked=5", "mark 0 11 11 cwr"),
            // Nothing was observed there: alpha = 1.
            ("ack 11 rtt=100us marked=1 subflow=1", "mark 1 5 5 cwr"),
            // alpha = 0.9375 * 15/16 + 5/21/16 = 0.89379. As LIA: 11/16^2 = 0.0430; 21 of them: 0.902.
            ("ack 21", "ack 0 11 11 open"),
            // alpha = 0.83793. 12 more: 0.902 + 0.516 = 1.418.
            ("ack 12", "ack 0 12 11 open"),
            // alpha = 0.78556: 12 * 0.78556/2 = 4.71, 4 whole packets.
            ("ack 13 marked=12", "mark 0 8 8 cwr"),
            // A loss in the reduction: a window is cut once.
            ("loss subflow=1", "loss 1 5 5 recovery"),
            // 8/13^2 = 0.0473; 11 of them: 0.52.
            ("ack 11 subflow=1", "ack 1 5 5 open"),
            ("loss subflow=1", "loss 1 2 2 recovery"),
            // The floor is 1.
            ("window 2 ssthresh=2 subflow=1", "window 1 2 2 open"),
            ("timeout subflow=1", "timeout 1 1 1 loss"),
            // 8/9^2 = 0.0988; 11 of them: 1.086.
            ("ack 1 subflow=1", "ack 1 1 1 loss"),
            ("ack 10 subflow=1", "ack 1 2 1 open"),
            // Less than half of 2 is no whole packet.
            ("ack 3 marked=1 subflow=1", "mark 1 2 2 cwr"),
        ],
    );
}

#[test]
fn vmcc_by_hand() {
    assert_trace(
        "vmcc",
        10,
        &[
            ("subflows 2", ""),
            // As DCM; alpha = 15/16, and 20 * 0.9375/2 = 9.375.
            ("ack 10 rtt=100us", "ack 0 20 - open"),
            ("ack 21 marked=5", "mark 0 11 11 cwr"),
            // Nothing was observed there: alpha = 1.
            ("ack 11 rtt=100us marked=1 subflow=1", "mark 1 5 5 cwr"),
            ("loss subflow=1", "loss 1 5 5 recovery"),
            // 11/16^2 = 0.0430; 21 of them: 0.902; 12 more: 1.418.
            ("ack 21", "ack 0 11 11 open"),
            ("ack 12", "ack 0 12 11 open"),
            ("ack 11 subflow=1", "ack 1 5 5 open"),
            ("loss subflow=1", "loss 1 2 2 recovery"),
            // The floor is 2.
            ("timeout subflow=1", "timeout 1 1 2 loss"),
        ],
    );
}

#[test]
fn amp_by_hand() {
    assert_trace(
        "amp",
        16,
        &[
            ("subflows 2", ""),
            ("ack 16 rtt=100us", "ack 0 32 - open"),
            // 3/4 of 32; of 16.
            ("ack 1 marked=1", "mark 0 24 24 cwr"),
            ("ack 16 rtt=100us marked=1 subflow=1", "mark 1 12 12 cwr"),
            // 36 packets make one: 32 now, and 5 more.
            ("ack 32", "ack 0 24 24 open"),
            ("ack 5", "ack 0 25 24 open"),
            // On the other subflow 37 do.
            ("ack 36 subflow=1", "ack 1 12 12 open"),
            ("ack 2 subflow=1", "ack 1 13 12 open"),
            // 13 - 3.25 is 9 whole packets; half of 25.
            ("ack 1 marked=1 subflow=1", "mark 1 9 9 cwr"),
            ("loss", "loss 0 12 12 recovery"),
            // Half of the 13 before the mark: a window is cut once.
            ("timeout subflow=1", "timeout 1 1 6 loss"),
        ],
    );
}
