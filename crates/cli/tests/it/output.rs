//! What the command prints, as snapshots beside this file: CONTRIBUTING tells how they are reviewed.

use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::common::tresse;

/// An experiment that takes no time.
const TINY: &str = r#"title = "A permutation on 16 hosts"

[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"

[transport]
profile = "ns3"

[schemes.dctcp]
controller = "dctcp"

[schemes.xmp]
controller = "xmp"
subflows = 2

[workloads.permutation]
pattern = "permutation"
size = "200kB"
rounds = 2

[[claims]]
id = "more"
text = "XMP-2 has at least the goodput of DCTCP"
metric = "goodput_mean_bps"
left = { scheme = "xmp" }
right = { scheme = "dctcp" }
ratio_above = 1
"#;

/// What a command prints, and its exit code, in a folder that has only `tiny.toml`.
fn output(tiny: &str, args: &[&str]) -> String {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("tiny.toml"), tiny).expect("the folder can be written");
    let output = tresse(dir.path()).args(args).env_remove("COLUMNS").output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    let code = output.status.code().expect("it ends by itself");
    format!(
        "$ tresse {}\n{}--- stderr\n{}--- exit code {code}\n",
        args.join(" "),
        text(output.stdout),
        text(output.stderr)
    )
}

const COMMANDS: &[&str] = &[
    "",
    "run",
    "check",
    "show",
    "paper",
    "compare",
    "optimum",
    "sweep",
    "sweep merge",
    "tune",
    "evaluate",
    "fidelity",
    "report-card",
    "challenge",
    "testbed",
    "testbed run",
    "testbed clean",
    "twin",
    "calibrate",
    "topology",
    "topology show",
    "import",
    "export",
    "list",
    "explain",
    "controller",
    "controller new",
    "controller check",
    "controller trace",
    "balancer",
    "balancer new",
    "balancer check",
    "mark",
    "mark add",
    "mark del",
    "mark show",
    "bench",
    "report",
    "plot",
    "view",
    "attach",
    "detach",
    "status",
    "daemon",
    "doctor",
    "schema",
    "completions",
    "man",
];

#[test]
fn help() {
    for command in COMMANDS {
        let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        assert_snapshot!(format!("help {command}").trim().replace(' ', "-"), output(TINY, &args));
    }
    let all = output(TINY, &["--help"]);
    let listed =
        all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        assert!(COMMANDS.contains(&command), "the help of `{command}` has no snapshot");
    }
}

#[test]
fn manual_pages_and_completions() {
    let dir = TempDir::new().expect("a temporary folder");
    let run = |args: &[&str]| tresse(dir.path()).args(args).output().expect("the command starts");
    assert!(run(&["man", "--out", "pages/man1"]).status.success());
    let pages = dir.path().join("pages/man1");
    for command in COMMANDS.iter().filter(|name| !name.is_empty()) {
        let page = pages.join(format!("tresse-{}.1", command.replace(' ', "-")));
        let text = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        assert!(text.contains(".TH") && text.contains("OPTIONS"), "{text}");
    }
    assert_eq!(run(&["man"]).stdout, fs::read(pages.join("tresse.1")).expect("its own page"));
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("testbed") && text.contains("replications"), "{shell}: {text}");
    }
    assert_eq!(run(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn lists() {
    for kind in [
        "controllers",
        "path-managers",
        "schedulers",
        "load-balancers",
        "host-balancers",
        "topologies",
        "workloads",
        "distributions",
        "experiments",
    ] {
        assert_snapshot!(format!("list-{kind}"), output(TINY, &["list", kind]));
    }
}

#[test]
fn a_run() {
    let filters = [(r"in \d+\.\d s", "in [wall time]")];
    insta::with_settings!({ filters => filters }, {
        assert_snapshot!("run", output(TINY, &["run", "tiny.toml"]));
    });
}

#[test]
fn errors_in_an_experiment() {
    for (name, from, to) in [
        ("no-toml", "[transport]", "[transport"),
        ("unknown-key", "k = 4\n", "k = 4\nkolour = 3\n"),
        ("bare-number", "queue = \"100pkt\"", "queue = 100"),
        ("wrong-unit", "queue = \"100pkt\"", "queue = \"100us\""),
        ("negative-rate", "\"1Gbps\"", "\"-1Gbps\""),
        ("odd-k", "k = 4\n", "k = 5\n"),
        ("missing-key", "rate = \"1Gbps\"\n", ""),
        ("unknown-controller", "controller = \"xmp\"", "controller = \"xpm\""),
        ("unknown-pattern", "\"permutation\"", "\"permutatoin\""),
        ("unknown-metric", "goodput_mean_bps", "goodput_main_bps"),
        ("key-of-another-pattern", "rounds = 2\n", "rounds = 2\nat_most = 4\n"),
    ] {
        assert!(TINY.contains(from), "{from}");
        let wrong = TINY.replacen(from, to, 1);
        assert_snapshot!(format!("error-{name}"), output(&wrong, &["run", "tiny.toml"]));
    }
}

#[test]
fn errors_in_the_arguments() {
    for (name, args) in [
        ("unknown-experiment", &["run", "xmp/tabel1"] as &[_]),
        ("unknown-name", &["explain", "dtcp"]),
        ("unknown-command", &["rnu"]),
        ("unknown-case", &["run", "tiny.toml", "--only", "scheme=lia"]),
        ("unknown-setting", &["run", "tiny.toml", "--set", "fabric.mrak=20pkt"]),
        ("no-run", &["compare", "runs/tiny-1"]),
    ] {
        assert_snapshot!(format!("error-{name}"), output(TINY, args));
    }
}
