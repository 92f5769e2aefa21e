//! The scripts' language.

use tresse_controllers::Hop;
use tresse_controllers::trace::{Event, Path, ReportEvent, Script};

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
         undo subflow=1\n\
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
            Event::Undo { subflow: 1 },
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

/// What is told to a controller with the hook `report`.
#[test]
fn reports_are_read() {
    let script = Script::parse(
        "subflows 2\n\
         path base=15us rate=400Gbps\n\
         path subflow=1\n\
         hop sent=1.5kB at=10us queue=0B rate=25Gbps\n\
         hop subflow=1\n\
         report delivered=4 marked=3 rtt=20.5us after=300ns limited=no\n\
         report trimmed=2 last_hop=yes subflow=1   # a NACK\n\
         report lost=1\n\
         report",
    )
    .expect("every line is good");
    let path = Path { base_rtt: 15_000, line_rate: 400_000 };
    let hop = Hop { bytes: 1500, time: 10_000, queue: 0, rate: 25_000 };
    let usual_hop = Hop { rate: 100_000, ..Hop::default() };
    let ack = ReportEvent {
        delivered: 4,
        marked: 3,
        rtt: 20_500,
        after: Some(300),
        limited: false,
        ..ReportEvent::default()
    };
    let nack = ReportEvent { trimmed: 2, last_hop: true, ..ReportEvent::default() };
    assert_eq!(
        script.events,
        [
            Event::Path { path, subflow: 0 },
            Event::Path { path: Path::default(), subflow: 1 },
            Event::Hop { hop, subflow: 0 },
            Event::Hop { hop: usual_hop, subflow: 1 },
            Event::Report { told: ack, subflow: 0 },
            Event::Report { told: nack, subflow: 1 },
            Event::Report { told: ReportEvent { lost: 1, ..ReportEvent::default() }, subflow: 0 },
            Event::Report { told: ReportEvent::default(), subflow: 0 },
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
                  `loss [subflow=0]`, `timeout [subflow=0]`, `undo [subflow=0]`, `local [subflow=0]`, \
                  `wait 10ms [subflow=0]`, `window PKTS [ssthresh=PKTS] [subflow=0]`, \
                  `next_hop 0|1 [subflow=0]` or `subflows N`; for a controller with the hook `report`, \
                  `report [delivered=PKTS] [marked=PKTS] [trimmed=PKTS] [lost=PKTS] [rtt=15us] [after=1us] \
                  [limited=no] [last_hop=yes] [subflow=0]`, `path [base=12us] [rate=100Gbps] [subflow=0]` or \
                  `hop [sent=1500B] [at=10us] [queue=3kB] [rate=100Gbps] [subflow=0]`";
    let (time, rtt) =
        ("is not a time; expected a value such as `20us` or `1.5ms`", "is not an RTT from 1 us to 16 s");
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
        ("subflows 3 4", "`4` is one word too many".to_owned()),
        ("report 3", format!("`3` is not a setting of `report`; {events}")),
        ("report delivered=1 marked=2", "2 marked packets of 1 delivered".to_owned()),
        ("report lost=1048577", "a report covers at most 1048576 packets".to_owned()),
        ("report lost=few", "`few` is not a whole number".to_owned()),
        ("report rtt=20s", "`20s` is longer than 4294967295 ns".to_owned()),
        ("report limited=0", "`0` is neither yes nor no".to_owned()),
        ("path base=0ns", "`0ns` is not the RTT of a path".to_owned()),
        ("path rate=1kbps", "`1kbps` is not 1 to 4294967295 Mbit/s".to_owned()),
        ("path lost=1", format!("`lost=1` is not a setting of `path`; {events}")),
        ("hop queue=5GB", "`5GB` is more than a queue holds".to_owned()),
    ] {
        let error =
            Script::parse(&format!("# a comment\nsubflows 2\n{line}  # here\nack 1")).expect_err(line);
        assert_eq!((error.line, &error.message), (3, &message), "{line}");
        assert_eq!(error.to_string(), format!("line 3: {message}\n  {line}  # here"));
    }
    let late = Script::parse("ack 1\nsubflows 2").expect_err("too late");
    assert_eq!((late.line, late.message.as_str()), (2, "`subflows` must come before the first event"));
}
