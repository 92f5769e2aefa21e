//! The script of `tresse trace`: what it accepts, what it says to what it does not, and one short
//! trace for each controller that was worked out by hand.
//!
//! In the traces every ACK that is meant to begin a round delivers more than a window, and no sum
//! of fractions is meant to be exactly a whole packet: so they depend on the papers' arithmetic
//! alone, not on who counts a boundary's packet, nor on the last bit of a fixed-point number.

use std::sync::Arc;

use tresse_controllers::trace::{Event, Script, Step, play};
use tresse_controllers::{INFINITE_SSTHRESH, Scheme, find};

#[test]
fn every_event_and_setting_is_read() {
    let script = Script::parse(
        "# two subflows\n\
         subflows 2\n\
         \n\
         ack 1\n\
         \t ack 4 marked=3 rtt=20us subflow=1   # a comment\n\
         ack 2 subflow=1 rtt=1.5ms\n\
         loss\n\
         loss subflow=1\n\
         timeout\n\
         timeout subflow=1\n\
         local\n\
         wait 10ms subflow=1\n\
         window 20\n\
         window 30 ssthresh=7 subflow=1\n\
         next_hop 1\n\
         next_hop 0 subflow=1\n\
         ack 5 limited=no subflow=1\n\
         ack 6 limited=yes",
    )
    .expect("every line is good");
    assert_eq!(script.subflows, 2);
    let ack = |packets, marked, rtt, subflow| Event::Ack { packets, marked, rtt, limited: true, subflow };
    assert_eq!(
        script.events,
        [
            ack(1, 0, None, 0),
            ack(4, 3, Some(160), 1),
            ack(2, 0, Some(12_000), 1),
            Event::Loss { subflow: 0 },
            Event::Loss { subflow: 1 },
            Event::Timeout { subflow: 0 },
            Event::Timeout { subflow: 1 },
            Event::Local { subflow: 0 },
            Event::Wait { us: 10_000, subflow: 1 },
            Event::Window { cwnd: 20, ssthresh: None, subflow: 0 },
            Event::Window { cwnd: 30, ssthresh: Some(7), subflow: 1 },
            Event::NextHop { congested: true, subflow: 0 },
            Event::NextHop { congested: false, subflow: 1 },
            Event::Ack { packets: 5, marked: 0, rtt: None, limited: false, subflow: 1 },
            ack(6, 0, None, 0),
        ]
    );
    assert_eq!(Script::parse(&script.to_string()), Ok(script), "what is written can be read");
}

/// What a shortest script of `tresse controller check` needs: every RTT that the contract allows.
#[test]
fn every_rtt_can_be_written() {
    for rtt in [8, 9, 15, 800, 801, (1 << 27) - 1] {
        let events = vec![Event::Ack { packets: 1, marked: 0, rtt: Some(rtt), limited: true, subflow: 0 }];
        let script = Script { subflows: 1, events };
        assert_eq!(Script::parse(&script.to_string()), Ok(script));
    }
}

#[test]
fn an_empty_script_has_one_subflow_and_no_events() {
    for text in ["", "\n\n", "# nothing\n"] {
        assert_eq!(Script::parse(text), Ok(Script { subflows: 1, events: Vec::new() }));
    }
}

#[test]
fn rtts_have_units() {
    for (text, eighths) in [
        ("1000ns", 8),
        ("1us", 8),
        ("20us", 160),
        ("0.5ms", 4000),
        ("1ms", 8000),
        ("1s", 8_000_000),
        ("16s", 128_000_000),
    ] {
        let script = Script::parse(&format!("ack 1 rtt={text}")).expect(text);
        let expected = Event::Ack { packets: 1, marked: 0, rtt: Some(eighths), limited: true, subflow: 0 };
        assert_eq!(script.events, [expected], "{text}");
    }
}

