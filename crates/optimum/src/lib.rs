//! The best that a network could do, and what a scheme should reach in it, computed without a simulation, for
//! comparison with simulation results.
//!
//! - The rates that maximise the sum of utilities under the links' capacities (network utility maximisation,
//!   NUM): a [`problem::Problem`] states links, flows, paths and utilities; [`solve::solve`] finds rates and
//!   link prices, and [`kkt::Residuals`] shows how well they satisfy the conditions of an optimum.
//!   [`claims`] lists what each controller claims.
//! - [`distance`] measures how far any rates are from an optimum.
//! - What a scheme does on average: [`fluid`] models, and [`opn`]'s analytical model of throughput.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod agreement;
pub mod claims;
mod cone;
pub mod distance;
pub mod fluid;
pub mod infeasible;
mod interior;
pub mod kkt;
mod newton;
pub mod opn;
pub mod preferred;
pub mod problem;
mod program;
pub mod solve;
pub mod utility;
