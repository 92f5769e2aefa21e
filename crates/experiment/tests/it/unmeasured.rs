//! What an experiment asks for and does not measure is told before it runs.

use tresse_experiment::plan::unmeasured;
use tresse_experiment::read::Source;
use tresse_experiment::{Profile, load, resolve};

const EXPERIMENT: &str = r#"
title = "two windows"
[fabric]
topology = "dumbbell"
pairs = 1
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "fq"
[transport]
profile = "linux"
[schemes.xmp]
controller = "xmp"
[workloads.short]
pattern = "permutation"
duration = "10ms"
[workloads.long]
pattern = "permutation"
duration = "30ms"
[measure]
samples = "1ms"
windows = { early = ["0s", "5ms"], late = ["20ms", "30ms"] }
"#;

fn notes(settings: &[&str]) -> Vec<String> {
    let source = Source { name: "test.toml".into(), text: EXPERIMENT.to_owned() };
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let loaded = load(source, Profile::Full, &settings).expect("valid");
    unmeasured::notes(&loaded, &resolve(&loaded, &[]).expect("valid"))
}

#[test]
fn a_window_after_the_end_is_told_with_the_case() {
    let told = notes(&[]);
    assert_eq!(told, ["the window `late` begins after the end of xmp-1 short, 10ms at the latest"]);
    let told = notes(&["workloads.long.duration=20ms"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with("2 of 2 cases: the last of them, xmp-1 long, ends by 20ms"), "{told:?}");
}

#[test]
fn a_column_that_nothing_measures_is_told_with_the_setting() {
    let of = |settings: &[&str]| notes(&[&["workloads.short.duration=30ms"], settings].concat());
    for (metric, setting) in [
        ("rtt_p99_s", "rtt = true"),
        ("queue_max_pkts", "queues = \"100us\""),
        ("unconverged", "convergence = {}"),
        ("recovery_time_max_s", "recovery = {}"),
    ] {
        let table = format!("measure.table=[\"flows\", \"{metric}\"]");
        assert_eq!(of(&[&table]), [format!("`{metric}` in `measure.table` needs `{setting}` in [measure]")]);
        let asked = format!("measure.{}", setting.replace(" = ", "="));
        assert!(of(&[&table, &asked]).is_empty(), "{metric}");
    }
}
