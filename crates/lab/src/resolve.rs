//! From an experiment to its cases: every point of the axes scheme, subflows and pattern.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use tresse_controllers::{self as controllers, Signal};
use tresse_fabric::{FlagConfig, MICROSECOND, Time, Topology};
use tresse_path_manager::Config as Managers;
use tresse_sim::Manager;
use tresse_transport as transport;
use tresse_workload::Size;

use crate::changes::{self, Change};
use crate::error::{LabError, did_you_mean};
use crate::experiment::{Experiment, FlowSize, Pattern};
use crate::load::Loaded;
use crate::manager_keys::PathManager;
use crate::metrics::METRICS;
use crate::network::{self, Routing};
use crate::pairs::{self, Part, Parts};
use crate::port_options::PortOptions;
use crate::presets;
use crate::scheme::{Echo, Scheme};
use crate::weight;

/// One point of the axes.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of its scheme.
    pub scheme: String,
    /// The subflows that a connection is to have; `None` if its path manager decides.
    pub subflows: Option<u32>,
    /// The name of its workload.
    pub pattern: String,
    /// What opens and closes the subflows.
    pub manager: Manager,
    /// Whether that remembers paths by their numbers, for all connections of two hosts (MPTCP_OPN).
    pub names_paths: bool,
    /// The name of what decides during a run which subflows there are; `None` if they are opened at the start and stay.
    pub decides: Option<&'static str>,
    /// Whether that is to detect subflows that share a path.
    pub detects: bool,
    /// How many addresses a sender has, and so fixed routes, for a connection to choose from.
    pub paths: u32,
    /// Who chooses the ways of its packets.
    pub routing: Arc<Routing>,
    /// The congestion flags, if ports keep any.
    pub flags: Option<FlagConfig>,
    /// The controllers.
    pub controllers: Arc<controllers::Scheme>,
    /// The transport.
    pub transport: transport::Config,
    /// Who sends to whom.
    pub kind: Pattern,
    /// The sizes of the flows.
    pub size: Size,
    /// Connections for each transfer of the pattern, at the same time.
    pub connections: u32,
    /// The rounds of the pattern.
    pub rounds: u32,
    /// The class of its packets in the ports of switches.
    pub class: u8,
}

impl Case {
    /// The axes with their values, as `--only` takes them. There is no number of subflows if the path manager
    /// decides.
    pub fn axes(&self) -> IndexMap<&'static str, String> {
        let subflows = self.subflows.map(|n| ("subflows", n.to_string()));
        let scheme = iter::once(("scheme", self.scheme.clone()));
        scheme.chain(subflows).chain([("pattern", self.pattern.clone())]).collect()
    }

    /// A name for people: `xmp-2 permutation`, or `opn permutation` if the path manager decides.
    pub fn label(&self) -> String {
        match self.subflows {
            Some(n) => format!("{}-{n} {}", self.scheme, self.pattern),
            None => format!("{} {}", self.scheme, self.pattern),
        }
    }
}

/// An experiment, ready to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The network.
    pub fabric: Topology,
    /// What its ports have beyond a queue with a threshold.
    pub options: PortOptions,
    /// What becomes of its links.
    pub(crate) changes: Vec<Change>,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
    /// The interval between samples, ps; no samples without.
    pub samples: Option<Time>,
}

