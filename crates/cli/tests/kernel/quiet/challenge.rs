//! `tresse challenge --replay DIR --testbed`: what was found in the simulator, on real hosts.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::clean::Clean;
use crate::probe::say;
use crate::real::{can_run, tresse};

/// A Reno that halves twice wastes a link whose queue is short, in the simulator and on hosts; Reno itself wastes less.
#[test]
#[ignore = "measures for half a minute: `make test-all`"]
fn a_failure_stays_on_real_hosts_and_is_the_controllers_own() {
    let test = "a_failure_stays_on_real_hosts_and_is_the_controllers_own";
    if !can_run(test) {
        return;
    }
    let clean = Clean::before();
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("twice.c"), include_str!("../../it/planted/twice.c")).expect("it is written");
    let search = [
        "challenge twice.c --goal waste --candidates 6 --out found --bound network=bottleneck",
        "--bound flows=1 --bound subflows=1 --bound rate=500Mbps --bound rtt=2000us --bound buffer=20pkt",
        "--bound loss=0 --bound ack-every=2pkt --bound host-queue=fq",
    ];
    let search: Vec<&str> = search.iter().flat_map(|line| line.split(' ')).collect();
    let found = tresse(dir.path(), &search).output().expect("it starts");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let replay = ["challenge", "--replay", "found", "--testbed", "--json"];
    let output = tresse(dir.path(), &replay).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let replayed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(dir.path().join("found/on-hosts.json").exists());
    let [own] = &replayed["failures"].as_array().expect("a list")[..] else {
        panic!("one failure: {replayed}")
    };
    say(&format!(
        "halved twice: {} simulated, {} on hosts, Reno {}",
        own["simulated"], own["real"], own["beside"]
    ));
    let median = |list: &str| {
        let values = own[list].as_array().expect("a list");
        let mut values: Vec<f64> = values.iter().map(|value| value.as_f64().expect("a number")).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    assert_eq!(own["stays"], true, "{own}");
    assert!(median("real") > median("beside") + 0.05, "{own}");
    clean.check();
}
