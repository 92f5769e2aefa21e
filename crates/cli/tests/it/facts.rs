//! The commands that tell facts: list, explain, schema, controller trace.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::tresse;

fn stdout(args: &[&str], input: &str) -> String {
    let dir = TempDir::new().expect("a temporary folder");
    let output = tresse(dir.path()).args(args).write_stdin(input).output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args, "")).expect("--json prints JSON")
}

#[test]
fn controllers_are_listed_with_what_they_declare() {
    let list = json(&["list", "controllers", "--json"]);
    assert_eq!(list["schema"], "tresse/list/1");
    let xmp = list["controllers"].as_array().expect("a list").iter().find(|c| c["name"] == "xmp");
    let xmp = xmp.expect("xmp is listed");
    assert_eq!(xmp["source"], "XMP §2-3, Alg. 1");
    assert_eq!(xmp["coupled"], true);
    assert!(xmp["signals"].as_array().expect("signals").contains(&"ce_exact".into()));
    let beta = &xmp["parameters"][0];
    assert_eq!(
        (&beta["name"], &beta["default"], &beta["min"], &beta["max"]),
        (&"beta".into(), &4.into(), &2.into(), &64.into())
    );
}

#[test]
fn a_controller_tells_where_it_departs_and_what_it_claims() {
    let list = json(&["list", "controllers", "--json"]);
    let list = list["controllers"].as_array().expect("a list");
    let find = |name: &str| list.iter().find(|c| c["name"] == name).expect("it is listed");
    let olia = find("olia");
    assert_eq!(olia["exceptions"], serde_json::json!(["lowers"]));
    assert_eq!(olia["claims"], serde_json::json!(["rtt_ratios"]));
    assert_eq!((&olia["single"], &olia["file"]), (&"reno".into(), &"controllers/olia.c".into()));
    assert_eq!((&olia["attachable"], &olia["why_not_attachable"]), (&true.into(), &Value::Null));
    assert_eq!(find("reno")["single"], Value::Null);
    assert_eq!(find("dcm")["claims"], serde_json::json!(["not_above_reno", "rtt_ratios"]));
}

/// A terminal of 110 columns shows it unbroken.
#[test]
fn the_table_of_controllers_has_all_and_stays_narrow() {
    let table = stdout(&["list", "controllers"], "");
    for line in table.lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
    let list = json(&["list", "controllers", "--json"]);
    for c in list["controllers"].as_array().expect("a list") {
        for key in ["name", "title", "source"] {
            assert!(table.contains(c[key].as_str().expect("a text")), "{key} of {c}");
        }
        for p in c["parameters"].as_array().expect("a list") {
            let text =
                format!("{}={} ({} to {})", p["name"].as_str().unwrap(), p["default"], p["min"], p["max"]);
            assert!(table.contains(&text), "{text}");
        }
    }
}

