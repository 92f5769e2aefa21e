//! What `--set` has changed of what is published, and what an experiment has read.

use std::fs;

use tempfile::TempDir;
use tresse_experiment::read::changes::differences;
use tresse_experiment::read::files::sha256;
use tresse_experiment::{Loaded, Profile, Source, find, load, resolve};

fn with(name: &str, settings: &[&str]) -> Loaded {
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    load(find(name).expect("built in"), Profile::Quick, &settings).unwrap_or_else(|e| panic!("{e}"))
}

fn changed(name: &str, settings: &[&str]) -> Vec<String> {
    with(name, settings).changes.iter().map(|change| change.setting()).collect()
}

#[test]
fn what_differs_from_the_file_is_a_change() {
    for (setting, change) in [
        ("fabric.k=4", "fabric.k = 4"),
        ("fabric.mark=20pkt", "fabric.mark = 20pkt"),
        ("transport.recovery=reno", "transport.recovery = reno"),
        ("schemes.xmp.parameters.beta=6", "schemes.xmp.parameters.beta = 6"),
        ("schemes.lia.controller=reno", "schemes.lia.controller = reno"),
        ("workloads.permutation.rounds=40", "workloads.permutation.rounds = 40"),
    ] {
        assert_eq!(changed("xmp/table1", &[setting]), [change]);
    }
    assert_eq!(with("xmp/table1", &["fabric.k=4"]).changes[0].from, Some(8.into()));
}

#[test]
fn what_means_the_same_or_is_only_measured_besides_is_none() {
    for setting in [
        "fabric.k=8",
        "fabric.rate=1000Mbps",
        "transport.recovery=reno-once",
        "transport.initial_window=1pkt", // as the profile ns3 has it
        "measure.samples=10ms",
        "measure.queues=100us",
        "measure.links=false",
        "measure.table=[\"flows\"]",
        "title=another",
        "replications=3",
        "schemes.own={ controller = \"lia\", subflows = 3 }",
    ] {
        assert_eq!(changed("xmp/table1", &[setting]), [""; 0], "{setting}");
    }
    // An own scheme's segments would change what the ports' buffers are counted in.
    let own = ["schemes.own={ controller = \"lia\", transport = { mss = \"9000B\" } }"];
    assert_eq!(changed("xmp/table1", &own).len(), 2);
}

#[test]
fn a_setting_of_all_variants_is_one_change() {
    let changes = changed("opn/fig15", &["fabric.queue=64pkt"]);
    assert_eq!(changes, ["fabric.queue = 64pkt"]);
}

#[test]
fn what_a_setting_gives_to_a_window_that_is_there_is_a_change() {
    let text = "[measure]\nsamples = \"1ms\"\n[measure.windows]\nw = [\"1ms\", \"5ms\"]\n";
    let base: toml::Table = toml::from_str(text).expect("TOML");
    let other: toml::Table = toml::from_str(&text.replace("5ms", "5000us")).expect("TOML");
    assert_eq!(differences(&base, &other), [], "the same in another unit");
    let other: toml::Table = toml::from_str(&text.replace("5ms", "6ms")).expect("TOML");
    assert_eq!(differences(&base, &other)[0].key, "measure.windows.w");
}

/// A permutation whose sizes come from a file.
const DRAWN: &str = r#"
title = "Sizes from a file"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.lia]
controller = "lia"
[workloads.w]
pattern = "permutation"
size = { file = "sizes.cdf" }
"#;

#[test]
fn every_file_that_is_read_is_known_by_its_content() {
    let dir = TempDir::new().expect("a temporary folder");
    let cdf = "1000 0\n2000 1\n";
    fs::write(dir.path().join("sizes.cdf"), cdf).expect("written");
    let name = dir.path().join("own.toml").display().to_string();
    let loaded = load(Source { name: name.clone(), text: DRAWN.to_owned() }, Profile::Full, &[]);
    let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
    resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
    let files: Vec<_> = loaded.files.all().into_iter().map(|f| (f.path, f.sha256)).collect();
    let sizes = dir.path().join("sizes.cdf").display().to_string();
    assert_eq!(files, [(name, sha256(DRAWN)), (sizes, sha256(cdf))]);
    // What is built in is known by the program's version.
    assert!(with("xmp/table1", &["fabric.k=4"]).files.all().is_empty());
}
