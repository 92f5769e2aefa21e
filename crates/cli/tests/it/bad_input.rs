//! Bad input: exit code 2, what, where, how to fix it; and nothing half-written that looks whole.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{fails, own_controller, tresse};

const TABLE_1: &str = include_str!("../../../../papers/xmp/table1.toml");

/// The line of Table 1's file in which `what` begins, from 1.
fn line(what: &str) -> usize {
    let (before, _) =
        TABLE_1.split_once(what).unwrap_or_else(|| panic!("the experiment no longer has `{what}`"));
    before.matches('\n').count() + 1
}

/// Table 1's file with `from` replaced by `to`: the message for it.
fn message_for(from: &str, to: &str) -> String {
    let dir = TempDir::new().expect("a temporary folder");
    assert!(TABLE_1.contains(from), "the experiment no longer has `{from}`");
    fs::write(dir.path().join("mine.toml"), TABLE_1.replacen(from, to, 1))
        .expect("the folder can be written");
    let message = fails(tresse(dir.path()).args(["run", "mine.toml"]), 2);
    assert!(!dir.path().join("runs").exists(), "a run that could not start left a folder");
    message
}

#[test]
fn an_unknown_key_is_named_with_its_line() {
    let message = message_for("k = 8 ", "k = 8\nkolour = 3 ");
    let place = format!("mine.toml:{}:1: unknown key `kolour`", line("k = 8 ") + 1);
    assert!(message.contains(&place), "{message}");
    assert!(message.contains("expected one of"), "{message}");
}

#[test]
fn a_bare_number_shows_how_to_write_it() {
    let message = message_for("profile = \"ns3\"", "rto_min = 200");
    let place = format!("mine.toml:{}:11: a bare number 200 has no unit", line("profile = \"ns3\""));
    assert!(message.contains(&place), "{message}");
    assert!(message.contains("\"20us\""), "{message}");
}

#[test]
fn a_negative_rate_is_refused() {
    let message = message_for("rate = \"1Gbps\"", "rate = \"-1Gbps\"");
    let place = format!("mine.toml:{}:8: \"-1Gbps\" is negative", line("rate = \"1Gbps\""));
    assert!(message.contains(&place), "{message}");
}

#[test]
fn an_odd_k_is_refused_where_it_stands() {
    let message = message_for("k = 8 ", "k = 7 ");
    let place = format!("mine.toml:{}:5: k = 7: a fat tree needs an even number", line("k = 8 "));
    assert!(message.contains(&place), "{message}");
}

#[test]
fn an_unknown_controller_gets_a_suggestion() {
    let message = message_for("controller = \"xmp\"", "controller = \"xpm\"");
    assert!(message.contains("there is no controller `xpm`; did you mean `xmp`?"), "{message}");
    assert!(message.contains("mine.toml:"), "{message}");
}

#[test]
fn a_parameter_out_of_range_says_the_range() {
    let message = message_for("beta = 4", "beta = 1");
    assert!(message.contains("beta = 1 is not from 2 to 64"), "{message}");
}

#[test]
fn a_unit_of_another_kind_lists_the_right_ones() {
    let message = message_for("queue = \"100pkt\"", "queue = \"100us\"");
    assert!(message.contains("units: pkt, B, kB"), "{message}");
}

#[test]
fn broken_toml_is_shown_with_its_line() {
    let message = message_for("[fabric]", "[fabric");
    assert!(message.contains(&format!("mine.toml:{}:", line("[fabric]"))), "{message}");
}

#[test]
fn an_experiment_that_does_not_exist_suggests_one_that_does() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(["run", "xmp/table9"]), 2);
    assert!(message.contains("no experiment `xmp/table9`"), "{message}");
    assert!(message.contains("did you mean `xmp/table1`?"), "{message}");
    assert!(message.contains("hint: `tresse list experiments`"), "{message}");
}

