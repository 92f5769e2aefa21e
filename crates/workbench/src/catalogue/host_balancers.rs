//! The host balancers as lists and pages show them. Everything comes from their files.

use serde::Serialize;
use tresse_balancers::{Balancer, all, find};
use tresse_units::{Parameter, Range};

use crate::catalogue::Entry;
use crate::catalogue::declared::{DeclaredEntry, table};

/// A balancer's line of `tresse list host-balancers --json`.
#[derive(Debug, Clone, Serialize)]
pub struct BalancerEntry {
    #[serde(flatten)]
    declared: DeclaredEntry,
    file: String,
    flow_level: bool,
    recycles: bool,
}

/// The balancers with all that they declare.
pub fn entries() -> Vec<BalancerEntry> {
    let entry = |b: &Balancer| BalancerEntry {
        declared: DeclaredEntry::new(entry(b), &parameters(b)),
        file: b.source_file().display().to_string(),
        flow_level: b.is_flow_level(),
        recycles: b.recycles(),
    };
    all().iter().map(entry).collect()
}

pub(crate) fn entry(b: &Balancer) -> Entry {
    Entry { name: b.name().to_owned(), title: b.title().to_owned(), source: b.source().to_owned() }
}

/// Its parameters, in the form common to all parts.
pub fn parameters(b: &Balancer) -> Vec<Parameter> {
    let parameter = |p: Parameter<_>| Parameter {
        name: p.name,
        range: Range::Whole(p.range),
        unit: p.unit,
        meaning: p.meaning,
    };
    b.parameters().into_iter().map(parameter).collect()
}

/// A balancer's declarations in Markdown: title, source, file, flags, parameters.
pub fn facts(b: &Balancer) -> String {
    let mut out =
        format!("{}\n\n- source: {}\n- file: {}\n", b.title(), b.source(), b.source_file().display());
    if b.is_flow_level() {
        out += "- flow level: all packets take one path until feedback changes it\n";
    }
    if b.recycles() {
        out += "- recycles: paths that were good are reused before others are tried\n";
    }
    out + &table(&parameters(b))
}

/// The comment at the top of its file, as a Markdown block that preserves columns.
pub fn header(b: &Balancer) -> String {
    format!("```text\n{}\n```\n", b.header())
}

/// The full text about the balancer `name`.
pub(crate) fn explain(name: &str) -> Option<String> {
    find(name).map(|b| format!("# {name} (balancer of hosts)\n\n{}\n{}", facts(&b), header(&b)))
}
