//! What is compared between a controller and its reading.

use std::sync::Arc;

use tresse_controllers::{ConfiguredController, Group, State, built_in, find};

use crate::readings::View;

mod alias;
mod alone;
mod amp;
mod balia;
mod bos;
mod cubic;
mod dcm;
mod dctcp;
mod holnet;
mod holnet_uta;
mod lia;
mod linux_dctcp;
mod meter;
mod odctcp;
mod olia;
mod sprayed;
mod standard;
mod steps;
mod thesis;
mod trajectories;
mod vmcc;
mod wvegas;
mod xmp;

/// The controllers that have a reading, beside those of `sprayed`; their second names are in `alias.rs`.
const READ: [&str; 31] = [
    "amp",
    "balia",
    "bos",
    "coupled_t31",
    "cubic",
    "dcm",
    "dctcp",
    "eutcp",
    "ewtcp",
    "halving",
    "hmptcp",
    "holnet_cc",
    "holnet_cc_cos",
    "holnet_cc_cos_ecn",
    "holnet_cc_ecn",
    "holnet_mcc",
    "holnet_mcc_cos",
    "holnet_mcc_cos_ecn",
    "holnet_mcc_ecn",
    "holnet_uta",
    "holnet_uta_ecn",
    "lia",
    "odctcp",
    "olia",
    "reno",
    "semicoupled",
    "vmcc",
    "wmptcp",
    "wutcp",
    "wvegas",
    "xmp",
];

/// And those of them that are another rule with other parameters.
const VARIANTS: [(&str, &[(&str, u64)]); 23] = [
    ("eutcp", &[("gamma", 1000)]),
    ("eutcp", &[("gamma", 1100)]),
    ("eutcp", &[("gamma", 2000)]),
    ("eutcp", &[("gamma", 1000), ("exact", 1)]),
    ("eutcp", &[("exact", 1)]),
    ("eutcp", &[("gamma", 2000), ("exact", 1)]),
    ("eutcp", &[("gamma_0", 1500), ("gamma_1", 500)]),
    ("eutcp", &[("gamma_0", 1500), ("gamma_1", 500), ("gamma_3", 2000), ("exact", 1)]),
    ("ewtcp", &[("rule", 2)]),
    // Elastic with a least rate, hard real-time, and between two bounds: 10 packets in 100 us are 1.2 Gbit/s.
    ("holnet_cc_cos", &[("min_rate", 1_000_000)]),
    ("holnet_cc_cos", &[("min_rate", 3_000_000), ("max_rate", 3_000_000)]),
    ("holnet_cc_cos_ecn", &[("min_rate", 1000), ("max_rate", 2_000_000), ("r_max", 15_000), ("r_min", 0)]),
    ("holnet_mcc_cos", &[("min_rate", 1_000_000)]),
    ("holnet_mcc_cos", &[("min_rate", 3_000_000), ("max_rate", 3_000_000)]),
    ("holnet_mcc_cos_ecn", &[("min_rate", 1000), ("max_rate", 2_000_000), ("r_max", 15_000), ("r_min", 0)]),
    ("hmptcp", &[("omega_0", 750), ("omega_1", 250)]),
    ("wmptcp", &[("omega_0", 750), ("omega_1", 250), ("omega_3", 1)]),
    ("wutcp", &[("rule", 1)]),
    ("wutcp", &[("rule", 3)]),
    ("wutcp", &[("omega", 1)]),
    ("wutcp", &[("omega", 500)]),
    ("wutcp", &[("omega_0", 750), ("omega_1", 250), ("omega_3", 1)]),
    ("wutcp", &[("omega", 500), ("omega_1", 1000)]),
];

/// What is no second name is read.
#[test]
fn every_controller_has_a_reading() {
    for controller in built_in() {
        let (name, alias) = (controller.name(), controller.alias_of());
        let read = READ.contains(&name) || sprayed::READ.contains(&name);
        assert!(alias.is_some() || read, "{name} has no reading");
    }
}

/// A name and what is set of its parameters.
type Variant = (&'static str, &'static [(&'static str, u64)]);

/// All that is compared.
fn variants() -> impl Iterator<Item = Variant> {
    READ.map(|name| (name, &[][..])).into_iter().chain(VARIANTS)
}

/// `count` subflows under `name` with its default parameters.
fn group(name: &str, count: usize, initial_window: u32) -> Group {
    group_with(name, &[], count, initial_window)
}

/// The same with `settings` in place of some defaults.
fn group_with(name: &str, settings: &[(&str, u64)], count: usize, initial_window: u32) -> Group {
    let controller = find(name).expect("it is built in");
    let scheme =
        ConfiguredController::new(controller, settings.iter().copied()).expect("values lie in their ranges");
    Group::new(Arc::new(scheme), count, initial_window)
}

/// The subflows as the equations see them.
fn views(group: &Group) -> Vec<View> {
    (0..group.len())
        .map(|i| {
            let s = &group[i];
            View {
                window: f64::from(s.cwnd),
                threshold: f64::from(s.ssthresh),
                rtt: if s.srtt == 0 { f64::INFINITY } else { f64::from(s.srtt) },
                reduced: matches!(s.state, State::Cwr | State::Recovery),
                open: s.state == State::Open,
                limited: s.cwnd_limited == 1,
                found: f64::from(s.cwnd),
                packet: f64::from(s.mss),
                fraction: 0.0,
                unsure: 0.0,
            }
        })
        .collect()
}
