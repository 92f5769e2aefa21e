//! What is compared between a controller and its reading.

use std::sync::Arc;

use tresse_controllers::{Group, Scheme, State, find};

use crate::readings::View;

mod balia;
mod dcm;
mod dctcp;
mod holnet;
mod lia;
mod meter;
mod olia;
mod standard;
mod steps;
mod trajectories;
mod xmp;

/// The controllers that have a reading.
const READ: [&str; 13] = [
    "balia",
    "dcm",
    "dctcp",
    "holnet_cc",
    "holnet_cc_ecn",
    "holnet_mcc",
    "holnet_mcc_ecn",
    "holnet_uta",
    "holnet_uta_ecn",
    "lia",
    "olia",
    "reno",
    "xmp",
];

/// `count` subflows under `name` with its default parameters.
fn group(name: &str, count: usize, initial_window: u32) -> Group {
    let controller = find(name).expect("it is built in");
    let scheme = Scheme::new(controller, []).expect("defaults lie in their ranges");
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
            }
        })
        .collect()
}
