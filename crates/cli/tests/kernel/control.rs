//! Congestion controls of the kernel: those it brings, and ours, attached for one test.

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use assert_cmd::Command;
use serde_json::Value;

use crate::clean::note_maps;
use crate::namespace::Namespace;
use crate::probe::say;

/// A congestion control that sockets can name; ours is detached when this is dropped.
#[derive(Debug)]
pub struct Control {
    name: String,
    ours: bool,
}

impl Control {
    /// One that the kernel brings.
    pub fn stock(name: &str) -> Self {
        Self { name: name.to_owned(), ours: false }
    }

    /// Attaches `controller` under a name that no other process and no other test uses.
    pub fn attach(controller: &str) -> Self {
        Self::attach_as_default(controller, &[])
    }

    /// The same, as the default of some namespaces.
    pub fn attach_as_default(controller: &str, places: &[&Namespace]) -> Self {
        // Made first, so that a half attached one is detached when the rest fails.
        let control = Self { name: unique(controller), ours: true };
        let output = attach(controller, &control.name, places).output().expect("the command starts");
        assert!(output.status.success(), "attach {controller}: {}", String::from_utf8_lossy(&output.stderr));
        control
    }

    /// As the kernel knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How often a hook found that the kernel had skipped one (see `repeat`).
    pub fn repairs(&self) -> u64 {
        let status = if self.ours { status_of(&self.name) } else { Value::Null };
        status["counters"]["repairs"].as_u64().unwrap_or(0)
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if self.ours {
            detach(&self.name);
        }
    }
}

/// Detaches; says what the command says if it cannot.
pub fn detach(name: &str) {
    note_maps(name);
    let detached = tresse(&["detach", name, "--force"]).output();
    if !detached.as_ref().is_ok_and(|output| output.status.success()) {
        say(&format!("tresse detach {name}: {detached:?}"));
    }
}

/// The command that attaches under a name, as the default of some namespaces.
pub fn attach(controller: &str, name: &str, places: &[&Namespace]) -> Command {
    let mut command = tresse(&["attach", controller, "--name", name]);
    if !places.is_empty() {
        command.arg("--default");
    }
    for place in places {
        command.args(["--netns", place.name()]);
    }
    command
}

/// A name of at most 15 characters which only this process uses: `trk<pid>_<number>_<controller>`.
pub fn unique(controller: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut name = format!("{}{:x}_{controller}", beginning(), NEXT.fetch_add(1, Ordering::Relaxed));
    name.truncate(15);
    name
}

/// How all names of this process begin.
pub fn beginning() -> String {
    format!("trk{:x}_", std::process::id())
}

/// Detaches what killed test processes have left.
fn sweep() {
    for entry in json(&["status"])["controllers"].as_array().expect("a list of controllers") {
        let name = entry["kernel_name"].as_str().unwrap_or_default();
        let process = name.strip_prefix("trk").and_then(|rest| rest.split('_').next());
        let process = process.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if process.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            detach(name);
        }
    }
}

/// The command.
pub fn tresse(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tresse").expect("the command is built");
    command.args(arguments);
    command
}

/// What a command prints with `--json`.
pub fn json(arguments: &[&str]) -> Value {
    let output = tresse(arguments).arg("--json").output().expect("the command starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error: serde_json::Error| {
        panic!("{arguments:?} does not print JSON: {}", io::Error::from(error))
    })
}

/// What `tresse status` tells of the control with this name; null if there is none.
pub fn status_of(name: &str) -> Value {
    let status = json(&["status"]);
    let controllers = status["controllers"].as_array().expect("a list of controllers");
    controllers.iter().find(|entry| entry["kernel_name"] == name).cloned().unwrap_or_default()
}

/// A controller that can be attached.
#[derive(Debug)]
pub struct Controller {
    pub name: String,
    /// It answers marks rather than losses.
    pub marks: bool,
}

/// Those of `names` that can be attached here, or all but second names for the same; if none can be, says
/// in one line why `test` runs without them.
pub fn attachable(test: &str, names: &[&str]) -> Vec<Controller> {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    if let Some(missing) = MISSING.get_or_init(missing) {
        say(&format!("skipped: {test}: {missing}"));
        return Vec::new();
    }
    let list = json(&["list", "controllers"]);
    let entries = list["controllers"].as_array().expect("a list of controllers");
    let controller = |entry: &Value| Controller {
        name: entry["name"].as_str().expect("a name").to_owned(),
        marks: entry["signals"].as_array().is_some_and(|signals| signals.contains(&"ecn".into())),
    };
    let first_names = |entry: &&Value| entry["attachable"] == true && entry["alias_of"].is_null();
    let all = entries.iter().filter(first_names).map(controller);
    all.filter(|controller| names.is_empty() || names.contains(&controller.name.as_str())).collect()
}

/// What this machine lacks to attach a controller: what the command says when it ends with code 3.
fn missing() -> Option<String> {
    let name = unique("reno");
    let output = attach("reno", &name, &[]).output().expect("the command starts");
    if output.status.success() {
        detach(&name);
        sweep();
        return None;
    }
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3), "tresse attach reno: {message}");
    Some(message.lines().next().unwrap_or("tresse attach does not say why it cannot").to_owned())
}
