//! `tresse view`: what it serves, to whom, and what it refuses.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{fails, tresse, wait_until};
use crate::page::{SHORT, short, twin};

/// A viewer that ends with the test.
pub struct Viewer {
    pub process: Child,
    /// `127.0.0.1:PORT`
    pub host: String,
    /// `/WORD/`
    pub path: String,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Viewer {
    pub fn start(dir: &Path) -> Self {
        let mut process = Process::new(env!("CARGO_BIN_EXE_tresse"))
            .current_dir(dir)
            .args(["view", "runs"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("an address");
        let address = line.trim().strip_prefix("http://").expect("an address of a page");
        let (host, path) = address.split_once('/').expect("a path");
        Self { process, host: host.to_owned(), path: format!("/{path}") }
    }

    /// The code and the body of an answer.
    fn ask(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let (code, body) = self.raw("GET", path, headers);
        (code, String::from_utf8_lossy(&body).into_owned())
    }

    fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if headers.iter().all(|(name, _)| *name != "Host") {
            request += &format!("Host: {}\r\n", self.host);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        stream.write_all((request + "\r\n").as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a code");
        (code, answer[end..].to_vec())
    }

    fn own(&self, rest: &str) -> (u16, String) {
        self.ask(&format!("{}{rest}", self.path), &[])
    }

    /// The list of runs.
    pub fn runs(&self) -> Vec<Value> {
        let (code, text) = self.own("api/runs");
        assert_eq!(code, 200, "{text}");
        let list: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(list["schema"], "tresse/view/1");
        list["runs"].as_array().expect("runs").clone()
    }
}

#[test]
fn both_sides_of_a_twin_say_where_the_other_is() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "runs/one");
    twin(dir.path(), "runs/twin");
    let runs = Viewer::start(dir.path()).runs();
    assert!(runs[0]["twin"].is_null());
    for side in &runs[1..] {
        assert_eq!(side["twin"], serde_json::json!(["twin/simulated", "twin/real"]));
    }
    assert_eq!(runs.len(), 3);
}

#[test]
fn runs_are_listed_and_shown() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "runs/one");
    short(dir.path(), "runs/set/two");
    fs::create_dir(dir.path().join("runs/broken")).expect("it can be made");
    fs::write(dir.path().join("runs/broken/run.json"), "{ half").expect("it can be written");
    let viewer = Viewer::start(dir.path());
    let runs = viewer.runs();
    let ids: Vec<&Value> = runs.iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, ["broken", "one", "set/two"]);
    assert!(runs[0]["error"].as_str().is_some_and(|why| why.starts_with("run.json cannot be read")));
    assert_eq!((&runs[1]["experiment"], &runs[1]["state"]), (&"short.toml".into(), &"complete".into()));
    assert_eq!(runs[1]["headline"]["values"].as_array().map(Vec::len), Some(2));

    let (code, page) = viewer.own("");
    assert!(code == 200 && page.contains("<!--tresse:data-->"), "the page without data");
    let (code, text) = viewer.own("api/page?run=one&run=set%2Ftwo");
    assert_eq!(code, 200, "{text}");
    let head: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(head["runs"][1]["id"], "set/two");
    let (code, table) = viewer.raw("GET", &format!("{}api/table?run=one&table=flows", viewer.path), &[]);
    assert_eq!((code, &table[..2]), (200, &[0x1f, 0x8b][..]), "gzip");
    // The tables of one page are of one state of the run.
    let snapshot = head["runs"][0]["snapshot"].as_str().expect("a snapshot");
    assert_eq!(viewer.own(&format!("api/table?run=one&table=flows&snapshot={snapshot}")).0, 200);
    assert_eq!(viewer.own("api/table?run=one&table=flows&snapshot=0123").0, 410);
    for (asked, code) in [
        ("api/table?run=one&table=none", 404),
        ("api/page?run=none", 404),
        ("api/page", 400),
        ("api/page?run=broken", 422),
        ("api/none", 404),
    ] {
        assert_eq!(viewer.own(asked).0, code, "{asked}");
    }
    // A folder that is deleted is gone from the list, and the rest stays.
    fs::remove_dir_all(dir.path().join("runs/one")).expect("it can be removed");
    assert_eq!(viewer.runs().len(), 2);
    assert_eq!(viewer.own("api/page?run=one").0, 404);
}

