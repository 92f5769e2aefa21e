//! What else is compared when schemes are: ways in which they differ besides what a scheme is, and hosts that decide
//! the result instead of them.

use std::fmt::Write;

use indexmap::{IndexMap, IndexSet};
use tresse_fabric::Threshold;
use tresse_transport::BufferRule;
use tresse_units::{Bytes, Duration, HostQueue, Mark, Queue};

use crate::plan::Plan;
use crate::plan::bound_scheme::BoundScheme;
use crate::read::{Loaded, built_in};
use crate::schema::fabric::Layered;

/// More names than this are counted.
const MOST_NAMES: usize = 4;

/// What a reader of the results should know before they are compared, a sentence each (`docs/fair.md`).
pub fn notes(loaded: &Loaded, plan: &Plan) -> Vec<String> {
    let mut schemes: IndexMap<&str, &BoundScheme> = IndexMap::new();
    for own in plan.cases.iter().flat_map(|case| &case.bound_schemes) {
        schemes.entry(&own.scheme).or_insert(own);
    }
    let variants = loaded.variants.iter().map(|variant| &variant.loaded);
    let all: Vec<&Loaded> = if loaded.variants.is_empty() { vec![loaded] } else { variants.collect() };
    let mut notes: IndexSet<String> = IndexSet::new();
    notes.extend(all.iter().filter_map(|own| of_hosts(own)));
    notes.extend(of_marks(loaded, plan, &schemes));
    notes.extend(all.iter().flat_map(|own| of_profiles(own, &schemes)));
    notes.extend(of_schemes(&schemes));
    notes.extend(all.iter().filter_map(|own| of_thresholds(own, &schemes)));
    notes.into_iter().collect()
}

/// Nothing controls the queue in a host's NIC; or, which the papers' experiments do on purpose, windows that wait for
/// marks overflow it.
fn of_hosts(loaded: &Loaded) -> Option<String> {
    let fabric = &loaded.experiment.fabric;
    let Some(HostQueue::Fifo(limit)) = fabric.host_queue.filter(|_| fabric.host_mark == Mark::UNLIMITED)
    else {
        return None;
    };
    let is_own = built_in::find(&loaded.source.name).is_none();
    match limit {
        Queue::Unlimited => Some(
            "hosts' NICs neither mark, drop nor hold back (host_queue = \"unlimited\"): `tresse explain hosts`"
                .to_owned(),
        ),
        _ if is_own && fabric.mark != Layered::All(Mark::UNLIMITED) => Some(
            "switches mark (`mark`), but hosts' own NICs only drop: set `host_mark` to make them mark too".to_owned(),
        ),
        _ => None,
    }
}

/// Schemes that listen for marks where no port marks, unless it is so in a paper.
fn of_marks(loaded: &Loaded, plan: &Plan, schemes: &IndexMap<&str, &BoundScheme>) -> Option<String> {
    let fabric = &loaded.experiment.fabric;
    let packet = schemes.values().map(|own| own.transport.mss + own.transport.header).max().unwrap_or(1500);
    let bytes = |own: Threshold| match own {
        Threshold::UNLIMITED => u64::MAX,
        own if own.is_bytes() => own.value(),
        own => own.value() * u64::from(packet),
    };
    let ports = || plan.cases.iter().flat_map(|case| &case.setting.fabric.configs);
    // A queue that is full at K drops the packet that would be marked.
    let with_threshold = || ports().filter(|port| port.mark != Threshold::UNLIMITED);
    let (all, useless) = with_threshold().fold((0, 0), |(all, useless), port| {
        (all + 1, useless + usize::from(bytes(port.mark) >= bytes(port.limit)))
    });
    if all > 0 && useless == 0
        || fabric.red.is_some()
        || !fabric.classes.is_empty()
        || built_in::find(&loaded.source.name).is_some()
    {
        return None;
    }
    let listens = schemes.iter().filter(|(_, own)| own.controllers.controller().needs_ecn());
    let names: Vec<&str> = listens.map(|(name, _)| *name).collect();
    let why = match (all, useless) {
        (0, _) => "no port marks (`fabric.mark`, `fabric.red`)".to_owned(),
        _ if all == useless => {
            "no port marks (every queue is full before it is above `fabric.mark`)".to_owned()
        }
        _ => format!(
            "{} % of the ports with a threshold never mark, because their queue is full before (`mark`, `host_mark`)",
            (100 * useless).div_ceil(all)
        ),
    };
    let there = if useless < all { "there " } else { "" };
    (!names.is_empty())
        .then(|| format!("{why}, so {there}these schemes hear of losses only: {}", names_of(&names)))
}

