//! Controllers that live by telemetry, where switches trim.

use std::fs;

use tempfile::TempDir;
use tresse_experiment::{Profile, find, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};

/// Hosts of 10 Gbit/s before a link of 1 Gbit/s: each flow begins with ten BDP of that link, 32 with twice its buffer
/// for every packet that the buffer holds.
const MANY: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 8
rate = { access = "10Gbps", bottleneck = "1Gbps" }
delay = { access = "20us", bottleneck = "60us" }
queue = "150kB"
host_queue = "fq"
trim = "64B"
[transport]
profile = "spray"
[schemes]
hpcc = { controller = "hpcc" }
powertcp = { controller = "powertcp" }
[workloads.many]
pattern = "flows"
duration = "100ms"
flow = [
  { from = "S1", to = "D1", count = 4 },
  { from = "S2", to = "D2", count = 4 },
  { from = "S3", to = "D3", count = 4 },
  { from = "S4", to = "D4", count = 4 },
  { from = "S5", to = "D5", count = 4 },
  { from = "S6", to = "D6", count = 4 },
  { from = "S7", to = "D7", count = 4 },
  { from = "S8", to = "D8", count = 4 },
]
"#;

/// The headers of what 32 flows have trimmed fill the link before them. Only what these headers were told can end it.
#[test]
fn a_header_tells_of_the_queue_that_had_no_room() {
    let dir = TempDir::new().expect("a temporary folder");
    let file = dir.path().join("t.toml");
    fs::write(&file, MANY).expect("written");
    let source = find(file.to_str().expect("a path")).expect("it is there");
    let loaded = load(source, Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads: 1,
        out: Some(dir.path().join("out")),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there is one seed");
    let report = run(&loaded, &plan, &options, &watch, &NotJudged).expect("the folder can be written");
    assert_eq!(report.cases.len(), 2);
    for case in &report.cases {
        let goodput = case.metrics.get("goodput_mean_bps").expect("all have one").value();
        assert!(goodput > 10e6, "a third of the link at least: {goodput} bit/s each");
    }
}