#[test]
fn a_setting_that_breaks_the_experiment_is_named() {
    let dir = TempDir::new().expect("a temporary folder");
    for (setting, expected) in [
        ("fabric.k=7", "--set fabric.k=7: k = 7"),
        ("fabric.q=7", "--set fabric.q=7: unknown key `q`, expected one of `topology`,"),
        ("fabric.mrak=\"3pkt\"", "unknown key `mrak`; did you mean `mark`?"),
        ("fabrik.k=8", "unknown key `fabrik`"),
        ("fabric.rate=1bps", "a link's rate is 1kbps to 100Tbps"),
        ("fabric.delay=2000s", "delay is at most 1000s"),
        ("fabric.loss=-0.5", "-0.5 is not a probability: 0 to 1, such as 0.001"),
        ("fabric.loss=1", "1 in the rack layer: no flow would ever finish"),
        ("fabric.loss=1e-12", "is too small: probabilities are multiples of 2^-32"),
        ("fabric.loss={ rack = 0, core = 0.1 }", "the layer `aggregation` has no value"),
        ("transport.rto_initial=0s", "a timeout is above 0 and at most rto_max"),
        ("transport.mss=18446744073709551615B", "a packet has 1 to 65535 bytes"),
        ("workloads.permutation.size=100TB", "fewer than 2^32 segments"),
        ("schemes.lia.subflows=[]", "at least one number of subflows"),
        ("schemes.dctcp.parameters.g_shift=11", "g_shift = 11 is not from 1 to 10"),
        ("fabric.k", "expected PATH=VALUE"),
        ("schemes.bbr.subflows=2", "there is no scheme `bbr` (available: "),
        (
            "schemes.xmp.subflows=[2,99]",
            "99 subflows: this fabric has 1 to 16 distinct paths; with `routing = \"ecmp\"`",
        ),
        ("workloads.permutation.size=[\"9MB\",\"1MB\"]", "the first size must not be above the second"),
        ("transport.rto_min=2min", "\"min\" is not a unit of a duration"),
    ] {
        let message = fails(tresse(dir.path()).args(["run", "xmp/table1", "--set", setting]), 2);
        assert!(message.contains(expected), "{setting}: {message}");
    }
}

#[test]
fn a_setting_that_is_nearly_right_is_shown_as_it_should_be() {
    let dir = TempDir::new().expect("a temporary folder");
    for (setting, expected) in [
        ("mark=30pkt", "did you mean `--set fabric.mark=30pkt`?"),
        ("load=0.3", "did you mean `--set workloads.permutation.load=0.3`?"),
        ("subflows=4", "did you mean `--set schemes.dctcp.subflows=4`?"),
        ("fabric.mark=30", "hint: `--set fabric.mark=30pkt`"),
        ("transport.mss=8948", "hint: `--set transport.mss=8948B`"),
        ("fabric.rate=1000000000", "hint: `--set fabric.rate=1000000000bps`"),
        ("fabric.rate=10", "hint: `--set fabric.rate=10Gbps`"),
        ("fabric.mark=20pkt,30pkt", "`--set 'fabric.mark=[20pkt,30pkt]'`"),
        ("fabric.mark=[20pkt,30pkt", "begins with `[` and is no TOML: is `]` missing, or a quote?"),
        ("foo=1", "`tresse schema` lists every key"),
        ("fabric.rate=25G", "did you mean \"25Gbps\"?"),
        ("fabric.rate=25gbps", "did you mean \"25Gbps\"?"),
        ("workloads.permutation.size=64KB", "did you mean \"64kB\"?"),
        ("workloads.permutation.rounds=1e3", "expected a whole number, found 1000.0; write 1000"),
        ("schemes.dctcp.controller=DCTCP", "did you mean `dctcp`?"),
    ] {
        let message = fails(tresse(dir.path()).args(["run", "xmp/table1", "--set", setting]), 2);
        assert!(message.contains(expected), "{setting}: {message}");
        let is_key = message.contains("unknown key");
        assert!(is_key || !message.contains("lists every key"), "the key is right: {message}");
    }
}

/// A leaf-spine of two racks with a workload of two parts, and changes of links.
const PARTS: &str = r#"title = "Two racks"
[fabric]
topology = "leaf-spine"
leaves = 2
hosts_per_leaf = 2
spines = 2
rate = "1Gbps"
delay = "2us"
queue = "100pkt"
host_queue = "100pkt"
[transport]
profile = "linux"
[schemes.reno]
controller = "reno"
[workloads.mix.parts.web]
pattern = "poisson"
size = { distribution = "websearch-hpcc" }
load = 0.2
flows = 5
[workloads.mix.parts.fanin]
pattern = "incast"
receivers = "host 0"
size = "64kB"
[[changes]]
at = "900s"
link = ["leaf 0", "spine 0"]
rate = "100Mbps"
"#;

