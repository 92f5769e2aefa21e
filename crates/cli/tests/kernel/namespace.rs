//! Network namespaces of this process.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Where `ip netns` keeps them.
const FOLDER: &str = "/run/netns";

/// A network namespace with a name of its own; it goes when this is dropped.
#[derive(Debug)]
pub struct Namespace {
    name: String,
}

impl Namespace {
    /// A new one: `trk<pid>-<number>-<role>`.
    pub fn create(role: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{number}-{role}", prefix(std::process::id()));
        must(Command::new("ip").args(["netns", "add", &name]));
        Self { name }
    }

    /// As `ip netns` knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs `work` in a thread inside; sockets made there stay there.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let file = File::open(Path::new(FOLDER).join(&self.name)).expect("the namespace is there");
        let inside = move || {
            // SAFETY: setns reads nothing but its two integers, and moves this thread only.
            let moved = unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) };
            assert_eq!(moved, 0, "setns: {}", std::io::Error::last_os_error());
            work()
        };
        thread::scope(|scope| {
            scope.spawn(inside).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Sets a sysctl below `net`, for instance `ipv4/tcp_ecn`.
    pub fn sysctl(&self, key: &str, value: &str) {
        let path = format!("/proc/sys/net/{key}");
        let written = self.enter(|| fs::write(&path, value));
        assert!(written.is_ok(), "{}: {path} = {value}: {written:?}", self.name);
    }

    /// Reads a sysctl below `net`.
    pub fn read_sysctl(&self, key: &str) -> String {
        let path = format!("/proc/sys/net/{key}");
        self.enter(|| fs::read_to_string(&path)).expect("the sysctl can be read").trim().to_owned()
    }

    /// Runs lines of `ip` inside.
    pub fn ip(&self, lines: &str) {
        batch(Command::new("ip").args(["-n", &self.name, "-batch", "-"]), lines);
    }

    /// Runs lines of `tc` inside.
    pub fn tc(&self, lines: &str) {
        batch(Command::new("tc").args(["-n", &self.name, "-batch", "-"]), lines);
    }

    /// Runs lines of `nft` inside.
    pub fn nft(&self, lines: &str) {
        batch(Command::new("ip").args(["netns", "exec", &self.name, "nft", "-f", "-"]), lines);
    }

    /// What a command prints that runs inside.
    pub fn output(&self, program: &str, args: &[&str]) -> String {
        must(Command::new("ip").args(["netns", "exec", &self.name, program]).args(args))
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        delete(&self.name);
    }
}

/// Removes a namespace and the devices in it, which would else live as long as its last socket.
fn delete(name: &str) {
    for pid in quietly(&["netns", "pids", name]).split_whitespace() {
        drop(Command::new("kill").args(["-KILL", pid]).output());
    }
    for line in quietly(&["-n", name, "-oneline", "link", "show", "type", "veth"]).lines() {
        let device = line.split([':', '@']).nth(1).unwrap_or_default().trim();
        quietly(&["-n", name, "link", "delete", device]);
    }
    quietly(&["netns", "delete", name]);
}

/// What the namespaces of a process are called at the beginning.
fn prefix(pid: u32) -> String {
    format!("trk{pid}-")
}

/// The names of this process's namespaces that are there now.
pub fn own() -> Vec<String> {
    let prefix = prefix(std::process::id());
    all().into_iter().filter(|name| name.starts_with(&prefix)).collect()
}

/// Removes what killed test processes have left.
pub fn sweep() {
    for name in all() {
        let pid = name.strip_prefix("trk").and_then(|rest| rest.split('-').next());
        if pid.is_some_and(|pid| pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists()) {
            delete(&name);
        }
    }
}

fn all() -> Vec<String> {
    let Ok(folder) = fs::read_dir(FOLDER) else { return Vec::new() };
    folder.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn quietly(args: &[&str]) -> String {
    let output = Command::new("ip").args(args).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

fn batch(command: &mut Command, lines: &str) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that has given up early says why on its standard error.
    drop(child.stdin.take().expect("its input is a pipe").write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("the command ends");
    assert!(output.status.success(), "{command:?}: {}\n{lines}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command that must succeed, and returns what it prints.
pub fn must(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is UTF-8")
}
