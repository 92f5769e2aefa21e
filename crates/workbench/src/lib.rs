//! What can be done with Tresse, without a terminal: a request is a struct, its result a report or a [`Failure`].
//!
//! - [`cases`] loads an experiment and its cases; [`run`] runs them, [`paper`] those of a whole paper.
//! - [`compare`], [`evaluate`], [`report_card`] and [`challenge`] judge; [`optimum`] and [`topology`] compute without a
//!   simulation.
//! - [`controller`] and [`balancer`] start, load and check a user's own C file.
//! - [`catalogue`] has what an experiment can be made of.
//! - [`sweep`], [`import`], [`export`], [`page`] and [`plot`] read and write files; `testbed` and [`twin`] are about real hosts.
//!
//! It knows no command line, no standard output and no exit code. Whoever asks passes what it shall show meanwhile
//! ([`progress`], functions that take notes) and what ends it early ([`Interrupt`]).

#![forbid(unsafe_code)]

pub mod balancer;
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub mod calibrate;
pub mod cases;
pub mod catalogue;
pub mod challenge;
pub mod check;
pub mod compare;
pub mod controller;
mod cores;
pub mod ebpf;
pub mod evaluate;
pub mod export;
mod failure;
pub mod fidelity;
pub mod import;
mod interrupt;
pub mod json;
mod memory;
pub mod optimum;
pub mod own_code;
pub mod page;
pub mod paper;
pub mod plot;
pub mod progress;
pub mod python;
pub mod report_card;
pub mod run;
pub mod show;
mod stall;
pub mod sweep;
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub mod testbed;
pub mod topology;
pub mod twin;

pub use failure::Failure;
pub use interrupt::Interrupt;

use tresse_experiment::Owners;

/// Whose keys an experiment's file may have. Every experiment is loaded and resolved with all of them.
pub const OWNERS: Owners = Owners::all(&[tresse_reproduction::OWNER, tresse_report::figures::OWNER]);

/// The JSON Schema of an experiment file.
pub fn schema() -> String {
    json::pretty(&OWNERS.schema())
}