#[test]
fn a_controller_is_explained_by_its_header_and_its_declaration() {
    let text = stdout(&["explain", "xmp"], "");
    for part in [
        "- source: XMP §2-3, Alg. 1\n",
        "- claim `rtt_ratios`: ",
        "| `beta` | 4 | 2 to 64 |",
        "\n  mark, once a round     w_r -= max(w_r/beta, 1), not below 2 packets;",
        "\nDeviations from Algorithm 1:\n  - ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("static "), "its code is in the file that is named");
}

#[test]
fn a_path_manager_is_listed_and_explained_with_its_parameters() {
    let list = json(&["list", "path-managers", "--json"]);
    let managers = list["path_managers"].as_array().expect("entries");
    let parameter = |manager: &str, name: &str| {
        let manager = managers.iter().find(|m| m["name"] == manager).expect("it is listed");
        assert!(!manager["source"].as_str().expect("a source").is_empty());
        let parameters = manager["parameters"].as_array().expect("a list");
        parameters.iter().find(|p| p["name"] == name).expect("it is declared").clone()
    };
    let timer = parameter("opn", "timer_2");
    assert_eq!((&timer["default"], &timer["unit"]), (&200_000.into(), &"us".into()));
    let close = parameter("path-sharing", "close");
    assert_eq!(
        (&close["default"], &close["choices"]),
        (&"recent".into(), &serde_json::json!(["recent", "second"]))
    );
    let table = stdout(&["list", "path-managers"], "");
    assert!(table.contains("threshold=100000 B (0 to 1000000000000), subflows=8 (1 to 63)"), "{table}");
    for line in table.lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
    let text = stdout(&["explain", "opn-tuning"], "");
    for part in
        ["# opn-tuning\n", "- source: OPN §", "| `nstar` | eq11 | eq11 \\| eq7", "**Concurrency tuning.**"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn load_balancers_tell_their_parameters() {
    let list = json(&["list", "load-balancers", "--json"]);
    let balancers = list["load_balancers"].as_array().expect("load balancers");
    let names: Vec<_> = balancers.iter().map(|b| b["name"].as_str().expect("a name")).collect();
    for name in ["two-level", "ecmp", "spray", "drill", "holnet-percentage", "holnet-rate", "plb"] {
        assert!(names.contains(&name), "{name}");
    }
    let drill = balancers.iter().find(|b| b["name"] == "drill").expect("drill");
    assert!(drill["source"].as_str().expect("a source").contains("SIGCOMM 2017"));
    let samples = &drill["parameters"][0];
    assert_eq!(
        (&samples["name"], &samples["default"], &samples["unit"]),
        (&"samples".into(), &2.into(), &"ports".into())
    );
    let table = stdout(&["list", "load-balancers"], "");
    assert!(table.contains("cong_thresh=128 1/256 (1 to 256), rehash_rounds=12 rounds"), "{table}");
    for line in table.lines() {
        assert!(line.chars().count() <= 110, "{line}");
    }
    let text = stdout(&["explain", "ecmp"], "");
    assert!(text.starts_with("# ecmp\n\nECMP: ") && !text.contains("| parameter |"), "{text}");
}

#[test]
fn schedulers_are_listed_with_source_and_key() {
    let list = json(&["list", "schedulers", "--json"]);
    let names: Vec<_> = list["schedulers"].as_array().expect("schedulers").iter().collect();
    assert_eq!(names.len(), 3);
    for scheduler in names {
        let name = scheduler["name"].as_str().expect("a name");
        assert!(!scheduler["source"].as_str().expect("a source").is_empty(), "{name}");
        assert!(stdout(&["explain", name], "").contains(&format!("scheduler = \"{name}\"")), "{name}");
    }
}

#[test]
fn distributions_are_listed_with_their_mean_and_origin() {
    let list = json(&["list", "distributions", "--json"]);
    let list = list["distributions"].as_array().expect("a list");
    let web = list.iter().find(|d| d["name"] == "websearch-hpcc").expect("it is listed");
    assert_eq!(web["mean_bytes"], 1_711_250.0);
    assert_eq!(web["shares"].as_array().map(Vec::len), Some(4));
    let table = stdout(&["list", "distributions"], "");
    for part in ["1.711 MB", "15.0 / 39.2 / 15.8 / 30.0", "traffic_gen/WebSearch_distribution.txt"] {
        assert!(table.contains(part), "{table}");
    }
    // A shape has no mean before it has its numbers.
    assert!(list.iter().any(|d| d["name"] == "pareto" && d.get("mean_bytes").is_none()));
}

#[test]
fn every_kind_has_something_to_list() {
    for kind in [
        "controllers",
        "path-managers",
        "schedulers",
        "load-balancers",
        "topologies",
        "workloads",
        "distributions",
        "experiments",
    ] {
        let list = json(&["list", kind, "--json"]);
        let entries = list[kind.replace('-', "_")].as_array().expect("entries under the kind's name").clone();
        assert!(!entries.is_empty(), "{kind}");
        for entry in entries {
            assert!(!entry["title"].as_str().expect("a title").is_empty(), "{kind}: {entry}");
        }
    }
}

/// A figure whose numbers come of the runs of a table is found by its own name.
#[test]
fn a_row_is_part_of_an_experiment() {
    let dir = TempDir::new().expect("a temporary folder");
    let list = json(&["list", "experiments", "--json"]);
    let table1 =
        list["experiments"].as_array().and_then(|l| l.iter().find(|e| e["name"] == "xmp/table1").cloned());
    assert!(
        table1.is_some_and(|e| e["rows"].as_array().is_some_and(|rows| rows.contains(&"xmp/fig9".into())))
    );
    assert!(stdout(&["list", "experiments"], "").contains("xmp/table1, xmp/fig8, xmp/table3, xmp/fig9"));
    assert!(stdout(&["explain", "xmp/fig9"], "").starts_with("# xmp/fig9 is part of xmp/table1\ntitle = "));
    let shown =
        tresse(dir.path()).args(["topology", "show", "xmp/fig9.toml", "--json"]).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&shown.stderr), "xmp/fig9 is part of xmp/table1\n");
    let facts: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(facts["experiment"], "xmp/table1");
    let own = tresse(dir.path()).args(["topology", "show", "xmp/table1.toml"]).output().expect("it starts");
    assert!(own.stderr.is_empty(), "{}", String::from_utf8_lossy(&own.stderr));
    let unknown = tresse(dir.path()).args(["topology", "show", "xmp/figg9"]).output().expect("it starts");
    let message = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(message.contains("did you mean `xmp/fig9`?"), "{message}");
}

#[test]
fn a_command_is_explained_by_its_help_and_a_name_may_have_several_words() {
    assert!(stdout(&["explain", "attach"], "").contains("Usage: tresse attach [OPTIONS]"));
    assert!(stdout(&["explain", "testbed", "run"], "").contains("Usage: tresse testbed run"));
    // What is a page too stays one.
    assert!(stdout(&["explain", "optimum"], "").starts_with("# "));
    assert_eq!(
        stdout(&["explain", "confidence", "interval"], ""),
        stdout(&["explain", "confidence interval"], "")
    );
}

#[test]
fn names_that_are_listed_are_explained() {
    let names = json(&["explain", "--json"]);
    // The command is asked for some; `tresse_workbench::catalogue` has a test of every name.
    for name in names["names"].as_array().expect("names").iter().step_by(12) {
        let name = name.as_str().expect("a name");
        assert!(stdout(&["explain", name], "").len() > 40, "{name}");
    }
}

#[test]
fn the_schema_knows_the_experiments_keys() {
    let schema = json(&["schema"]);
    for key in [
        "rows",
        "replications",
        "fabric",
        "transport",
        "schemes",
        "workloads",
        "variants",
        "published",
        "claims",
    ] {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn a_trace_shows_the_window_after_each_event() {
    // Reno from 10: slow start by 2; a loss halves 12 to 6; after a window of ACKs it grows again.
    let script = "ack 2\nloss\nack 6\nack 6\ntimeout # and slow start\nack 1\n";
    let text = stdout(&["controller", "trace", "reno", "--script", "-"], script);
    let expected = "ack 0 12 - open\nloss 0 6 6 recovery\nack 0 6 6 recovery\nack 0 7 6 open\n\
                    timeout 0 1 3 loss\nack 0 2 3 loss\n";
    assert_eq!(text, expected);
}

#[test]
fn a_trace_in_json_has_the_documented_keys() {
    let dir = TempDir::new().expect("a temporary folder");
    let output = tresse(dir.path())
        .args(["controller", "trace", "xmp", "--script", "-", "--json", "--param", "beta=5"])
        .write_stdin("subflows 2\nack 2 marked=1 rtt=200us subflow=1\n")
        .output()
        .expect("the command starts");
    let steps: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let expected = serde_json::json!([{
        "event": "mark", "subflow": 1, "cwnd": 10, "ssthresh": 10, "state": "cwr"
    }]);
    assert_eq!(steps, expected, "a mark in slow start ends it and keeps the window");
}

/// A controller that is told of every packet: reports in, window and pace out.
#[test]
fn a_trace_of_reports_shows_the_pace() {
    let script = "path base=12us rate=100Gbps\nreport delivered=1 marked=1 after=50us\nreport after=55us\n";
    let text = stdout(&["controller", "trace", "dcqcn", "--script", "-"], script);
    // Two BDPs are 205 packets of 1460 bytes; the first mark halves 12 500 bytes/us.
    let lines = "path 0 10 - open -\nreport 0 205 - open 6250\nreport 0 205 - open 9375\n";
    assert_eq!(text, lines);
    let dir = TempDir::new().expect("a temporary folder");
    let played = |controller: &str, script: &str, more: &[&str]| {
        let mut command = tresse(dir.path());
        command.args(["controller", "trace", controller, "--script", "-"]).args(more);
        command.write_stdin(script.to_owned()).output().expect("the command starts")
    };
    let json: Value = serde_json::from_slice(&played("nscc", "report", &["--json"]).stdout).expect("JSON");
    assert_eq!((&json[0]["cwnd"], &json[0]["pace_bytes_per_us"]), (&154.into(), &Value::Null));
    for (controller, script, more, message) in [
        ("nscc", "ack 1", &[][..], "nscc has only the hook `report`, and `ack 1` is not one of its events"),
        ("xmp", "report", &[], "xmp has no hook `report`, which `report` needs"),
        (
            "nscc",
            "report",
            &["--host", "bpf"],
            "nscc does not run in a Linux kernel: TCP does not report the fate",
        ),
    ] {
        let output = played(controller, script, more);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(message), "{said}");
    }
}

#[test]
fn list_alone_lists_the_kinds() {
    let table = stdout(&["list"], "");
    let list = json(&["list", "--json"]);
    let kinds = list["kinds"].as_array().expect("a list");
    assert_eq!(kinds.len(), 9);
    for kind in kinds {
        let name = kind["name"].as_str().expect("a name");
        assert!(table.lines().any(|line| line.starts_with(name) && line.chars().count() <= 80), "{table}");
        let own = json(&["list", name, "--json"]);
        assert!(!own[name.replace('-', "_")].as_array().expect("its parts").is_empty(), "{name}");
    }
}
