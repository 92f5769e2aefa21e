//! The parts that an experiment is made of: what `tresse list` and `tresse explain` show.
//!
//! Controllers and host balancers are described by their own files, path managers and load balancers by their
//! declaration and a page; every other part is a page in `docs/explain/`. Metrics and the columns of tables
//! describe themselves.

pub mod controllers;
pub mod declared;
pub mod distributions;
pub mod experiments;
pub mod host_balancers;
pub mod load_balancers;
pub mod metrics;
pub mod path_managers;
mod search;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value, json};
use tresse_balancers::Balancer;
use tresse_experiment::plan::presets;
use tresse_experiment::read::{built_in, paper_networks};
use tresse_experiment::schema::metrics::{METRICS, WINDOW_METRICS};
use tresse_fabric::balancers;

use crate::failure::Failure;

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
    /// Host balancers: which of a connection's paths a packet takes.
    HostBalancers,
    /// Topologies.
    Topologies,
    /// Traffic patterns.
    Workloads,
    /// Flow-size distributions.
    Distributions,
    /// Built-in experiments.
    Experiments,
    /// Pages of `tresse explain` that are not about a part of an experiment.
    Topics,
}

impl Kind {
    /// The kinds that are listed: all but the topics.
    pub const LISTED: [Self; 9] = [
        Self::Controllers,
        Self::PathManagers,
        Self::Schedulers,
        Self::LoadBalancers,
        Self::HostBalancers,
        Self::Topologies,
        Self::Workloads,
        Self::Distributions,
        Self::Experiments,
    ];

    /// Its name, as it is given to `tresse list`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Controllers => "controllers",
            Self::PathManagers => "path-managers",
            Self::Schedulers => "schedulers",
            Self::LoadBalancers => "load-balancers",
            Self::HostBalancers => "host-balancers",
            Self::Topologies => "topologies",
            Self::Workloads => "workloads",
            Self::Distributions => "distributions",
            Self::Experiments => "experiments",
            Self::Topics => "topics",
        }
    }

    /// What it is.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Controllers => "congestion controllers: what sets the windows",
            Self::PathManagers => "what opens and closes subflows",
            Self::Schedulers => "which subflow gets the next data",
            Self::LoadBalancers => "routing: how switches choose among paths",
            Self::HostBalancers => "which of many paths a sprayed packet takes",
            Self::Topologies => "networks built from a few numbers",
            Self::Workloads => "traffic patterns: who sends how much to whom, when",
            Self::Distributions => "flow sizes, measured in data centres",
            Self::Experiments => "the papers' experiments, and our own",
            Self::Topics => "what is about no single part",
        }
    }
}

/// A page: the part's kind, its name, and its source.
struct Page {
    kind: Kind,
    name: &'static str,
    source: &'static str,
    text: fn() -> &'static str,
}

macro_rules! page {
    ($kind:ident, $name:literal, $source:literal) => {
        Page {
            kind: Kind::$kind,
            name: $name,
            source: $source,
            text: || include_str!(concat!("../../../../docs/explain/", $name, ".md")),
        }
    };
    ($kind:ident, $name:literal, $source:literal, part of $page:literal) => {
        Page {
            kind: Kind::$kind,
            name: $name,
            source: $source,
            text: || part(include_str!(concat!("../../../../docs/explain/", $page, ".md")), $name),
        }
    };
}

/// The part of a page below the anchor `name`, up to the next anchor. Its heading becomes that of a page.
pub(crate) fn part(page: &'static str, name: &str) -> &'static str {
    let (_, text) = page.split_once(&format!("<a id=\"{name}\"></a>\n\n#")).expect("the page has this part");
    text.split_once("\n<a id=").map_or(text, |(own, _)| own)
}

/// The metrics of a case.
fn metrics() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(metrics::page);
    &TEXT
}

/// The meaning of the columns of a run's tables.
fn columns() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(tresse_results::tables::explain);
    &TEXT
}