#[test]
fn parts_and_lists_have_settings_of_their_own() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("parts.toml"), PARTS).expect("a file");
    for (setting, expected) in [
        ("load=0.3", "did you mean `--set workloads.mix.parts.web.load=0.3`?"),
        ("changes.0.rate=1Mbps", "hint: a variant may have another list: `[[variants.NAME.changes]]`"),
        ("workloads.mix.parts.fanin.servers=60", "60 servers: this fabric has 4 hosts, so at most 3"),
        ("workloads.mix.parts.fanin.servers=0", "0 servers: at least 1"),
        ("workloads.mix.parts.web.flows=0", "0: at least 1"),
        ("workloads.mix.parts.fanin.receivers=host 48", "no host `host 48`: hosts are 0 to 3"),
        ("workloads.mix.parts.fanin.receivers=host 0..2", "an incast has one receiver"),
        ("fabric.leaves=0", "this leaf-spine has no leaves: at least 1 is needed"),
    ] {
        let message = fails(tresse(dir.path()).args(["run", "parts.toml", "--set", setting]), 2);
        assert!(message.contains(expected), "{setting}: {message}");
    }
    let fixed = PARTS.replace("rate = \"100Mbps\"", "failed = true\nreroute_after = \"1ms\"");
    fs::write(dir.path().join("fixed.toml"), fixed).expect("a file");
    let message = fails(tresse(dir.path()).args(["run", "fixed.toml"]), 2);
    assert!(message.contains("set `routing` in [fabric] to a load balancer"), "{message}");
}

#[test]
fn a_change_after_the_end_is_noted() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("parts.toml"), PARTS).expect("a file");
    for args in [&["run", "parts.toml", "--out", "out"][..], &["show", "out"]] {
        let message = fails(tresse(dir.path()).args(args), 0);
        let note = "note: the change at 900s (`[[changes]]`) took effect in no case: the last run";
        assert!(message.contains(note), "{message}");
    }
    let early = ["run", "parts.toml", "--set", "changes=[]", "--out", "early"];
    let message = fails(tresse(dir.path()).args(early), 0);
    assert!(!message.contains("took effect"), "{message}");
}

#[test]
fn what_is_no_experiment_says_what_it_is() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("parts.toml"), PARTS).expect("a file");
    fails(tresse(dir.path()).args(["run", "parts.toml", "--out", "out"]), 0);
    let refused = |args: &[&str]| fails(tresse(dir.path()).args(args), 2);
    let run = refused(&["run", "out"]);
    assert!(run.contains("out is the folder of a run") && run.contains("`tresse show out`"), "{run}");
    let misspelt = refused(&["run", "parts.tml"]);
    assert!(misspelt.contains("did you mean `parts.toml`?"), "{misspelt}");
    let file = refused(&["run", "parts.toml", "--out", "parts.toml"]);
    assert!(file.contains("parts.toml is a file, but results need a folder"), "{file}");
    let seed = refused(&["run", "parts.toml", "--seed", "-1"]);
    assert!(seed.contains("a whole number of at least 0") && !seed.contains("tip:"), "{seed}");
    // As a search leaves it, whose journal has the same name as a sweep's.
    let tuning = dir.path().join("tuning");
    fs::create_dir(&tuning).expect("a folder");
    fs::write(tuning.join("journal.jsonl"), "{\"address\": \"a\", \"only\": {}}\n").expect("a file");
    let begun = refused(&["show", "tuning"]);
    assert!(begun.contains("`tresse tune PLAN.toml --out tuning` continues it"), "{begun}");
    fs::rename(dir.path().join("out"), tuning.join("front-1")).expect("it is there");
    fs::write(tuning.join("tuning.json"), "{}").expect("a file");
    let ended = refused(&["show", "tuning"]);
    assert!(ended.contains("`tresse show tuning/front-1` prints the run of its best setting"), "{ended}");
    // One that says what it printed is shown again.
    fs::write(tuning.join("tuning.txt"), "8 trials: 8 complete\n").expect("a file");
    let shown = |args: &[&str]| {
        let output = tresse(dir.path()).args(["show", "tuning"]).args(args).output().expect("it starts");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!([shown(&[]), shown(&["--json"])], ["8 trials: 8 complete\n", "{}"]);
    let by = refused(&["show", "tuning", "--by", "size"]);
    assert!(by.contains("tuning: --by is not for a search"), "{by}");
    let format = refused(&["show", "tuning", "--format", "csv"]);
    assert!(format.contains("--format is not for a search") && format.contains("hint: --json"), "{format}");
}

