//! Users' controllers that end the process that they run in, or would: each is told with its line, and costs no
//! other scheme its results.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Output, Stdio};

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{interrupt, own_controller, tresse, wait_until};

/// Does what it should not once its window is above 11 packets.
const BAD: &str = "
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include \"controller.h\"

/* Not known to the compiler, so that it does not warn. */
static volatile u64 nothing;
static u64 (*volatile again)(u64);

/* In one line, for any of it may touch the end of the stack first. */
static inline u64 deeper(u64 depth) { volatile u64 words[64] = { depth }; return words[depth % 64] + again(depth + 1); } /* deep */

static void bad_grow(struct subflow *s, const struct ack *a) /* hook */
{
	volatile u32 *nowhere = (volatile u32 *)nothing;

	again = deeper;
	s->cwnd += a->delivered;
	if (s->cwnd > 11 && nowhere == 0)
		DOES; /* here */
}

static u32 bad_congestion(struct subflow *s, enum cause cause)
{
	return half_window(s);
}

CONTROLLER(bad,
	.title = \"bad\",
	.source = \"none\",
	.signals = SIGNAL_LOSS,
	.min_cwnd = 2,
	.grow = bad_grow,
	.congestion = bad_congestion);
";

/// The folder with `bad.c`, and the line with `mark` in it.
fn bad(does: &str, mark: &str) -> (TempDir, String) {
    let dir = TempDir::new().expect("a temporary folder");
    let text = BAD.replace("DOES", does);
    let line = 1 + text.lines().position(|line| line.ends_with(mark)).expect("a marked line");
    fs::write(dir.path().join("bad.c"), text).expect("a temporary file");
    (dir, format!("bad.c:{line}: controller bad: "))
}

/// `bad` beside DCTCP, on 16 hosts.
const RUN: [&str; 19] = [
    "run",
    "xmp/table1",
    "--controller",
    "bad.c",
    "--set",
    "schemes.bad.controller=bad",
    "--set",
    "schemes.bad.subflows=2",
    "--only",
    "scheme=bad,dctcp",
    "--only",
    "pattern=permutation",
    "--set",
    "fabric.k=4",
    "--set",
    "profile.quick={}",
    "--out",
    "out",
    "--json",
];

/// Two rounds of a fifth of a megabyte.
const SMALL: [&str; 4] =
    ["--set", "workloads.permutation.size=200kB", "--set", "workloads.permutation.rounds=2"];

/// DCTCP's flows are there, and the run says that it is partial.
fn dctcp_is_whole(dir: &Path) {
    let text = fs::read_to_string(dir.join("out/run.json")).expect("run.json");
    let saved: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(saved["status"], "partial");
    let cases = saved["cases"].as_array().expect("cases");
    let dctcp = cases.iter().find(|c| c["case"]["scheme"] == "dctcp").expect("DCTCP ran");
    assert_eq!(dctcp["metrics"]["flows"], 32, "two rounds of 16");
    assert!(dctcp["metrics"]["goodput_mean_bps"].as_f64() > Some(1e6));
    let file = fs::File::open(dir.join("out/flows.parquet")).expect("the table is there");
    let flows = SerializedFileReader::new(file).expect("a whole Parquet file");
    let rows = flows.get_row_iter(None).expect("rows").map(|row| row.expect("a row").to_string());
    assert_eq!(rows.filter(|row| row.contains("dctcp")).count(), 32);
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run, and a script, in which `bad` does this end with 2, and with `wanted` about it.
fn ends(does: &str, mark: &str, wanted: &str) {
    let (dir, place) = bad(does, mark);
    let wanted = match mark {
        "" => wanted.to_owned(),
        _ => format!("\n{place}{wanted}"),
    };
    let output = tresse(dir.path()).args(RUN).args(SMALL).output().expect("the command starts");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("{wanted}; bad-2 permutation seed 1\n")), "{said}");
    assert!(said.ends_with("\nhint: tresse controller check bad.c\n"), "{said}");
    dctcp_is_whole(dir.path());

    let trace = ["controller", "trace", "bad.c", "--script", "-"];
    let output = tresse(dir.path()).args(trace).write_stdin("ack 10\n").output().expect("it starts");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(wanted.trim_start()), "{said}");
}

#[test]
#[cfg_attr(target_arch = "aarch64", ignore = "its division by 0 gives 0")]
fn a_division_by_0() {
    ends("s->word = s->cwnd / nothing", "/* here */", "divides by 0 (SIGFPE) in hook grow");
}

#[test]
fn a_null_pointer() {
    ends("*nowhere = 1", "/* here */", "uses a null pointer (SIGSEGV) in hook grow");
}

#[test]
fn a_trap() {
    let signal = if cfg!(target_arch = "aarch64") { "SIGTRAP" } else { "SIGILL" };
    ends("__builtin_trap()", "/* here */", &format!("traps ({signal}) in hook grow"));
}

