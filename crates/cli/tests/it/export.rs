//! From the HPCC simulator's files to a run, and back to its `fct.txt`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::common::{SMALL, fails, own_controller, tresse};

/// Two switches that come first, two hosts under one and one under the other.
const TOPOLOGY: &str =
    "5 2 4\n0 1\n0 1 400Gbps 1us 0\n2 0 100Gbps 1us 0\n3 0 100Gbps 1us 0\n4 1 100Gbps 1us 0\n";
const FLOWS: &str = "3\n2 4 3 100 100000 2\n3 2 3 100 1500 2.000000100\n2 3 3 100 1 2.000001000\n";

fn stdout(dir: &Path, args: &[&str]) -> String {
    let output = tresse(dir).args(args).output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// A folder with a run of the flows in `runs/h-1`.
fn ran() -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("topology.txt"), TOPOLOGY).expect("a file");
    fs::write(dir.path().join("flow.txt"), FLOWS).expect("a file");
    stdout(dir.path(), &["import", "hpcc", "topology.txt", "flow.txt", "-o", "h.toml"]);
    stdout(dir.path(), &["run", "h.toml", "--out", "run"]);
    dir
}

#[test]
fn what_was_imported_runs_and_goes_back() {
    let dir = ran();
    let export = ["export", "run", "--format", "hpcc-fct", "--only", "scheme=dctcp"];
    let text = stdout(dir.path(), &export);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    // In the order of their ends, by our numbers of the hosts; the last column by hand:
    // 2 links of 1 us, 80 ns of payload on each, and 1500 + 2 x 48, 1 + 48 and 100000 + 100 x 48 bytes.
    let rows: Vec<_> = lines.iter().map(|l| [&l[..6], &l[7..]].concat()).collect();
    assert_eq!(
        rows,
        [
            ["0b000101", "0b000001", "10000", "100", "1500", "2000000100", "4287"],
            ["0b000001", "0b000101", "10001", "100", "1", "2000001000", "4163"],
            ["0b000001", "0b000201", "10000", "100", "100000", "2000000000", "14564"],
        ]
    );
    // Two packets one way: 1 us a link, 1048 and 548 bytes at 100 Gbit/s, the first of them on two links.
    assert_eq!(lines[0][6], "2211");

    let csv = stdout(dir.path(), &["export", "run", "--format", "csv", "--only", "scheme=dctcp,xmp"]);
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("names");
    let at = |name: &str| head.iter().position(|n| *n == name).expect("a column");
    let dctcp: Vec<_> = rows.filter(|r| r[at("scheme")] == "dctcp").collect();
    assert_eq!((csv.lines().count(), dctcp.len()), (7, 3));
    let ended = |r: &Vec<&str>| r[at("end_ps")].parse::<u64>().expect("a time");
    let last = dctcp.iter().max_by_key(|r| ended(r)).expect("flows");
    assert_eq!((last[at("size_bytes")], last[at("start_ps")]), ("100000", "2000000000000"));
    assert_eq!(lines[2][6], ((ended(last) - 2_000_000_000_000) / 1000).to_string());
}