#[test]
fn a_bad_line_is_named_and_explained() {
    let events = "expected `ack PKTS [marked=PKTS] [rtt=20us] [limited=no] [subflow=0]`, \
                  `loss [subflow=0]`, `timeout [subflow=0]`, `local [subflow=0]`, \
                  `wait 10ms [subflow=0]`, `window PKTS [ssthresh=PKTS] [subflow=0]`, \
                  `next_hop 0|1 [subflow=0]` or `subflows N`";
    let (time, rtt) =
        ("is not a time; expected for instance `20us` or `1.5ms`", "is not an RTT: 1 us to 16 s");
    for (line, message) in [
        ("mark", format!("`mark` is not an event; {events}")),
        ("ack", "`ack` needs a number of packets".to_owned()),
        ("ack five", "`five` is not a whole number".to_owned()),
        ("ack -1", "`-1` is not a whole number".to_owned()),
        ("ack 1.5", "`1.5` is not a whole number".to_owned()),
        ("ack 0", "an ACK delivers 1 to 1048576 packets".to_owned()),
        ("ack 1048577", "an ACK delivers 1 to 1048576 packets".to_owned()),
        ("ack 4 marked=5", "5 marked packets in an ACK of 4".to_owned()),
        ("ack 4 marked=some", "`some` is not a whole number".to_owned()),
        ("ack 4 limited=0", "`0` is neither yes nor no".to_owned()),
        ("ack 4 5", format!("`5` is not a setting of `ack`; {events}")),
        ("ack 4 lost=1", format!("`lost=1` is not a setting of `ack`; {events}")),
        ("ack 4 rtt=20", format!("`20` {time}")),
        ("ack 4 rtt=us", format!("`us` {time}")),
        ("ack 4 rtt=20min", format!("`20min` {time}")),
        ("ack 4 rtt=0us", format!("`0us` {rtt}")),
        ("ack 4 rtt=-20us", format!("`-20us` {time}")),
        ("ack 4 rtt=17s", format!("`17s` {rtt}")),
        ("wait", "`wait` needs a time".to_owned()),
        ("window", "`window` needs a number of packets".to_owned()),
        ("window 0", "a window has 1 to 1048576 packets".to_owned()),
        ("window 1048577", "a window has 1 to 1048576 packets".to_owned()),
        ("window 4 ssthresh=0", "a threshold has 1 to 2147483647 packets".to_owned()),
        ("window 4 rtt=1us", format!("`rtt=1us` is not a setting of `window`; {events}")),
        ("next_hop", "`next_hop` needs 0 or 1".to_owned()),
        ("next_hop 2", "`2` is neither 0 nor 1".to_owned()),
        ("wait 3", format!("`3` {time}")),
        ("ack 4 subflow=2", "there is no subflow 2: the script has 2 (`subflows N`)".to_owned()),
        ("loss subflow=2", "there is no subflow 2: the script has 2 (`subflows N`)".to_owned()),
        ("loss now", format!("`now` is not a setting of `loss`; {events}")),
        ("timeout rtt=1us", format!("`rtt=1us` is not a setting of `timeout`; {events}")),
        ("subflows", "`subflows` needs a number".to_owned()),
        ("subflows many", "`many` is not a whole number".to_owned()),
        ("subflows 0", "1 to 64 subflows, not 0".to_owned()),
        ("subflows 65", "1 to 64 subflows, not 65".to_owned()),
        ("subflows 3 4", "`4` is too much".to_owned()),
    ] {
        let error =
            Script::parse(&format!("# a comment\nsubflows 2\n{line}  # here\nack 1")).expect_err(line);
        assert_eq!((error.line, &error.message), (3, &message), "{line}");
        assert_eq!(error.to_string(), format!("line 3: {message}\n  {line}  # here"));
    }
    let late = Script::parse("ack 1\nsubflows 2").expect_err("too late");
    assert_eq!((late.line, late.message.as_str()), (2, "`subflows` must come before the first event"));
}

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

/// Plays `script` and compares with one line an event: event, subflow, cwnd, ssthresh, state.
fn assert_trace(controller: &str, initial_window: u32, lines: &[(&str, &str)]) {
    let controller = find(controller).expect("it is built in");
    let scheme = Arc::new(Scheme::new(controller, []).expect("defaults lie in their ranges"));
    let text: Vec<_> = lines.iter().map(|(event, _)| *event).collect();
    let script = Script::parse(&text.join("\n")).expect("the script is good");
    let steps = play(scheme, &script, initial_window);
    let expected: Vec<_> = lines.iter().filter(|(event, _)| !event.starts_with("subflows")).collect();
    assert_eq!(steps.len(), expected.len());
    for (step, (event, expected)) in steps.iter().zip(expected) {
        assert_eq!(told(step), *expected, "{controller:?} after `{event}`");
    }
}

