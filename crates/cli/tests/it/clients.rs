//! `tresse view` and its clients: several requests over one connection, many pages at once, and those that are slow,
//! silent or wrong.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tempfile::TempDir;

use crate::common::{interrupt, wait_until};
use crate::view::Viewer;

/// A viewer of an empty folder.
fn started() -> (TempDir, Viewer) {
    let dir = TempDir::new().expect("a temporary folder");
    fs::create_dir(dir.path().join("runs")).expect("it can be made");
    let viewer = Viewer::start(dir.path());
    (dir, viewer)
}

/// A connection over which this was sent.
fn sent(viewer: &Viewer, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&viewer.host).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("it can be set");
    stream.write_all(text.as_bytes()).expect("it reads");
    stream
}

fn request(viewer: &Viewer, method: &str, path: &str) -> String {
    format!("{method} {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", viewer.path, viewer.host)
}

/// The head of the next answer of a connection, and the length that it says.
fn head(stream: &mut impl BufRead) -> (String, usize) {
    let lines = stream.lines().map(|line| line.expect("an answer")).take_while(|line| !line.is_empty());
    let head = lines.collect::<Vec<_>>().join("\n").to_ascii_lowercase();
    let length = head.split_once("content-length: ").and_then(|(_, rest)| rest.lines().next());
    let length = length.and_then(|length| length.parse().ok()).unwrap_or_else(|| panic!("{head}"));
    (head, length)
}

#[test]
fn a_connection_carries_several_requests() {
    let (_dir, viewer) = started();
    let both = request(&viewer, "HEAD", "") + &request(&viewer, "GET", "api/runs");
    let mut answers = BufReader::new(sent(&viewer, &both));
    let (page, length) = head(&mut answers);
    assert!(page.starts_with("http/1.1 200") && length > 10_000, "only the head of the page: {page}");
    let mut list = || {
        let (head, length) = head(&mut answers);
        let mut text = vec![0; length];
        answers.read_exact(&mut text).expect("as long as it says");
        assert!(
            head.contains("cache-control: no-store") && head.contains("content-security-policy: default-src")
        );
        assert!(text.starts_with(b"{\"schema\":\"tresse/view/1\""), "{}", String::from_utf8_lossy(&text));
    };
    list();
    answers.get_ref().write_all(request(&viewer, "GET", "api/runs").as_bytes()).expect("it is still open");
    let (head, length) = head(&mut answers);
    assert!(head.starts_with("http/1.1 200") && length > 0, "{head}");
}

#[test]
fn what_is_no_request_is_refused() {
    let (_dir, viewer) = started();
    let long = format!("GET {}?{} HTTP/1.1\r\n\r\n", viewer.path, "x".repeat(70_000));
    let many = format!("GET {} HTTP/1.1\r\n{}\r\n", viewer.path, "A: b\r\n".repeat(101));
    let twice = format!("GET {} HTTP/1.1\r\nHost: {1}\r\nHost: {1}\r\n\r\n", viewer.path, viewer.host);
    for (text, code) in [("no request\r\n\r\n", 400), (&twice, 400), (&long, 431), (&many, 431)] {
        let mut answer = String::new();
        sent(&viewer, text).read_to_string(&mut answer).expect("an answer, and the end");
        assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{answer}");
    }
    // The answer arrives even if the content was not read.
    let large = format!("Host: {}\r\nContent-Length: 200000\r\n\r\n{}", viewer.host, "x".repeat(200_000));
    let mut answer = String::new();
    let post = sent(&viewer, &format!("POST {} HTTP/1.1\r\n{large}", viewer.path));
    { post }.read_to_string(&mut answer).expect("an answer, and the end");
    assert!(answer.starts_with("HTTP/1.1 405 ") && answer.contains("allow: GET, HEAD"), "{answer}");
}

#[test]
fn neither_open_pages_nor_silent_clients_hold_it_up() {
    let (dir, viewer) = started();
    let watching: Vec<TcpStream> =
        (0..20).map(|_| sent(&viewer, &request(&viewer, "GET", "api/events"))).collect();
    // Until its request is read, a client that will watch is as silent as the others.
    assert!(watching.iter().all(|stream| stream.peek(&mut [0]).is_ok_and(|length| length == 1)));
    // More than there is room for; half of them say nothing at all.
    let silent: Vec<TcpStream> =
        (0..300).map(|n| sent(&viewer, if n % 2 == 0 { "" } else { "GET / HTTP/1.1\r\nHost" })).collect();
    assert!(viewer.runs().is_empty());
    fs::create_dir(dir.path().join("runs/broken")).expect("it can be made");
    fs::write(dir.path().join("runs/broken/run.json"), "{ half").expect("it can be written");
    for stream in watching {
        let heard = BufReader::new(stream).lines().find(|line| {
            line.as_ref().is_ok_and(|line| line.starts_with("data:") && line.contains("\"broken\""))
        });
        assert!(heard.is_some(), "whoever watches hears of the run");
    }
    // The first silent ones had to leave, for the others.
    let mut first = silent.into_iter().next().expect("there are 300");
    assert!(first.read(&mut [0]).is_ok_and(|length| length == 0));
}

#[test]
fn a_page_that_is_closed_is_no_longer_told() {
    let (_dir, viewer) = started();
    let threads = || fs::read_dir(format!("/proc/{}/task", viewer.process.id())).expect("it runs").count();
    let before = threads();
    let watching: Vec<TcpStream> =
        (0..5).map(|_| sent(&viewer, &request(&viewer, "GET", "api/events"))).collect();
    wait_until(|| threads() >= before + 5);
    drop(watching);
    wait_until(|| threads() <= before);
}

#[test]
fn ctrl_c_ends_it_with_open_pages() {
    let (_dir, mut viewer) = started();
    let mut watching = sent(&viewer, &request(&viewer, "GET", "api/events"));
    assert!(watching.read(&mut [0]).is_ok_and(|length| length == 1));
    interrupt(viewer.process.id());
    let mut code = None;
    wait_until(|| {
        code = viewer.process.try_wait().expect("it can be waited for");
        code.is_some()
    });
    assert_eq!(code.and_then(|code| code.code()), Some(130));
}
