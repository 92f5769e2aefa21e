//! The controllers as lists and pages show them. Everything comes from their files.

use serde::Serialize;
use tresse_controllers as controllers;
use tresse_controllers::Controller;

use crate::catalogue::Entry;
use crate::controller::prove::recorded;

/// A controller's line of `tresse list controllers --json`.
#[derive(Debug, Clone, Serialize)]
pub struct ControllerEntry {
    #[serde(flatten)]
    entry: Entry,
    file: String,
    signals: Vec<&'static str>,
    coupled: bool,
    /// Whether the kernel can provide every signal that it needs: losses, ECN and exact CE counts.
    attachable: bool,
    why_not_attachable: Option<&'static str>,
    exceptions: Vec<&'static str>,
    claims: Vec<&'static str>,
    single: Option<&'static str>,
    alias_of: Option<&'static str>,
    min_cwnd_pkts: u32,
    parameters: Vec<ParameterEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct ParameterEntry {
    name: &'static str,
    default: u64,
    min: u64,
    max: u64,
    unit: &'static str,
    meaning: &'static str,
}

/// The controllers with all that they declare.
pub fn entries() -> Vec<ControllerEntry> {
    controllers::all()
        .iter()
        .map(|c| ControllerEntry {
            entry: entry(c),
            file: c.source_file().display().to_string(),
            signals: c.signals().iter().map(|s| s.name()).collect(),
            coupled: c.coupled(),
            attachable: c.attachable(),
            why_not_attachable: c.why_not_attachable(),
            exceptions: c.exceptions().iter().map(|e| e.name()).collect(),
            claims: c.claims().iter().map(|c| c.name()).collect(),
            single: c.single(),
            alias_of: c.alias_of(),
            min_cwnd_pkts: c.min_cwnd(),
            parameters: c
                .parameters()
                .into_iter()
                .map(|p| ParameterEntry {
                    name: p.name,
                    default: p.range.default,
                    min: p.range.min,
                    max: p.range.max,
                    unit: p.unit,
                    meaning: p.meaning,
                })
                .collect(),
        })
        .collect()
}

pub(crate) fn entry(c: &Controller) -> Entry {
    Entry { name: c.name().to_owned(), title: c.title().to_owned(), source: c.source().to_owned() }
}

/// The signals that distinguish controllers, without those implied by stronger ones.
pub fn strongest_signals(c: &Controller) -> String {
    let names: Vec<_> = c.signals().iter().map(|s| s.name()).collect();
    let implied = |name: &str| match name {
        "loss" => names.len() > 1,
        "ecn" => names.contains(&"ce_exact"),
        _ => false,
    };
    names.iter().filter(|name| !implied(name)).copied().collect::<Vec<_>>().join(" ")
}

/// A controller's declarations in Markdown: title, source, signals, exceptions, claims, parameters.
pub fn facts(c: &Controller) -> String {
    let packets = if c.min_cwnd() == 1 { "packet" } else { "packets" };
    let mut facts = vec![
        ("source", c.source().to_owned()),
        ("file", c.source_file().display().to_string()),
        ("signals", c.signals().iter().map(|s| s.name()).collect::<Vec<_>>().join(", ")),
        ("coupled", if c.coupled() { "yes" } else { "no" }.to_owned()),
        ("smallest window", format!("{} {packets}", c.min_cwnd())),
        ("in Linux", c.why_not_attachable().map_or("yes".to_owned(), |why| format!("no: {why}"))),
    ];
    if let Some(single) = c.single() {
        facts.push(("with one subflow and its defaults", format!("`{single}`")));
    }
    if let Some(alias_of) = c.alias_of() {
        facts.push(("another name of", format!("`{alias_of}`")));
    }
    if let Some((proved, tested)) = built_in_name(c).and_then(recorded) {
        facts.push(("proved for all inputs (`tresse controller check --prove`)", proved.join(", ")));
        if !tested.is_empty() {
            facts.push(("proved in part, and tested", tested.join("; ")));
        }
    }
    let mut out = format!("{}\n\n", c.title());
    for (what, text) in facts {
        out += &format!("- {what}: {text}\n");
    }
    for e in c.exceptions() {
        out += &format!("- exception `{}`: {}\n", e.name(), e.meaning());
    }
    for claim in c.claims() {
        out += &format!("- claim `{}`: {}\n", claim.name(), claim.meaning());
    }
    if c.parameters().is_empty() {
        return out;
    }
    out += "\n| parameter | default | range | unit | meaning |\n|---|---|---|---|---|\n";
    for p in c.parameters() {
        let cells = [p.unit, p.meaning].map(|text| text.replace('|', "\\|"));
        out += &format!(
            "| `{}` | {} | {} to {} | {} | {} |\n",
            p.name, p.range.default, p.range.min, p.range.max, cells[0], cells[1]
        );
    }
    out
}

/// The name under which it is built in; `None` for a user's.
fn built_in_name(c: &Controller) -> Option<&'static str> {
    c.file().is_none().then(|| c.alias_of().unwrap_or_else(|| c.name()))
}

/// The comment at the top of its file, as a Markdown block that preserves columns.
pub fn header(c: &Controller) -> String {
    format!("```text\n{}\n```\n", c.header())
}
