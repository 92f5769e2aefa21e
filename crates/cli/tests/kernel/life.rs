//! Subflows that come and go, namespaces that die, controls that are detached: all of it in traffic, and
//! afterwards nothing is left.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::clean::Clean;
use crate::clock::{sleep, wait_for};
use crate::control::{Control, attachable, json, status_of};
use crate::flow::{Flow, Protocol, connect, discard, listen, reset_on_close};
use crate::probe::{ready, say};
use crate::testbed::{Path, Plan, Testbed};

/// Two fast paths that lose.
const PATHS: [Path; 2] = [Path { mbit: 60, queue: 60, mark_above: None }; 2];

fn bed(subflows: usize, control: &str) -> Testbed {
    let over: Vec<_> = (0..subflows).map(|i| i % PATHS.len()).collect();
    Testbed::new(&Plan { paths: &PATHS, subflows: &over, control })
}

/// Runs a test for each of the controllers it is to be run with.
fn each(test: &str, scenario: impl Fn(&str)) {
    if !ready(test) {
        return;
    }
    for controller in attachable(test, &["xmp", "lia"]) {
        let clean = Clean::before();
        scenario(&controller.name);
        clean.check();
    }
}

/// Bytes of all subflows that have been acknowledged; they must grow.
fn moves(flow: &Flow) -> bool {
    let acked = || flow.subflows().iter().map(|subflow| subflow.acked).max().unwrap_or(0);
    let before = acked();
    wait_for(5.0, || acked() > before + 100_000)
}

/// Connections of one kind that are opened and closed one after the other, every other one by a reset.
fn short_lives(bed: &Testbed, connections: usize) {
    let target = bed.port();
    let listener = bed.receiver.enter(|| listen(target.port(), Protocol::Mptcp, None)).expect("it listens");
    listener.set_nonblocking(true).expect("the listener takes options");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| receive(&listener, &done));
        let block = vec![0; 200_000];
        for i in 0..connections {
            let source = Ipv4Addr::new(10, 1, 0, 1);
            let connected = bed.sender.enter(|| connect(source, target, Protocol::Mptcp, None));
            let mut stream = connected.expect("the sender connects");
            stream.write_all(&block[..20_000 * (i % 10 + 1)]).expect("the connection takes data");
            if i % 2 == 0 {
                reset_on_close(&stream);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Takes connections until the sender is done, and ends them then: a reset that a full queue has dropped
/// is not sent again, and fewer connections may come than were opened.
fn receive(listener: &TcpListener, done: &AtomicBool) {
    let mut streams = Vec::new();
    while !done.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let stream = Arc::new(stream);
                streams.push(Arc::clone(&stream));
                thread::spawn(move || discard(&stream, &AtomicU64::new(0)));
            }
            Err(_) => sleep(0.002),
        }
    }
    for stream in streams {
        reset_on_close(&stream);
        drop(stream.shutdown(Shutdown::Both));
    }
}

#[test]
fn five_hundred_connections() {
    each("five_hundred_connections", |controller| {
        let control = Control::attach(controller);
        thread::scope(|scope| {
            for subflows in [2, 5, 8] {
                let name = control.name();
                scope.spawn(move || {
                    let bed = bed(subflows, name);
                    let load = bed.connect();
                    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| short_lives(&bed, 42)))));
                    assert!(moves(&load), "the connection beside them has stopped: {:?}", load.subflows());
                });
            }
        });
        let left = || status_of(control.name())["connections"].as_array().map_or(0, Vec::len);
        let gone = wait_for(10.0, || left() == 0);
        assert!(gone, "{} connections of {controller} are still listed", left());
        // Both ends of 504 connections of two subflows and more; some kernels skip a hook now and then.
        let counters = &status_of(control.name())["counters"];
        let sockets = ["sockets_begun", "without_ecn"].map(|c| counters[c].as_u64().unwrap_or(0));
        assert!(sockets.iter().sum::<u64>() > 2 * 2 * 500, "{counters}");
        say(&format!(
            "{controller}: 504 short connections, counters {}",
            status_of(control.name())["counters"]
        ));
    });
}

#[test]
fn subflows_come_and_go() {
    each("subflows_come_and_go", |controller| {
        let control = Control::attach(controller);
        let bed = bed(4, control.name());
        let flows = [bed.connect(), bed.connect()];
        for round in 0..20 {
            let i = 1 + round % 3;
            bed.endpoint(i, false);
            sleep(0.05);
            bed.endpoint(i, true);
            assert!(flows.iter().all(moves), "{controller}: a connection has stopped in round {round}");
        }
        let all = || flows.iter().all(|flow| flow.subflows().len() == 4);
        assert!(wait_for(5.0, all), "{controller}: subflows are missing: {:?}", flows[0].subflows());
    });
}