#[test]
fn a_figure_that_cannot_be_drawn_says_why() {
    let dir = TempDir::new().expect("a temporary folder");
    let figures = "[[figures]]\nid = \"rates\"\ntitle = \"Rates\"\nchart = \"cdf\"\nx = \"goodput_bps\"\n";
    fs::write(dir.path().join("plain.toml"), PARTS).expect("a file");
    fs::write(dir.path().join("drawn.toml"), format!("{PARTS}\n{figures}")).expect("a file");
    for name in ["plain", "drawn"] {
        fails(tresse(dir.path()).args(["run", &format!("{name}.toml"), "--out", name]), 0);
    }
    for (args, told) in [
        (&["drawn", "rate", "-o", "f.pdf"][..], "no figure `rate`; did you mean `rates`? (available: rates)"),
        (&["plain", "rates", "-o", "f.pdf"], "plain: its experiment declares no figures"),
        (&["nowhere", "rates", "-o", "f.pdf"], "nowhere/run.json"),
        (&["drawn", "rates", "-o", "f.eps"], "f.eps: a figure is a .pdf, .svg or .png file"),
        (&["drawn", "rates", "-o", "f"], "hint: -o f.pdf"),
        (&["drawn", "rates"], "--out"),
        (&["drawn", "rates", "-o", "f.pdf", "--width", "3"], "[possible values: column, text]"),
    ] {
        let said = fails(tresse(dir.path()).arg("plot").args(args), 2);
        assert!(said.contains(told), "{args:?}: {said}");
    }
    let drawn = ["plot", "drawn", "rates", "-o", "f.pdf"];
    let said = fails(tresse(dir.path()).args(drawn).env("TRESSE_PYTHON", "/no/python"), 3);
    assert!(said.contains("there is no /no/python") && said.contains("extra `plot`"), "{said}");
    // All that is missing, at once; -S leaves out installed packages.
    let bare = dir.path().join("bare");
    fs::write(&bare, "#!/bin/sh\nexec python3 -I -S \"$@\"\n").expect("it can be written");
    fs::set_permissions(&bare, fs::Permissions::from_mode(0o755)).expect("it is a file");
    let said = fails(tresse(dir.path()).args(drawn).env("TRESSE_PYTHON", &bare), 3);
    assert!(said.contains("does not have tresse, matplotlib, pyarrow\n"), "{said}");
    assert!(said.contains("extra `plot`") && said.contains("`tresse report`"), "{said}");
    assert!(!dir.path().join("f.pdf").exists());
}

#[test]
fn a_comparison_without_anything_to_compare_says_so() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("parts.toml"), PARTS).expect("a file");
    let stdout = |args: &[&str]| {
        let output = tresse(dir.path()).args(args).output().expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    for out in ["one", "two"] {
        stdout(&["run", "parts.toml", "--out", out]);
    }
    let alone = stdout(&["compare", "one"]);
    assert!(alone.contains("nothing to compare with: no published numbers for parts.toml"), "{alone}");
    let same = stdout(&["compare", "one", "two"]);
    assert!(same.contains("the same results to the last bit") && !same.contains("ratio"), "{same}");
}

/// A run that needs more than its limit would be aborted.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory_is_seen_before_the_run() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("parts.toml"), PARTS).expect("a file");
    let run = "ulimit -v 1500000; exec \"$0\" run parts.toml --set workloads.mix.parts.web.flows=16000000";
    let mut shell = assert_cmd::Command::new("sh");
    let message = fails(shell.current_dir(dir.path()).args(["-c", run, env!("CARGO_BIN_EXE_tresse")]), 3);
    assert!(message.contains("of memory, but only"), "{message}");
}

