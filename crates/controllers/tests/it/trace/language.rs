//! The scripts' language.

use tresse_controllers::trace::{Event, Script};

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
