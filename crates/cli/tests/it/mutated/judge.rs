//! Runs the command on an input, and judges how it ended.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Input, Special};
use crate::common::interrupt;
use crate::written::fifo;

/// How long a command may work, before it is asked to stop. What is wrong is told long before.
const WORKS: Duration = Duration::from_millis(700);

/// How long it may take to stop; a second is what is promised, and the machine may be loaded.
const STOPS: Duration = Duration::from_secs(10);

/// The most address space that it may take, kB.
const MEMORY: u64 = 5 << 20;

/// The words of a library, which say what a program expects and not what a user may write.
const NOT_OUR_WORDS: [&str; 7] = [
    "untagged enum",
    ", expected struct",
    ", expected f64",
    ", expected u64",
    ", expected u32",
    "invalid type",
    "RUST_BACKTRACE",
];

pub enum Verdict {
    Holds,
    Fails(String),
}

/// Runs it in a folder of its own.
pub fn judge(input: &Input) -> Verdict {
    let dir = TempDir::new().expect("a temporary folder");
    let work = dir.path().join("work");
    write(&work, input);
    let errors = dir.path().join("stderr");
    let (status, asked) = run(&work, &input.arguments, &errors);
    let said = String::from_utf8_lossy(&fs::read(&errors).expect("it was written")).into_owned();
    match fault(status, asked, &said) {
        Some(fault) => Verdict::Fails(format!("{fault}\n{said}")),
        None => Verdict::Holds,
    }
}

/// Writes the files of an input into a new folder.
fn write(folder: &Path, input: &Input) {
    fs::create_dir_all(folder).expect("a folder");
    for (name, bytes) in &input.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    for (name, special) in &input.special {
        let path = folder.join(name);
        let _ = fs::remove_file(&path);
        match special {
            Special::Pipe => fifo(&path),
            Special::Folder => fs::create_dir_all(&path).expect("a folder"),
            Special::Socket => drop(UnixListener::bind(&path).expect("a socket")),
            Special::Link(to) => symlink(to, &path).expect("a link"),
            Special::Hole(size) => {
                File::create(&path).and_then(|file| file.set_len(*size)).expect("a file with a hole");
            }
        }
    }
}

/// How it ended, if it ended; and whether it was asked to.
#[expect(clippy::disallowed_methods, reason = "a test that waits for a process needs a clock")]
fn run(folder: &Path, arguments: &[String], errors: &Path) -> (Option<ExitStatus>, bool) {
    let limited = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut process = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_tresse")])
        .args(arguments)
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(errors).expect("a file"))
        .spawn()
        .expect("the shell starts");
    let start = Instant::now();
    let mut asked = false;
    loop {
        if let Some(status) = process.try_wait().expect("it is our child") {
            return (Some(status), asked);
        }
        if !asked && start.elapsed() > WORKS {
            asked = true;
            interrupt(process.id());
        }
        if start.elapsed() > WORKS + STOPS {
            process.kill().expect("it is our child");
            process.wait().expect("it is our child");
            return (None, asked);
        }
        sleep(Duration::from_millis(2));
    }
}

fn fault(status: Option<ExitStatus>, asked: bool, said: &str) -> Option<String> {
    let Some(status) = status else { return Some(format!("does not stop within {STOPS:?}")) };
    if said.contains("panicked at") {
        return Some("panics".to_owned());
    }
    match (status.code(), status.signal()) {
        // What keeps nothing leaves the signal to the system.
        (None, Some(libc::SIGINT)) if asked => None,
        (None, signal) => Some(format!("was ended by signal {signal:?}")),
        (Some(0..=3 | 130), _) => {
            let alien = NOT_OUR_WORDS.iter().find(|words| said.contains(**words));
            if let Some(words) = alien {
                return Some(format!("says `{words}`"));
            }
            let mute = status.code() != Some(0) && said.trim().is_empty();
            mute.then(|| format!("{status}, without a word"))
        }
        (Some(code), _) => Some(format!("leaves with {code}")),
    }
}

/// Keeps an input that failed, for whoever looks into it.
pub fn keep(seed: u64, input: &Input, why: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz/{seed}"));
    let _ = fs::remove_dir_all(&folder);
    write(&folder, input);
    let quoted: Vec<String> =
        input.arguments.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    fs::write(folder.join("command"), format!("tresse {}\n\n{why}\n", quoted.join(" "))).expect("a file");
    folder
}
