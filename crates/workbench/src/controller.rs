//! A controller: found or loaded, traced, checked, started.

pub mod check;
pub mod new;
pub mod prove;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tresse_controllers as controllers;
use tresse_controllers::sandbox::End;
use tresse_controllers::trace::{Script, Step, play_apart};
use tresse_controllers::{ConfiguredController, Controller};
use tresse_units::input_file::{self, MOST_WRITTEN};
use tresse_units::text_file;

use crate::ebpf;
use crate::failure::Failure;

/// Which build of a controller plays a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// The simulator's.
    Native,
    /// The kernel's.
    Bpf,
}

/// A script for a controller.
#[derive(Debug, Clone)]
pub struct TraceRequest {
    /// A built-in controller, or a C file.
    pub controller: String,
    /// Its parameters, `NAME=VALUE`.
    pub parameters: Vec<String>,
    /// The file of the script; `-` is stdin.
    pub script: PathBuf,
    /// The initial window of every subflow, packets.
    pub initial_window: u32,
    /// The build that plays it.
    pub host: Host,
}

/// What a controller did in a script.
#[derive(Debug)]
pub struct Trace {
    pub controller: Controller,
    /// Its state after each event.
    pub steps: Vec<Step>,
}

/// Plays a script.
///
/// # Errors
/// An error in the controller, its parameters or the script, or if the machine cannot run the build.
pub fn trace(request: &TraceRequest) -> Result<Trace, Failure> {
    let controller = find(&request.controller)?;
    let configured = configured(controller, &request.parameters)?;
    let name = request.script.display();
    let text = read(&request.script).map_err(|e| Failure::Input(format!("{name}: cannot be read: {e}")))?;
    let script = Script::parse(&text)
        .map_err(|e| Failure::Input(format!("{name}:{}: {}\n  |\n  | {}", e.line, e.message, e.text)))?;
    script.suits(controller).map_err(|e| Failure::Input(format!("{name}: {e}")))?;
    let steps = match request.host {
        Host::Native => play(Arc::new(configured), &script, request.initial_window)?,
        Host::Bpf => ebpf::play(&configured, &script, request.initial_window)?,
    };
    Ok(Trace { controller, steps })
}

/// Plays a script with the simulator's build, in a separate process.
///
/// # Errors
/// If there is no process, or a hook ended it.
pub fn play(
    configured: Arc<ConfiguredController>,
    script: &Script,
    initial_window: u32,
) -> Result<Vec<Step>, Failure> {
    let controller = configured.controller();
    play_apart(configured, script, initial_window)
        .map_err(|e| Failure::Machine(format!("cannot start a process for the controller: {e}")))?
        .map_err(|end| ended(end, controller))
}

impl Trace {
    /// The steps as JSON.
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.steps.iter().map(|step| json(step, self.controller)).collect()
    }
}

/// The threshold after a step, packets; `None` before there is one.
pub fn ssthresh(step: &Step) -> Option<u32> {
    (step.ssthresh != controllers::INFINITE_SSTHRESH).then_some(step.ssthresh)
}

fn json(step: &Step, controller: Controller) -> serde_json::Value {
    let mut json = serde_json::json!({
        "event": step.event, "subflow": step.subflow, "cwnd": step.cwnd, "ssthresh": ssthresh(step),
        "state": step.state.name(),
    });
    if controller.reports() {
        json["pace_bytes_per_us"] = (step.pace > 0).then_some(step.pace).into();
    }
    json
}

/// The error if a hook of `controller` ended the process that it ran in.
fn ended(end: End, controller: Controller) -> Failure {
    Failure::Input(match end.told(&[controller]) {
        Some(told) => format!("{told}\n\nhint: tresse controller check {}", told.file.display()),
        None => format!("controller {}: {end}", controller.name()),
    })
}

/// A built-in controller's name, or a file that declares one.
///
/// # Errors
/// If there is no such controller, or its file does not compile.
pub fn find(name: &str) -> Result<Controller, Failure> {
    if let Some(c) = controllers::find(name) {
        return Ok(c);
    }
    if !name.ends_with(".c") {
        let known: Vec<_> = controllers::built_in().iter().map(Controller::name).collect();
        return Err(Failure::Input(format!(
            "there is no controller `{name}`{} (available: {}, or a C file)",
            tresse_experiment::did_you_mean(name, known.iter().copied()),
            known.join(", ")
        )));
    }
    let only = declared_in(name)?;
    controllers::load(Path::new(name))?;
    Ok(controllers::find(&only).expect("it is loaded"))
}

/// The name of the one controller that `file` declares.
///
/// # Errors
/// If it declares none or several, or cannot be read.
pub fn declared_in(file: &str) -> Result<String, Failure> {
    match controllers::declared_in(Path::new(file))?.as_slice() {
        [name] => Ok(name.clone()),
        several => {
            Err(Failure::Input(format!("{file} declares {}: expected exactly one", several.join(" and "))))
        }
    }
}

fn settings(texts: &[String]) -> Result<Vec<(&str, u64)>, Failure> {
    texts
        .iter()
        .map(|text| {
            text.split_once('=').and_then(|(k, v)| Some((k.trim(), v.trim().parse().ok()?))).ok_or_else(
                || Failure::Input(format!("--param {text}: expected NAME=VALUE with a whole number")),
            )
        })
        .collect()
}

/// A controller with values for its parameters, `NAME=VALUE` each.
///
/// # Errors
/// A value that the controller does not take.
pub fn configured(controller: Controller, parameters: &[String]) -> Result<ConfiguredController, Failure> {
    ConfiguredController::new(controller, settings(parameters)?).map_err(|e| Failure::Input(e.to_string()))
}

fn read(path: &Path) -> io::Result<String> {
    if path == Path::new("-") {
        return input_file::read_stdin(MOST_WRITTEN).and_then(text_file::text);
    }
    text_file::read_written(path)
}
