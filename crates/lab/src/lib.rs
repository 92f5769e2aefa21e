//! Carries out a plan: runs its cases, observes them, computes metrics and the optimum, and stores the results.
//!
//! - [`engine`] advances the simulator's time: flows that start and stop, links that change.
//! - [`observe`] observes a case while it runs.
//! - `metric` and `optimum` compute numbers from what was observed; [`tresse_results`] has the types, and stores them.

pub mod bench;
mod caveats;
pub mod embedded;
pub mod engine;
pub mod environment;
mod failures;
pub mod forecast;
pub mod judge;
mod link_events;
pub mod memory;
pub mod metric;
pub mod network;
pub mod observe;
pub mod optimum;
pub mod runner;
mod setup;
pub mod stopping_rule;
pub mod topology_report;

pub use engine::worker::undivided;
pub use optimum::agreement::{Agreement, Judged, TrialEntry, agreement};
pub use optimum::report::{OptimumCase, OptimumReport, optimum};
pub use runner::{Options, Watch};
pub use setup::{Undivided, fabric};
pub use topology_report::{PathsEntry, TopologyReport, topology};
