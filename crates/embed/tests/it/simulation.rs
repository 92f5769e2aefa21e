//! The promises of the Rust interface.

use tresse_embed::experiment::{self, Profile, Source};
use tresse_embed::lab::judge::NotJudged;
use tresse_embed::lab::{Options as RunOptions, Watch, runner};
use tresse_embed::units::NEVER;
use tresse_embed::{Event, FlowRecord, Options, Simulation};

/// One switch: there is one path between any two hosts.
const STAR: &str = r#"
title = "One switch"
[fabric]
topology = "leaf-spine"
leaves = 1
spines = 1
hosts_per_leaf = 8
rate = "10Gbps"
delay = "1us"
queue = "100pkt"
mark = "20pkt"
host_queue = "1000pkt"
[transport]
profile = "linux"
[schemes.dctcp]
controller = "dctcp"
"#;

const FAT_TREE: &str = r#"
title = "A fat tree"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "1us"
queue = "100pkt"
mark = "10pkt"
host_queue = "1000pkt"
[transport]
profile = "linux"
[schemes.xmp]
controller = "xmp"
subflows = 4
"#;

fn opened(text: &str, options: &Options) -> Simulation {
    let source = Source { name: "test.toml".to_owned(), text: text.to_owned() };
    Simulation::of(source, options).unwrap_or_else(|e| panic!("{e}"))
}

/// A ring all-reduce: the arrivals in order.
fn ring(network: &mut Simulation, ranks: u32, bytes: u64) -> Vec<FlowRecord> {
    let mut from: Vec<u32> = (0..ranks).collect();
    let mut arrived = Vec::new();
    let mut received = vec![0; ranks as usize];
    for &rank in &from {
        network.send(rank, (rank + 1) % ranks, bytes / u64::from(ranks)).expect("a message");
    }
    while let Some(event) = network.next(NEVER).expect("it goes on") {
        let Event::Arrived(record) = event else { panic!("no timer was set") };
        arrived.push(record);
        let rank = (from[record.id as usize] + 1) % ranks;
        received[rank as usize] += 1;
        if received[rank as usize] < 2 * (ranks - 1) {
            from.push(rank);
            network.send(rank, (rank + 1) % ranks, bytes / u64::from(ranks)).expect("a message");
        }
    }
    arrived
}

/// [`STAR`] with hosts that serve subflows in turn: with one queue, the least difference between hosts decides how far
/// they get out of step, and so what waits behind what.
fn fair(text: &str) -> String {
    text.replace("host_queue = \"1000pkt\"", "host_queue = \"fq\"")
}

/// The same collective as a workload of a file takes as long: by packets to the picosecond, by rounds nearly, where the
/// order of what happens at one instant has an effect.
#[test]
fn a_ring_from_outside_takes_as_long_as_a_workload() {
    for (fidelity, within, text) in [("packets", 0.5e-12, STAR), ("rounds", 1e-5, &fair(STAR))] {
        let options = Options { set: vec![format!("fidelity={fidelity}")], ..Options::default() };
        let mut network = opened(text, &options);
        assert_eq!(ring(&mut network, 8, 8_000_000).len(), 8 * 14);

        let workload =
            "[workloads.ring]\npattern = \"collective\"\ncollective = \"ring-all-reduce\"\nsize = \"8MB\"\n";
        let source = Source { name: "test.toml".to_owned(), text: format!("{text}{workload}") };
        let loaded = experiment::load(source, Profile::Full, &options.set).unwrap_or_else(|e| panic!("{e}"));
        let plan = experiment::resolve(&loaded, &[]).expect("a plan");
        let options = RunOptions { profile: Profile::Full, ..RunOptions::default() };
        let watch = Watch::new(&plan, &options).expect("a watch");
        let report = runner::measure(&loaded, &plan, &options, &watch, &NotJudged).expect("a report");
        let took = report.cases[0].metrics["jct_mean_s"].value();
        let outside = network.now() as f64 / 1e12;
        assert!((took - outside).abs() < within, "{fidelity}: {took} s; {outside} s from outside");
    }
}

/// By rounds the same calls give nearly the same times.
#[test]
fn rounds_are_near_packets() {
    for (text, ranks) in [(&fair(STAR), 8), (&fair(FAT_TREE), 16)] {
        let took = |fidelity: &str| {
            let options = Options { set: vec![format!("fidelity={fidelity}")], ..Options::default() };
            let mut network = opened(text, &options);
            assert_eq!(ring(&mut network, ranks, 16_000_000).len() as u32, ranks * 2 * (ranks - 1));
            network.now() as f64
        };
        let ratio = took("rounds") / took("packets");
        assert!((0.93..1.07).contains(&ratio), "{ranks} ranks: {ratio}");
    }
}

