//! An experiment as data: the keys of its file, reading it, and the plan of its cases. Runs nothing.
//!
//! - [`keys`] are what a file may say: serde types, and nothing that they mean.
//! - [`read`] goes from files to keys: profiles, variants, settings, networks and flows from files of their own.
//! - [`plan`] goes from keys to cases that can run.
//! - [`diagnostic`] is what can be wrong, and how it is told.

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
