//! Sweeps: one experiment at many settings, each computed once.
//!
//! - `plan` is the file that lists the settings; `designs` turns it into points, and `values` handles the values of
//!   keys. `unseen` finds cases to which some of them make no difference.
//! - `spec` computes a point: it has everything that a worker needs, on this machine or another.
//! - `store` keeps what was computed: the folder of a sweep, its journal, and finally the Parquet files.
//! - [`rows`] holds what was measured, for tables; `table` writes it as Parquet.
//! - [`local`] computes points on this machine's cores.

#![forbid(unsafe_code)]

mod check;
mod controllers;
mod costs;
mod designs;
mod journal;
pub mod local;
mod order;
mod plan;
mod record;
mod rows;
mod shard;
mod spec;
mod store;
mod table;
mod unseen;
mod values;

pub use designs::{Cube, Request};
pub use plan::Plan;
pub use record::{Cost, Record};
pub use rows::{Row, rows};
pub use shard::Shard;
pub use spec::run_point;
pub use store::{Finished, LeftOut, Standing, Sweep, Unfinished, is_sweep, is_tuning, merge, read};
pub use unseen::Unseen;