#[test]
fn namespaces_die_in_traffic() {
    each("namespaces_die_in_traffic", |controller| {
        let control = Control::attach(controller);
        for _ in 0..5 {
            let bed = bed(4, control.name());
            let flows = [bed.connect(), bed.connect(), bed.compete(0, Protocol::Mptcp, control.name())];
            assert!(flows.iter().all(moves), "{controller}: no traffic");
            drop(bed);
            sleep(0.2);
        }
    });
}

#[test]
fn detached_in_traffic() {
    each("detached_in_traffic", |controller| {
        let bed = bed(2, "reno");
        let places = [&bed.sender, &bed.receiver];
        let control = Control::attach_as_default(controller, &places);
        for place in places {
            assert_eq!(place.read_sysctl("ipv4/tcp_congestion_control"), control.name());
        }
        let flow = bed.connect();
        assert!(flow.subflows().iter().all(|s| s.control == control.name()), "{:?}", flow.subflows());
        let status = status_of(control.name());
        let listed = status["connections"][0]["subflows"].as_array().map_or(0, Vec::len);
        assert_eq!(listed, 2, "{controller}: {status:#}");
        drop(control);
        for place in places {
            assert_eq!(
                place.read_sysctl("ipv4/tcp_congestion_control"),
                "reno",
                "the default is not restored"
            );
        }
        assert!(moves(&flow), "{controller}: the connection has stopped");
        let late = bed.connect();
        assert!(moves(&late) && late.subflows().iter().all(|s| s.control == "reno"), "{:?}", late.subflows());
    });
}

#[test]
fn attached_twice() {
    each("attached_twice", |controller| {
        let control = Control::attach(controller);
        let again =
            crate::control::attach(controller, control.name(), &[]).output().expect("the command starts");
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        let status = json(&["status"]);
        let controllers = status["controllers"].as_array().expect("a list");
        let count = controllers.iter().filter(|entry| entry["kernel_name"] == control.name()).count();
        assert_eq!(count, 1, "{status:#}");
    });
}

/// A connection of an unmodified program, which `mptcpize` makes ask for MPTCP.
#[test]
fn an_unmodified_program() {
    let test = "an_unmodified_program";
    if !ready(test) {
        return;
    }
    for program in ["iperf3", "mptcpize"] {
        if !crate::probe::has(program) {
            say(&format!("skipped: {test}: {program} is missing (apt-get install iperf3 mptcpize)"));
            return;
        }
    }
    for controller in attachable(test, &["xmp", "lia"]) {
        let clean = Clean::before();
        let control = Control::attach(&controller.name);
        let bed = bed(2, control.name());
        let mut server = program(&bed.receiver, &["-s", "-1"]).expect("iperf3 starts");
        let listens = || bed.receiver.output("ss", &["-tlnH"]).contains(":5201");
        assert!(wait_for(5.0, listens), "iperf3 does not listen");
        let client =
            program(&bed.sender, &["-c", "10.9.0.1", "-t", "5", "-O", "2", "-J"]).expect("iperf3 starts");
        sleep(2.0);
        let seen = bed.sender.output("ss", &["-tniHO", "state", "established", "dport = :5201"]);
        let result = client.wait_with_output().expect("iperf3 ends");
        drop(server.kill());
        server.wait().expect("iperf3's server ends");
        // Its control connection has subflows too.
        let ours =
            seen.lines().filter(|line| line.contains(control.name()) && line.contains("tcp-ulp-mptcp"));
        assert_eq!(ours.count(), 4, "{seen}");
        let result: serde_json::Value = serde_json::from_slice(&result.stdout).expect("iperf3 prints JSON");
        let mbit = result["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or(0.0) * 1e-6;
        say(&format!("iperf3 over {}: {mbit:.1} of 120 Mbit/s", controller.name));
        assert!(mbit > 0.8 * 120.0, "{result:#}");
        drop((bed, control));
        clean.check();
    }
}

fn program(place: &crate::namespace::Namespace, arguments: &[&str]) -> io::Result<std::process::Child> {
    let mut command = std::process::Command::new("ip");
    command.args(["netns", "exec", place.name(), "mptcpize", "run", "iperf3"]).args(arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::inherit()).spawn()
}
