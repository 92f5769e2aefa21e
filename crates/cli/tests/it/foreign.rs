//! Files of other tools in whole runs: the right values of what was once misread without a word.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../exchange/tests/it/cases");

/// A folder with the files of a case, and an experiment of two hosts with this workload.
fn folder(case: &str, workload: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    for entry in fs::read_dir(Path::new(CASES).join(case)).expect("the case") {
        let entry = entry.expect("a file");
        fs::copy(entry.path(), dir.path().join(entry.file_name())).expect("a copy");
    }
    let text = format!(
        "title = \"t\"\n[fabric]\ntopology = \"leaf-spine\"\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n\
         rate = \"10Gbps\"\ndelay = \"500ns\"\nqueue = \"100pkt\"\nhost_queue = \"100pkt\"\n\
         [transport]\nmss = \"1460B\"\nheader = \"40B\"\nack = \"40B\"\ninitial_window = \"10pkt\"\n\
         rto_min = \"10ms\"\nrto_initial = \"1s\"\nrto_max = \"60s\"\nrecovery = \"sack\"\n\
         reduction = \"immediate\"\nack_every = \"2pkt\"\nack_timer = \"40ms\"\nquick_acks = \"16pkt\"\n\
         [schemes.reno]\ncontroller = \"reno\"\nsubflows = 1\n[workloads.w]\n{workload}\n"
    );
    fs::write(dir.path().join("x.toml"), text).expect("the experiment");
    dir
}

/// The completion time of the job in ms, and what was said on stderr.
fn job(dir: &TempDir) -> (f64, String) {
    let output = tresse(dir.path()).args(["run", "x.toml", "--json"]).output().expect("the command starts");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one object");
    let seconds = report["cases"][0]["metrics"]["jct_mean_s"].as_f64();
    (1e3 * seconds.unwrap_or_else(|| panic!("{}", report["cases"][0]["metrics"])), stderr)
}

#[test]
fn computations_on_one_cpu_run_one_after_another() {
    let dir = folder("12-goal-cpu", "pattern = \"goal\"\nfile = \"cpu.goal\"");
    let (ms, stderr) = job(&dir);
    assert!((ms - 2.002).abs() < 0.001, "{ms} ms");
    assert!(!stderr.contains("note: "), "{stderr}");
    let other = fs::read_to_string(dir.path().join("cpu.goal")).expect("the trace");
    let other = other
        .replacen("1000000 cpu 0", "1000000 cpu 1", 1)
        .replace("cpu 0\nl3 requires l1", "nic 2\nl3 requires l1");
    fs::write(dir.path().join("cpu.goal"), format!("\u{feff}{}", other.replace('\n', "\r\n")))
        .expect("a file");
    let (ms, stderr) = job(&dir);
    assert!((ms - 1.002).abs() < 0.001, "{ms} ms");
    assert!(stderr.contains("1 operations name a `nic` other than 0, which is left out"), "{stderr}");

    let bigger = folder("12-goal-cpu", "pattern = \"goal\"\nfile = \"bigger-receive.goal\"");
    let stderr = fails(tresse(bigger.path()).args(["run", "x.toml"]), 2);
    assert!(stderr.contains("this receive has 4096 bytes; its send in line 3 has 1000"), "{stderr}");
}

#[test]
fn a_collectives_call_on_a_cpu_takes_its_duration() {
    let dir = folder("13-chakra-cpu-collective", "pattern = \"chakra\"\ntrace = \"pt\"");
    let (ms, stderr) = job(&dir);
    assert!(
        stderr.contains("2 communications of pt are calls on a CPU (`is_cpu_op`): they take"),
        "{stderr}"
    );
    // 85 us, then a megabyte around a ring of two: twice 500 kB at 10 Gbit/s are 0.82 ms with headers.
    assert!((0.9..1.2).contains(&ms), "{ms} ms");
    let cpu = folder("13-chakra-cpu-collective", "pattern = \"chakra\"\ntrace = \"cpu\"");
    let stderr = fails(tresse(cpu.path()).args(["run", "x.toml"]), 2);
    assert!(stderr.contains("`is_cpu_op` is true, which ASTRA-sim refuses"), "{stderr}");
}

#[test]
fn a_doubled_list_of_links_does_not_double_the_capacity() {
    let dir =
        folder("01-hpcc-link-listed-both-ways", "pattern = \"permutation\"\nsize = \"1MB\"\nrounds = 1");
    let import = ["import", "hpcc", "topology.txt", "flow.txt", "-o", "i.toml", "--json"];
    let output = tresse(dir.path()).args(import).output().expect("the command starts");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(stderr.contains("note: topology.txt: 4 of 8 lines repeat a pair of nodes"), "{stderr}");
    assert!(stderr.contains("network: 4 hosts, 1 switch, 4 links (4 of 100Gbps)"), "{stderr}");
    assert!(stderr.contains("flows: 4, 400MB in all, starts at 0"), "{stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((json["summary"]["links"].as_u64(), json["summary"]["flows"].as_u64()), (Some(4), Some(4)));
    assert!(json["notes"].as_array().is_some_and(|notes| !notes.is_empty()), "{json}");
    let run = ["run", "i.toml", "--only", "scheme=dctcp", "--json"];
    let output = tresse(dir.path()).args(run).output().expect("the command starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one object");
    let slowest = report["cases"][0]["metrics"]["fct_max_s"].as_f64().expect("the longest flow");
    assert!(slowest >= 33.5e-3, "{slowest} s for 400 MB over one link of 100 Gbit/s");
}

#[test]
fn notes_on_a_network_are_told_by_every_command_that_reads_it() {
    let dir =
        folder("03-graphml-link-speed-ignored", "pattern = \"permutation\"\nsize = \"10kB\"\nrounds = 1");
    let text = fs::read_to_string(dir.path().join("x.toml")).expect("the experiment");
    let text = text.replace(
        "\"leaf-spine\"\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n",
        "\"file\"\nfile = \"net.graphml\"\n",
    );
    fs::write(dir.path().join("x.toml"), text).expect("the experiment");
    let plan = "experiment = \"x.toml\"\n[[designs]]\nkeys = { \"workloads.w.rounds\" = [1] }\n";
    fs::write(dir.path().join("plan.toml"), plan).expect("the plan");
    let suite = "title = \"Mine\"\n[[experiments]]\nname = \"mine\"\nmeasure = \"makespan\"\nscheme = \"reno\"\n\
                 experiment = \"x.toml\"\n";
    fs::write(dir.path().join("suite.toml"), suite).expect("the suite");
    for command in [
        &["topology", "show", "x.toml"][..],
        &["run", "x.toml", "--out", "out"],
        &["sweep", "plan.toml"],
        &["evaluate", "reno", "--suite", "suite.toml"],
    ] {
        let output = tresse(dir.path()).args(command).output().expect("the command starts");
        let stderr = String::from_utf8(output.stderr).expect("text");
        let told =
            stderr.matches("note: net.graphml: the rate of 2 links is read from `LinkSpeedRaw`").count();
        assert_eq!(told, 1, "{command:?}: {stderr}");
    }
    let run = fs::read_to_string(dir.path().join("out/run.json")).expect("the run");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let kept = run["notes"].as_array().expect("notes").iter().filter_map(Value::as_str);
    assert_eq!(kept.filter(|note| note.contains("`LinkSpeedRaw`")).count(), 1, "{run}");
}
