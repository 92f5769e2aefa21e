//! What is known after a run, and its folder: the computing of it is not known here.
//!
//! - [`record`] holds what was measured of flows, ports and packets, and the report that is made of it.
//! - [`tables`] declares the columns of each table, with their units, meanings and values.
//! - [`store`] writes the tables to a folder, and reads them back.

#![forbid(unsafe_code)]

pub mod clock;
pub mod record;
pub mod store;
pub mod tables;

pub use record::claim::ClaimResult;
pub use record::metric::Metric;
pub use record::report::{MODEL_VERSION, Report, Status, Testbed};
pub use record::results::{CaseResult, Metrics, in_cases};
pub use store::finished::{Finished, State};
pub use store::folder::Folder;
