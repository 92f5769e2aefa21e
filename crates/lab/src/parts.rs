//! The parts that an experiment is made of: what `tresse list` and `tresse explain` tell.
//!
//! Controllers tell of themselves; every other part is a page in `docs/explain/`.

use serde::Serialize;
use tresse_controllers::{self as controllers, Controller};

use crate::papers;

/// A kind of part, as `tresse list` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Congestion controllers.
    Controllers,
    /// Path managers.
    PathManagers,
    /// Segment schedulers.
    Schedulers,
    /// Load balancers and routing.
    LoadBalancers,
    /// Topologies.
    Topologies,
    /// Traffic patterns.
    Workloads,
    /// Flow-size distributions.
    Distributions,
    /// Built-in experiments.
    Experiments,
    /// Pages of `tresse explain` that are no part of an experiment.
    Topics,
}

/// A page: the part's kind, its name, and what is to be said of it.
struct Page {
    kind: Kind,
    name: &'static str,
    source: &'static str,
    text: &'static str,
}

macro_rules! page {
    ($kind:ident, $name:literal, $source:literal) => {
        Page {
            kind: Kind::$kind,
            name: $name,
            source: $source,
            text: include_str!(concat!("../../../docs/explain/", $name, ".md")),
        }
    };
}

const PAGES: &[Page] = &[
    page!(PathManagers, "fixed", "XMP §5.2.1"),
    page!(Schedulers, "lowest-rtt", "Multipath TCP's default"),
    page!(LoadBalancers, "two-level", "Al-Fares et al., SIGCOMM 2008; XMP §5.2.1"),
    page!(Topologies, "fat-tree", "Al-Fares et al., SIGCOMM 2008"),
    page!(Workloads, "permutation", "XMP §5.2.1"),
    page!(Distributions, "fixed-size", ""),
    page!(Distributions, "uniform", "XMP §5.2.1"),
    page!(Topics, "marking", "XMP §2.1"),
    page!(Topics, "marker", "XMP §2.1, vMCC §V-A"),
    page!(Topics, "echo", "RFC 3168, RFC 8257, XMP §2.1"),
    page!(Topics, "recovery", "RFC 5681, RFC 6582, RFC 6675"),
    page!(Topics, "reduction", "RFC 6937, XMP Alg. 1"),
    page!(Topics, "delayed-acks", "RFC 5681 §4.2, RFC 8257 §3.2"),
    page!(Topics, "profiles", ""),
    page!(Topics, "results", ""),
    page!(Topics, "exit-codes", ""),
];

/// A line of `tresse list`.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The name in files and on the command line.
    pub name: String,
    /// One line on what it is.
    pub title: String,
    /// Where it comes from.
    pub source: String,
}

/// A controller's parameters in one line: `beta=4 (2..=64)`.
pub fn parameters_of(name: &str) -> String {
    let parameters = controllers::find(name).map(|c| c.parameters()).unwrap_or_default();
    let texts = parameters.iter().map(|p| format!("{}={} ({}..={})", p.name, p.default, p.min, p.max));
    texts.collect::<Vec<_>>().join(", ")
}

/// A controller's line of `tresse list controllers --json`.
#[derive(Debug, Clone, Serialize)]
pub struct ControllerEntry {
    #[serde(flatten)]
    entry: Entry,
    signals: Vec<&'static str>,
    coupled: bool,
    /// Whether the kernel can give every signal that it needs: losses, ECN and exact CE counts.
    attachable: bool,
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
pub fn controllers() -> Vec<ControllerEntry> {
    controllers::all()
        .iter()
        .map(|c| ControllerEntry {
            entry: controller_entry(c),
            signals: c.signals().iter().map(|s| s.name()).collect(),
            coupled: c.coupled(),
            attachable: c.attachable(),
            min_cwnd_pkts: c.min_cwnd(),
            parameters: c
                .parameters()
                .into_iter()
                .map(|p| ParameterEntry {
                    name: p.name,
                    default: p.default,
                    min: p.min,
                    max: p.max,
                    unit: p.unit,
                    meaning: p.meaning,
                })
                .collect(),
        })
        .collect()
}

/// The parts of a kind.
pub fn list(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Controllers => controllers::all().iter().map(controller_entry).collect(),
        Kind::Experiments => papers::all()
            .map(|(name, e)| Entry { name: name.to_owned(), title: e.title, source: e.source })
            .collect(),
        _ => PAGES
            .iter()
            .filter(|p| p.kind == kind)
            .map(|p| Entry {
                name: p.name.to_owned(),
                title: title(p.text).to_owned(),
                source: p.source.to_owned(),
            })
            .collect(),
    }
}

/// Everything that is to be said of `name`: a controller's declaration and source, a part's page, or
/// an experiment's file.
pub fn explain(name: &str) -> Option<String> {
    if let Some(c) = controllers::find(name) {
        return Some(explain_controller(&c));
    }
    if let Some(p) = PAGES.iter().find(|p| p.name == name) {
        return Some(p.text.to_owned());
    }
    papers::find(name).map(str::to_owned)
}

/// Every name that [`explain`] knows.
pub fn names() -> Vec<String> {
    let controllers = controllers::all().into_iter().map(|c| c.name().to_owned());
    let pages = PAGES.iter().map(|p| p.name.to_owned());
    controllers.chain(pages).chain(papers::names().into_iter().map(str::to_owned)).collect()
}

fn controller_entry(c: &Controller) -> Entry {
    Entry { name: c.name().to_owned(), title: c.title().to_owned(), source: c.source().to_owned() }
}

fn explain_controller(c: &Controller) -> String {
    let signals: Vec<_> = c.signals().iter().map(|s| s.name()).collect();
    let mut out = format!(
        "# {}\n\n{}\n\n- source: {}\n- signals: {}\n- coupled: {}\n- smallest window: {} packets\n",
        c.name(),
        c.title(),
        c.source(),
        signals.join(", "),
        if c.coupled() { "yes" } else { "no" },
        c.min_cwnd(),
    );
    for p in c.parameters() {
        let unit = if p.unit.is_empty() { String::new() } else { format!(" {}", p.unit) };
        out += &format!(
            "- parameter `{}` = {}{unit} ({}..={}): {}\n",
            p.name, p.default, p.min, p.max, p.meaning
        );
    }
    out + "\n" + c.text()
}

/// The first heading of a page.
fn title(text: &str) -> &str {
    text.lines().next().unwrap_or("").trim_start_matches("# ")
}
