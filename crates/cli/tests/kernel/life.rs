//! Subflows that come and go, namespaces that die, controls that are detached: all of it in traffic, and
//! afterwards nothing is left.

use crate::clean::{Clean, note_maps};
use crate::clock::{sleep, wait_for};
use crate::control::{Control, attach, attachable, json, status_of, tresse, unique};
use crate::flow::{Flow, Protocol};
use crate::probe::{at_full_length, ready};
use crate::testbed::{Path, Plan, Testbed};

/// Two fast paths that lose.
const PATHS: [Path; 2] = [Path { mbit: 60, queue: 60, mark_above: None }; 2];

pub fn bed(subflows: usize, control: &str) -> Testbed {
    let over: Vec<_> = (0..subflows).map(|i| i % PATHS.len()).collect();
    Testbed::new(&Plan { paths: &PATHS, subflows: &over, control })
}

/// Runs a test for each of the controllers it is to be run with.
pub fn each(test: &str, scenario: impl Fn(&str)) {
    if !ready(test) {
        return;
    }
    for controller in attachable(test, two()) {
        let clean = Clean::before();
        scenario(&controller.name);
        clean.check();
    }
}

/// Controllers of both kinds, with ECN and without; in `make test` one of them.
pub fn two() -> &'static [&'static str] {
    if at_full_length() { &["xmp", "lia"] } else { &["xmp"] }
}

/// Bytes of all subflows that have been acknowledged; they must grow.
pub fn moves(flow: &Flow) -> bool {
    let acked = || flow.subflows().iter().map(|subflow| subflow.acked).max().unwrap_or(0);
    let before = acked();
    wait_for(5.0, || acked() > before + 100_000)
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
fn a_connection_falls_back_to_tcp() {
    each("a_connection_falls_back_to_tcp", |controller| {
        let control = Control::attach(controller);
        let bed = bed(4, control.name());
        bed.cut_next_handshake();
        let fallen = bed.open();
        assert!(wait_for(5.0, || bed.fallbacks() == 1), "{controller}: {:?}", fallen.subflows());
        assert!(moves(&fallen), "{controller}: a connection that fell back stands still");
        let status = status_of(control.name());
        assert_eq!(status["connections"][0]["subflows"].as_array().map_or(0, Vec::len), 1, "{status:#}");
        bed.cut_next_handshake();
        let whole = bed.connect();
        assert_eq!(bed.fallbacks(), 2, "{controller}: the second connection did not fall back");
        assert!(moves(&whole) && moves(&fallen), "{controller}: beside each other they stand still");
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
        let again = attach(controller, control.name(), &[]).output().expect("the command starts");
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        let status = json(&["status"]);
        let controllers = status["controllers"].as_array().expect("a list");
        let count = controllers.iter().filter(|entry| entry["kernel_name"] == control.name()).count();
        assert_eq!(count, 1, "{status:#}");
    });
}

#[test]
fn attached_again_tells_where_it_is_the_default() {
    each("attached_again_tells_where_it_is_the_default", |controller| {
        let bed = bed(1, "reno");
        let control = Control::attach_as_default(controller, &[&bed.sender]);
        let again =
            attach(controller, control.name(), &[&bed.receiver]).output().expect("the command starts");
        let told = String::from_utf8_lossy(&again.stdout).into_owned();
        let name = control.name();
        for (place, before) in [(&bed.sender, "it was before"), (&bed.receiver, "was reno")] {
            let line = format!("default of {}: {name} ({before})", place.name());
            assert!(told.contains(&line), "{line}: {told}");
        }
    });
}

/// The capabilities that the service's unit leaves a process, for `setpriv`.
fn capabilities_of_the_unit() -> String {
    let unit = include_str!("../../../../packaging/systemd/tresse-attach@.service");
    let named =
        unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).expect("it has them");
    let named = named.split(' ').map(|name| name.trim_start_matches("CAP_").to_lowercase());
    named.fold("--bounding-set=-all".to_owned(), |set, name| format!("{set},+{name}"))
}

#[test]
fn the_unit_may_do_what_it_does() {
    each("the_unit_may_do_what_it_does", |controller| {
        let bed = bed(1, "reno");
        let name = unique(controller);
        let within = |arguments: &[&str]| {
            // `ip netns exec` would hide the BPF file system.
            let output = std::process::Command::new("nsenter")
                .arg(format!("--net=/run/netns/{}", bed.sender.name()))
                .args(["setpriv", &capabilities_of_the_unit()])
                .arg(env!("CARGO_BIN_EXE_tresse"))
                .args(arguments)
                .output()
                .expect("nsenter starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        within(&["attach", controller, "--name", &name, "--default"]);
        note_maps(&name);
        assert_eq!(bed.sender.read_sysctl("ipv4/tcp_congestion_control"), name);
        within(&["detach", &name]);
        assert_eq!(bed.sender.read_sysctl("ipv4/tcp_congestion_control"), "reno");
    });
}

#[test]
fn a_controller_of_a_testbed_that_runs_stays() {
    each("a_controller_of_a_testbed_that_runs_stays", |controller| {
        // As a testbed of this process would call it.
        let name = format!("tb{}_77", std::process::id());
        let attached = attach(controller, &name, &[]).output().expect("the command starts");
        assert!(attached.status.success(), "{}", String::from_utf8_lossy(&attached.stderr));
        note_maps(&name);
        let refused = tresse(&["detach", &name]).output().expect("the command starts");
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        let forced = tresse(&["detach", &name, "--force"]).output().expect("the command starts");
        assert_eq!(refused.status.code(), Some(2), "{message}");
        let process = format!("belongs to the testbed that process {} runs", std::process::id());
        assert!(message.contains(&process), "{message}");
        assert!(forced.status.success() && status_of(&name).is_null(), "{forced:?}");
    });
}
