//! An experiment as data: the keys of its file, reading it, and the plan of its cases. This crate runs nothing.
//!
//! - [`keys`]: what a file may contain, as serde types without their meaning.
//! - [`read`]: from files to keys, including profiles, variants, settings, and networks and flows in separate
//!   files.
//! - [`plan`]: from keys to cases that can run.
//! - [`diagnostic`]: what can be wrong, and how it is reported.

#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod keys;
pub mod plan;
pub mod read;

pub use diagnostic::{Diagnostic, did_you_mean};
pub use keys::claim_forms::FormName;
pub use plan::schema::schema;
pub use plan::{Case, Plan, Setting, load, resolve};
pub use read::{Loaded, Profile, Source, find};