/// Equal calls give equal answers, on any number of threads; another seed draws other paths.
#[test]
fn it_is_deterministic() {
    let records = |options: &Options| ring(&mut opened(FAT_TREE, options), 16, 4_000_000);
    let once = records(&Options::default());
    assert_eq!(once, records(&Options { threads: 2, ..Options::default() }));
    assert_ne!(once, records(&Options { seed: 2, ..Options::default() }));
}

/// On a persistent connection, the second message starts with the window of the first.
#[test]
fn a_connection_may_stay() {
    for fidelity in ["packets", "rounds"] {
        stays(fidelity);
    }
}

fn stays(fidelity: &str) {
    let set = vec![format!("fidelity={fidelity}")];
    let second = |persistent| {
        let mut network = opened(STAR, &Options { persistent, set: set.clone(), ..Options::default() });
        let mut took = 0;
        for _ in 0..2 {
            network.send(0, 1, 300_000).expect("a message");
            let Ok(Some(Event::Arrived(record))) = network.next(NEVER) else { panic!("it arrives") };
            assert!(record.complete && record.bytes == 300_000);
            took = record.end - record.start;
        }
        took
    };
    let (own, shared) = (second(false), second(true));
    assert!(shared < own, "{shared} ps; {own} ps on a connection of its own");
}

/// Timers come at their times, those of one instant in the order of the calls; time does not go beyond the
/// requested one.
#[test]
fn timers_come_in_order() {
    let mut network = opened(STAR, &Options::default());
    let [late, first, second] = [2000, 1000, 1000].map(|time| network.at(time));
    assert_eq!(network.next(500), Ok(None));
    assert_eq!(network.now(), 500);
    for timer in [first, second, late] {
        assert_eq!(network.next(NEVER), Ok(Some(Event::Timer(timer))));
    }
    assert_eq!(network.now(), 2000);
    let past = network.at(1);
    assert_eq!(network.next(NEVER), Ok(Some(Event::Timer(past))));
    assert_eq!((network.now(), network.next(NEVER)), (2000, Ok(None)));
}

/// Links of the file fail and come back; a message that waits forever is reported.
#[test]
fn links_change() {
    for fidelity in ["packets", "rounds"] {
        links_change_by(fidelity);
    }
}

fn links_change_by(fidelity: &str) {
    let options = Options { set: vec![format!("fidelity={fidelity}")], ..Options::default() };
    let failing = |back: &str| {
        let change = |at, failed| {
            format!("[[changes]]\nat = \"{at}\"\nlink = [\"host 1\", \"leaf 0\"]\nfailed = {failed}\n")
        };
        let back = if back.is_empty() { String::new() } else { change(back, "false") };
        let mut network = opened(&format!("{STAR}{}{back}", change("100us", "true")), &options);
        network.send(0, 1, 10_000_000).expect("a message");
        network.next(NEVER)
    };
    let Ok(Some(Event::Arrived(record))) = failing("1s") else { panic!("it arrives when the link is back") };
    assert!(record.end > 1_000_000_000_000, "{}", record.end);
    let told = failing("").expect_err("it never arrives").to_string();
    assert!(told.contains("host 0") && told.contains("has failed for good"), "{told}");
}

#[test]
fn wrong_messages_and_mixed_cases_are_refused() {
    let mut network = opened(STAR, &Options::default());
    let mut told = |from, to, bytes| network.send(from, to, bytes).expect_err("a wrong message").to_string();
    assert!(told(0, 8, 1).contains("there is no host 8: hosts are 0 to 7"));
    assert!(told(3, 3, 1).contains("a host does not send to itself"));
    assert!(told(0, 1, 0).contains("it has no bytes"));
    assert!(told(0, 1, u64::MAX).contains("at most"), "{}", told(0, 1, u64::MAX));
    assert_eq!(network.send(0, 1, 1), Ok(0), "what was refused has no number");
    let wrong = Simulation::open("xmp/table1", &Options::default()).expect_err("many cases").to_string();
    assert!(wrong.contains("choose with `only`") && wrong.contains("scheme=xmp subflows=2"), "{wrong}");
}
