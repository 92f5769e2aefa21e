//! The controllers over QUIC: the same windows as for the same events elsewhere, and coupling on noq's state
//! machines.

mod coupling;
mod loopback;
mod network;
mod played;
mod refused;
mod rules;
mod script;

use std::sync::Arc;

use tresse_controllers::{ConfiguredController, find};
use tresse_quic::CoupledFactory;

/// A built-in controller with its defaults.
fn scheme(name: &str) -> Arc<ConfiguredController> {
    let controller = find(name).expect("it is built in");
    Arc::new(ConfiguredController::new(controller, []).expect("defaults are valid"))
}

/// A factory for one connection.
fn factory(name: &str) -> Arc<CoupledFactory> {
    Arc::new(CoupledFactory::new(scheme(name)).expect("noq gives what it needs"))
}