#[test]
fn only_its_own_page_is_answered() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "runs/one");
    short(dir.path(), "outside");
    std::os::unix::fs::symlink(dir.path().join("outside"), dir.path().join("runs/link")).expect("a link");
    short(dir.path(), "runs/leaks");
    fs::remove_file(dir.path().join("runs/leaks/flows.parquet")).expect("it is there");
    let leak = dir.path().join("runs/leaks/flows.parquet");
    std::os::unix::fs::symlink(dir.path().join("outside/flows.parquet"), leak).expect("a link");
    short(dir.path(), "runs/parts");
    fs::create_dir(dir.path().join("runs/parts/jobs.partial")).expect("it can be made");
    let part = dir.path().join("runs/parts/jobs.partial/000001.parquet");
    std::os::unix::fs::symlink(dir.path().join("outside/flows.parquet"), part).expect("a link");
    fs::create_dir(dir.path().join("runs/linked")).expect("it can be made");
    let linked = dir.path().join("runs/linked/run.json");
    std::os::unix::fs::symlink(dir.path().join("outside/run.json"), linked).expect("a link");
    let viewer = Viewer::start(dir.path());
    let list = format!("{}api/runs", viewer.path);
    let port = viewer.host.rsplit(':').next().expect("a port").to_owned();
    let (evil, localhost) = (format!("evil.example:{port}"), format!("localhost:{port}"));
    let own = format!("http://{}", viewer.host);
    for (headers, code) in [
        (&[("Host", &*evil)][..], 403),
        (&[("Host", "127.0.0.1")], 403),
        (&[("Host", &localhost)], 200),
        (&[("Origin", "http://evil.example")], 403),
        (&[("Origin", "null")], 403),
        (&[("Origin", &own)], 200),
    ] {
        assert_eq!(viewer.ask(&list, headers).0, code, "{headers:?}");
    }
    let wrong = "0".repeat(viewer.path.len() - 2);
    for (path, code) in [
        ("/".to_owned(), 404),
        ("/api/runs".to_owned(), 404),
        (format!("/{wrong}/api/runs"), 404),
        (format!("{}../api/runs", viewer.path), 404),
        (format!("{}api/page?run=..%2Foutside", viewer.path), 404),
        (format!("{}api/page?run={}", viewer.path, dir.path().join("outside").display()), 404),
        (format!("{}api/page?run=one%2F..%2F..%2Foutside", viewer.path), 404),
        (format!("{}api/page?run=link", viewer.path), 404),
        (format!("{}api/page?run=leaks", viewer.path), 404),
        (format!("{}api/page?run=parts", viewer.path), 404),
        (format!("{}api/page?run=linked", viewer.path), 404),
        (format!("{}api/page?run=one", viewer.path), 200),
    ] {
        assert_eq!(viewer.ask(&path, &[]).0, code, "{path}");
    }
    let ids: Vec<Value> = viewer.runs().iter().map(|run| run["id"].clone()).collect();
    assert_eq!(ids, ["leaks", "one", "parts"], "links are not followed");
    assert_eq!(viewer.raw("POST", &list, &[]).0, 405, "nothing can be changed");
}

