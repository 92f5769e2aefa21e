//! Looks at an experiment before it is run: its cases, its thresholds against a BDP, and what else is compared when its
//! schemes are.

use indexmap::IndexMap;
use serde::Serialize;
use tresse_experiment::plan::bdp::{Bdp, PacketSizes};
use tresse_experiment::plan::network::{in_bytes, topology};
use tresse_experiment::plan::{differences, unmeasured};
use tresse_experiment::schema::fabric::Layered;
use tresse_experiment::schema::metrics::HOSTS;
use tresse_experiment::{Loaded, Plan};
use tresse_fabric::{PortConfig, Threshold};
use tresse_lab::Options;
use tresse_lab::forecast::{Forecast, Work, forecast, work};
use tresse_units::{Mark, Queue};

use crate::cases::Cases;
use crate::cores;
use crate::failure::Failure;
use crate::memory;
use crate::own_code::OwnCode;

/// What is known of an experiment that can be run.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// `tresse/check/1`.
    pub schema: &'static str,
    pub experiment: String,
    pub profile: &'static str,
    /// How many cases a run has, under each seed.
    pub cases: usize,
    /// Its networks: one for each variant, or one.
    pub networks: Vec<Network>,
    /// What there is to do in a run.
    pub work: Work,
    /// About how long that takes on this machine; `None` if that is not known.
    pub forecast: Option<Forecast>,
    /// What the files that it names say differently, or more, than is read of them; lists of values.
    pub notes: Vec<String>,
    /// What else is compared when the schemes are (`docs/fair.md`); empty if nothing is known.
    pub differences: Vec<String>,
}

/// The longest path of a network, and its thresholds.
#[derive(Debug, Clone, Serialize)]
pub struct Network {
    /// The variant; `None` if the experiment has none.
    pub variant: Option<String>,
    pub hosts: u32,
    /// The RTT of the longest shortest path between two hosts, empty, with the packets of `[transport]`.
    pub base_rtt_ns: f64,
    /// The rate of the slowest host's link.
    pub rate_bps: u64,
    /// What such a host sends in such a time.
    pub bdp_bytes: f64,
    /// By layer, or `all`: the threshold; null if the layer does not mark. `hosts` if hosts' NICs mark.
    pub mark_bytes: IndexMap<String, Option<u64>>,
    /// The same over the BDP.
    pub mark_over_bdp_ratio: IndexMap<String, Option<f64>>,
    /// What else makes switches mark: `classes`, `red`.
    pub marked_by: Vec<&'static str>,
    /// The rate of the slowest link, if that is no host's; its BDP is smaller by as much.
    pub bottleneck_bps: Option<u64>,
}

/// Checks an experiment. To find out how long it takes, some of its cases are begun, for a second in all; nothing is
/// stored.
///
/// # Errors
/// An error in the experiment, its files, the selection or the user's own code.
pub fn check(cases: &Cases, own: &OwnCode) -> Result<Checked, Failure> {
    let mut notes = Vec::new();
    own.load(&mut |note| notes.push(note))?;
    let (loaded, plan) = cases.load(&mut |note| notes.push(note))?;
    let networks = match loaded.variants.is_empty() {
        true => vec![network(None, &loaded)?],
        false => {
            let of = loaded.variants.iter().map(|own| network(Some(own.name.clone()), &own.loaded));
            of.collect::<Result<_, _>>()?
        }
    };
    let options = Options {
        profile: cases.experiment.profile,
        replications: loaded.experiment.replications.clone(),
        ..Options::default()
    };
    let options = cores::shared(&plan, options, None, None);
    notes.extend(unmeasured::notes(&loaded, &plan));
    notes.extend(plan.shared());
    notes.extend(of_first_windows(&plan));
    // What does not fit into memory is not begun.
    let fits = memory::check(&plan, &options).inspect_err(|failure| notes.push(failure.to_string())).is_ok();
    Ok(Checked {
        schema: "tresse/check/1",
        experiment: loaded.source.name.clone(),
        profile: cases.experiment.profile.name(),
        cases: plan.cases.len(),
        networks,
        work: work(&plan, &options),
        forecast: fits.then(|| forecast(&plan, &options)).flatten(),
        notes,
        differences: differences::notes(&loaded, &plan),
    })
}

/// Schemes whose first window alone overflows the queue of a port.
fn of_first_windows(plan: &Plan) -> Option<String> {
    let mut over: IndexMap<String, u32> = IndexMap::new();
    for case in &plan.cases {
        for own in case.bound_schemes.iter().filter(|own| !own.controllers.controller().reports()) {
            let (window, packet) = (own.transport.initial_window, own.transport.mss + own.transport.header);
            let overflows = |port: &PortConfig| match port.limit {
                Threshold::UNLIMITED => false,
                limit if limit.is_bytes() => u64::from(window) * u64::from(packet) > limit.value(),
                limit => u64::from(window) > limit.value(),
            };
            if case.setting.fabric.configs.iter().any(overflows) {
                over.insert(own.label(), window);
            }
        }
    }
    let names: Vec<String> =
        over.iter().map(|(label, window)| format!("{label} ({window} packets)")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the first window is longer than a port's queue: {}. One flow alone loses packets there: a smaller \
             `initial_window`, or a longer `queue`",
            names.join(", ")
        )
    })
}

fn network(variant: Option<String>, loaded: &Loaded) -> Result<Network, Failure> {
    let loaded = &*in_bytes(loaded)?;
    let (topology, sizes) = (topology(loaded)?, PacketSizes::of(loaded)?);
    let bdp = Bdp::of(&topology, sizes);
    let bytes = |mark: Mark| match mark.length() {
        Queue::Packets(n) => Some(n * u64::from(sizes.data)),
        Queue::Bytes(n) => Some(n),
        Queue::Unlimited => None,
    };
    let fabric = &loaded.experiment.fabric;
    let mut mark_bytes = match &fabric.mark {
        Layered::All(mark) => IndexMap::from([("all".to_owned(), bytes(*mark))]),
        Layered::Each(each) => each.iter().map(|(layer, mark)| (layer.clone(), bytes(*mark))).collect(),
    };
    if let Some(own) = bytes(fabric.host_mark) {
        mark_bytes.insert(HOSTS.to_owned(), Some(own));
    }
    let ratio = |own: &Option<u64>| own.map(|own| own as f64 / bdp.bytes());
    let in_classes = fabric.classes.iter().any(|class| class.mark.is_some() || class.share.is_some());
    let others = [(in_classes, "classes"), (fabric.red.is_some(), "red")];
    let slowest = topology.configs.iter().map(|port| port.rate).min();
    Ok(Network {
        variant,
        hosts: topology.hosts(),
        base_rtt_ns: bdp.base_rtt as f64 / 1e3,
        rate_bps: bdp.rate,
        bdp_bytes: bdp.bytes(),
        mark_over_bdp_ratio: mark_bytes.iter().map(|(layer, own)| (layer.clone(), ratio(own))).collect(),
        mark_bytes,
        marked_by: others.into_iter().filter_map(|(has, name)| has.then_some(name)).collect(),
        bottleneck_bps: slowest.filter(|&rate| rate < bdp.rate),
    })
}
