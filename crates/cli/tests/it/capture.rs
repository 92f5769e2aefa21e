//! Captures of recorded packets, read back by tshark: what it sees is what the table has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::attached::say;
use crate::common::{fails, tresse};

/// Connections with two subflows, which meet in short queues: one scheme is marked, both lose packets.
const EXPERIMENT: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "20pkt"
mark = "5pkt"
host_queue = "100pkt"
host_mark = "5pkt"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = 2
echo = "two-bit"
[schemes.lia]
controller = "lia"
subflows = 2
[schemes.nscc]
controller = "nscc"
balancer = "reps"
paths = 16
transport = { profile = "spray", handshake = false }
routing = "ecmp"
[workloads.w]
pattern = "permutation"
size = "300kB"
[measure]
packets = { hosts = [0, 5] }
"#;

/// What tshark is asked about each frame.
const FIELDS: [&str; 24] = [
    "frame.number",
    "frame.comment",
    "frame.interface_name",
    "frame.time_epoch",
    "ip.checksum.status",
    "ip.dsfield.ecn",
    "tcp.checksum.status",
    "tcp.stream",
    "tcp.len",
    "tcp.flags.syn",
    "tcp.flags.ece",
    "tcp.flags.cwr",
    "tcp.options.sack_le",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "mptcp.stream",
    "mptcp.dss.dsn",
    "mptcp.dss.missing_mapping",
    "mptcp.connection.echoed_key_mismatch",
    "tcp.options.mptcp.datalvllen",
    "udp.srcport",
    "udp.checksum.status",
    "udp.length",
    "_ws.malformed",
];

/// A line of a table, by the names of its columns; what is missing is empty.
type Line = BTreeMap<String, String>;

fn lines(text: &str, separator: char) -> Vec<Line> {
    let mut lines = text.lines().map(|line| line.split(separator).map(str::to_owned));
    let names: Vec<String> = lines.next().expect("names").collect();
    lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
}

fn number(line: &Line, name: &str) -> u64 {
    line[name].parse().unwrap_or_else(|e| panic!("{name}: `{}`: {e}", line[name]))
}

