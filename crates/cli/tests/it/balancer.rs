//! `tresse balancer`, and what lists and pages tell of balancers of hosts.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

fn run(dir: &Path, arguments: &[&str]) -> Output {
    tresse(dir).args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn begun(name: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    let output = run(dir.path(), &["balancer", "new", name]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    dir
}

#[test]
fn a_new_balancer_keeps_the_contract() {
    for name in ["mine", "int", "spread", "next"] {
        let dir = begun(name);
        let output = run(dir.path(), &["balancer", "check", &format!("{name}.c")]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).starts_with("7 invariants hold: returns, own_memory, "), "{name}");
    }
}

/// docs/balancers.md shows what the commands print.
#[test]
fn the_guide_shows_what_is_printed() {
    let guide = include_str!("../../../../docs/balancers.md");
    let dir = TempDir::new().expect("a temporary folder");
    for command in [&["balancer", "new", "mine"][..], &["balancer", "check", "mine.c"]] {
        let shown = format!("$ tresse {}\n", command.join(" "));
        let shown = guide.split_once(&shown).expect("the command is shown").1;
        let shown = shown.split_once("```").expect("the block ends").0;
        let said = text(&run(dir.path(), command).stdout);
        for (shown, said) in shown.lines().zip(said.lines()) {
            let parts: Vec<&str> = shown.split("[..]").collect();
            assert!(said.starts_with(parts[0]) && said.ends_with(parts[parts.len() - 1]), "{said}");
        }
        assert_eq!(shown.lines().count(), said.lines().count(), "{said}");
    }
    let contract = include_str!("../../../../balancers/balancer.h");
    for flag in ["FLOW_LEVEL", "RECYCLES"] {
        assert!(guide.contains(&format!("| `{flag}` |")) && contract.contains(&format!("#define {flag} ")));
    }
}

#[test]
fn a_breach_ends_with_1_and_its_script_is_printed() {
    let dir = begun("mine");
    let file = dir.path().join("mine.c");
    let sound = fs::read_to_string(&file).expect("it was written");
    let far = sound.replace("\treturn next_path(s);\n", "\treturn s->paths;\n");
    assert_ne!(far, sound);
    fs::write(&file, far).expect("it can be written");
    let output = run(dir.path(), &["balancer", "check", "mine.c"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let script = text(&output.stdout);
    assert!(script.starts_with("# below_paths is broken: packet 1 takes path 1 of 1\n"), "{script}");
    assert!(script.ends_with("paths 1\nstream 0\necn path=0\npick # path 1\n"), "{script}");
    assert!(text(&output.stderr).starts_with("error: mine breaks `below_paths`: "));

    let json = run(dir.path(), &["balancer", "check", "mine.c", "--json"]);
    assert_eq!(json.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&json.stdout).expect("one JSON object");
    assert_eq!((&json["schema"], &json["balancer"]), (&"tresse/balancer-check/1".into(), &"mine".into()));
    assert_eq!(json["broken"]["invariant"], "below_paths");
    assert_eq!(json["broken"]["paths"], serde_json::json!([1]));
}

#[test]
fn a_balancer_that_divides_by_0_does_not_end_the_command() {
    let dir = begun("mine");
    let file = dir.path().join("mine.c");
    let text_of = fs::read_to_string(&file).expect("it was written");
    let wrong =
        text_of.replace("(path + 1) % s->paths", "(path + 1) % s->paths % (s->paths - 1 + (s->paths > 1))");
    fs::write(&file, wrong).expect("it can be written");
    let output = run(dir.path(), &["balancer", "check", "mine.c"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(said.contains("divides by 0 (SIGFPE) in hook pick, mine.c:"), "{said}");
    assert!(text(&output.stdout).ends_with("paths 1\nstream 0\n"), "{}", text(&output.stdout));
}

#[test]
fn what_cannot_be_used_is_told() {
    let dir = begun("mine");
    for (arguments, code, message) in [
        (&["new", "mine"][..], 2, "mine.c already exists"),
        (&["new", "reps"], 2, "there is already a balancer `reps`"),
        (&["new", "Mine"], 2, "cannot name a balancer"),
        (&["new", "a_name_that_is_so_long"], 2, "at most 20"),
        (&["check", "resp"], 2, "there is no balancer `resp`"),
        (&["check", "nowhere.c"], 2, "nowhere.c: No such file"),
    ] {
        let mut command = tresse(dir.path());
        let said = fails(command.arg("balancer").args(arguments), code);
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
    fs::write(dir.path().join("mine.c"), "#include \"balancer.h\"\nint x = y;\nBALANCER(mine);\n")
        .expect("a file");
    let said = fails(tresse(dir.path()).args(["balancer", "check", "mine.c"]), 2);
    assert!(said.contains("mine.c:2:"), "{said}");
}

#[test]
fn balancers_are_listed_and_explained() {
    let dir = TempDir::new().expect("a temporary folder");
    let list = run(dir.path(), &["list", "host-balancers", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).expect("one JSON object");
    let all = list["host_balancers"].as_array().expect("a list");
    let names: Vec<_> = all.iter().map(|b| b["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["bitmap", "mixed", "mrc", "oblivious", "plb", "reps"]);
    let reps = &all[5];
    assert_eq!((&reps["file"], &reps["recycles"]), (&"balancers/reps.c".into(), &true.into()));
    assert_eq!(
        (&reps["parameters"][0]["name"], &reps["parameters"][0]["default"]),
        (&"freeze".into(), &10_000.into())
    );

    let explained = text(&run(dir.path(), &["explain", "reps"]).stdout);
    for part in [
        "# reps (balancer of hosts)\n",
        "- file: balancers/reps.c\n",
        "| `freeze` | 10000 |",
        "\nSource: Bonato",
    ] {
        assert!(explained.contains(part), "{part}\n{explained}");
    }
    // A switch's load balancer and a host's balancer of one name are both told.
    let plb = text(&run(dir.path(), &["explain", "plb"]).stdout);
    assert!(plb.starts_with("# plb\n") && plb.contains("\n# plb (balancer of hosts)\n"), "{plb}");
    let names = text(&run(dir.path(), &["explain"]).stdout);
    assert_eq!(names.split([' ', ',', '\n']).filter(|name| *name == "plb").count(), 1);
    let table = text(&run(dir.path(), &["list", "host-balancers"]).stdout);
    assert!(table.lines().all(|line| line.chars().count() <= 110), "{table}");
}

/// Two hosts, five paths, one sprayed scheme.
const SPRAYED: &str = r#"
title = "t"
transport.profile = "spray"
schemes.own = { controller = "nscc", balancer = "oblivious", paths = 5 }
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 5
hosts_per_leaf = 1
rate = "10Gbps"
delay = "1us"
queue = "100kB"
trim = "64B"
host_queue = "unlimited"
routing = "ecmp"
[workloads.all]
pattern = "permutation"
size = "1MB"
rounds = 1
"#;

#[test]
fn a_run_loads_a_balancer_and_tells_of_it() {
    let dir = begun("mine");
    fs::write(dir.path().join("t.toml"), SPRAYED).expect("it can be written");
    let own = [
        "run",
        "t.toml",
        "--balancer",
        "mine.c",
        "--set",
        "schemes.own.balancer=mine",
        "--json",
        "--out",
        "own",
    ];
    let output = run(dir.path(), &own);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("loaded balancer mine from mine.c"), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["cases"][0]["metrics"]["flows"], 2);
    let inputs = &report["inputs"]["balancers"][0];
    assert_eq!((&inputs["name"], &inputs["path"]), (&"mine".into(), &"mine.c".into()));

    let unused = run(dir.path(), &["run", "t.toml", "--balancer", "mine.c", "--out", "unused"]);
    let said = text(&unused.stderr);
    assert!(said.contains("warning: no case uses the balancer mine"), "{said}");

    // The template takes the paths in turn: another source is another run.
    let file = dir.path().join("mine.c");
    let other = fs::read_to_string(&file).expect("it is there").replace("(path + 1)", "(path + 2)");
    fs::write(&file, other).expect("it can be written");
    let other =
        ["run", "t.toml", "--balancer", "mine.c", "--set", "schemes.own.balancer=mine", "--out", "other"];
    assert!(run(dir.path(), &other).status.success());
    let said = text(&run(dir.path(), &["compare", "own", "other"]).stdout);
    assert!(said.contains("the source of the balancer mine (mine.c):"), "{said}");
}

#[test]
#[cfg_attr(target_arch = "aarch64", ignore = "its division by 0 gives 0")]
fn a_balancer_that_divides_by_0_in_a_run_is_told_with_its_place() {
    let dir = begun("mine");
    fs::write(dir.path().join("t.toml"), SPRAYED).expect("it can be written");
    let file = dir.path().join("mine.c");
    let wrong = fs::read_to_string(&file).expect("it is there").replace("% s->paths", "% (s->paths - 5)");
    fs::write(&file, wrong).expect("it can be written");
    let own = ["run", "t.toml", "--balancer", "mine.c", "--set", "schemes.own.balancer=mine", "--out", "own"];
    let output = run(dir.path(), &own);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("divides by 0 (SIGFPE) in hook pick"), "{said}");
    assert!(said.ends_with("\nhint: tresse balancer check mine.c\n"), "{said}");
}
