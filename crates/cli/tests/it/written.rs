//! What is written: whole or not at all, and never in the place of what is no file.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::thread;

use tempfile::TempDir;

use crate::common::{fails, interrupt, tresse};
use crate::page::short;

const TOPOLOGY: &str =
    "5 1 4\n4\n0 4 100Gbps 1000ns 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 0.001ms 0\n3 4 25Gbps 1us 0\n";
const FLOWS: &str = "3\n0 1 3 100 200000 2.0\n1 2 3 100 20000 2.0001\n2 0 3 200 1500 2.5\n";

pub fn fifo(path: &Path) {
    assert!(Process::new("mkfifo").arg(path).status().is_ok_and(|status| status.success()));
}

/// What somebody reads from a pipe, in the background.
fn reader(path: &Path) -> thread::JoinHandle<Vec<u8>> {
    let path = path.to_owned();
    thread::spawn(move || {
        let mut got = Vec::new();
        File::open(path).and_then(|mut file| file.read_to_end(&mut got)).expect("it is a pipe");
        got
    })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_import_keeps_the_old_files_until_the_new_ones_are_complete() {
    let dir = TempDir::new().expect("a temporary folder");
    let at = |name: &str| dir.path().join(name);
    fs::write(at("topology.txt"), TOPOLOGY).expect("a file");
    fs::write(at("flow.txt"), FLOWS).expect("a file");
    fs::write(at("x.toml"), "my precious work").expect("a file");
    fs::create_dir(at("x.flows.csv")).expect("a folder");
    let import = ["import", "hpcc", "topology.txt", "flow.txt", "-o", "x.toml", "--force"];
    let before = names(dir.path());
    let error = fails(tresse(dir.path()).args(import), 2);
    assert!(error.contains("x.flows.csv: cannot be written: it is a folder"), "{error}");
    assert_eq!(fs::read_to_string(at("x.toml")).expect("it is there"), "my precious work");
    assert_eq!(names(dir.path()), before, "nothing else is left");

    fs::remove_dir(at("x.flows.csv")).expect("it is empty");
    tresse(dir.path()).args(import).assert().success();
    let written = fs::read_to_string(at("x.toml")).expect("it is there");
    assert!(written.contains("[fabric]"), "{written}");
    assert_eq!(names(dir.path()), ["flow.txt", "topology.txt", "x.flows.csv", "x.toml", "x.topology.json"]);
}

#[test]
fn devices_and_pipes_are_written_into_and_stay() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "run");
    let export = ["export", "run", "--format", "csv", "-o"];
    let whole = tresse(dir.path()).args(&export[..4]).output().expect("the command starts").stdout;
    for force in [&[][..], &["--force"]] {
        for command in [&export[..], &["report", "run", "-o"]] {
            // Only reports replace files without being told to.
            if command[0] == "report" && !force.is_empty() {
                continue;
            }
            let pipe = dir.path().join("pipe");
            fifo(&pipe);
            let got = reader(&pipe);
            tresse(dir.path()).args(command).arg("pipe").args(force).assert().success();
            let got = got.join().expect("it does not panic");
            assert!(fs::metadata(&pipe).expect("it is there").file_type().is_fifo());
            fs::remove_file(pipe).expect("it is ours");
            match command[0] {
                "export" => assert!(got == whole, "{} bytes", got.len()),
                _ => assert!(got.starts_with(b"<!doctype html>"), "{} bytes", got.len()),
            }
        }
        // A full disk is told, and the device is still one.
        let error = fails(tresse(dir.path()).args(export).arg("/dev/full").args(force), 2);
        assert!(error.contains("No space left on device"), "{error}");
        assert!(fs::metadata("/dev/full").expect("it is there").file_type().is_char_device());
    }
    let output = tresse(dir.path()).args(export).arg("/dev/stdout").output().expect("the command starts");
    assert!(output.stdout == whole, "by its other name");
    let redirected = File::create(dir.path().join("all.csv")).expect("a file");
    let status = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(export)
        .arg("/dev/stdout")
        .stdout(redirected)
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    assert!(fs::read(dir.path().join("all.csv")).expect("it is there") == whole);
    assert_eq!(names(dir.path()), ["all.csv", "run", "short.toml"]);
}

#[test]
fn a_link_stays_and_leads_to_the_new_file() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "run");
    fs::create_dir(dir.path().join("far")).expect("a folder");
    fs::write(dir.path().join("far/away.csv"), "old").expect("a file");
    symlink("far/away.csv", dir.path().join("link.csv")).expect("a link");
    let export = ["export", "run", "--format", "csv", "-o", "link.csv"];
    let error = fails(tresse(dir.path()).args(export), 2);
    assert!(error.contains("link.csv already exists and was left unchanged"), "{error}");
    tresse(dir.path()).args(export).arg("--force").assert().success();
    assert!(fs::symlink_metadata(dir.path().join("link.csv")).expect("there").is_symlink());
    let text = fs::read_to_string(dir.path().join("far/away.csv")).expect("it is there");
    assert!(text.starts_with("scheme,"), "{text}");
    assert_eq!(names(&dir.path().join("far")), ["away.csv"]);

    // Nor does what is interrupted: here it waits for the table of a run.
    let sums = dir.path().join("run/run.json");
    fs::remove_file(&sums).expect("it is ours");
    fifo(&sums);
    let mut waiting = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .args(export)
        .arg("--force")
        .current_dir(dir.path())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(waiting.stderr.take().expect("it is piped")).read_line(&mut line).expect("text");
    assert_eq!(line, "run/run.json: waiting for its writer (Ctrl-C ends it)\n");
    assert_eq!(names(&dir.path().join("far")).len(), 2, "the file that is being written");
    interrupt(waiting.id());
    assert_eq!(waiting.wait().expect("it is ours").code(), Some(130));
    assert_eq!(names(&dir.path().join("far")), ["away.csv"]);
    assert_eq!(fs::read_to_string(dir.path().join("far/away.csv")).expect("it is there"), text);
    fs::remove_file(&sums).expect("it is ours");

    // What cannot be exported replaces nothing.
    fails(tresse(dir.path()).args(export).args(["--force", "--only", "scheme=nobody"]), 2);
    assert_eq!(fs::read_to_string(dir.path().join("far/away.csv")).expect("it is there"), text);
}

#[test]
fn the_daemon_leaves_what_is_no_socket() {
    let dir = TempDir::new().expect("a temporary folder");
    let config = "[daemon]\nsocket = \"notes.txt\"\n[[policy]]\nname = \"a\"\nmanager = \"fixed\"\n";
    fs::write(dir.path().join("d.toml"), config).expect("a file");
    fs::write(dir.path().join("notes.txt"), "precious").expect("a file");
    let error = fails(tresse(dir.path()).args(["daemon", "--dry-run", "--config", "d.toml"]), 2);
    assert!(error.contains("notes.txt is not a socket, and was left unchanged"), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("notes.txt")).expect("it is there"), "precious");
}
