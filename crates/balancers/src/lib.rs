//! Balancers of hosts: the C files of `balancers/`, compiled natively, behind a safe interface. A balancer
//! chooses which of a connection's many paths (entropy values) the next packet takes, and is notified of the
//! fate of each packet.
//!
//! A [`Balancer`] is a declaration (name, source, parameters) with its hooks. A [`ConfiguredBalancer`] is a balancer with
//! values for its parameters. A [`Spread`] is the balancer of one connection.
//!
//! The contract, hook by hook, is `balancers/balancer.h`. This crate knows no fabric and no transport: these
//! define what a path is, and when a packet counts as lost. Load balancers of switches are in `fabric`.

#![warn(missing_docs)]
#![expect(unsafe_code, reason = "balancers are C")]

pub mod check;
mod load;
mod raw;
mod registry;
mod spread;

pub use load::{declared_in, headers, load};
pub use raw::Feedback;
pub use registry::{Balancer, all, built_in, find};
pub use spread::{ConfiguredBalancer, Spread};
pub use tresse_controllers::{LoadError, ParameterError};

/// The most paths that one connection may have.
pub const MAX_PATHS: u32 = 4096;
