//! From an experiment to its cases: every point of the axes scheme, subflows, pattern and variant.

pub mod applications;
mod axes;
pub mod bdp;
pub mod bound_scheme;
mod capacities;
pub mod case_builder;
mod check;
pub mod compatibility;
pub mod differences;
mod fidelity;
pub mod flow_control;
mod flow_members;
pub mod flow_sizes;
pub mod host_sets;
pub mod ignored;
pub mod link_events;
pub mod network;
pub mod owners;
pub mod packets;
pub mod parts;
pub mod patterns;
pub mod port_options;
pub mod presets;
pub mod schema;
mod setting_hint;
pub mod single_links;
pub mod spraying;
pub mod topologies;
pub mod unmeasured;
pub mod utility_weight;
pub mod windows;

use std::iter;
use std::ops::RangeInclusive;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use tresse_fabric::Topology;
use tresse_units::{Duration, MICROSECOND, Time};

use crate::diagnostic::{Diagnostic, Wrong, did_you_mean};
pub use crate::plan::axes::AxisValue;
use crate::plan::bound_scheme::{BoundScheme, OnFabric};
use crate::plan::capacities::Capacities;
use crate::plan::link_events::Change;
use crate::plan::network::Routing;
use crate::plan::owners::{Owner, Owners};
use crate::plan::packets::Packets;
use crate::plan::parts::{Member, Part};
use crate::plan::port_options::PortOptions;
use crate::plan::windows::Window;
use crate::read::{self, Loaded, Profile, Source};
use crate::schema::Experiment;
use crate::schema::bounds::LONGEST;
use crate::schema::fidelity::Fidelity;
use crate::schema::measure::{Criterion, RecoveryCriterion};
use crate::schema::slice::{self, Slice};
use crate::schema::wanted::Wanted;

/// One point of the axes.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of its scheme; if the workload names all schemes itself, their names.
    pub scheme: String,
    /// The subflows that a connection should have; `None` if its path manager decides, or if there
    /// are several schemes.
    pub subflows: Option<u32>,
    /// The name of its workload.
    pub pattern: String,
    /// The name of its variant; `None` if the experiment has none.
    pub variant: Option<String>,
    /// Its values on the axes made by lists of values, as far as they matter to it.
    pub at: Vec<AxisValue>,
    /// What it has in common with the other cases of its variant.
    pub setting: Arc<Setting>,
    /// What carries its flows; at least one.
    pub bound_schemes: Vec<BoundScheme>,
    /// What runs at the same time.
    pub parts: Vec<Part>,
    /// The names of the groups of its flows; a single one without a name if there is nothing to distinguish.
    pub groups: Vec<String>,
    /// When it ends at the latest, ps.
    pub duration: Option<Time>,
}

impl Case {
    /// The axes with their values, as `--only` takes them. There is no number of subflows if the path manager
    /// decides.
    pub fn axes(&self) -> IndexMap<&str, String> {
        let subflows = self.subflows.map(|n| ("subflows", n.to_string()));
        let scheme = iter::once(("scheme", self.scheme.clone()));
        let pattern = iter::once(("pattern", self.pattern.clone()));
        let variant = self.variant.iter().map(|name| ("variant", name.clone()));
        let lists = self.at.iter().map(|value| (&*value.name, value.text()));
        scheme.chain(subflows).chain(pattern).chain(variant).chain(lists).collect()
    }

    /// Whether it is one of the wanted cases.
    pub fn is(&self, wanted: &Wanted) -> bool {
        let axes = self.axes();
        wanted.matches(|axis| axes.get(axes::name(axis, std::slice::from_ref(self))))
    }

    /// When it ends at the latest, ps: after its duration, or when its last flow is stopped. `None` if that is not known.
    pub fn ends_by(&self) -> Option<Time> {
        let ending = self.parts.iter().map(|part| &part.pattern).filter(|pattern| !pattern.is_endless());
        let stops: Option<Vec<Time>> = ending.map(|pattern| pattern.stops_by).collect();
        self.duration.into_iter().chain(stops.and_then(|all| all.into_iter().max())).min()
    }