const PAGES: &[Page] = &[
    page!(Schedulers, "lowest-rtt", "the old MPTCP kernel's default; RFC 8684 names none", part of "schedulers"),
    page!(Schedulers, "round-robin", "the old MPTCP kernel's roundrobin; the slides' author's ns-3 code", part of "schedulers"),
    page!(Schedulers, "linux", "mptcp_subflow_get_send of Linux 6.18", part of "schedulers"),
    page!(Topologies, "fat-tree", "Al-Fares et al., SIGCOMM 2008", part of "topologies"),
    page!(Topologies, "leaf-spine", "OPN §Performance evaluation; THESIS §2.5", part of "topologies"),
    page!(Topologies, "virtual-hosts", "VMCC §III to §V", part of "topologies"),
    page!(Topologies, "dumbbell", "XMP Fig. 1", part of "topologies"),
    page!(Topologies, "parking-lot", "", part of "topologies"),
    page!(Topologies, "file", "networkx; GraphML: Brandes et al., GD 2001"),
    page!(Workloads, "permutation", "XMP §5.2.1", part of "patterns"),
    page!(Workloads, "rack-to-rack", "OPN §Design motivation", part of "patterns"),
    page!(Workloads, "flows", ""),
    page!(Workloads, "collective", "Patarasuk and Yuan, JPDC 2009; Thakur et al., IJHPCA 2005"),
    page!(Workloads, "goal", "Hoefler et al., ICPP 2009; LogGOPSim, ATLAHS", part of "traces"),
    page!(Workloads, "chakra", "MLCommons Chakra 1.0.0; ASTRA-sim", part of "traces"),
    page!(Workloads, "random", "XMP §5.2.1", part of "patterns"),
    page!(Workloads, "jobs", "XMP §5.2.1, Incast", part of "jobs"),
    page!(Workloads, "incast", "the slides' author's ns-3 code; VMCC Fig. 5", part of "jobs"),
    page!(Workloads, "poisson", "OPN §Performance evaluation; THESIS §2.5", part of "patterns"),
    page!(Workloads, "spread", "OPN §Performance evaluation", part of "patterns"),
    page!(Workloads, "on-off", "VMCC Fig. 4", part of "patterns"),
    page!(Distributions, "fixed-size", "", part of "distributions"),
    page!(Distributions, "uniform", "XMP §5.2.1", part of "distributions"),
    page!(Distributions, "pareto", "XMP §5.2.1", part of "distributions"),
    page!(Topics, "distributions", "OPN Table 2"),
    page!(Topics, "strata", "", part of "patterns"),
    page!(Topics, "workloads", "XMP §5.2, THESIS §2.1", part of "patterns"),
    page!(Topics, "changes", "XMP §4.2, THESIS Fig. 3.4, OPN §Performance evaluation"),
    page!(Topics, "tiers", "", part of "topologies"),
    page!(Topics, "marking", "XMP §2.1", part of "ports"),
    page!(Topics, "host-balancers", "Ultra Ethernet; arXiv:2407.21625, arXiv:2605.04333", part of "spray"),
    page!(Topics, "red", "Floyd and Jacobson, ToN 1993", part of "ports"),
    page!(Topics, "classes", "Shreedhar and Varghese, SIGCOMM 1995; vMCC eq. (1); MQ-ECN, NSDI 2016", part of "ports"),
    page!(Topics, "trimming", "Cheng et al., NSDI 2014; NDP, SIGCOMM 2017; Ultra Ethernet", part of "ports"),
    page!(Topics, "pfc", "IEEE 802.1Qbb; Zhu et al. and Guo et al., SIGCOMM 2015 and 2016", part of "ports"),
    page!(Topics, "spray", "Ultra Ethernet", part of "spray"),
    page!(Topics, "shared-buffer", "Choudhury and Hahne, ToN 1998", part of "ports"),
    page!(Topics, "marker", "XMP §2.1, vMCC §V-A"),
    page!(Topics, "echo", "RFC 3168, RFC 8257, XMP §2.1", part of "recovery"),
    page!(Topics, "holnet", "THESIS §2.3.2, Table 2.2; §2.5"),
    page!(Topics, "hosts", "RFC 8985, RFC 6937, Linux"),
    page!(Topics, "recovery", "RFC 5681, RFC 6582, RFC 6675, RFC 8985", part of "recovery"),
    page!(Topics, "reduction", "RFC 6937, XMP Alg. 1", part of "recovery"),
    page!(Topics, "delayed-acks", "RFC 5681 §4.2, RFC 8257 §3.2", part of "recovery"),
    page!(Topics, "rounds", ""),
    page!(Topics, "profiles", "", part of "axes"),
    page!(Topics, "variants", "", part of "axes"),
    page!(Topics, "axes", "", part of "axes"),
    page!(Topics, "replications", "Law, Simulation Modeling and Analysis §9.4.1", part of "axes"),
    page!(Topics, "optimum", "THESIS §2.3, XMP §2.1"),
    page!(Topics, "results", ""),
    page!(Topics, "slices", "", part of "results"),
    Page { kind: Kind::Topics, name: "metrics", source: "", text: metrics },
    page!(Topics, "inert", "", part of "measurement"),
    page!(Topics, "measurement", "", part of "measurement"),
    Page { kind: Kind::Topics, name: "columns", source: "", text: columns },
    page!(Topics, "papers", ""),
    page!(Topics, "claims", ""),
    page!(Topics, "figures", ""),
    page!(Topics, "export", ""),
    page!(Topics, "import", "Broadcom/csg-htsim; alibaba-edu/High-Precision-Congestion-Control"),
    page!(Topics, "exit-codes", ""),
];

