//! `tresse controller new`: the file that it writes works at once, whatever its name is.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::attached::kernel_is_here;
use crate::common::{SMALL, fails, tresse};

fn stdout(dir: &Path, args: &[&str], input: &str) -> String {
    let output = tresse(dir).args(args).write_stdin(input).output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn trace(dir: &Path, controller: &str, host: &str, script: &str) -> String {
    stdout(dir, &["controller", "trace", controller, "--script", "-", "--host", host], script)
}

fn begun(names: &[&str]) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    for name in names {
        stdout(dir.path(), &["controller", "new", name], "");
    }
    dir
}

/// Slow start, growth, a loss, a timeout, and the way back.
const LIFE: &str =
    "ack 10 rtt=200us\nack 20\nloss\nack 20\nack 20\nack 300\nloss\nack 100\ntimeout\nack 50\nack 200\n";

#[test]
fn a_new_controller_is_what_it_says_it_is() {
    let dir = begun(&["mine"]);
    // With one subflow and its defaults it is Reno.
    assert_eq!(trace(dir.path(), "mine.c", "native", LIFE), trace(dir.path(), "reno", "native", LIFE));
    // Two subflows that deliver the same gain half of what Reno would each.
    let script = "subflows 2\nack 10\nack 10 subflow=1\nloss\nloss subflow=1\n\
                  ack 10\nack 10 subflow=1\nack 400\nack 400 subflow=1\n";
    let gain = |controller: &str| {
        let text = trace(dir.path(), controller, "native", script);
        let last = text.lines().last().expect("it has lines");
        last.split(' ').nth(2).expect("a window").parse::<u32>().expect("a number") - 10
    };
    let (mine, reno) = (gain("mine.c"), gain("reno"));
    assert!(mine > 0 && mine.abs_diff(reno / 2) <= 1, "{mine} packets; Reno gains {reno}");
    let cut = ["controller", "trace", "mine.c", "--script", "-", "--param", "cut=20"];
    assert_eq!(stdout(dir.path(), &cut, "loss\n"), "loss 0 8 8 recovery\n");
}

#[test]
fn a_new_controller_runs() {
    let dir = begun(&["mine"]);
    let mine = ["--controller", "mine.c", "--set", "schemes.mine.controller=mine"];
    let output = tresse(dir.path())
        .args(SMALL)
        .args(mine)
        .args(["--set", "schemes.mine.subflows=2", "--only", "scheme=mine", "--json"])
        .output()
        .expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["cases"][0]["case"]["scheme"], "mine");
    assert_eq!(report["cases"][0]["metrics"]["flows"], 256);
}

/// Whoever begins with a file that breaks the contract learns it wrong.
#[test]
fn the_template_and_the_guide_s_example_keep_the_contract() {
    let dir = begun(&["mine"]);
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/gentle.c");
    for file in [dir.path().join("mine.c").as_path(), Path::new(example)] {
        for controller in tresse_controllers::load(file).expect("it compiles") {
            if let Err(breach) = tresse_controllers::check::check(controller, 500) {
                panic!("{controller:?}: {breach:?}");
            }
        }
    }
}

