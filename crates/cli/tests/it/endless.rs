//! Inputs without end, and inputs that would become too much: refused before they take time or memory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{interrupt, own_controller};
use crate::mutated::seeds::{BESIDE, EXPERIMENTS, FOREIGN, foreign};
use crate::written::fifo;

/// The most address space that a command may take, kB, and how long it may work, on a loaded machine too.
const MEMORY: u64 = 2 << 20;
const TIME: Duration = Duration::from_secs(60);

/// Standard error of a command that must end with code 2, in bounded memory and time.
#[expect(clippy::disallowed_methods, reason = "a test of how long it takes needs a clock")]
fn refused(dir: &Path, arguments: &[&str], stdin: Stdio) -> String {
    let start = Instant::now();
    let output = Process::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_tresse")])
        .args(arguments)
        .current_dir(dir)
        .stdin(stdin)
        .output()
        .expect("the shell starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(start.elapsed() < TIME, "{arguments:?}: {:?}", start.elapsed());
    stderr
}

/// A folder with everything that the command reads, and a command for each file that reads it.
fn readers() -> (TempDir, Vec<(Vec<String>, String)>) {
    let dir = TempDir::new().expect("a temporary folder");
    let mut all: Vec<(Vec<String>, String)> = Vec::new();
    let mut add = |words: &[&str], file: &str| {
        all.push((words.iter().map(|&word| word.to_owned()).collect(), file.to_owned()));
    };
    for (name, text) in EXPERIMENTS {
        fs::write(dir.path().join(name), text).expect("a file");
    }
    for (name, bytes) in BESIDE {
        fs::write(dir.path().join(name), bytes).expect("a file");
    }
    add(&["run", "rounds.toml"], "rounds.toml");
    add(&["optimum", "rounds.toml"], "rounds.toml");
    add(&["topology", "show", "rounds.toml"], "rounds.toml");
    for name in ["flows.csv", "graph.json", "trace.goal", "job.0.et"] {
        add(&["run", "listed.toml"], name);
    }
    add(&["run", "arrivals.toml"], "sizes.cdf");
    for (format, names) in FOREIGN {
        for name in names {
            fs::write(dir.path().join(name), foreign(name)).expect("a file");
            add(&[&["import", format][..], names, &["-o", "x.toml"]].concat(), name);
        }
    }
    for (words, file) in [
        (&["controller", "trace", "reno", "--script", "script"][..], "script"),
        (&["controller", "check", "mine.c"], "mine.c"),
        (&["run", "rounds.toml", "--controller", "mine.c"], "mine.c"),
        (&["evaluate", "mine.c", "--suite", "suite.toml"], "suite.toml"),
        (&["sweep", "plan.toml"], "plan.toml"),
        (&["show", "folder"], "folder/run.json"),
        (&["report", "folder"], "folder/run.json"),
        (&["daemon", "--check", "--config", "daemon.toml"], "daemon.toml"),
    ] {
        add(words, file);
    }
    fs::create_dir(dir.path().join("folder")).expect("a folder");
    fs::write(dir.path().join("mine.c"), own_controller()).expect("a file");
    (dir, all)
}

#[test]
fn devices_and_folders_are_refused_by_every_reader() {
    let (dir, readers) = readers();
    for (n, (arguments, file)) in readers.iter().enumerate() {
        let path = dir.path().join(file);
        let kept = fs::read(&path).ok();
        let _ = fs::remove_file(&path);
        let device = ["/dev/zero", "/dev/urandom"][n % 2];
        symlink(device, &path).expect("a link");
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let stderr = refused(dir.path(), &words, Stdio::null());
        assert!(stderr.contains("it is a device, not a file"), "{arguments:?}, {file}: {stderr}");
        fs::remove_file(&path).expect("it is ours");
        // One byte more than the largest file that programs write; it takes no room on the disk.
        let large = File::create(&path).and_then(|large| large.set_len(500_000_001));
        large.expect("a file with a hole");
        let stderr = refused(dir.path(), &words, Stdio::null());
        assert!(stderr.contains("it has 500000001 bytes; at most "), "{arguments:?}, {file}: {stderr}");
        fs::remove_file(&path).expect("it is ours");
        if let Some(kept) = kept {
            fs::write(&path, kept).expect("a file");
        }
    }
    let zero = || Stdio::from(File::open("/dev/zero").expect("a device"));
    for words in [&["run", "-"][..], &["import", "htsim-cm", "-", "-o", "x.toml"]] {
        let stderr = refused(dir.path(), words, zero());
        assert!(stderr.contains("it is a device, not a file"), "{stderr}");
    }
}

#[test]
fn a_pipe_is_read_to_a_bound_and_a_wait_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    let (name, text) = EXPERIMENTS[0];
    fs::write(dir.path().join(name), text).expect("a file");
    // From a pipe, as from a file.
    let read = |words: &[&str]| {
        let shell = format!("exec \"$0\" {}", words.join(" "));
        let output = Process::new("bash")
            .args(["-c", &shell, env!("CARGO_BIN_EXE_tresse")])
            .current_dir(dir.path())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    // All but the first line, which has the experiment's name.
    let show = |words: &[&str]| {
        let text = String::from_utf8(read(words)).expect("text");
        text.split_once('\n').map(|(_, rest)| rest.to_owned())
    };
    let whole = show(&["topology", "show", name]);
    for words in [&["topology", "show", "<(cat", name, ")"][..], &["topology", "show", "-", "<", name]] {
        assert_eq!(show(words), whole);
    }
    // Without an end.
    let mut yes = Process::new("yes").stdout(Stdio::piped()).spawn().expect("coreutils");
    let pipe = yes.stdout.take().expect("it is piped");
    let stderr = refused(dir.path(), &["optimum", "-"], Stdio::from(pipe));
    assert!(stderr.contains("at most 16MB are read"), "{stderr}");
    yes.wait().expect("nobody reads it any more");
    // Without a writer.
    fifo(&dir.path().join("pipe"));
    let mut waiting = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .args(["optimum", "pipe"])
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut errors = BufReader::new(waiting.stderr.take().expect("it is piped"));
    errors.read_line(&mut line).expect("text");
    assert_eq!(line, "pipe: waiting for its writer (Ctrl-C ends it)\n");
    interrupt(waiting.id());
    assert_eq!(waiting.wait().expect("it is ours").code(), Some(130));
}

#[test]
fn a_c_file_that_includes_a_device_or_itself_comes_to_an_end() {
    let dir = TempDir::new().expect("a temporary folder");
    for include in ["\"/dev/zero\"", "</dev/urandom>", "\"mine.c\""] {
        let text = format!("{}\n#include {include}\n", own_controller());
        fs::write(dir.path().join("mine.c"), text).expect("a file");
        refused(dir.path(), &["controller", "check", "mine.c"], Stdio::null());
    }
}

const BASE: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "100Mbps"
delay = "1ms"
queue = "50pkt"
host_queue = "100pkt"
[transport]
profile = "linux"
[schemes.reno]
controller = "reno"
[workloads.w]
pattern = "flows"
duration = "10ms"
flow = [{ from = 0, to = 2, start = "0s" }]
"#;

#[test]
fn more_cases_flows_or_claims_than_can_be_planned_are_refused_before_they_are_made() {
    let dir = TempDir::new().expect("a temporary folder");
    let lines = |count: u32, line: &dyn Fn(u32) -> String| (0..count).map(line).collect::<String>();
    let flow = "flow = [{ from = 0, to = 2, start = \"0s\" }]";
    let queues = lines(100_000, &|n| format!("\"{}pkt\",", n + 1));
    let words = lines(216, &|n| format!("\"{n}\","));
    let claim = format!(
        "[[claims]]\nfor_each = {{ a = [{words}], b = [{words}], c = [{words}] }}\nid = \"{{a}} {{b}} {{c}}\"\ntext = \
         \"t\"\nmetric = \"goodput_mean_bps\"\nleft = {{ scheme = \"reno\" }}\nabove = 1\n"
    );
    let schemes = lines(200, &|n| format!("[schemes.s{n}]\ncontroller = \"reno\"\n"));
    let variants = lines(200, &|n| format!("[variants.v{n}]\nfabric.queue = \"{}pkt\"\n", n + 1));
    for (text, expected) in [
        (
            BASE.replace("\"50pkt\"", &format!("[{queues}]")),
            "lists of 100000 of fabric.queue values make more than 1000 points",
        ),
        (
            BASE.replace(flow, &format!("flow = [{}]", "{},".repeat(100_001))),
            "a list of 100001 values: at most 100000",
        ),
        (
            BASE.replace("start = \"0s\"", "start = \"0s\", count = 100000000"),
            "100000000 flows, all of which are known",
        ),
        (format!("{BASE}{claim}"), "this makes more than 200000 combinations: use fewer values"),
        (
            format!("{BASE}{schemes}{variants}"),
            "40200 cases (201 schemes and subflows × 200 variants): at most 20000",
        ),
    ] {
        fs::write(dir.path().join("e.toml"), text).expect("a file");
        let stderr = refused(dir.path(), &["run", "e.toml"], Stdio::null());
        assert!(stderr.contains(expected), "{expected}: {stderr}");
    }
}

#[test]
fn nesting_has_a_depth() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("e.toml"), BASE).expect("a file");
    let (open, close) = ("[".repeat(15_000), "]".repeat(15_000));
    let nested = format!("fabric.mark={open}{close}");
    let keys = format!("{}a=1", "a.".repeat(20_000));
    for setting in [&nested, &keys] {
        let stderr = refused(dir.path(), &["run", "e.toml", "--set", setting], Stdio::null());
        assert!(stderr.contains("nested too deeply: at most 64 levels"), "{stderr}");
        assert!(stderr.len() < 1000, "{stderr}");
    }
    let plan = format!("experiment = \"e.toml\"\n[set]\n\"fabric.mark\" = \"{open}{close}\"\n");
    let suite = format!(
        "title = \"t\"\n[[experiments]]\nname = \"a\"\nexperiment = \"e.toml\"\nscheme = \"reno\"\nmeasure = \
         \"completion\"\nset = ['''{nested}''']\n"
    );
    for (name, text, command) in [
        ("plan.toml", plan, &["sweep", "plan.toml"][..]),
        ("suite.toml", suite, &["evaluate", "reno", "--suite", "suite.toml"]),
    ] {
        fs::write(dir.path().join(name), text).expect("a file");
        let stderr = refused(dir.path(), command, Stdio::null());
        assert!(stderr.contains("nested too deeply"), "{name}: {stderr}");
    }
    for text in [
        BASE.replace("\"1ms\"", &format!("{open}{close}")),
        BASE.replace("\"1ms\"", &format!("{}1{}", "{a=".repeat(15_000), "}".repeat(15_000))),
        format!("{BASE}\n{}a = 1\n", "a.".repeat(20_000)),
        format!("{BASE}\n[{}a]\n", "a.".repeat(20_000)),
    ] {
        let mut file = File::create(dir.path().join("e.toml")).expect("a file");
        file.write_all(text.as_bytes()).expect("it is ours");
        let stderr = refused(dir.path(), &["run", "e.toml"], Stdio::null());
        assert!(stderr.contains("nested too deeply: at most 80 levels"), "{stderr}");
    }
}