#[test]
fn a_claim_about_nothing_is_refused() {
    let message = message_for("metric = \"goodput_mean_bps\"", "metric = \"goodput_men_bps\"");
    assert!(message.contains("did you mean `goodput_mean_bps`?"), "{message}");
    let message = message_for("right = { scheme = \"dctcp\" }", "right = { scheme = \"dctpc\" }");
    assert!(
        message.contains("xmp-rtt-as-dctcp: there is no scheme `dctpc`; did you mean `dctcp`?"),
        "{message}"
    );
}

#[test]
fn an_error_in_the_profile_has_its_line() {
    let message = message_for("permutation.rounds = 4", "permutation.round = 4");
    assert!(message.contains("mine.toml:") && message.contains("unknown key `round`"), "{message}");
}

#[test]
fn a_seed_that_is_too_large_is_refused() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(["run", "xmp/table1", "--seed", "18446744073709551615"]), 2);
    assert!(message.contains("too large for the number of replications"), "{message}");
}

#[test]
fn a_filter_that_keeps_nothing_says_what_there_is() {
    let dir = TempDir::new().expect("a temporary folder");
    for (filter, expected) in [
        ("scheme=xmpp", "did you mean `xmp`?"),
        ("schema=xmp", "there is no axis `schema`; did you mean `scheme`?"),
        ("scheme", "expected KEY=VALUE"),
        ("scheme=xmp,subflows=4", "`--only scheme=xmp --only subflows=4`"),
    ] {
        let message = fails(tresse(dir.path()).args(["run", "xmp/table1", "--only", filter]), 2);
        assert!(message.contains(expected), "{filter}: {message}");
    }
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::create_dir(dir.path().join("out")).expect("a folder");
    fs::write(dir.path().join("out/thesis.txt"), "three years").expect("a file");
    let message = fails(tresse(dir.path()).args(crate::common::SMALL).args(["--out", "out"]), 2);
    assert!(message.contains("out is not empty") && message.contains("--out DIR"), "{message}");
    assert_eq!(fs::read_dir(dir.path().join("out")).expect("it is still there").count(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(crate::common::SMALL).args(["--out", "/proc/nowhere"]), 2);
    assert!(message.contains("/proc/nowhere: cannot be created"), "{message}");
}

/// A file system of a few kilobytes, mounted for the test and unmounted whatever happens.
struct Tiny<'a>(&'a Path);

impl<'a> Tiny<'a> {
    fn mount(at: &'a Path, size: &str) -> Option<Self> {
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(at)
            .output()
            .is_ok_and(|o| o.status.success());
        mounted.then_some(Self(at))
    }
}

impl Drop for Tiny<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_ends_the_run_and_leaves_nothing_that_looks_whole() {
    let dir = TempDir::new().expect("a temporary folder");
    let full = dir.path().join("full");
    fs::create_dir(&full).expect("a folder");
    let Some(_mounted) = Tiny::mount(&full, "16k") else {
        eprintln!("skipped: mounting a tmpfs needs root");
        return;
    };
    let out = full.join("run");
    let message = fails(tresse(dir.path()).args(crate::common::SMALL).arg("--out").arg(&out), 2);
    assert!(message.contains("No space left on device"), "{message}");
    assert!(message.contains("hint: free some space"), "{message}");
    for name in ["flows.parquet", "links.parquet"] {
        assert!(!out.join(name).exists(), "{name} looks whole");
    }
    if let Ok(text) = fs::read_to_string(out.join("run.json")) {
        assert!(text.contains("\"status\": \"running\""), "{text}");
    }
}

#[test]
fn a_bad_script_names_its_line() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("s.txt"), "ack 2\nack 2 marked=3\n").expect("a file");
    let message = fails(tresse(dir.path()).args(["controller", "trace", "xmp", "--script", "s.txt"]), 2);
    assert!(message.contains("s.txt:2: 3 marked packets in an ACK of 2"), "{message}");
    let message = fails(tresse(dir.path()).args(["controller", "trace", "xmp", "--script", "none.txt"]), 2);
    assert!(message.contains("none.txt: cannot be read"), "{message}");
    let message = fails(tresse(dir.path()).args(["controller", "trace", "lai", "--script", "s.txt"]), 2);
    assert!(message.contains("did you mean `lia`?"), "{message}");
}

