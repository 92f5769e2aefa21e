//! Variants and replications on the command line.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

const EXPERIMENT: &str = r#"title = "Two queues"

[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "unlimited"

[transport]
profile = "ns3"

[schemes.xmp]
controller = "xmp"

[workloads.pairs]
pattern = "permutation"
size = ["10kB", "90kB"]

[variants.as-it-is]

[variants.wide]
fabric.pairs = 3
fabric.rate = "2Gbps"
"#;

/// A folder with the experiment as `v.toml`.
fn folder() -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("v.toml"), EXPERIMENT).expect("the folder can be written");
    dir
}

fn stdout(dir: &TempDir, args: &[&str]) -> String {
    let output = tresse(dir.path()).args(args).output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn json(dir: &TempDir, args: &[&str]) -> Value {
    serde_json::from_str(&stdout(dir, &[args, &["--json"]].concat())).expect("--json prints one object")
}

#[test]
fn every_command_knows_the_variants() {
    let dir = folder();
    let table = stdout(&dir, &["run", "v.toml", "--out", "out"]);
    let words = |line: &str| line.split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<_> = table.lines().skip(2).take(3).map(words).collect();
    assert_eq!(
        lines,
        [["scheme", "pattern", "variant"], ["xmp-1", "pairs", "as-it-is"], ["xmp-1", "pairs", "wide"]]
    );
    let named = stdout(&dir, &["run", "v.toml", "--set", "measure.table=['flows']"]);
    assert!(named.contains("scheme  pattern  variant   flows\n"), "{named}");
    let wide = json(&dir, &["run", "v.toml", "--only", "variant=wide"]);
    let case = &wide["cases"][0];
    assert_eq!((wide["cases"].as_array().map(Vec::len), &case["case"]["variant"]), (Some(1), &"wide".into()));
    assert_eq!(case["metrics"]["flows"], 6);

    let rows = |format: &str, more: &[&str]| {
        stdout(&dir, &[&["export", "out", "--format", format], more].concat()).lines().count()
    };
    assert_eq!((rows("csv", &[]), rows("csv", &["--only", "variant=wide"])), (1 + 4 + 6, 1 + 6));
    let several = fails(tresse(dir.path()).args(["export", "out", "--format", "hpcc-fct"]), 2);
    assert!(several.contains("--only pattern=pairs --only variant=wide --only seed=1"), "{several}");
    assert_eq!(rows("hpcc-fct", &["--only", "variant=wide"]), 6);

    let hosts =
        |more: &[&str]| json(&dir, &[&["topology", "show", "v.toml"], more].concat())["hosts"].clone();
    assert_eq!((hosts(&[]), hosts(&["--variant", "wide"])), (4.into(), 6.into()));
    let unknown = fails(tresse(dir.path()).args(["topology", "show", "v.toml", "--variant", "wade"]), 2);
    assert!(unknown.contains("v.toml: there is no variant `wade`; did you mean `wide`?"), "{unknown}");
    let optimum = stdout(&dir, &["optimum", "v.toml"]);
    assert!(
        optimum.contains("scheme  subflows  pattern  variant") && optimum.contains("pairs, wide:\n"),
        "{optimum}"
    );
}

#[test]
fn seeds_are_a_number_or_a_width() {
    let dir = folder();
    let run = |more: &[&str]| json(&dir, &[&["run", "v.toml"], more].concat());
    assert_eq!(run(&[])["replications"], 1);
    let narrow = run(&["--replications", "20%"]);
    let seeds = narrow["replications"].as_u64().expect("a number");
    assert!((3..=20).contains(&seeds) && narrow.get("too_wide").is_none(), "{narrow}");
    for case in narrow["cases"].as_array().expect("cases") {
        let number = |of: &str| case[of]["goodput_mean_bps"].as_f64().expect("a number");
        assert!(number("ci95") <= 0.2 * number("metrics"), "{case}");
    }
    // The command line comes before the file, whose metric and numbers of seeds it keeps.
    let own = "replications = { width = 0.9, least = 2, most = 4 }\n[fabric]";
    fs::write(dir.path().join("v.toml"), EXPERIMENT.replace("[fabric]", own)).expect("a file");
    assert!(run(&[])["replications"].as_u64().is_some_and(|seeds| (2..=4).contains(&seeds)));
    assert_eq!(run(&["--replications", "5"])["replications"], 5);
    let wide = run(&["--replications", "0.1%", "--seed", "7"]);
    assert_eq!((&wide["replications"], wide["too_wide"].as_array().map(Vec::len)), (&4.into(), Some(2)));
    let table = stdout(&dir, &["run", "v.toml", "--replications", "0.1%", "--seed", "7"]);
    assert!(table.contains(" · seeds 7 to 10 · "), "{table}");
    assert!(
        table.contains("\nnot enough seeds: xmp-1 pairs wide: goodput_mean_bps is known to ±"),
        "{table}"
    );
    for wrong in ["0", "1001", "100%", "few"] {
        let message = fails(tresse(dir.path()).args(["run", "v.toml", "--replications", wrong]), 2);
        assert!(message.contains("a number of seeds from 1 to 1000, or a width such as 5%"), "{message}");
    }
}
