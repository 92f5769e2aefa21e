//! `tresse challenge`: planted defects are found, the same again to the bit, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, interrupt, tresse, wait_until};

/// What `tresse challenge` prints with `--json`.
fn challenge(dir: &Path, arguments: &[&str]) -> Value {
    let output = tresse(dir).arg("challenge").args(arguments).arg("--json").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}: {said}"))
}

fn failures(record: &Value) -> &[Value] {
    record["failures"].as_array().expect("a list")
}

fn number(found: &Value, path: &str) -> f64 {
    found.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path}: {found}"))
}

/// A folder with a controller that has a planted defect.
fn planted(name: &str, text: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join(name), text).expect("it is written");
    dir
}

/// A small network, in which a run takes a moment, and of which little is left to simplify.
const SMALL: &str = "rate=100Mbps rtt=50us buffer=20pkt flows=1 loss=0 ack-every=2pkt host-queue=fq";

/// `--bound` for each of them.
fn bounds(all: &str) -> Vec<&str> {
    all.split(' ').flat_map(|bound| ["--bound", bound]).collect()
}

#[test]
fn a_path_that_never_recovers_is_found_and_reno_recovers_there() {
    let dir = planted("never.c", include_str!("planted/never.c"));
    let search = ["never.c", "--goal", "recovery", "--bound", "network=paths", "--candidates", "4"];
    let record = challenge(dir.path(), &[&search[..], &bounds(SMALL)].concat());
    let [found] = failures(&record) else { panic!("one cell, one failure: {record}") };
    assert!(number(found, "/value") > 0.5 && number(found, "/beside/value") < 0.2, "{found}");
    assert!(found["sentence"].as_str().is_some_and(|text| text.contains("a link")), "{found}");
}

#[test]
fn subflows_that_ignore_their_siblings_harm_reno_and_those_of_lia_do_not() {
    let dir = planted("ignores.c", include_str!("planted/ignores.c"));
    let alike = ["--bound", "rtt-ratio=1", "--bound", "start=together"];
    let search = [&["--goal", "harm-reno", "--candidates", "4"][..], &alike, &bounds(SMALL)].concat();
    let record = challenge(dir.path(), &[&["ignores.c"], &search[..]].concat());
    let [found] = failures(&record) else { panic!("one cell, one failure: {record}") };
    // Three subflows and more beside one flow leave it a quarter instead of half.
    assert!(number(found, "/value") > 0.3, "{found}");
    let lia = challenge(dir.path(), &[&["lia"], &search[..]].concat());
    assert!(failures(&lia).is_empty(), "{lia}");
}

#[test]
fn a_window_that_is_halved_twice_wastes_more_than_reno() {
    let dir = planted("twice.c", include_str!("planted/twice.c"));
    let search = ["twice.c", "--goal", "waste", "--candidates", "6"];
    let short = "network=bottleneck rate=500Mbps rtt=2000us buffer=20pkt flows=1 subflows=1 loss=0 ack-every=2pkt host-queue=fq";
    let record = challenge(dir.path(), &[&search[..], &bounds(short)].concat());
    let own = failures(&record).iter().find(|own| number(own, "/value") > number(own, "/beside/value") + 0.1);
    assert!(own.is_some(), "{record}");
}

/// Every file of a folder.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entry = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).expect("it can be read"))
    };
    dir.read_dir().expect("a folder").map(|own| entry(own.expect("an entry"))).collect()
}