#[test]
fn a_run_under_way_is_followed() {
    let dir = TempDir::new().expect("a temporary folder");
    let long = SHORT.replace("500kB", "2GB");
    fs::write(dir.path().join("long.toml"), long).expect("it can be written");
    let viewer = {
        fs::create_dir(dir.path().join("runs")).expect("it can be made");
        Viewer::start(dir.path())
    };
    assert!(viewer.runs().is_empty());
    // Whoever listens hears of a change without asking.
    let mut listener = TcpStream::connect(&viewer.host).expect("it listens");
    listener.set_read_timeout(Some(Duration::from_secs(30))).expect("it can be set");
    let request = format!("GET {}api/events HTTP/1.1\r\nHost: {}\r\n\r\n", viewer.path, viewer.host);
    listener.write_all(request.as_bytes()).expect("it reads");
    let mut run = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["run", "long.toml", "--out", "runs/long"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut lines = BufReader::new(listener).lines();
    let heard = lines.find_map(|line| line.ok().filter(|line| line.contains("under-way")));
    assert!(heard.is_some_and(|line| line.starts_with("data:")));
    let progress = || viewer.runs().first().map_or(Value::Null, |run| run["progress"]["packet_hops"].clone());
    wait_until(|| progress().as_u64() > Some(0));
    assert_eq!(viewer.runs()[0]["cases"], 0, "no case is complete");
    assert_eq!(viewer.runs()[0]["schemes"], json!(["<script>alert(1)</script>-1", "reno-1"]));
    wait_until(|| {
        let (_, text) = viewer.own("api/page?run=long");
        let head: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(head["runs"][0]["state"], "under-way");
        head["runs"][0]["tables"]["samples"]["rows"].as_u64() > Some(0)
    });
    let page = || -> Value {
        let (_, text) = viewer.own("api/page?run=long");
        serde_json::from_str(&text).expect("JSON")
    };
    let elapsed = || page()["runs"][0]["progress"]["elapsed_s"].as_f64().unwrap_or(0.0);
    let before = elapsed();
    wait_until(|| elapsed() > before);
    run.kill().expect("it runs");
    run.wait().expect("it has ended");
    assert_eq!(viewer.runs()[0]["state"], "killed");
    assert_eq!(page()["runs"][0]["state"], "killed");
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    let told = fails(tresse(dir.path()).args(["view", "nowhere"]), 2);
    assert!(told.contains("nowhere: there is no such folder"), "{told}");
}

#[test]
fn one_bad_run_never_hides_the_others() {
    let dir = TempDir::new().expect("a temporary folder");
    let names = ["ancient", "binary", "damaged", "fine", "late", "short"];
    short(dir.path(), "runs/fine");
    let run = |name: &str| dir.path().join("runs").join(name);
    for name in names.iter().filter(|name| **name != "fine") {
        fs::create_dir(run(name)).expect("a folder");
        for entry in fs::read_dir(run("fine")).expect("a folder").flatten() {
            fs::copy(entry.path(), run(name).join(entry.file_name())).expect("it can be copied");
        }
    }
    // Of 1960 and of the year 11000, without a date of their own.
    for (name, seconds) in [("ancient", -315_619_200_i64), ("late", 284_959_000_000)] {
        let path = run(name).join("run.json");
        let mut json: Value = serde_json::from_slice(&fs::read(&path).expect("it is there")).expect("JSON");
        json["host"].as_object_mut().expect("a table").remove("started");
        fs::write(&path, json.to_string()).expect("it is ours");
        let date = format!("@{seconds}");
        let status = Process::new("touch").arg("-d").arg(date).arg(&path).status();
        assert!(status.is_ok_and(|status| status.success()));
    }
    fs::write(run("binary").join("run.json"), b"\xff\xfe\0{").expect("it is ours");
    fs::write(run("short").join("run.json"), "").expect("it is ours");
    fs::write(run("damaged").join("flows.parquet"), "PAR1").expect("it is ours");
    let viewer = Viewer::start(dir.path());
    let runs = viewer.runs();
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["id"].as_str()).collect();
    assert_eq!(ids, names);
    for (run, name) in runs.iter().zip(names) {
        let is_unread = ["binary", "short"].contains(&name);
        assert_eq!(run["error"].as_str().is_some(), is_unread, "{run}");
        assert_eq!(run["experiment"] == "short.toml", !is_unread, "{run}");
    }
    assert_eq!((&runs[0]["date"], &runs[3]["date"] == ""), (&"".into(), false));
    for name in ["ancient", "fine", "late"] {
        assert_eq!(viewer.own(&format!("api/page?run={name}")).0, 200, "{name}");
    }
    let (code, why) = viewer.own("api/page?run=damaged");
    assert!(code == 422 && why.contains("flows.parquet: not the table that the run wrote"), "{code} {why}");
}