/// Each change that the template's comments invite, alone: none breaks what is still declared.
#[test]
fn what_the_template_invites_keeps_the_contract() {
    let dir = begun(&["mine"]);
    let text = fs::read_to_string(dir.path().join("mine.c")).expect("it was written");
    let without = |from: &str, to: &str| {
        let start = text.find(from).expect("it begins");
        let end = start + text[start..].find(to).expect("it ends");
        [&text[..start], &text[end..]].concat()
    };
    let init = "static void own_init(struct subflow *s)\n{\n\tstate_of(s)->delivered = 1;\n}\n\nCONTROLLER(";
    let changes: [(&str, &[(&str, &str)]); 11] = [
        ("a smaller cut", &[("cut, 50, 1, 90", "cut, 30, 1, 90")]),
        ("a larger cut", &[("cut, 50, 1, 90", "cut, 70, 1, 90")]),
        ("a wider range", &[("cut, 50, 1, 90", "cut, 50, 0, 100")]),
        ("another floor", &[("#define LEAST 2", "#define LEAST 4")]),
        ("a floor of one packet", &[("#define LEAST 2", "#define LEAST 1")]),
        ("marks", &[(".signals = SIGNAL_LOSS,", ".signals = SIGNAL_LOSS | SIGNAL_ECN,")]),
        (
            "all marks",
            &[(".signals = SIGNAL_LOSS,", ".signals = SIGNAL_LOSS | SIGNAL_ECN | SIGNAL_CE_EXACT,")],
        ),
        ("coupled.h", &[("controller.h", "coupled.h")]),
        ("dctcp_alpha.h", &[("controller.h", "dctcp_alpha.h")]),
        ("an init hook", &[("CONTROLLER(", init), (".ack =", ".init = own_init,\n\t.ack =")]),
        ("Reno on one subflow", &[("/* .single = \"reno\", ", ".single = \"reno\", /* ")]),
    ];
    let mut files: Vec<(&str, String)> = changes
        .iter()
        .map(|(what, edits)| {
            let edit = |text: String, (from, to): &(&str, &str)| {
                assert!(text.contains(from), "{what}: {from}");
                text.replacen(from, to, 1)
            };
            (*what, edits.iter().fold(text.clone(), edit))
        })
        .collect();
    let timeout = without("/* After congestion(LOSS_EVENT)", "/* From this every host");
    files.push(("no timeout hook", timeout.replace(",\n\t.timeout = mine_timeout", "")));
    let parameter = without("/* Whole numbers:", "/* The floor of a cut");
    let parameter = parameter.replace("(u32)PARAMETER(s, cut)", "50").replace("\tWITH_PARAMETERS,\n", "");
    let parameter = parameter.replace("VALUE_OF(cut)", "RATIO(1, 2)");
    files.push(("no parameter", parameter));
    for (i, (what, text)) in files.into_iter().enumerate() {
        // A name can be taken once in a process.
        let file = dir.path().join(format!("own{i}.c"));
        fs::write(&file, text.replace("CONTROLLER(mine", &format!("CONTROLLER(own{i}"))).expect("a file");
        for controller in tresse_controllers::load(&file).unwrap_or_else(|e| panic!("{what}: {e}")) {
            if let Err(breach) = tresse_controllers::check::check(controller, 500) {
                panic!("{what}: {breach:?}");
            }
        }
    }
}

/// Names that mean something to C, to the contract or to the kernel are as good as any.
#[test]
fn any_name_that_is_allowed_compiles_for_both_hosts() {
    let names =
        ["int", "tcp", "peer", "ack", "subflow", "wrapper", "sock", "controller", "n", "a_2345678901"];
    let all = std::env::var_os("TRESSE_TEST_ALL").is_some();
    // A type of C, a field of the contract, a struct of the kernel, the longest; the rest in `make test-all`.
    let names: Vec<&str> = names.into_iter().step_by(if all { 1 } else { 3 }).collect();
    let dir = begun(&names);
    let kernel = kernel_is_here();
    for name in names {
        let file = format!("{name}.c");
        let native = trace(dir.path(), &file, "native", LIFE);
        if kernel {
            assert_eq!(native, trace(dir.path(), &file, "bpf", LIFE), "{name}");
        }
    }
    // The contract does not depend on the name: one of them is held to it.
    if kernel {
        stdout(dir.path(), &["controller", "check", "int.c"], "");
    }
}

#[test]
fn it_says_where_the_file_is_and_what_comes_next() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::create_dir(dir.path().join("own")).expect("a folder");
    let text = stdout(dir.path(), &["controller", "new", "mine", "--dir", "own"], "");
    for part in ["wrote own/mine.c", "controller check own/mine.c", "--controller own/mine.c", "tr_mine"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = stdout(dir.path(), &["controller", "new", "other", "--json"], "");
    let json: serde_json::Value = serde_json::from_str(&json).expect("one JSON object");
    let expected = serde_json::json!({
        "schema": "tresse/controller-new/1", "controller": "other", "file": "other.c"
    });
    assert_eq!(json, expected);
    assert!(dir.path().join("own/mine.c").exists() && dir.path().join("other.c").exists());
}

#[test]
fn what_is_there_stays_and_bad_names_are_refused() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("mine.c"), "three years").expect("a file");
    for (arguments, message) in [
        (&["mine"][..], "mine.c already exists"),
        (&["lia"], "there is already a controller `lia`"),
        (&["Mine"], "lower-case"),
        (&["tresse"], "begin with `tresse_`"),
        (&["2nd"], "start with a lower-case letter"),
        (&["_own"], "start with a lower-case letter"),
        (&["a-b"], "digits and `_`"),
        (&["../own"], "digits and `_`"),
        (&[""], "start with a lower-case letter"),
        (&["thirteen_char"], "has 13 characters"),
        (&["own", "--dir", "nowhere"], "nowhere/own.c: cannot be written: No such file"),
    ] {
        let said = fails(tresse(dir.path()).args(["controller", "new"]).args(arguments), 2);
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("mine.c")).expect("it is there"), "three years");
    assert_eq!(fs::read_dir(dir.path()).expect("the folder").count(), 1, "nothing else was written");
}
