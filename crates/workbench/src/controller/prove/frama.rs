//! Frama-C: what it gets, and what it answers.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use tresse_controllers::Controller;

use super::source::{self, Part};
use super::{Open, Property};
use crate::failure::Failure;

/// The contract for Eva, and the calls.
const OWN: [(&str, &str); 2] = [("host.h", include_str!("host.h")), ("calls.h", include_str!("calls.h"))];

/// The condition of host.h for a `grow` that lowers the window.
pub(super) const LOWERS: &str = "`grow` does not lower the window";
const ONCE: &str = "a packet delivered raises the window once";

/// Gives up after ten minutes of processor time.
const LIMITED: &str = "ulimit -t 600; exec frama-c \"$@\"";

const FLAGS: &[&str] = &[
    "-c11",
    "-machdep",
    "gcc_x86_64",
    "-cpp-frama-c-compliant",
    "-cpp-extra-args=-I.",
    "-no-unicode",
    "main.c",
    "-eva",
    "-warn-unsigned-overflow",
    "-eva-no-results",
    "-eva-no-print",
    "-eva-slevel",
    "10",
    // Loops over the siblings, and over the bits of a number.
    "-eva-auto-loop-unroll",
    "70",
    // Differences of variables, such as the packets that slow start leaves.
    "-eva-domains",
    "octagon",
    "-eva-octagon-through-calls",
    "-then",
    "-report-csv",
    "report.csv",
    "-report-no-proven",
];

/// What Eva could not prove.
pub(super) fn analyse(controller: &Controller) -> Result<Vec<(Property, Open)>, Failure> {
    let broken = |error: io::Error| Failure::Machine(format!("a temporary file: {error}"));
    let dir = tempfile::tempdir().map_err(broken)?;
    let parts = source::parts(controller);
    let file = &parts[0].name;
    let name = controller.alias_of().unwrap_or_else(|| controller.name());
    let main = format!(
        "#include \"host.h\"\n#include \"{file}\"\n#define THE_CONTROLLER tresse_{name}\n#include \"calls.h\"\n"
    );
    let own = OWN.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let texts = parts.iter().map(|part| (part.name.clone(), part.for_eva())).chain(own);
    for (name, text) in texts.chain([("main.c".to_owned(), main)]) {
        fs::write(dir.path().join(name), text).map_err(broken)?;
    }
    let output = Command::new("sh")
        .args(["-c", LIMITED, "frama-c"])
        .args(FLAGS)
        .current_dir(dir.path())
        .output()
        .map_err(broken)?;
    if output.status.code() == Some(127) {
        return Err(Failure::Machine(
            "a proof needs Frama-C, but `frama-c` cannot be started\n\n\
             hint: apt-get install --no-install-recommends frama-c-base"
                .to_owned(),
        ));
    }
    let report = fs::read_to_string(dir.path().join("report.csv"));
    match report {
        Ok(report) if output.status.success() => Ok(rows(&report, &parts, dir.path())),
        _ => Err(Failure::Check(format!(
            "Frama-C gives no answer on {}: {}\n{}",
            parts[0].shown,
            output.status,
            last_lines(&String::from_utf8_lossy(&output.stdout))
        ))),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

fn rows(report: &str, parts: &[Part], dir: &Path) -> Vec<(Property, Open)> {
    report.lines().skip(1).filter_map(|row| read(row, parts, dir)).collect()
}

/// A row: directory, file, line, function, kind, status, condition.
fn read(row: &str, parts: &[Part], dir: &Path) -> Option<(Property, Open)> {
    let [_, file, line, function, kind, _, text] = row.split('\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    // It is shown where it is called.
    if kind == "precondition" {
        return None;
    }
    let source = fs::read_to_string(dir.join(file)).unwrap_or_default();
    let number: u32 = line.parse().ok()?;
    let (label, condition) = text.split_once(": ").unwrap_or(("", text));
    let property = property(kind, label, source.lines().nth(number as usize - 1).unwrap_or_default());
    let condition = match label {
        "growth_once" => ONCE,
        "growth_lowers" => LOWERS,
        _ if label.contains('_') => condition,
        _ => text,
    };
    let (file, line) = match (parts.iter().find(|part| part.name == file), function.strip_prefix("call_")) {
        (Some(part), _) => (part.shown.clone(), Some(number)),
        // An answer of the hook, as calls.h checks it.
        (None, Some(hook)) => (parts[0].shown.clone(), declaration(&parts[0].text, hook)),
        // In a function of the contract that host.h has of its own.
        (None, None) => (format!("controllers/controller.h, {}", function.trim_end_matches("_model")), None),
    };
    Some((property, Open { file, line, condition: condition.to_owned() }))
}

/// The line that declares a hook, if the file has one.
fn declaration(text: &str, hook: &str) -> Option<u32> {
    let declares = |line: &str| {
        let rest = line.trim_start().strip_prefix('.').and_then(|rest| rest.strip_prefix(hook));
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    text.lines().zip(1..).find(|(line, _)| declares(line)).map(|(_, number)| number)
}

/// The property that a row is about: by its kind, the name of the condition, or the line in calls.h.
fn property(kind: &str, label: &str, line: &str) -> Property {
    match (kind, label.split('_').next().unwrap_or_default()) {
        ("division_by_zero", _) | (_, "division") => Property::Division,
        ("shift", _) | (_, "shift") => Property::Shift,
        (_, "growth") => Property::Growth,
        ("user assertion", _) if line.contains("limit") => Property::Cut,
        ("user assertion", _) => Property::Window,
        ("mem_access" | "index_bound" | "initialization" | "dangling_pointer" | "pointer_value", _) => {
            Property::Memory
        }
        _ => Property::Overflow,
    }
}
