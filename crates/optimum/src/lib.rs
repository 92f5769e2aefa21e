//! What a network could do at best, and what a scheme ought to reach there, computed without a
//! simulation, for comparison with what was simulated.
//!
//! - The rates that maximise the sum of utilities under the links' capacities (network utility
//!   maximisation, NUM): a [`problem::Problem`] states links, flows, paths and utilities;
//!   [`solve::solve`] finds rates and link prices, and [`kkt::Residuals`] says how well they satisfy the
//!   conditions of an optimum. [`weights`] makes weights of users' utilities, [`claims`] says what each
//!   controller claims.
//! - [`distance`] says how far any rates are from an optimum.
//! - What a scheme does on average: [`fluid`] models, and [`opn`]'s analytical model of throughput.

#![forbid(unsafe_code)]

pub mod claims;
mod cone;
pub mod distance;
pub mod fluid;
pub mod infeasible;
mod interior;
pub mod kkt;
pub mod opn;
pub mod preferred;
pub mod problem;
mod program;
pub mod solve;
pub mod utility;
pub mod weights;