#[test]
fn a_seed_gives_the_same_folder_however_many_run_at_a_time_and_replays_to_the_bit() {
    let dir = TempDir::new().expect("a temporary folder");
    let search = ["dctcp", "--candidates", "3", "--goal", "unfairness", "--bound", "network=bottleneck"];
    let small = "rate=100Mbps rtt=500us buffer=50pkt mark=5pkt flows=2 loss=0 cross=none event=none ack-every=2pkt host-queue=fq";
    let small = bounds(small);
    let of = |more: &[&str]| challenge(dir.path(), &[&search[..], &small, more].concat());
    let record = of(&["--out", "a", "--parallel", "1"]);
    of(&["--out", "b", "--parallel", "3"]);
    let first = files(&dir.path().join("a"));
    assert_eq!(first, files(&dir.path().join("b")));
    assert!(!failures(&record).is_empty(), "{record}");
    for found in failures(&record) {
        let file = found["file"].as_str().expect("a name");
        let text = String::from_utf8(first[file].clone()).expect("text");
        assert!(text.lines().count() < 45, "{text}");
        let mut run = tresse(dir.path());
        run.args(["run", &format!("a/{file}"), "--seed", "2", "--out", &format!("runs/{file}")])
            .assert()
            .success();
    }

    let replay = |folder: &str| {
        tresse(dir.path()).args(["challenge", "--replay", folder]).output().expect("it starts")
    };
    let output = replay("a");
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert_eq!(table.matches("same to the bit").count(), failures(&record).len(), "{table}");

    // The last digit of a number.
    let path = dir.path().join("b/challenge.json");
    let own = number(&failures(&record)[0], "/values/0");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, text.replace(&own.to_string(), &own.next_down().to_string())).expect("it is written");
    let output = replay("b");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("numbers differ"), "{told}");
}

/// Found on other machines, by ten minutes of `tresse challenge` each; a new model needs a new search. `make test-all`
/// replays all of them.
#[test]
fn what_another_machine_has_found_replays_to_the_bit() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/challenge");
    let dir = TempDir::new().expect("a temporary folder");
    let mut folders: Vec<_> = suites
        .read_dir()
        .expect("the suites are there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    let step = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 1 } else { 4 };
    for folder in folders.into_iter().step_by(step) {
        let text = fs::read_to_string(folder.join("challenge.json")).expect("each is a challenge's folder");
        let record: Value = serde_json::from_str(&text).expect("JSON");
        let mut replay = tresse(dir.path());
        let output = replay.args(["challenge", "--replay"]).arg(&folder).output().expect("it starts");
        let table = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{}: {table}", folder.display());
        assert_eq!(table.matches("same to the bit").count(), failures(&record).len(), "{table}");
    }
}

#[test]
fn what_cannot_be_searched_is_refused_before_the_search() {
    let dir = TempDir::new().expect("a temporary folder");
    for (arguments, told) in [
        (&["reno", "--goal", "queue"][..], "reno hears no marks"),
        (&["dctcp", "--goal", "flapping"], "has one subflow"),
        (&["reno", "--goal", "starve"], "there is no goal `starve`"),
        (&["xmp", "--bound", "mark=100pkt", "--bound", "buffer=20pkt"], "the bounds contradict"),
        (&["xmp", "--bound", "rate=3Gbps"], "rate has no value `3Gbps`"),
        (&["xmp", "--bound", "network=parking-lot"], "the bounds contradict"),
        (&["swift"], "has the hook `report`"),
        (&["holnet_uta"], "needs the congestion of the next hop"),
        (&["nothing"], "there is no controller `nothing`"),
        (&["--replay", "."], "challenge.json"),
        (&["xmp", "--time", "10"], "a time such as 90s, 10m or 2h"),
    ] {
        let said = fails(tresse(dir.path()).arg("challenge").args(arguments), 2);
        assert!(said.contains(told), "{arguments:?}: {said}");
        assert!(!dir.path().join("challenges").exists(), "{arguments:?}: it has begun");
    }
}

#[test]
fn ctrl_c_keeps_what_was_found() {
    let dir = TempDir::new().expect("a temporary folder");
    let said = dir.path().join("said");
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["challenge", "reno", "--candidates", "100000", "--bound", "rate=100Mbps", "--out", "found"])
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said).expect("a file"))
        .spawn()
        .expect("it starts");
    wait_until(|| fs::read_to_string(&said).is_ok_and(|text| text.contains("starvation")));
    interrupt(child.id());
    let code = child.wait().expect("it ends").code();
    let told = fs::read_to_string(&said).expect("it has told");
    assert_eq!(code, Some(130), "{told}");
    let text = fs::read_to_string(dir.path().join("found/challenge.json")).expect("it is there");
    let record: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(record["complete"], false);
    let found = failures(&record).first().expect("a failure");
    assert_eq!(found["confirmed"], false);
    assert!(dir.path().join("found").join(found["file"].as_str().expect("a name")).exists());
    let mut replay = tresse(dir.path());
    replay.args(["challenge", "--replay", "found"]).assert().success();
}
