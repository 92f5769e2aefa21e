//! Hundreds of connections at a time, which open their subflows before they end, and the rate of an unmodified program.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::clean::Clean;
use crate::clock::{sleep, wait_for};
use crate::control::{Control, attachable, status_of};
use crate::flow::{Protocol, connect, discard, listen, reset_on_close};
use crate::life::{bed, each, moves, two};
use crate::probe::{ready, say};
use crate::testbed::Testbed;

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
    for controller in attachable(test, two()) {
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
