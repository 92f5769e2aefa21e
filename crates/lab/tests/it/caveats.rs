//! What a comparison of schemes is told after it has run: work that depends on the scheme, and a load that was never
//! steady (docs/fair.md).

use std::fs;

use tempfile::TempDir;
use tresse_experiment::{Profile, find, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};

const FABRIC: &str = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "10Gbps"
delay = "1us"
queue = "100pkt"
mark = "20pkt"
[transport]
profile = "linux"
rto_min = "5ms"
handshake = false
[schemes.dctcp]
controller = "dctcp"
[schemes.slow]
controller = "dctcp"
transport = { receive_window = "10pkt" }
"#;

fn notes(workload: &str) -> Vec<String> {
    of(&format!("{FABRIC}[workloads.w]\n{workload}"))
}

fn of(text: &str) -> Vec<String> {
    under(1, text)
}

fn under(seeds: u32, text: &str) -> Vec<String> {
    let dir = TempDir::new().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    fs::write(&file, text).expect("written");
    let source = find(file.to_str().expect("a path")).expect("it is there");
    let loaded = load(source, Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: seeds.into(),
        parallel: 1,
        threads: 1,
        out: Some(dir.path().join("run")),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there is room");
    run(&loaded, &plan, &options, &watch, &NotJudged).expect("it runs").notes
}

#[test]
fn a_closed_loop_tells_how_many_jobs_each_scheme_ran() {
    let jobs = "pattern = \"jobs\"\nservers = 4\nrequest = \"2kB\"\nresponse = \"200kB\"\njobs = 1\nduration = \"20ms\"\n";
    let told = notes(jobs);
    let note = told.iter().find(|note| note.contains("closed loop")).unwrap_or_else(|| panic!("{told:?}"));
    assert!(note.contains("in slow-1") && note.contains("in dctcp-1"), "{note}");
    let open = notes(&jobs.replace("jobs = 1", "every = \"200us\""));
    assert!(open.iter().all(|note| !note.contains("closed loop")), "{open:?}");
}

#[test]
fn arrivals_that_end_before_their_flows_are_told() {
    let size = |bytes: &str, flows: u32| {
        format!(
            "pattern = \"poisson\"\nsize = \"{bytes}\"\nload = 0.3\nload_on = \"access\"\nflows = {flows}\n"
        )
    };
    let few_large = notes(&size("10MB", 20));
    assert!(few_large.iter().any(|note| note.contains("not a steady state")), "{few_large:?}");
    let many_small = notes(&size("10kB", 2000));
    assert!(many_small.iter().all(|note| !note.contains("not a steady state")), "{many_small:?}");
}

/// The first experiments of HOLNET and MPTCP_OPN were right and showed nothing of their mechanisms.
#[test]
fn a_mechanism_that_did_nothing_is_told_and_one_that_acted_is_not() {
    let holnet = |workload: &str| {
        let fabric = FABRIC.replace("mark = \"20pkt\"", "routing = \"holnet-percentage\"");
        let fabric = fabric.replace("controller = \"dctcp\"", "controller = \"reno\"");
        // Equal shares of two uplinks that are congested alike would stay.
        let slow = "links = [{ ends = [\"leaf 0\", \"spine 0\"], rate = \"1Gbps\" }]\n[transport]";
        let fabric = fabric.replace("[transport]", slow);
        of(&format!("{fabric}[workloads.w]\n{workload}"))
    };
    let idle = holnet("pattern = \"flows\"\nflow = [{ from = 0, to = 7, size = \"100kB\" }]\n");
    assert!(idle.iter().any(|note| note.contains("HOLNET's balancer did nothing in any case")), "{idle:?}");
    // Four hosts at 10 Gbit/s each have two uplinks of 10 Gbit/s.
    let full = holnet("pattern = \"rack-to-rack\"\nsize = \"5MB\"\nrounds = 1\n");
    assert!(full.iter().all(|note| !note.contains("HOLNET's balancer did nothing in any case")), "{full:?}");

    let opn = FABRIC.replace("mark = \"20pkt\"", "routing = \"ecmp\"");
    let opn = opn.split_once("[schemes").expect("it is there").0.to_owned()
        + "[schemes.opn]\ncontroller = \"lia\"\npath_manager = \"opn\"\n";
    let idle = of(&format!(
        "{opn}[workloads.w]\npattern = \"flows\"\nflow = [{{ from = 0, to = 7, size = \"1MB\" }}]\n"
    ));
    let is_told =
        |module: &str| idle.iter().any(|note| note.contains(&format!("MPTCP_OPN's {module} did nothing")));
    assert!(is_told("concurrency tuning"), "{idle:?}");
    // An ACK that its receiver delays for longer than two round trips makes a path SLOW even here.
    assert!(!is_told("traffic shifting"), "{idle:?}");
}

#[test]
fn flows_that_waited_for_a_lost_handshake_are_told() {
    let full = FABRIC.replace("queue = \"100pkt\"", "queue = \"4pkt\"").replace("20pkt", "3pkt");
    let with = full.replace("handshake = false", "handshake = true");
    let is_told = |note: &String| note.contains("handshakes were lost") && note.contains("`rto_initial`, 1s");
    let told = of(&format!("{with}{CROWD}"));
    assert!(told.iter().any(is_told), "{told:?}");
    let none = of(&format!("{full}{CROWD}"));
    assert!(none.iter().all(|note| !note.contains("handshakes were lost")), "{none:?}");
}

/// 140 flows to one host at the same time.
const CROWD: &str = "[workloads.w]\npattern = \"incast\"\nservers = 7\nconnections = 20\nsize = \"10kB\"\n";

#[test]
fn flows_of_a_slice_that_the_end_cuts_off_are_told() {
    let slice = "[measure.slices]\nsmall = { size = \"up to 100kB\" }\n[workloads.w]\npattern = \"poisson\"\n\
                 size = \"100kB\"\nload = 0.9\nload_on = \"access\"\n";
    let cut = of(&format!("{FABRIC}{slice}duration = \"2ms\"\n"));
    let note =
        cut.iter().find(|note| note.starts_with("the slice small: ")).unwrap_or_else(|| panic!("{cut:?}"));
    assert!(note.contains(" under dctcp-1 w") && note.contains("without `duration`"), "{note}");
    let whole = of(&format!("{FABRIC}{slice}flows = 50\n"));
    assert!(whole.iter().all(|note| !note.contains("slice small")), "{whole:?}");
}

#[test]
fn an_interval_larger_than_its_value_is_told() {
    let table = "[measure]\ntable = [\"fct_p99_s\", \"timeouts\"]\n[workloads.w]\npattern = \"poisson\"\n\
                 load = 0.3\nload_on = \"access\"\nflows = 20\n";
    let told = under(2, &format!("{FABRIC}{table}size = [\"1kB\", \"10MB\"]\n"));
    let is_told = |note: &String| note.starts_with("±95 % of fct_p99_s is larger than its value in ");
    assert!(told.iter().any(is_told), "{told:?}");
    assert!(told.iter().any(|note| note.contains("`tresse show RUN --by seed`")), "{told:?}");
    let alike = under(2, &format!("{FABRIC}{table}size = \"1kB\"\n"));
    assert!(alike.iter().all(|note| !note.contains("larger than its value")), "{alike:?}");
}