/// Keys of `[transport]` that do not apply to schemes with their own profile.
fn of_profiles(loaded: &Loaded, schemes: &IndexMap<&str, &BoundScheme>) -> Vec<String> {
    let experiment = &loaded.experiment;
    let mut same: IndexMap<Vec<(String, String, String)>, Vec<&str>> = IndexMap::new();
    for name in schemes.keys() {
        let Some(own) = experiment.schemes.get(*name).and_then(|scheme| scheme.transport.as_ref()) else {
            continue;
        };
        let differs = experiment.transport.not_of_scheme(own);
        if !differs.is_empty() {
            same.entry(differs).or_default().push(name);
        }
    }
    let told = |(differs, names): (Vec<(String, String, String)>, Vec<&str>)| {
        let keys = differs.iter().map(|(key, common, own)| format!("{key} = {own}, not {common}"));
        let keys: Vec<String> = keys.collect();
        format!("[transport] does not reach {} (own `profile`): {}", names_of(&names), keys.join("; "))
    };
    same.into_iter().map(told).collect()
}

/// How the transports of schemes differ.
fn of_schemes(schemes: &IndexMap<&str, &BoundScheme>) -> Option<String> {
    type Value = fn(&BoundScheme) -> String;
    let of: [(&str, Value); 8] = [
        ("packets", |own| Bytes(u64::from(packet(own))).to_string()),
        ("smallest timeout", |own| Duration(own.transport.rto_min).to_string()),
        ("packets per ACK", |own| own.transport.delayed_ack.every.to_string()),
        ("what waits in a host", |own| Bytes(own.transport.port_limit).to_string()),
        ("receive buffer", |own| {
            own.transport.receive_buffer.map_or("none".to_owned(), |buffer| match buffer.rule {
                BufferRule::Fixed => Bytes(buffer.bytes).to_string(),
                BufferRule::Linux { most } => format!("linux {}", Bytes(most)),
            })
        }),
        ("handshake", |own| if own.transport.handshake { "yes" } else { "no" }.to_owned()),
        ("pacing", |own| if own.transport.pacing { "yes" } else { "no" }.to_owned()),
        ("initial window", |own| match own.controllers.controller().reports() {
            true => "the controller's".to_owned(),
            false => format!("{}pkt", own.transport.initial_window),
        }),
    ];
    let mut told = String::new();
    for (name, value) in of {
        let mut values: IndexMap<String, Vec<&str>> = IndexMap::new();
        schemes.iter().for_each(|(scheme, own)| values.entry(value(own)).or_default().push(scheme));
        if values.len() > 1 {
            let values = values.iter().map(|(value, names)| format!("{value} for {}", names_of(names)));
            let values: Vec<String> = values.collect();
            let _ = write!(told, "{}{name} ({})", if told.is_empty() { "" } else { ", " }, values.join("; "));
        }
    }
    (!told.is_empty()).then(|| format!("besides their controllers and paths, the schemes differ in: {told}"))
}

/// K in packets where packets have several sizes.
fn of_thresholds(loaded: &Loaded, schemes: &IndexMap<&str, &BoundScheme>) -> Option<String> {
    let packets: IndexSet<u32> = schemes.values().map(|own| packet(own)).collect();
    let mark = match &loaded.experiment.fabric.mark {
        Layered::All(mark) => *mark,
        Layered::Each(each) => *each.values().find(|mark| matches!(mark.length(), Queue::Packets(_)))?,
    };
    let Queue::Packets(k) = mark.length() else { return None };
    let (least, most) = (packets.iter().min()?, packets.iter().max()?);
    (least != most).then(|| {
        let bytes = |packet: &u32| Bytes(k * u64::from(*packet));
        format!(
            "mark = \"{mark}\" is {} for the smallest packets and {} for the largest: set it in bytes to compare these \
             schemes",
            bytes(least),
            bytes(most)
        )
    })
}

/// The size of a scheme's packets on the wire, bytes.
fn packet(own: &BoundScheme) -> u32 {
    own.transport.mss + own.transport.header
}

fn names_of(names: &[&str]) -> String {
    match names.len().checked_sub(MOST_NAMES) {
        None | Some(0) => names.join(", "),
        Some(rest) => format!("{} and {rest} more", names[..MOST_NAMES].join(", ")),
    }
}