    /// A readable name: `xmp-2 permutation`, `opn permutation` if the path manager decides, `xmp-2 permutation
    /// queue-50` for a variant, `xmp-2 permutation load=0.5` on the axis of a list.
    pub fn label(&self) -> String {
        let variant = self.variant.iter().map(|name| format!(" {name}")).collect::<String>();
        let lists =
            self.at.iter().map(|value| format!(" {}={}", value.name, value.text())).collect::<String>();
        format!("{} {}{variant}{lists}", self.scheme_label(), self.pattern)
    }

    /// Its scheme with the number of subflows, unless the path manager decides: `xmp-2`.
    pub fn scheme_label(&self) -> String {
        self.subflows.map_or_else(|| self.scheme.clone(), |n| format!("{}-{n}", self.scheme))
    }

    /// Its network and its scheme, for messages that come from another program: without a workload and without an
    /// end. `persistent`: messages from one host to another share a connection. `None` if there are several
    /// schemes.
    pub fn of_messages(mut self, persistent: bool) -> Option<Self> {
        self.bound_scheme()?;
        let part = self.parts.swap_remove(0);
        self.parts = vec![part.of_messages(Member { bound_scheme: 0, group: 0 }, persistent)];
        self.groups = vec![String::new()];
        self.duration = None;
        Some(self)
    }

    /// Whether some of its flows make up jobs.
    pub fn has_jobs(&self) -> bool {
        self.parts.iter().any(|p| p.pattern.has_jobs())
    }

    /// Whether its flows have sizes and come one by one, so that completion times are what counts.
    pub fn is_of_arrivals(&self) -> bool {
        self.parts.iter().all(|p| p.pattern.arrivals && p.application.is_none())
    }

    /// The bound scheme of all its flows; `None` if there are several.
    pub fn bound_scheme(&self) -> Option<&BoundScheme> {
        match &self.bound_schemes[..] {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The bound scheme of the flows in this group of the results, the first one if there are several; `None` if there
    /// is no such group.
    pub fn bound_scheme_of(&self, group: &str) -> Option<&BoundScheme> {
        let group = self.groups.iter().position(|own| own == group)?;
        let member = self.parts.iter().find_map(|part| part.member_of(group))?;
        Some(&self.bound_schemes[member.bound_scheme])
    }

    /// The load balancer that decides the paths of packets, if the flows do not: at most one in a case.
    pub fn nodes(&self) -> Option<&Routing> {
        self.bound_schemes.iter().map(|c| &*c.routing).find(|r| matches!(r, Routing::Nodes { .. }))
    }
}

/// What the cases of a variant have in common, or all cases if there are no variants: the network, and what is
/// measured.
#[derive(Debug, Clone)]
pub struct Setting {
    pub fidelity: Fidelity,
    pub fabric: Topology,
    /// The options of its ports beyond a queue with a threshold.
    pub options: PortOptions,
    /// The changes of its links.
    pub changes: Vec<Change>,
    /// Whether the ports' totals are recorded.
    pub links: bool,
    /// The interval between samples, ps; no samples if `None`.
    pub samples: Option<Time>,
    /// The windows of time to report; empty without samples.
    pub windows: Vec<Window>,
    /// The slices of flows that have metrics of their own.
    pub slices: IndexMap<String, Slice>,
    /// The interval between observations of the queues, ps; no observations if `None`.
    pub queues: Option<Time>,
    /// Whether RTTs are recorded.
    pub rtt: bool,
    /// The criterion of convergence; no convergence times if `None`.
    pub convergence: Option<Criterion>,
    /// The criterion of recovery from changes of links; no recovery times if `None`.
    pub recovery: Option<RecoveryCriterion>,
    /// Which packets are recorded; none if `None`.
    pub packets: Option<Packets>,
}

/// An experiment, ready to run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The cases, in the order of the file: at least one.
    pub cases: Vec<Case>,
    /// The selection, as it was given: `KEY=VALUE[,VALUE]…`.
    pub only: Vec<String>,
}

impl Plan {
    /// What the profile changed in these cases: path, the file's value, the profile's. Without what a setting
    /// changed again.
    pub fn cuts<'a>(&'a self, loaded: &'a Loaded) -> impl Iterator<Item = &'a (String, String, String)> {
        let is_used = |path: &str| {
            let mut keys = path.split('.');
            match (keys.next(), keys.next()) {
                (Some("workloads"), Some(name)) => self.cases.iter().any(|c| c.pattern == name),
                (Some("schemes"), Some(name)) => {
                    self.cases.iter().flat_map(|c| &c.bound_schemes).any(|c| c.scheme == name)
                }
                (Some("variants"), Some(name)) => {
                    self.cases.iter().any(|c| c.variant.as_deref() == Some(name))
                }
                _ => true,
            }
        };
        loaded.cuts.iter().filter(move |(path, ..)| is_used(path) && !loaded.is_set(path))
    }