/// Checks what a type cannot, and builds the cases that `only` (`KEY=VALUE[,VALUE]…`) keeps.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub fn resolve(loaded: &Loaded, only: &[String]) -> Result<Plan, LabError> {
    let experiment = &loaded.experiment;
    let wrong = |path: &[&str], message: String| loaded.error_at(path, &message);
    let wrong_below = |(path, message): network::Wrong| {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        wrong(&path, message)
    };
    let (fabric, routing) = network::build(&experiment.fabric, &experiment.changes).map_err(wrong_below)?;
    let common = experiment.transport.config().map_err(|(key, e)| wrong(&["transport", key], e))?;
    let mut schemes = IndexMap::new();
    for (name, scheme) in &experiment.schemes {
        let path = |key| ["schemes", name.as_str(), key];
        let scheme = presets::expand(scheme).map_err(|(key, e)| wrong(&path(key), e))?;
        let own = network::routing(&experiment.fabric, &experiment.changes, &scheme, &routing);
        let (routing, balancer) = own.map_err(|(at, e)| match &at[..] {
            [fabric, routing, below @ ..] if [fabric, routing] == ["fabric", "routing"] => {
                let below = below.iter().map(String::as_str);
                wrong(&path("routing").into_iter().chain(below).collect::<Vec<_>>(), e)
            }
            _ => wrong_below((at, e)),
        })?;
        let flags = network::flags(&experiment.fabric, &routing).map_err(wrong_below)?;
        let own = experiment.transport.of_scheme(scheme.transport.as_ref(), &common);
        let transport =
            own.map_err(|(below, e)| wrong(&[&["schemes", name.as_str()], &*below].concat(), e))?;
        schemes.insert(name, (scheme, transport, Arc::new(routing), balancer, flags));
    }
    let fixed: Vec<_> =
        schemes.iter().map(|(name, s)| (name.as_str(), matches!(*s.2, Routing::Fixed(_)))).collect();
    let changes = changes::resolve(&experiment.changes, &fabric, &fixed).map_err(wrong_below)?;
    let samples = experiment.measure.samples.map(|s| s.0);
    if samples.is_some_and(|s| !(MICROSECOND..=LONGEST).contains(&s)) {
        return Err(wrong(&["measure", "samples"], "an interval of 1us to 1000s".into()));
    }
    let transports = || schemes.values().map(|s| s.1);
    let packet = transports().map(|t| t.mss + t.header).max().unwrap_or(common.mss + common.header);
    let mss = transports().map(|t| t.mss).min().unwrap_or(common.mss);
    let options = PortOptions::new(&experiment.fabric, &fabric.layer_names, packet)
        .map_err(|(path, e)| wrong(path, e))?;
    let class = |path: &[&str], class: u8| match options.classes() {
        n if usize::from(class) < n => Ok(class),
        1 => Err(wrong(path, format!("class {class}: without `fabric.classes` there is only class 0"))),
        n => Err(wrong(path, format!("class {class}: `fabric.classes` has 0 to {}", n - 1))),
    };
    let mut cases = Vec::new();
    for (pattern, workload) in &experiment.workloads {
        let size = match workload.size {
            FlowSize::Fixed(bytes) => Size::Fixed(bytes.0),
            FlowSize::Uniform(min, max) => Size::Uniform(min.0, max.0),
        };
        let path = |key| ["workloads", pattern.as_str(), key];
        size.check().map_err(|e| wrong(&path("size"), e))?;
        let largest = size.largest();
        if largest.div_ceil(u64::from(mss)) > u64::from(u32::MAX) {
            return Err(wrong(&path("size"), "a flow has fewer than 2^32 segments".into()));
        }
        if !(1..=MOST_CONNECTIONS).contains(&workload.connections) {
            let message = format!("1 to {MOST_CONNECTIONS} connections for each transfer");
            return Err(wrong(&path("connections"), message));
        }
        if workload.connections > 1 && samples.is_some() {
            let message = "samples tell flows apart by their sending host: one connection, or no samples";
            return Err(wrong(&path("connections"), message.into()));
        }
        if workload.rounds == 0 {
            return Err(wrong(&path("rounds"), "at least one round".into()));
        }
        if workload.pattern == Pattern::RackToRack && fabric.racks.iter().all(|&r| r == fabric.racks[0]) {
            return Err(wrong(&path("pattern"), "this fabric has one rack only".into()));
        }
        class(&path("class"), workload.class)?;
        for (&name, (scheme, transport, routing, balancer, flags)) in &schemes {
            let path = |key| ["schemes", name.as_str(), key];
            let (controllers, transport) =
                build_scheme(transport, scheme).map_err(|(key, e)| wrong(&path(key), e))?;
            let class = class(&path("class"), scheme.class.unwrap_or(workload.class))?;
            let largest = controllers::MAX_SUBFLOWS as u32;
            let ways = routing.most().min(largest);
            let is_fixed = matches!(**routing, Routing::Fixed(_));
            let addresses = fabric.addresses(0).len() as u32;
            let most = if is_fixed { ways } else { largest };
            let path_manager = scheme.path_manager.clone().unwrap_or_else(|| usual(routing, addresses));
            let takes_subflows = path_manager.takes_subflows();
            let usual = scheme.path_manager.as_ref().map_or(1, PathManager::usual_subflows);
            let (counts, whose) = match &scheme.subflows {
                Some(counts) => (counts.values(), String::new()),
                None => (&[usual][..], format!(" (the default of {})", path_manager.name)),
            };
            if counts.is_empty() {
                return Err(wrong(&path("subflows"), "at least one number of subflows".into()));
            }
            for &subflows in counts {
                if subflows == 0 || subflows > most {
                    let message = match is_fixed {
                        true => {
                            format!("{subflows} subflows{whose}: this fabric has 1 to {most} distinct paths")
                        }
                        false => format!("{subflows} subflows{whose}: a connection has 1 to {most}"),
                    };
                    return Err(wrong(&path("subflows"), message));
                }
                let manager = path_manager.resolve(subflows).map_err(|(below, e)| {
                    let below = below.iter().map(String::as_str);
                    wrong(&["schemes", name.as_str()].into_iter().chain(below).collect::<Vec<_>>(), e)
                })?;
                if subflows > 1 && !takes_subflows {
                    let name = &path_manager.name;
                    let message = format!("{name} decides itself how many subflows there are: leave it out");
                    return Err(wrong(&path("subflows"), message));
                }
                let together = Parts {
                    routing: balancer,
                    flags: flags.is_some(),
                    addresses,
                    address_pairs: routing.address_pairs(addresses).min(largest),
                    plb: transport.plb.is_some(),
                    ecn: transport.ecn,
                    next_hop: controllers.controller().signals().contains(&Signal::NextHop),
                    manager: manager.config(),
                };
                pairs::check(&together).map_err(|senseless| match senseless.part {
                    Part::Plb if scheme.transport.as_ref().is_some_and(|t| t.plb.is_some()) => {
                        wrong(&["schemes", name, "transport", "plb"], senseless.reason)
                    }
                    Part::Plb => wrong(&["transport", "plb"], senseless.reason),
                    Part::Ecn => wrong(&path("ecn"), senseless.reason),
                    Part::Controller => wrong(&path("controller"), senseless.reason),
                    Part::PathManager => wrong(&path("path_manager"), senseless.reason),
                    Part::Subflows => wrong(&path("subflows"), senseless.reason),
                })?;
                cases.push(Case {
                    scheme: name.clone(),
                    subflows: takes_subflows.then_some(subflows),
                    pattern: pattern.clone(),
                    paths: if takes_subflows { subflows } else { ways },
                    detects: matches!(manager.config(), Managers::PathSharing(_)),
                    names_paths: matches!(manager.config(), Managers::Opn(_)),
                    decides: (!matches!(manager.config(), Managers::Fixed(_)))
                        .then_some(manager.declaration().name),
                    manager: manager.into(),
                    routing: Arc::clone(routing),
                    flags: *flags,
                    controllers: Arc::clone(&controllers),
                    transport,
                    kind: workload.pattern,
                    size: size.clone(),
                    connections: workload.connections,
                    rounds: workload.rounds,
                    class,
                });
            }
        }
    }
    check_names(experiment).map_err(|(path, e)| wrong(path, e))?;
    if cases.is_empty() {
        return Err(LabError::Input(format!("{}: no scheme or no workload", loaded.source.name)));
    }
    for filter in only {
        cases = keep(cases, filter)?;
    }
    Ok(Plan { fabric, options, changes, cases, samples })
}