/// Files of `docs/explain` that are not pages themselves: their parts are.
const WHOLE: [(&str, &str); 7] = [
    ("path-managers", include_str!("../../../../docs/explain/path-managers.md")),
    ("patterns", include_str!("../../../../docs/explain/patterns.md")),
    ("ports", include_str!("../../../../docs/explain/ports.md")),
    ("routing", include_str!("../../../../docs/explain/routing.md")),
    ("schedulers", include_str!("../../../../docs/explain/schedulers.md")),
    ("topologies", include_str!("../../../../docs/explain/topologies.md")),
    ("traces", include_str!("../../../../docs/explain/traces.md")),
];

/// A file whose parts are pages: its title, and what its parts are called.
fn whole(name: &str) -> Option<String> {
    let (_, text) = WHOLE.iter().find(|(own, _)| *own == name)?;
    let mut told = format!("# {}\n\nIts parts:\n", title(text));
    for part in text.split("<a id=\"").skip(1) {
        let (name, rest) = part.split_once('"')?;
        let heading = rest.lines().find(|line| line.starts_with('#')).unwrap_or_default();
        told += &format!("\n    tresse explain {name}\n        {}", heading.trim_start_matches(['#', ' ']));
    }
    Some(told + "\n")
}

/// The parts of a kind that is listed, by their names.
fn kind(name: &str) -> Option<String> {
    let kind = Kind::LISTED.into_iter().find(|kind| kind.name() == name)?;
    let part = |entry: &Entry| format!("\n    tresse explain {}\n        {}", entry.name, entry.title);
    let parts: String = list(kind).iter().map(part).collect();
    Some(format!("# {name}: {}\n{parts}\n", kind.meaning()))
}

/// A line of `tresse list`.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The name in files and on the command line.
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// Where it comes from.
    pub source: String,
}

/// The parts of a kind.
pub fn list(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Controllers => tresse_controllers::all().iter().map(controllers::entry).collect(),
        Kind::PathManagers => tresse_path_manager::all().iter().map(path_managers::entry).collect(),
        Kind::LoadBalancers => balancers::all().iter().map(load_balancers::entry).collect(),
        Kind::HostBalancers => tresse_balancers::all().iter().map(host_balancers::entry).collect(),
        Kind::Experiments => experiments::entries().into_iter().map(|p| p.entry).collect(),
        Kind::Distributions => distributions::entries().into_iter().map(|d| d.entry).collect(),
        Kind::Topologies => topologies(),
        _ => pages(kind),
    }
}

/// The kinds that are listed, as JSON.
pub fn kinds_json() -> Value {
    let kinds = Kind::LISTED.map(|kind| json!({ "name": kind.name(), "title": kind.meaning() }));
    json!({ "schema": "tresse/list/1", "kinds": kinds })
}

/// The parts of a kind with all that they declare, as JSON.
pub fn list_json(kind: Kind) -> Value {
    let entries = match kind {
        Kind::Controllers => serde_json::to_value(controllers::entries()),
        Kind::PathManagers => serde_json::to_value(path_managers::entries()),
        Kind::LoadBalancers => serde_json::to_value(load_balancers::entries()),
        Kind::HostBalancers => serde_json::to_value(host_balancers::entries()),
        Kind::Distributions => serde_json::to_value(distributions::entries()),
        Kind::Experiments => serde_json::to_value(experiments::entries()),
        _ => serde_json::to_value(list(kind)),
    };
    let mut object = Map::from_iter([("schema".to_owned(), "tresse/list/1".into())]);
    object.insert(kind.name().replace('-', "_"), entries.expect("entries are plain data"));
    object.into()
}