    /// The network of the first case, which is that of all if there are no variants.
    pub fn fabric(&self) -> &Topology {
        &self.cases[0].setting.fabric
    }
}

/// Reads `source`, applies the profile, the variants if there are any, and then the settings `PATH=VALUE`. A key at the
/// top that is none of an experiment's is taken for another crate's, and read as it is written: [`Owners::load`] asks its
/// owner.
///
/// # Errors
/// The first error, with its location in the file, or the setting that caused it.
pub fn load(source: Source, profile: Profile, settings: &[String]) -> Result<Loaded, Diagnostic> {
    Owners::some(&[]).load(source, profile, settings)
}

/// Checks what a type cannot, and builds the cases that `only` (`KEY=VALUE[,VALUE]…`) keeps.
///
/// # Errors
/// The first error, with its location in the file.
pub fn resolve(loaded: &Loaded, only: &[String]) -> Result<Plan, Diagnostic> {
    resolve_with(&[], loaded, only)
}

/// As [`resolve`]; the owners of other keys check what these refer to.
fn resolve_with(owners: &[Owner], loaded: &Loaded, only: &[String]) -> Result<Plan, Diagnostic> {
    read::case_count::check(loaded)?;
    let mut cases = Vec::new();
    let (names, capacities) = (axes::Names::of(loaded), Capacities::default());
    if loaded.variants.is_empty() {
        cases = axes::cases(loaded, None, &names, &capacities)?;
    }
    for variant in &loaded.variants {
        let mut own = axes::cases(&variant.loaded, Some(&variant.name), &names, &capacities)?;
        for filter in &variant.only {
            let wrong = |e: String| loaded.error_at(&["variants", &variant.name, "only"], &e);
            own = keep(own, filter).map_err(wrong)?;
        }
        cases.extend(own);
    }
    check_measure(&loaded.experiment, &cases).map_err(|e| loaded.error(e))?;
    for owner in owners {
        (owner.check)(&loaded.experiment, &cases, loaded.is_as_written()).map_err(|e| loaded.error(e))?;
    }
    for filter in only {
        cases = keep(cases, filter).map_err(|e| Diagnostic::input(e).of(format!("--only {filter}")))?;
    }
    // What is left out may be beyond rounds.
    for case in &cases {
        let variant =
            case.variant.as_ref().and_then(|name| loaded.variants.iter().find(|own| own.name == *name));
        let own = variant.map_or(loaded, |own| &own.loaded);
        fidelity::refusal(case).map_or(Ok(()), |message| Err(own.error_at(&["fidelity"], &message)))?;
    }
    Ok(Plan { cases, only: only.to_vec() })
}

/// Checks that slices are of groups that exist, and that the table shows metrics that exist.
fn check_measure(experiment: &Experiment, cases: &[Case]) -> Result<(), Wrong> {
    let measure = &experiment.measure;
    let groups = cases.iter().filter(|case| case.groups.len() > 1).flat_map(|case| &case.groups);
    let groups: IndexSet<&str> = groups.map(String::as_str).collect();
    // A variant may have others.
    for own in cases.chunk_by(|a, b| Arc::ptr_eq(&a.setting, &b.setting)) {
        slice::check(&own[0].setting.slices, &groups)?;
    }
    let mut metrics = measure.table.iter().flatten();
    metrics.try_for_each(|metric| {
        slice::check_metric(metric, &measure.slices).map_err(|e| Wrong::new(["measure", "table"], e))
    })
}

/// All cases of an experiment without variants, or of one variant.
fn cases(loaded: &Loaded, variant: Option<&str>, capacities: &Capacities) -> Result<Vec<Case>, Diagnostic> {
    let loaded = &*network::in_bytes(loaded)?;
    let experiment = &loaded.experiment;
    let wrong = |path: &[&str], message: String| loaded.error_at(path, &message);
    let wrong_below = |e: Wrong| loaded.error(e);
    let (fabric, routing) = network::build(&experiment.fabric, &experiment.changes).map_err(wrong_below)?;
    network::check_hosts(&experiment.fabric, experiment.transport.profile).map_err(wrong_below)?;
    let common = experiment.transport.config().map_err(|(key, e)| wrong(&["transport", key], e))?;
    let schemes = bound_scheme::schemes(loaded, &fabric, &routing, &common)?;
    let fixed: Vec<_> =
        schemes.iter().map(|(name, s)| (*name, matches!(*s.routing, Routing::Fixed(_)))).collect();
    let changes = link_events::resolve(&experiment.changes, &fabric, &fixed).map_err(wrong_below)?;
    let measure = &experiment.measure;
    let interval = |key, interval: Option<Duration>| match interval.map(|i| i.0) {
        Some(i) if !INTERVALS.contains(&i) => {
            Err(wrong(&["measure", key], "an interval of 1us to 1000s".into()))
        }
        interval => Ok(interval),
    };
    let samples = interval("samples", measure.samples)?;
    let queues = interval("queues", measure.queues)?;
    let packets = schemes.values().map(|s| s.transport.mss + s.transport.header);
    let packet = packets.max().unwrap_or(common.mss + common.header);
    let options = PortOptions::new(&experiment.fabric, &fabric, &changes, packet).map_err(wrong_below)?;
    let (links, rtt) = (measure.links, measure.rtt);
    let (windows, convergence, recovery) = (windows(loaded)?, convergence(loaded)?, recovery(loaded)?);
    let packets = packets::resolve(loaded, &fabric)?;
    let slices = measure.slices.clone();
    let setting = Arc::new(Setting {
        fabric,
        fidelity: experiment.fidelity,
        options,
        changes,
        links,
        samples,
        windows,
        slices,
        queues,
        rtt,
        convergence,
        recovery,
        packets,
    });
    let builder = case_builder::Builder::new(loaded, variant, &setting, &schemes, capacities);
    let mut cases = Vec::new();
    for (pattern, workload) in &experiment.workloads {
        for axis in axis(&schemes) {
            let (case, uses_axis) = builder.case(pattern, workload, axis)?;
            cases.push(case);
            if !uses_axis {
                break; // it names all schemes itself: every point of the axis is the same
            }
        }
    }
    if cases.is_empty() {
        return Err(Diagnostic::input("no scheme or no workload").of(&loaded.source.name));
    }
    Ok(cases)
}

/// The windows of time.
fn windows(loaded: &Loaded) -> Result<Vec<Window>, Diagnostic> {
    let measure = &loaded.experiment.measure;
    let window = |(name, [from, to]): (&String, &[Duration; 2])| {
        let wrong = |message| Err(loaded.error_at(&["measure", "windows", name], message));
        match (from.0, to.0) {
            _ if measure.samples.is_none() => {
                wrong("windows are summed from samples: set `samples = \"10ms\"` in [measure]")
            }
            (from, to) if from >= to => wrong("two times, the earlier one first, such as [\"12s\", \"20s\"]"),
            (from, to) => Ok(Window { name: name.clone(), from, to }),
        }
    };
    measure.windows.iter().map(window).collect()
}

/// The criterion of convergence, if it is requested.
fn convergence(loaded: &Loaded) -> Result<Option<Criterion>, Diagnostic> {
    let measure = &loaded.experiment.measure;
    let Some(keys) = &measure.convergence else { return Ok(None) };
    let wrong =
        |key: &[&str], message: &str| loaded.error_at(&[&["measure", "convergence"], key].concat(), message);
    if measure.samples.is_none() {
        return Err(wrong(&[], "rates come from samples: set `samples = \"10ms\"` in [measure]"));
    }
    if !(keys.within > 0.0 && keys.within < 1.0) {
        return Err(wrong(&["within"], "a share above 0 and below 1, such as 0.1"));
    }
    if !INTERVALS.contains(&keys.hold.0) {
        return Err(wrong(&["for"], "a time of 1us to 1000s"));
    }
    Ok(Some(Criterion { within: keys.within, hold: keys.hold.0 }))
}

/// The criterion of recovery, if it is requested.
fn recovery(loaded: &Loaded) -> Result<Option<RecoveryCriterion>, Diagnostic> {
    /// Intervals that the goodput has to stay, unless a time is given.
    const INTERVALS_HELD: u64 = 10;
    let measure = &loaded.experiment.measure;
    let Some(keys) = &measure.recovery else { return Ok(None) };
    let wrong =
        |key: &[&str], message: &str| loaded.error_at(&[&["measure", "recovery"], key].concat(), message);
    let Some(samples) = measure.samples else {
        return Err(wrong(&[], "goodput over time comes from samples: set `samples = \"1ms\"` in [measure]"));
    };
    if !(keys.share > 0.0 && keys.share <= 1.0) {
        return Err(wrong(&["share"], "a share of the former goodput above 0 and at most 1, such as 0.9"));
    }
    let hold = keys.hold.map_or(INTERVALS_HELD * samples.0, |own| own.0);
    if keys.hold.is_some() && !INTERVALS.contains(&hold) {
        return Err(wrong(&["for"], "a time of 1us to 1000s"));
    }
    Ok(Some(RecoveryCriterion { share: keys.share, hold }))
}

/// The points of the axes scheme and subflows; a single one without a scheme if only workloads name schemes.
fn axis<'a>(schemes: &IndexMap<&'a str, OnFabric>) -> Vec<Option<(&'a str, u32)>> {
    let on_axis = schemes.iter().filter(|(_, s)| s.scheme.axis != Some(false));
    let points = on_axis.flat_map(|(&name, s)| s.counts.iter().map(move |&n| Some((name, n))));
    let points: Vec<_> = points.collect();
    if points.is_empty() && !schemes.is_empty() { vec![None] } else { points }
}

