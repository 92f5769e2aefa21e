//! `tresse topology show`: facts, paths, and files that are read back.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

fn show(dir: &TempDir, args: &[&str]) -> String {
    let output =
        tresse(dir.path()).args(["topology", "show"]).args(args).output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// XMP §5.2.1: "RTT is between 105us and 435us".
#[test]
fn table_1s_fat_tree_is_told_in_facts() {
    let dir = TempDir::new().expect("a temporary folder");
    let facts = show(&dir, &["xmp/table1", "host 0", "127", "--json"]);
    let facts: Value = serde_json::from_str(&facts).expect("--json prints JSON");
    assert_eq!(facts["schema"], "tresse/topology/1");
    let counts =
        ["hosts", "switches", "links", "racks", "pods"].map(|key| facts[key].as_u64().expect("a count"));
    assert_eq!(counts, [128, 80, 384, 32, 8]);
    assert_eq!(facts["bisection_bps"], 64_000_000_000u64);
    let rtts: Vec<_> =
        facts["base_rtts"].as_array().expect("a list").iter().map(|r| r["max_ps"].clone()).collect();
    assert_eq!(rtts, [104_640_000, 249_280_000, 433_920_000].map(Value::from));
    let pairs: u64 =
        facts["base_rtts"].as_array().expect("a list").iter().filter_map(|r| r["pairs"].as_u64()).sum();
    assert_eq!(pairs, 128 * 127);
    assert_eq!((&facts["paths"]["count"], &facts["paths"]["to"]), (&16.into(), &"host 127".into()));
    assert_eq!(facts["paths"]["shown"][4]["nodes"][3], "core 4");
    let narrowest = &facts["tiers"][facts["narrowest_tier"].as_u64().expect("a place") as usize];
    assert_eq!((&narrowest["layer"], &narrowest["direction"]), (&"rack".into(), &"up".into()));
}

#[test]
fn people_get_tables() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = show(&dir, &["opn/fig4", "0", "99"]);
    for part in [
        "opn/fig4 · leaf-spine · 100 hosts · 22 switches · 2 racks · 1 pod",
        "spine     40  1Gbps",
        "40 Gbit/s   2.50:1  narrowest",
        "bisection bandwidth, first half of the hosts to the second: 20 Gbit/s",
        "inter-rack: 149.28 us",
        "from host 0 to host 99: 20 paths, the first 16",
        "  host 0 - leaf 0 - spine 15 - leaf 1 - host 99  (149.28 us)",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let dot = show(&dir, &["xmp/table1", "--set", "fabric.k=4", "--format", "dot"]);
    assert_eq!(dot.matches(" -- ").count(), 48);
    assert!(
        dot.contains("\"host 0\" [shape=ellipse]")
            && dot.contains("\"host 0\" -- \"edge 0\" [label=\"1Gbps\"]"),
        "{dot}"
    );
}

/// What is written is read back, and run: the results have the same digest.
#[test]
fn a_written_network_gives_the_same_results() {
    let dir = TempDir::new().expect("a temporary folder");
    let small = ["--set", "fabric.k=4", "--set", "fabric.routing=shortest", "--set", "fabric.loss=0.0001"];
    let table1 = [&["xmp/table1"], &small[..]].concat();
    let text = include_str!("../../../../papers/xmp/table1.toml");
    let digest = |args: &[&str]| {
        let flows = ["--set", "workloads.permutation.size=100kB", "--set", "workloads.permutation.rounds=1"];
        let mut command = tresse(dir.path());
        let output = command
            .args(["run"])
            .args(args)
            .args(flows)
            .args(["--only", "pattern=permutation"])
            .args(["--json"])
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).expect("--json prints JSON");
        report["digest"].as_str().expect("a digest").to_owned()
    };
    let wanted = digest(&table1);
    for format in ["json", "graphml"] {
        fs::write(dir.path().join("net"), show(&dir, &[&table1[..], &["--format", format]].concat()))
            .expect("a file");
        let file = text
            .replace(
                "topology = \"fat-tree\"\nk = 8 ",
                "topology = \"file\"\nfile = \"net\"\nrouting = \"shortest\" ",
            )
            .replace("distinct =", "# distinct =");
        fs::write(dir.path().join("mine.toml"), file).expect("a file");
        assert_eq!(digest(&["mine.toml"]), wanted, "{format}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    for (args, expected) in [
        (&["xmp/table1", "host 0", "core 1"][..], "`core 1` is a switch"),
        (&["xmp/table1", "host 0", "host 128"], "there is no host `host 128`; did you mean"),
        (&["xmp/table1", "host 0", "128"], "or numbers below 128"),
        (&["xmp/table1", "host 0"], "<TO>"),
        (&["xmp/table1", "--json", "--format", "dot"], "leave out --json (the facts) and the two hosts"),
        (&["xmp/table1", "--set", "fabric.k=3"], "--set fabric.k=3: k = 3: a fat tree needs"),
        (&["xmp/table1", "--set", "transport.mss=0B"], "a packet has 1 to 65535 bytes"),
    ] {
        let message = fails(tresse(dir.path()).args(["topology", "show"]).args(args), 2);
        assert!(message.contains(expected), "{args:?}: {message}");
    }
}