/// The path manager of a scheme that names none: a fixed number, told apart by what the routing looks at, or by
/// the links of hosts that have several.
fn usual(routing: &Routing, addresses: u32) -> PathManager {
    let by = match routing {
        Routing::Nodes { .. } if addresses == 1 => "port",
        Routing::Fixed(_) | Routing::Nodes { .. } => "address",
    };
    PathManager { name: "fixed".to_owned(), parameters: BTreeMap::from([("by".to_owned(), by.into())]) }
}

const MOST_CONNECTIONS: u32 = 10_000;

/// The longest delay or timeout, ps: sums of them stay far below 2^64.
pub(crate) const LONGEST: u64 = 1000 * tresse_fabric::SECOND;

/// Published numbers, claims and the table must speak of schemes, patterns and metrics that there are.
fn check_names(experiment: &Experiment) -> Result<(), (&'static [&'static str], String)> {
    let known = |kind: &str, name: &str, names: &[&str]| {
        if names.contains(&name) {
            return Ok(());
        }
        let hint = did_you_mean(name, names.iter().copied());
        Err(format!("there is no {kind} `{name}`{hint} (there are: {})", names.join(", ")))
    };
    let schemes: Vec<&str> = experiment.schemes.keys().map(String::as_str).collect();
    let patterns: Vec<&str> = experiment.workloads.keys().map(String::as_str).collect();
    for v in &experiment.published.values {
        known("scheme", &v.scheme, &schemes).map_err(|e| (&["published"][..], e))?;
        known("pattern", &v.pattern, &patterns).map_err(|e| (&["published"][..], e))?;
        for metric in v.metrics.keys() {
            known("metric", metric, METRICS).map_err(|e| (&["published"][..], e))?;
        }
    }
    for metric in experiment.measure.table.iter().flatten() {
        known("metric", metric, METRICS).map_err(|e| (&["measure", "table"][..], e))?;
    }
    for claim in &experiment.claims {
        let wrong = |e: String| (&["claims"][..], format!("{}: {e}", claim.id));
        known("metric", &claim.metric, METRICS).map_err(wrong)?;
        for side in [&claim.left, &claim.right] {
            known("scheme", &side.scheme, &schemes).map_err(wrong)?;
            if let Some(pattern) = &side.pattern {
                known("pattern", pattern, &patterns).map_err(wrong)?;
            }
        }
    }
    Ok(())
}