/// A user's controller that cannot be used: what, where, and no run is begun.
#[test]
fn a_controller_of_ones_own_is_told_what_is_wrong_with_it() {
    let reno = own_controller();
    let line_of = |text: &str, what: &str| {
        1 + text.lines().position(|line| line.contains(what)).unwrap_or_else(|| panic!("no line has {what}"))
    };
    let misspelt = reno.replace("s->cwnd", "s->cwn").replace("half_window(s)", "s->cwn / 2");
    let line = line_of(&misspelt, "s->cwn ");
    let returns = reno.replace("\treturn half_window(s);\n", "");
    let end = line_of(&returns, "state_of(s)->credit = 0;") + 1;
    for (text, expected) in [
        (
            misspelt,
            vec!["own/mine.c: it does not compile".to_owned(), format!("own/mine.c:{line}:"), "cwn".into()],
        ),
        (returns, vec![format!("own/mine.c:{end}:"), "return".into()]),
        (reno.replace("#include \"controller.h\"", "#include \"control.h\""), vec!["control.h".into()]),
        (
            reno.replace(".min_cwnd = 2,", ".min_cwnd = 0,"),
            vec!["own/mine.c: mine: .min_cwnd must be".into()],
        ),
        (
            reno.replace("CONTROLLER(mine", "CONTROLLER(lia"),
            vec!["there is already a controller `lia`".into()],
        ),
        (reno.replace("CONTROLLER(", "CONTROL("), vec!["no controller is declared".into(), "hint: ".into()]),
    ] {
        let dir = TempDir::new().expect("a temporary folder");
        fs::create_dir(dir.path().join("own")).expect("a folder");
        fs::write(dir.path().join("own/mine.c"), text).expect("a file");
        let own = ["--controller", "own/mine.c", "--set", "schemes.xmp.controller=mine"];
        let message = fails(tresse(dir.path()).args(crate::common::SMALL).args(own), 2);
        for part in expected {
            assert!(message.contains(&part), "{part}: {message}");
        }
        assert!(!dir.path().join("runs").exists(), "a run that could not start left a folder");
    }
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(["run", "xmp/table1", "--controller", "none.c"]), 2);
    assert!(message.contains("none.c: No such file"), "{message}");
}

/// Also without `--default`, which `--netns` implies.
#[test]
fn a_controller_that_no_kernel_runs_is_bad_input_for_attach() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(["attach", "nscc", "--netns", "nowhere"]), 2);
    assert!(message.starts_with("error: nscc does not run in a Linux kernel: "), "{message}");
}

#[test]
fn an_initial_window_above_the_contract_s_is_refused_with_its_range() {
    let dir = TempDir::new().expect("a temporary folder");
    let arguments = ["controller", "trace", "reno", "--script", "-", "--initial-window", "5000000"];
    let message = fails(tresse(dir.path()).args(arguments), 2);
    assert!(message.contains("expected a whole number from 1 to 1048576"), "{message}");
}

#[test]
fn costs_are_not_measured_for_a_folder_that_is_not_there() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(["calibrate", "--out", "none/host.toml"]), 2);
    assert!(message.contains("none: there is no such folder"), "{message}");
}

#[test]
fn a_level_of_the_daemon_s_log_is_one_of_the_known() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = fails(tresse(dir.path()).args(["daemon", "--config", "none.toml", "--log", "warm"]), 2);
    assert!(message.contains("--log warm") && message.contains("expected error, warn or info"), "{message}");
    std::fs::write(dir.path().join("d.toml"), "").expect("a file");
    let check = ["daemon", "--check", "--config", "d.toml", "--log", "warm"];
    assert!(fails(tresse(dir.path()).args(check), 2).contains("--log warm"));
    let message = fails(tresse(dir.path()).args(["daemon", "--config", "none.toml", "--log", "warn"]), 2);
    assert!(message.contains("none.toml") && message.contains("hint: `--config FILE`"), "{message}");
}

#[test]
fn a_namespace_that_the_daemon_waits_for_in_vain_is_told_by_its_check() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = "[daemon]\nnamespaces = [\"current\", \"tresse-no-such\"]\n\n[[policy]]\nname = \"a\"\nmanager = \"fixed\"\n";
    std::fs::write(dir.path().join("d.toml"), text).expect("a temporary file");
    let output =
        tresse(dir.path()).args(["daemon", "--check", "--config", "d.toml"]).output().expect("it starts");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a: fixed\n");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "note: there is no network namespace `tresse-no-such` now: the daemon does not start without it\n"
    );
}
