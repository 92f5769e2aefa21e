//! What the tests of the command share.

use std::path::Path;
use std::process::Command as Process;
use std::thread::sleep;
use std::time::{Duration, Instant};

use assert_cmd::Command;

/// The command, in an empty folder of its own.
pub fn tresse(dir: &Path) -> Command {
    let mut command = Command::cargo_bin("tresse").expect("the command is built");
    command.current_dir(dir);
    command
}

/// The column Permutation of XMP's Table 1 with flows so small that it takes about a second.
pub const SMALL: [&str; 8] = [
    "run",
    "xmp/table1",
    "--only",
    "pattern=permutation",
    "--set",
    "workloads.permutation.size=200kB",
    "--set",
    "workloads.permutation.rounds=2",
];

/// Standard error of a command that must end with `code`.
pub fn fails(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("the command starts");
    let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    stderr
}

/// A controller of a user's own: Reno under the name `mine`, all of it in one file.
pub fn own_controller() -> String {
    let reno = include_str!("../../../../controllers/reno.c");
    let window = include_str!("../../../../controllers/window.h");
    let aliases = reno.find("ALIAS(").expect("Reno has other names");
    reno[..aliases].replace("#include \"window.h\"", window).replace("CONTROLLER(reno", "CONTROLLER(mine")
}

/// Ctrl-C; by the shell's own `kill`, for a small system has no program of that name.
pub fn interrupt(process: u32) {
    let status = Process::new("sh").args(["-c", &format!("kill -INT {process}")]).status();
    assert!(status.is_ok_and(|s| s.success()));
}

/// Waits for what a process is to do, half a minute at most.
#[expect(clippy::disallowed_methods, reason = "a test that waits for a process needs a clock")]
pub fn wait_until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        // What hangs is told; a machine with more to do than cores is only slow.
        assert!(start.elapsed() < Duration::from_secs(120), "nothing happened for 2 min");
        sleep(Duration::from_millis(20));
    }
}

/// What `tresse paper` prints and tells on its way.
pub fn paper(dir: &Path, arguments: &[&str]) -> (String, String) {
    let output = tresse(dir).arg("paper").args(arguments).output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{arguments:?}: {stderr}\n{stdout}");
    (stdout, stderr)
}