#[test]
fn an_export_is_whole_or_not_there() {
    let dir = ran();
    let refused = |args: &[&str]| fails(tresse(dir.path()).args(args), 2);
    let several = refused(&["export", "run", "--format", "hpcc-fct", "-o", "fct.txt"]);
    assert!(several.contains("there are 2; choose one"), "{several}");
    assert!(
        several.contains("--only scheme=xmp --only subflows=2 --only pattern=imported --only seed=1"),
        "{several}"
    );
    let only = |only| refused(&["export", "run", "--format", "csv", "--only", only, "-o", "f.csv"]);
    let none = only("scheme=lia");
    assert!(none.contains("no row has scheme = lia (available: dctcp, xmp)"), "{none}");
    let misspelt = only("scheme=xmp,dtcp");
    assert!(misspelt.contains("no row has scheme = dtcp; did you mean `dctcp`?"), "{misspelt}");
    let joined = only("scheme=xmp,seed=1");
    assert!(joined.contains("each axis needs its own option: `--only scheme=xmp --only seed=1`"), "{joined}");
    let apart = ["--only", "scheme=xmp", "--only", "subflows=1"];
    let empty = refused(&[&["export", "run", "--format", "csv", "-o", "f.csv"][..], &apart].concat());
    assert!(empty.contains("no row is left") || empty.contains("no row has subflows = 1"), "{empty}");
    let key = refused(&["export", "run", "--format", "csv", "--only", "shceme=lia"]);
    assert!(key.contains("did you mean `scheme`?"), "{key}");
    let nowhere = refused(&["export", "runs", "--format", "csv"]);
    assert!(nowhere.contains("there is no run here"), "{nowhere}");
    let samples = refused(&["export", "run", "--format", "qlog", "--only", "scheme=dctcp", "-o", "fct.qlog"]);
    assert!(samples.contains("the run has no samples.parquet"), "{samples}");
    assert!(
        samples.contains("hint: run the experiment again with `[measure] samples = \"1ms\"`"),
        "{samples}"
    );
    let table = refused(&["export", "run", "--format", "csv", "--table", "link"]);
    assert!(table.contains("did you mean `links`?"), "{table}");
    let names: Vec<_> =
        fs::read_dir(dir.path()).expect("the folder").map(|e| e.expect("an entry").file_name()).collect();
    assert!(
        !names
            .iter()
            .any(|n| n.to_string_lossy().contains("fct") || n.to_string_lossy().contains("csv.partial")),
        "{names:?}"
    );

    stdout(dir.path(), &["export", "run", "--format", "csv", "-o", "f.csv"]);
    let there = refused(&["export", "run", "--format", "csv", "-o", "f.csv"]);
    assert!(there.contains("f.csv already exists"), "{there}");
    stdout(dir.path(), &["export", "run", "--format", "csv", "-o", "f.csv", "--force"]);

    stdout(dir.path(), &["export", "run", "--format", "arrow", "--table", "links", "-o", "links.arrow"]);
    assert!(fs::read(dir.path().join("links.arrow")).expect("it is there").starts_with(b"ARROW1"));
    let trace = stdout(dir.path(), &["export", "run", "--format", "perfetto"]);
    assert_eq!(trace.matches("\"ph\":\"X\"").count(), 6, "three flows under each of two schemes");

    fs::remove_file(dir.path().join("run/flows.parquet")).expect("it is there");
    let removed = refused(&["export", "run", "--format", "csv"]);
    assert!(removed.contains("run/flows.parquet: does not exist"), "{removed}");
    let json = dir.path().join("run/run.json");
    let complete = fs::read_to_string(&json).expect("it is there");
    fs::write(&json, complete.replace("\"status\": \"complete\"", "\"status\": \"running\""))
        .expect("a file");
    let killed = refused(&["export", "run", "--format", "csv"]);
    assert!(killed.contains("run: the run was killed, so it has no tables"), "{killed}");
    assert!(killed.contains("hint: run the experiment again; `tresse show run`"), "{killed}");
    fs::write(&json, complete).expect("a file");
    fs::write(dir.path().join("run/flows.parquet"), "PAR1 not at all").expect("a file");
    let damaged = refused(&["export", "run", "--format", "csv"]);
    assert!(damaged.contains("flows.parquet: not the table that the run wrote"), "{damaged}");
    let complete = fs::read_to_string(&json).expect("it is there");
    let without_sums = complete.replace("\"tables\":", "\"other\":");
    fs::write(&json, without_sums).expect("a file");
    let damaged = refused(&["export", "run", "--format", "csv"]);
    assert!(damaged.contains("flows.parquet: cannot be read"), "{damaged}");
}

/// The file of a run names the user's controller: it must be loaded again.
#[test]
fn a_run_with_a_controller_of_ones_own_is_exported_with_it() {
    let dir = TempDir::new().expect("a temporary folder");
    std::fs::write(dir.path().join("mine.c"), own_controller()).expect("a temporary file");
    let scheme = ["--set", "schemes.mine.controller=mine", "--set", "schemes.mine.subflows=2"];
    let mut run = tresse(dir.path());
    run.args(SMALL).args(scheme).args(["--controller", "mine.c", "--only", "scheme=mine"]);
    run.args(["--set", "fabric.k=4", "--set", "measure.samples=1ms", "--out", "run"]).assert().success();
    let mut export = tresse(dir.path());
    export.args(["export", "run", "--format", "flent", "-o", "out.flent.gz"]);
    let message = fails(&mut export, 2);
    assert!(message.contains("there is no controller `mine`"), "{message}");
    export.args(["--controller", "mine.c"]).assert().success();

    let mut optimum = tresse(dir.path());
    optimum.args(["optimum", "xmp/table1", "--controller", "mine.c", "--only", "scheme=mine"]).args(scheme);
    optimum.args(["--only", "pattern=permutation", "--set", "fabric.k=4"]).assert().success();
}