/// The intervals of measurements, ps.
const INTERVALS: RangeInclusive<Time> = MICROSECOND..=LONGEST;

/// The cases that `KEY=VALUE[,VALUE]…` names, or what is wrong with it.
fn keep(cases: Vec<Case>, filter: &str) -> Result<Vec<Case>, String> {
    let keys: IndexSet<&str> = cases.iter().flat_map(|c| c.axes().into_keys()).collect();
    let keys: Vec<&str> = keys.into_iter().collect();
    let wanted = Wanted::parse(filter)
        .ok_or_else(|| format!("expected KEY=VALUE[,VALUE]…, with a key of {}", keys.join(", ")))?;
    for (key, values) in wanted.axes() {
        let key = axes::name(key, &cases);
        if !keys.contains(&key) {
            let hint = did_you_mean(key, keys.iter().copied());
            return Err(format!("there is no axis `{key}`{hint} (available: {})", keys.join(", ")));
        }
        if let Some(wrong) = wanted.joined() {
            return Err(wrong);
        }
        let known: IndexSet<String> = cases.iter().filter_map(|c| c.axes().swap_remove(key)).collect();
        if let Some(unknown) = values.iter().find(|value| !known.contains(*value)) {
            let names = known.iter().map(String::as_str).filter(|k| k.parse::<u32>().is_err());
            let hint = did_you_mean(unknown, names);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(format!("no case has {key} = {unknown}{hint} (available: {})", known.join(", ")));
        }
    }
    Ok(cases.into_iter().filter(|case| case.is(&wanted)).collect())
}
