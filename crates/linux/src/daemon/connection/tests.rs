use tresse_units::MILLISECOND;

use super::super::config::Config;
use super::*;

fn connection(policy: &str) -> Connection {
    let file = format!("[[policy]]\nname = \"all\"\n{policy}");
    let config = Config::parse(&file).expect("a configuration");
    Connection::new(Arc::clone(&config.policies[0]), ends(40_000), Vec::new(), 7)
}

fn ends(port: u16) -> Ends {
    (SocketAddr::from(([10, 0, 0, 1], port)), SocketAddr::from(([10, 0, 0, 2], 80)))
}

/// A subflow that has sent this many packets, of which this many were acknowledged.
fn info(segments: u64, acked: u64) -> TcpInfo {
    let outstanding = (segments - acked) as u32;
    TcpInfo {
        state: 0,
        cwnd: 10,
        srtt: 1000,
        outstanding,
        acked: acked * 1448,
        segments,
        again: 0,
        marks: 0,
        timeouts: 0,
    }
}

fn commands(decisions: Vec<Decision>) -> Vec<Command> {
    decisions.into_iter().map(|own| own.command).collect()
}

fn open(port: u16) -> Command {
    let (from, to) = ends(port);
    Command::Open { from, id: 1, to }
}

const OPN: &str = "manager = \"opn-shifting\"\npaths = 3\n\
                   parameters = { timer_1 = \"fixed\", delta = 5000, timer_2 = 1000000 }\n";

/// With its three subflows open.
fn three(policy: &str) -> (Connection, Memory) {
    let (mut own, mut losses) = (connection(policy), Memory::default());
    assert_eq!(commands(own.start(0, &mut losses)), [open(0); 2]);
    for port in [40_001, 40_002] {
        assert_eq!(own.joined(ends(port), 0, &mut losses), []);
    }
    (own, losses)
}

#[test]
fn it_waits_until_enough_was_sent() {
    let policy = "manager = \"fixed\"\nparameters = { subflows = 3 }\nafter = \"14480B\"\n";
    let (mut own, mut losses) = (connection(policy), Memory::default());
    own.see(ends(40_000), info(12, 9), MILLISECOND, &mut losses);
    assert_eq!(own.start(MILLISECOND, &mut losses), []);
    own.see(ends(40_000), info(12, 10), 2 * MILLISECOND, &mut losses);
    assert_eq!(commands(own.start(2 * MILLISECOND, &mut losses)), [open(0); 2]);
    assert_eq!((own.live(), own.deadline()), (3, 2 * MILLISECOND + PATIENCE));
    assert_eq!(own.serve(2 * MILLISECOND + PATIENCE, &mut losses), []);
    assert_eq!(own.live(), 1, "nobody has answered");
}

#[test]
fn what_another_daemon_has_opened_is_its_own() {
    let policy = "manager = \"fixed\"\nparameters = { subflows = 4 }\n";
    let (own, mut losses) = (connection(policy), Memory::default());
    let mut own = Connection { strays: vec![ends(40_001), ends(40_002)], ..own };
    assert_eq!(commands(own.start(0, &mut losses)), [open(0)]);
    assert_eq!((own.live(), own.open().count()), (4, 3));
    assert_eq!(own.gone(ends(40_002), 0, &mut losses), []);
    assert_eq!((own.live(), own.open().count()), (3, 2));
}

#[test]
fn a_path_is_slow_that_is_silent_between_two_looks_and_no_other() {
    for (shift, close, back) in [
        (
            "shift = \"backup\"\n",
            Command::SetBackup(ends(40_001), true),
            Command::SetBackup(ends(40_001), false),
        ),
        ("", Command::Close(ends(40_001)), open(0)),
    ] {
        let (mut own, mut losses) = three(&format!("{OPN}{shift}"));
        let mut look = |own: &mut Connection, at: Time, acked: [u64; 3]| {
            let mut all = Vec::new();
            for (port, acked) in (40_000..).zip(acked) {
                all.extend(own.see(ends(port), info(acked + 5, acked), at, &mut losses));
            }
            all.extend(own.serve(at, &mut losses));
            commands(all)
        };
        // Looks are rarer than the timer: acknowledgements in between count.
        assert_eq!(look(&mut own, 10 * MILLISECOND, [1, 1, 1]), []);
        assert_eq!(look(&mut own, 20 * MILLISECOND, [9, 9, 9]), []);
        assert_eq!(look(&mut own, 30 * MILLISECOND, [20, 9, 20]), [close], "{shift}");
        assert_eq!(look(&mut own, 40 * MILLISECOND, [30, 9, 30]), []);
        assert_eq!(look(&mut own, 2000 * MILLISECOND, [50, 12, 50]), [back], "{shift}");
    }
}

/// A subflow that is being opened again may wait for its answer on a path that is cut, where it carries nothing.
#[test]
fn no_subflow_is_closed_while_none_is_open_on_a_fast_path() {
    let (mut own, mut losses) = three(&format!("{OPN}shift = \"reopen\"\n"));
    let mut look = |own: &mut Connection, ms: u64, ports: &[u16], acked: u64| {
        let mut all = Vec::new();
        for &port in ports {
            all.extend(own.see(ends(port), info(acked + 5, acked), ms * MILLISECOND, &mut losses));
        }
        all.extend(own.serve(ms * MILLISECOND, &mut losses));
        commands(all)
    };
    let [close, backup] = [Command::Close, |ends| Command::SetBackup(ends, true)];
    assert_eq!(look(&mut own, 10, &[40_000, 40_001, 40_002], 1), []);
    assert_eq!(look(&mut own, 20, &[40_000, 40_002], 9), [close(ends(40_001))]);
    // timer_2: it is opened again, and nobody answers. The others have fallen silent.
    assert_eq!(look(&mut own, 1010, &[40_000, 40_002], 30), [open(0)]);
    assert_eq!(look(&mut own, 1020, &[40_000, 40_002], 30), [backup(ends(40_000)), backup(ends(40_002))]);
    assert_eq!(look(&mut own, 1060, &[40_000, 40_002], 30), []);
    // Now it carries the data.
    let joined = commands(own.joined(ends(40_003), 1070 * MILLISECOND, &mut losses));
    assert_eq!(joined, [close(ends(40_000)), close(ends(40_002))]);
}
