//! Carries out a plan: runs its cases, observes them, computes metrics and the optimum, and stores the results.
//!
//! - [`engine`] advances the simulator's time: flows that start and stop, links that change.
//! - [`observe`] observes a case while it runs.
//! - [`record`] holds what is known after a run.
//! - `metric` and `optimum` compute numbers from it.
//! - [`store`] writes them to a folder.

pub mod bench;
mod clock;
pub mod embedded;
pub mod engine;
pub mod environment;
mod failures;
mod link_events;
pub mod memory;
pub mod metric;
pub mod network;
pub mod observe;
pub mod optimum;
pub mod record;
pub mod runner;
mod setup;
pub mod stopping_rule;
pub mod store;
pub mod topology_report;

pub use engine::worker::undivided;
pub use optimum::agreement::{Agreement, Judged, TrialEntry, agreement};
pub use optimum::report::{OptimumCase, OptimumReport, optimum};
pub use record::claim::ClaimResult;
pub use record::metric::Metric;
pub use record::report::{MODEL_VERSION, Report, Status, Testbed};
pub use record::results::{CaseResult, Metrics};
pub use runner::{Options, Watch};
pub use setup::{Undivided, fabric};
pub use store::finished::{Finished, State};
pub use store::folder::Folder;
pub use topology_report::{PathsEntry, TopologyReport, topology};