fn stdout(dir: &Path, args: &[&str]) -> String {
    let output = tresse(dir).args(args).output().expect("the command starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

/// The rows of the table of packets, and the frames of a capture of the same.
struct Both {
    rows: Vec<Line>,
    /// Those that were simulated.
    frames: Vec<Line>,
    /// Those that belong to handshakes that were not.
    made: Vec<Line>,
}

fn both(dir: &Path, run: &str, only: &[&str]) -> Both {
    let only: Vec<&str> = only.iter().flat_map(|only| ["--only", *only]).collect();
    let rows = stdout(dir, &[&["export", run, "--format", "csv", "--table", "packets"], &only[..]].concat());
    stdout(dir, &[&["export", run, "--format", "pcapng", "--force", "-o", "t.pcapng"], &only[..]].concat());
    let mut tshark = Command::new("tshark");
    tshark.args(["-r", "t.pcapng", "-T", "fields", "-E", "header=y", "-E", "separator=/t"]);
    tshark.args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]);
    tshark.args(["-o", "udp.check_checksum:TRUE"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let output = tshark.current_dir(dir).output().expect("it is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let frames = lines(&String::from_utf8(output.stdout).expect("UTF-8"), '\t');
    let (made, frames) =
        frames.into_iter().partition(|frame| frame["frame.comment"].contains("not simulated"));
    Both { rows: lines(&rows, ','), frames, made }
}

/// What holds of every frame.
fn check_frames(Both { rows, frames, made }: &Both) {
    assert_eq!(rows.len(), frames.len());
    for frame in frames.iter().chain(made) {
        assert_eq!(frame["_ws.malformed"], "", "{frame:?}");
        // 0 is bad, 1 good, 2 not checked: not all of it was captured.
        assert_eq!(frame["ip.checksum.status"], "1", "{frame:?}");
        assert!(["", "1", "2"].contains(&&*frame["tcp.checksum.status"]), "{frame:?}");
        assert!(["", "1", "2"].contains(&&*frame["udp.checksum.status"]), "{frame:?}");
        assert_eq!(
            (&*frame["mptcp.dss.missing_mapping"], &*frame["mptcp.connection.echoed_key_mismatch"]),
            ("", "")
        );
    }
    for (row, frame) in rows.iter().zip(frames) {
        let seconds = frame["frame.time_epoch"].replace('.', "");
        assert_eq!(seconds.parse::<u64>().expect("a time"), number(row, "time_ps") / 1000, "{row:?}");
        assert_eq!(frame["frame.interface_name"], format!("host {}", row["host"]));
        let ecn = match &*row["ecn"] {
            "not-ect" => 0,
            "ect" => 2,
            _ => 3,
        };
        assert_eq!(number(frame, "ip.dsfield.ecn"), ecn, "{row:?}");
        for (column, comment) in [
            ("retransmission", "retransmission"),
            ("last", "last byte of a message"),
            ("trimmed", "trimmed to its header"),
            ("dropped", "dropped by its own host"),
        ] {
            assert_eq!(row[column] == "true", frame["frame.comment"].contains(comment), "{frame:?}");
        }
        assert_eq!(ecn == 3, frame["frame.comment"].contains("marked: congestion experienced"));
    }
}

/// What holds of connections of TCP.
fn check_connections(Both { rows, frames, made }: &Both) {
    let (mut streams, mut subflows) = (BTreeMap::new(), BTreeMap::new());
    let mut data: BTreeMap<String, BTreeSet<(u64, u64)>> = BTreeMap::new();
    for (row, frame) in rows.iter().zip(frames) {
        // Version 1 has no key in the first SYN, so tshark knows the connection from the answer on.
        if !frame["mptcp.stream"].is_empty() {
            let stream = number(frame, "mptcp.stream");
            assert_eq!(*streams.entry(row["flow"].clone()).or_insert(stream), stream, "one a flow");
        }
        let stream = number(frame, "tcp.stream");
        let subflow = (row["flow"].clone(), row["subflow"].clone());
        assert_eq!(*subflows.entry(subflow).or_insert(stream), stream, "one a subflow");
        assert_eq!(number(frame, "tcp.len"), number(row, "payload_bytes"), "{row:?}");
        if row["kind"] == "data" {
            let (dsn, length) =
                (number(frame, "mptcp.dss.dsn"), number(frame, "tcp.options.mptcp.datalvllen"));
            assert_eq!((dsn, length), (number(row, "dsn") * 1460 + 1, number(row, "payload_bytes")));
            data.entry(row["flow"].clone()).or_default().insert((dsn, length));
            assert_eq!(frame["tcp.flags.cwr"] == "1", row["cwr"] == "true");
        }
        if row["kind"] == "ack" {
            let echo =
                u64::from(frame["tcp.flags.ece"] == "1") + 2 * u64::from(frame["tcp.flags.cwr"] == "1");
            assert_eq!(echo, number(row, "echo"), "{row:?}");
            let count = |text: &str, separator| text.split(separator).filter(|part| !part.is_empty()).count();
            assert_eq!(count(&frame["tcp.options.sack_le"], ','), count(&row["sack"], ' '), "{frame:?}");
        }
    }
    assert_eq!(streams.values().collect::<BTreeSet<_>>().len(), streams.len(), "each flow has its own");
    assert_eq!((streams.len(), subflows.len()), (4, 8), "two hosts, each with a flow out and one in");
    let synths = made.iter().filter(|frame| frame["tcp.flags.syn"] == "1").count();
    assert!(synths == 0 || synths == 16, "{synths}");
    for (flow, data) in data {
        // From the first byte to the last, without a gap.
        let end = data.iter().fold(1, |next, &(dsn, length)| if dsn == next { next + length } else { next });
        assert_eq!(end, 300_001, "flow {flow}");
    }
    // tshark finds every retransmission, and takes nothing else for one; but a segment at the end of all that were sent
    // whose first time was lost before it came here is new to this host.
    let mut next: BTreeMap<_, u64> = BTreeMap::new();
    for (row, frame) in rows.iter().zip(frames).filter(|(row, _)| row["kind"] == "data") {
        let (seq, next) = (number(row, "seq"), next.entry((&row["flow"], &row["subflow"])).or_default());
        let names = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
        let is_found = names.iter().any(|name| !frame[*name].is_empty());
        assert_eq!(is_found, row["retransmission"] == "true" && seq < *next, "{frame:?}");
        *next = (*next).max(seq + 1);
    }
}

#[test]
fn tshark_reads_what_was_recorded() {
    let version = Command::new("tshark").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        say("skipped: captures are not read back: tshark is missing (apt-get install tshark)");
        return;
    }
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("t.toml"), EXPERIMENT).expect("a file");
    stdout(dir.path(), &["run", "t.toml", "--out", "plain"]);
    stdout(dir.path(), &["run", "t.toml", "--out", "shaken", "--set", "transport.handshake=true"]);
    for (run, scheme) in [("plain", "xmp"), ("plain", "lia"), ("shaken", "xmp"), ("shaken", "lia")] {
        let both = both(dir.path(), run, &[&format!("scheme={scheme}")]);
        check_frames(&both);
        check_connections(&both);
        let is_marked = both.rows.iter().any(|row| row["ecn"] == "ce");
        assert_eq!(is_marked, scheme == "xmp");
        assert!(both.rows.iter().any(|row| row["retransmission"] == "true") || is_marked);
        // With handshakes only the third packet of the first subflow travels with its data.
        assert_eq!(both.made.len(), if run == "plain" { 24 } else { 4 });
    }
    let sprayed = both(dir.path(), "plain", &["scheme=nscc", "host=5"]);
    check_frames(&sprayed);
    for (row, frame) in sprayed.rows.iter().zip(&sprayed.frames) {
        assert_eq!(number(frame, "udp.srcport"), 49_152 + number(row, "path"));
        let blocks = row["sack"].split(' ').filter(|block| !block.is_empty()).count() as u64;
        let head = if row["kind"] == "data" { 16 } else { 20 + 8 * blocks };
        assert_eq!(number(frame, "udp.length"), 8 + head + number(row, "payload_bytes"));
    }
}

#[test]
fn a_capture_needs_packets_of_one_case() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("t.toml"), EXPERIMENT).expect("a file");
    let run = tresse(dir.path())
        .args(["run", "t.toml", "--out", "run", "--set", "measure.packets.limit=50"])
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        said.contains("note: lia-2 w seed 1: packets.parquet has only the first 50 packets, up to"),
        "{said}"
    );
    let refused = |args: &[&str]| fails(tresse(dir.path()).args(args), 2);
    let capture = ["export", "run", "--format", "pcapng", "-o", "t.pcapng"];
    let several = refused(&capture);
    assert!(several.contains("a capture has room for one case and seed, but there are 3"), "{several}");
    let none = refused(&[&capture[..], &["--only", "scheme=xmp", "--only", "host=1"]].concat());
    assert!(none.contains("no row has host = 1 (available: 0, 5)"), "{none}");
    let export = tresse(dir.path()).args(capture).args(["--only", "scheme=xmp"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&export.stderr).into_owned();
    assert!(
        export.status.success()
            && said.contains("note: xmp-2 w seed 1: packets.parquet has only the first 50")
    );
    fs::remove_file(dir.path().join("run/packets.parquet")).expect("it is there");
    let without = refused(&[&capture[..], &["--force"]].concat());
    assert!(without.contains("the run has no packets.parquet"), "{without}");
    assert!(without.contains("`[measure] packets = { hosts = [0] }`"), "{without}");
}