fn told(step: &Step) -> String {
    let ssthresh = match step.ssthresh {
        INFINITE_SSTHRESH => "-".to_owned(),
        ssthresh => ssthresh.to_string(),
    };
    format!("{} {} {} {ssthresh} {}", step.event, step.subflow, step.cwnd, step.state.name())
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
            // Three packets since the timeout: open again. 1/3 of a packet.
            ("ack 1", "ack 0 3 3 open"),
            // 1/3 + 3 * 1/3 = 1.33.
            ("ack 3", "ack 0 4 3 open"),
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
            // A loss in the reduction: a window is cut once.
            ("loss", "loss 0 5 5 recovery"),
            // 9 packets: the 8 of the reduction are over. 9/5 = 1.8.
            ("ack 9", "ack 0 6 5 open"),
            // A loss halves, whatever alpha is.
            ("loss", "loss 0 3 3 recovery"),
        ],
    );
}

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
            // The round ends reduced: no delta.
            ("ack 21", "ack 0 20 20 open"),
            // The sibling has told no rate yet: delta = 20/20 = 1.
            ("ack 21", "ack 0 21 20 open"),
            ("ack 11 marked=1 subflow=1", "mark 1 10 10 cwr"),
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            // The sibling's last round had 20 packets: delta = 10/30; twice 0.333 is no packet.
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            // delta = 21/31 = 0.677; twice that is 1.355.
            ("ack 22", "ack 0 21 20 open"),
            ("ack 22", "ack 0 22 20 open"),
            // delta = 10/31 = 0.3226: 0.667 + 0.323 = 0.989, then 1.312.
            ("ack 11 subflow=1", "ack 1 10 10 open"),
            ("ack 11 subflow=1", "ack 1 11 10 open"),
            // A mark: 22/4 = 5 whole packets less; the round's delta is dropped.
            ("ack 23 marked=2", "mark 0 17 17 cwr"),
            // 23 packets: the reduction is over. 0.355 of a packet is still kept, and nothing new.
            ("ack 23", "ack 0 17 17 open"),
            // delta = 17/(17 + 10) = 0.6296: 0.355 + 0.630 = 0.984; then 1.614.
            ("ack 18", "ack 0 17 17 open"),
            ("ack 18", "ack 0 18 17 open"),
            // Half of 11.
            ("loss subflow=1", "loss 1 5 5 recovery"),
            ("timeout", "timeout 0 1 9 loss"),
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
            // Half of 9, half of 4; and slow start again.
            ("loss subflow=1", "loss 1 4 4 recovery"),
            ("timeout subflow=1", "timeout 1 1 2 loss"),
            ("ack 1 subflow=1", "ack 1 2 2 loss"),
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
            // a = 17/9, more than 3/2: 6.75, that is 6 whole packets less.
            ("loss subflow=1", "loss 1 3 3 recovery"),
            // 8.5, that is 8 whole packets less.
            ("loss", "loss 0 9 9 recovery"),
            // 9/12^2 = 0.0625; 17 of them: 1.0625.
            ("ack 17", "ack 0 10 9 open"),
            // Three quarters of 3: 2 whole packets less. The floor is 1.
            ("timeout subflow=1", "timeout 1 1 1 loss"),
            // a = 10: 1/11^2 * 11/2 * 14/5 = 0.127; 8 of them: 1.018.
            ("ack 1 subflow=1", "ack 1 1 1 open"),
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
            ("timeout subflow=1", "timeout 1 1 1 loss"),
            // 8/9^2 = 0.0988; 11 of them: 1.086.
            ("ack 1 subflow=1", "ack 1 1 1 open"),
            ("ack 10 subflow=1", "ack 1 2 1 open"),
            // Less than half of 2 is no whole packet.
            ("ack 3 marked=1 subflow=1", "mark 1 2 2 cwr"),
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
            // The round ends reduced; then a packet a round.
            ("ack 21", "ack 0 20 20 open"),
            ("ack 21", "ack 0 21 20 open"),
            ("ack 22", "ack 0 22 20 open"),
            // 22/4 = 5 whole packets less.
            ("ack 23 marked=1", "mark 0 17 17 cwr"),
            ("loss", "loss 0 17 17 recovery"),
            ("ack 23", "ack 0 17 17 open"),
            ("timeout", "timeout 0 1 8 loss"),
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
            // Half a window takes half an RTT. At t = K, W = 100, and W(t + T) for a smoothed RTT of 1.05 s is
            // 100.47: 35/70 of 100.47 - 70.756 is 14.9.
            ("ack 35 rtt=8434ms", "ack 0 85 70 open"),
            // W_max = 85: 59 are left, less than 59.5.
            ("ack 1 marked=1 rtt=100us", "mark 0 59 59 cwr"),
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
            // Half of 9.
            ("timeout subflow=1", "timeout 1 1 4 loss"),
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
            ("loss", "loss 0 6 6 recovery"),
            // Half of 6.
            ("timeout", "timeout 0 1 3 loss"),
        ],
    );
}
