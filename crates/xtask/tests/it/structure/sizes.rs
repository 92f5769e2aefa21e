//! How many fields a struct may have. How long a function may be is Clippy's `too_many_lines`, with the threshold of
//! clippy.toml.

use std::collections::BTreeMap;
use std::fs;

use super::modules::files;
use super::{crates, root};

/// Fields that a struct may have.
const MOST_FIELDS: usize = 16;

/// The structs that have more, with their number.
const EXCEPTIONS: &[(&str, &str, usize)] = &[
    // A field for each key of a file, column of a table, or member of a C struct.
    ("crates/controllers/src/law/raw.rs", "RawObjective", 17),
    ("crates/controllers/src/raw.rs", "RawController", 22),
    ("crates/reproduction/src/schema/claims.rs", "Claim", 24),
    ("crates/experiment/src/schema/fabric.rs", "Fabric", 26),
    ("crates/experiment/src/schema/transport/mod.rs", "Transport", 35),
    ("crates/experiment/src/plan/patterns/flows.rs", "Flow", 17),
    ("crates/results/src/record/outcome.rs", "Outcome", 20),
    ("crates/results/src/record/packet.rs", "Packet", 21),
    ("crates/results/src/record/report.rs", "Report", 21),
    ("crates/results/src/record/results.rs", "CaseResult", 19),
    ("crates/linux/src/trace.rs", "Call", 18),
    ("crates/report/src/view/list.rs", "RunSummary", 17),
    ("crates/transport/src/config.rs", "Config", 31),
    // What is read in other programs' captures.
    ("crates/exchange/src/capture/packet.rs", "Packet", 19),
    // The hot loop: one place for what is used together, laid out by cache lines.
    ("crates/fabric/src/fabric.rs", "Fabric", 23),
    ("crates/fabric/src/queued_port.rs", "QueuedPort", 19),
    ("crates/rounds/src/connection.rs", "Connection", 21),
    ("crates/rounds/src/connection.rs", "Subflow", 22),
    ("crates/sim/src/part.rs", "Part", 18),
    ("crates/transport/src/tcp/subflow.rs", "Subflow", 20),
    // Too many: to be divided.
    ("crates/lab/src/engine/mod.rs", "Engine", 28),
    ("crates/reproduction/src/pages/mod.rs", "Reproduced", 17),
    ("crates/workload/src/tasks.rs", "Parts", 17),
];

/// The structs of a file, formatted by rustfmt, that have named fields, and how many.
fn structs(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let own = line.trim_start();
        let indent = &line[..line.len() - own.len()];
        let Some(rest) = public(own).strip_prefix("struct ").filter(|_| line.ends_with('{')) else {
            continue;
        };
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let end = format!("{indent}}}");
        let body = lines[at + 1..].iter().take_while(|line| **line != end);
        let field = format!("{indent}    ");
        let is_field = |line: &&&str| {
            line.strip_prefix(&field).and_then(|own| public(own).split_once(": ")).is_some_and(|(name, _)| {
                name.trim_start_matches("r#").chars().all(|c| c.is_alphanumeric() || c == '_')
            })
        };
        found.push((name, body.filter(is_field).count()));
    }
    found
}

/// An item or a field without its visibility.
fn public(text: &str) -> &str {
    ["pub ", "pub(crate) ", "pub(super) "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

#[test]
fn structs_have_few_fields() {
    let mut large = BTreeMap::new();
    for file in crates().iter().flat_map(|path| files(&path.join("src"))) {
        let text = fs::read_to_string(&file).expect("it can be read");
        let place = file.strip_prefix(root()).expect("it is in there").display().to_string();
        let more = structs(&text).into_iter().filter(|(_, fields)| *fields > MOST_FIELDS);
        large.extend(more.map(|(name, fields)| ((place.clone(), name.to_owned()), fields)));
    }
    let exceptions =
        EXCEPTIONS.iter().map(|(file, name, fields)| (((*file).into(), (*name).into()), *fields));
    assert_eq!(
        large,
        exceptions.collect(),
        "at most {MOST_FIELDS} fields, but for the exceptions named here"
    );
}

#[test]
fn fields_are_counted() {
    let text = "pub struct A<T> {\n    /// b: c\n    pub a: T,\n    pub(crate) r#b: u8,\n    c: Vec<\n        Long,\n    >,\n}\n\
                mod m {\n    struct B {\n        a: u8,\n    }\n}\nstruct C(u8);\nlet struct D = 1;\n";
    assert_eq!(structs(text), [("A", 3), ("B", 1)]);
}