#[test]
fn a_recursion_without_end() {
    ends("s->word = deeper(0)", "/* deep */", "overflows the stack (SIGSEGV) in hook grow");
}

#[test]
fn a_call_of_exit() {
    ends("exit(0)", "/* here */", "calls exit() in hook grow");
}

#[test]
fn a_call_of_exit_without_handlers() {
    let wanted = "bad.c: controller bad: ends its process without a message (exit code 0), as _exit() does";
    ends("_exit(0)", "", wanted);
}

#[test]
fn a_call_of_abort() {
    ends("abort()", "/* here */", "aborts (SIGABRT) in hook grow");
}

#[test]
fn a_window_of_0() {
    ends("s->cwnd = 0", "/* hook */", "makes a window of 0 packets in hook grow");
}

#[test]
fn a_window_above_the_limit() {
    let wanted = "makes a window of 4294967295 packets, above 1048576, in hook grow";
    ends("s->cwnd = 0xffffffff", "/* hook */", wanted);
}

#[test]
fn an_endless_loop_ends_with_the_interrupt() {
    // The folder says that it is in the loop.
    let (dir, place) = bad("{ mkdir(\"inside\", 0700); while (!nothing) s->word++; }", "/* here */");
    let child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(RUN)
        .args(SMALL)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.expect("the command starts");
    let is_inside = || dir.path().join("inside").exists();
    let is_dctcp_done = || {
        let text = fs::read_to_string(dir.path().join("out/run.json")).unwrap_or_default();
        let saved: Value = serde_json::from_str(&text).unwrap_or_default();
        saved["cases"].as_array().is_some_and(|cases| !cases.is_empty())
    };
    wait_until(|| is_inside() && is_dctcp_done());
    interrupt(child.id());
    wait_until(|| child.try_wait().expect("the child can be waited for").is_some());
    let output = child.wait_with_output().expect("the child has ended");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains(&format!("{place}does not return from hook grow; bad-2 permutation")), "{said}");
    dctcp_is_whole(dir.path());
}

#[test]
fn a_case_that_ended_is_told_once() {
    let (dir, place) = bad("abort()", "/* here */");
    let more = ["--replications", "4", "--parallel", "2"];
    let output = tresse(dir.path()).args(RUN).args(SMALL).args(more).output().expect("it starts");
    let said = text(&output);
    assert_eq!((output.status.code(), said.matches(&place).count()), (Some(2), 1), "{said}");
}

#[test]
fn a_worker_measures_what_a_thread_would() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("mine.c"), own_controller()).expect("a temporary file");
    let run = |controller: &str, out: &str| -> Value {
        let output = tresse(dir.path())
            .args(["run", "xmp/table1", "--only", "scheme=lia", "--only", "pattern=permutation"])
            .args([
                "--set",
                "fabric.k=4",
                "--set",
                "measure.samples=1ms",
                "--set",
                "measure.convergence={for=\"1ms\"}",
            ])
            .args(["--controller", "mine.c", "--set", &format!("schemes.lia.controller={controller}")])
            .args(["--parallel", "1", "--replications", "2", "--out", out, "--json"])
            .args(SMALL)
            .output()
            .expect("the command starts");
        assert!(output.status.success(), "{}", text(&output));
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    };
    let (thread, worker) = (run("reno", "thread"), run("mine", "worker"));
    assert_eq!(thread["digest"], worker["digest"]);
    let cases = |report: &Value| report["cases"].as_array().expect("cases").clone();
    for (thread, worker) in cases(&thread).iter().zip(cases(&worker)) {
        for key in ["metrics", "by", "ci95", "windows"] {
            assert_eq!(thread[key], worker[key], "{key}");
        }
    }
    // Reno's flows have their optimum beside them; of what is not known, samples have none.
    let rows = |out: &str, table: &str| -> Vec<String> {
        let file = fs::File::open(dir.path().join(out).join(table)).expect("the table is there");
        let rows = SerializedFileReader::new(file).expect("a whole Parquet file");
        let rows = rows.get_row_iter(None).expect("rows").map(|row| row.expect("a row"));
        let known = |row: parquet::record::Row| -> String {
            let cells = row.get_column_iter().filter(|(name, _)| !name.contains("optim"));
            cells.map(|(name, value)| format!("{name}={value} ")).collect()
        };
        rows.map(known).collect()
    };
    for table in
        ["flows.parquet", "links.parquet", "samples.parquet", "queues.parquet", "convergence.parquet"]
    {
        let rows = [rows("thread", table), rows("worker", table)];
        assert!(!rows[0].is_empty(), "{table}");
        assert!(rows[0] == rows[1], "{table}");
    }
}