/// The topologies; that of a file comes last.
fn topologies() -> Vec<Entry> {
    let mut all = pages(Kind::Topologies);
    let file = all.pop();
    all.extend(paper_networks::all().iter().map(|network| Entry {
        name: network.name.to_owned(),
        title: network.about.title.clone(),
        source: network.about.source.clone(),
    }));
    all.extend(file);
    all
}

/// The parts of a kind that are pages.
pub fn pages(kind: Kind) -> Vec<Entry> {
    let pages = PAGES.iter().filter(|p| p.kind == kind);
    let entry = |p: &Page| Entry {
        name: p.name.to_owned(),
        title: title((p.text)()).to_owned(),
        source: p.source.to_owned(),
    };
    pages.map(entry).collect()
}

/// [`explain`] for people, who write XMP or MPTCP_OPN, and ask for keys, metrics and words of the field.
///
/// # Errors
/// If nothing has this name, and no page this word.
pub fn explained(name: &str) -> Result<String, Failure> {
    let named = search::spellings(name).iter().find_map(|spelling| explain(spelling));
    named.or_else(|| search::about(name)).ok_or_else(|| {
        let names = names();
        let metrics = METRICS.iter().chain(WINDOW_METRICS).map(|row| row.name);
        let hint = tresse_experiment::did_you_mean(name, names.iter().map(String::as_str).chain(metrics));
        Failure::Input(format!("nothing is called `{name}`{hint}\n\nhint: `tresse explain` lists every name"))
    })
}

/// The full text about `name`: a controller's declarations and the comment at the top of its file, a path
/// manager's or load balancer's declarations and page, another part's page, or an experiment's file.
pub fn explain(name: &str) -> Option<String> {
    if let Some(c) = tresse_controllers::find(name) {
        return Some(format!("# {name}\n\n{}\n{}", controllers::facts(&c), controllers::header(&c)));
    }
    // A switch's load balancer and a host's may have one name, such as PLB.
    let texts = [path_managers::explain(name), load_balancers::explain(name), host_balancers::explain(name)];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    if !texts.is_empty() {
        return Some(texts.join("\n"));
    }
    if let Some(text) = distributions::explain(name) {
        return Some(text);
    }
    let page = if presets::ALL.iter().any(|p| p.name == name) { "holnet" } else { name };
    if let Some(p) = PAGES.iter().find(|p| p.name == page) {
        let is_shown = |line: &&str| !line.starts_with("<a id=");
        return Some((p.text)().split_inclusive('\n').filter(is_shown).collect());
    }
    if let Some(network) = paper_networks::find(name) {
        return Some(network.page());
    }
    if let Some(text) = whole(name).or_else(|| kind(name)) {
        return Some(text);
    }
    built_in::find(name).map(|(own, text)| {
        // The first line is for editors; its path is right in the file's own folder only.
        let text =
            text.split_once('\n').filter(|(line, _)| line.starts_with("#:schema ")).map_or(text, |(_, t)| t);
        match own == name.strip_suffix(".toml").unwrap_or(name) {
            true => text.to_owned(),
            false => format!("# {name} is part of {own}\n{text}"),
        }
    })
}

/// Every name that [`explain`] knows.
pub fn names() -> Vec<String> {
    let controllers = tresse_controllers::all().into_iter().map(|c| c.name().to_owned());
    let managers = tresse_path_manager::all().iter().map(|d| d.name.to_owned());
    let balancers = balancers::all().iter().map(|d| d.name.to_owned());
    let is_new = |b: &Balancer| balancers::find(b.name()).is_none();
    let hosts = tresse_balancers::all().into_iter().filter(is_new).map(|b| b.name().to_owned());
    let pages = PAGES.iter().map(|p| p.name.to_owned());
    let networks = paper_networks::all().iter().map(|network| network.name.to_owned());
    let presets = presets::ALL.iter().map(|p| p.name.to_owned());
    let files = tresse_workload::distributions::all().iter().map(|d| d.name.to_owned());
    let parts = controllers
        .chain(managers)
        .chain(presets)
        .chain(balancers)
        .chain(hosts)
        .chain(pages)
        .chain(networks)
        .chain(files);
    parts.chain(built_in::known()).collect()
}

/// The first heading of a page.
fn title(text: &str) -> &str {
    text.lines().next().unwrap_or("").trim_start_matches("# ")
}