type Built = (Arc<controllers::Scheme>, transport::Config);

/// The controllers of a scheme, and `base` with its ECN.
fn build_scheme(base: &transport::Config, scheme: &Scheme) -> Result<Built, (&'static str, String)> {
    let Some(controller) = controllers::find(&scheme.controller) else {
        let known: Vec<&str> = controllers::all().iter().map(controllers::Controller::name).collect();
        let hint = did_you_mean(&scheme.controller, known.iter().copied());
        let message =
            format!("there is no controller `{}`{hint} (there are: {})", scheme.controller, known.join(", "));
        return Err(("controller", message));
    };
    let weight = weight::of(controller, scheme).map_err(|e| ("utility", e))?;
    let weight = weight.map(|w| ("weight", w));
    let settings = scheme.parameters.iter().map(|(k, &v)| (k.as_str(), v)).chain(weight);
    let built = controllers::Scheme::new(controller, settings).map_err(|e| ("parameters", e.to_string()))?;
    check_rates(&built).map_err(|e| ("parameters", e))?;
    let ecn = scheme.ecn.unwrap_or(controller.needs_ecn());
    if controller.needs_ecn() && !ecn {
        return Err(("ecn", format!("{} needs ECN", controller.name())));
    }
    if controller.needs_exact_ce() && scheme.echo == Echo::Rfc3168 {
        return Err((
            "echo",
            format!("{} needs every mark counted: echo = \"dctcp\" or \"two-bit\"", controller.name()),
        ));
    }
    let config = transport::Config {
        ecn,
        echo: match scheme.echo {
            Echo::Rfc3168 => transport::Echo::Rfc3168,
            Echo::Dctcp => transport::Echo::Dctcp,
            Echo::TwoBit => transport::Echo::TwoBit,
        },
        ..*base
    };
    Ok((Arc::new(built), config))
}

/// THESIS (2.11): θ is at most Θ; 0 is none of them.
fn check_rates(scheme: &controllers::Scheme) -> Result<(), String> {
    let declared = scheme.controller().parameters();
    let value = |name: &str| declared.iter().zip(scheme.values()).find(|(p, v)| p.name == name && **v > 0);
    match (value("min_rate"), value("max_rate")) {
        (Some((p, min)), Some((_, max))) if min > max => {
            Err(format!("min_rate = {min} {} is above max_rate = {max} {0}", p.unit))
        }
        _ => Ok(()),
    }
}

/// The cases that `KEY=VALUE[,VALUE]…` names.
fn keep(cases: Vec<Case>, filter: &str) -> Result<Vec<Case>, LabError> {
    let bad = |message: String| LabError::Input(format!("--only {filter}: {message}"));
    let keys: IndexSet<&str> = cases.iter().flat_map(|c| c.axes().into_keys()).collect();
    let keys: Vec<&str> = keys.into_iter().collect();
    let (key, values) = filter
        .split_once('=')
        .ok_or_else(|| bad(format!("expected KEY=VALUE[,VALUE]…, with a key of {}", keys.join(", "))))?;
    if !keys.contains(&key) {
        let hint = did_you_mean(key, keys.iter().copied());
        return Err(bad(format!("there is no axis `{key}`{hint} (there are: {})", keys.join(", "))));
    }
    let wanted: Vec<&str> = values.split(',').map(str::trim).collect();
    let known: IndexSet<String> = cases.iter().filter_map(|c| c.axes().swap_remove(key)).collect();
    if let Some(unknown) = wanted.iter().find(|w| !known.contains(**w)) {
        let names = known.iter().map(String::as_str).filter(|k| k.parse::<u32>().is_err());
        let hint = did_you_mean(unknown, names);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(bad(format!("no case has {key} = {unknown}{hint} (there are: {})", known.join(", "))));
    }
    let is_wanted = |case: &Case| case.axes().get(key).is_some_and(|value| wanted.contains(&value.as_str()));
    Ok(cases.into_iter().filter(is_wanted).collect())
}
