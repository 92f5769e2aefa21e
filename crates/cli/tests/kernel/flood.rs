//! `tresse daemon` under floods of connections.

use std::fs;

use crate::clock::{sleep, wait_for};
use crate::daemon::{Daemon, fixed, has};
use crate::ecmp::Ecmp;
use crate::probe::{asked, ready, say};

/// How many short connections live under the daemon: `TRESSE_LIVES=100000` takes some two minutes.
const LIVES: usize = 5_000;

/// What a process has: memory in kB, descriptors.
fn has_now(daemon: &Daemon) -> (u64, usize) {
    let folder = format!("/proc/{}", daemon.id());
    let status = fs::read_to_string(format!("{folder}/status")).expect("it runs");
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    let memory = memory.trim().trim_end_matches(" kB").parse().expect("a number");
    (memory, fs::read_dir(format!("{folder}/fd")).expect("it has descriptors").count())
}

/// Connections that the daemon manages.
fn alive(daemon: &Daemon) -> usize {
    daemon.status()["connections"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_thousand_connections_a_second_cost_neither_memory_nor_descriptors() {
    let test = "a_thousand_connections_a_second_cost_neither_memory_nor_descriptors";
    if !ready(test) {
        return;
    }
    let lives = asked("TRESSE_LIVES").unwrap_or(LIVES);
    let net = Ecmp::new(2, 50);
    let daemon = Daemon::start(&[net.sender.name()], &fixed(2), &[]);
    let flow = net.connect();
    assert!(has(&flow, 2), "{}", daemon.log());
    // The first thousand fill what is kept anyway: records, buffers.
    net.flood(1000, 1000.0);
    let before = has_now(&daemon);
    let took = net.flood(lives, 1000.0);
    // Of some connections the kernel tells no end: the daemon looks for them every ten seconds.
    assert!(wait_for(15.0, || alive(&daemon) == 1), "{} connections live", alive(&daemon));
    let after = has_now(&daemon);
    let status = daemon.status();
    let lost = status["namespaces"][0]["events_lost"].as_u64().expect("a number");
    let heard = status["counters"]["connections"].as_u64().expect("a number");
    say(&format!(
        "{lives} connections in {took:.1} s: memory {} kB, then {} kB; descriptors {}, then {}; {heard} heard of, events \
         lost {lost} times",
        before.0, after.0, before.1, after.1
    ));
    assert!(after.0 < before.0 + 2048, "memory grows");
    assert_eq!(after.1, before.1, "descriptors stay open");
    // What comes and goes while events are lost is never heard of; one in a thousand may find a full backlog.
    assert!(lost > 0 || heard as f64 >= 0.999 * lives as f64, "{}", status["counters"]);
    let acked = flow.subflows()[0].acked;
    sleep(0.5);
    assert_eq!(flow.subflows().len(), 2);
    assert!(flow.subflows()[0].acked > acked, "the connection beside them goes on");
}

#[test]
fn events_that_were_lost_are_made_up_for() {
    if !ready("events_that_were_lost_are_made_up_for") {
        return;
    }
    let net = Ecmp::new(2, 50);
    let daemon = Daemon::start(&[net.sender.name()], &fixed(3), &[]);
    let first = net.connect();
    assert!(has(&first, 3), "{}", daemon.log());
    // It hears nothing while the kernel tells more than it keeps, and a connection comes and another one goes.
    daemon.signal(libc::SIGSTOP);
    net.flood(12_000, f64::INFINITY);
    let second = net.connect();
    drop(first);
    daemon.signal(libc::SIGCONT);
    assert!(wait_for(10.0, || second.subflows().len() == 3), "{}", daemon.status()["counters"]);
    assert!(wait_for(15.0, || alive(&daemon) == 1), "{} connections live", alive(&daemon));
    let status = daemon.status();
    assert!(status["namespaces"][0]["events_lost"].as_u64() > Some(0), "{}", status["namespaces"]);
}
