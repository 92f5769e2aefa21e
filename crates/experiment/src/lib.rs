//! An experiment as data: the keys of its file, reading it, and the plan of its cases. This crate runs nothing.
//!
//! - [`mod@schema`]: what a file may contain, as serde types without their meaning.
//! - [`read`]: from files to keys, including profiles, variants, settings, and networks and flows in separate
//!   files.
//! - [`plan`]: from keys to cases that can run.
//! - [`diagnostic`]: what can be wrong, and how it is reported.
//!
//! A crate that judges or shows results may own keys at the top of the file ([`Owner`]). They are kept as they are written;
//! [`Owners`] asks their owners what may be in them.

#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod plan;
pub mod read;
pub mod schema;

pub use diagnostic::{Diagnostic, did_you_mean};
pub use plan::owners::{Owner, Owners};
pub use plan::schema::schema;
pub use plan::{Case, Plan, Setting, load, resolve};
pub use read::owned::OwnedKeys;
pub use read::{Loaded, Profile, Source, find};
