//! The controllers natively: against independent readings of their papers, the contract, sanitizers.
//!
//! `readings` holds the papers' equations, `checks` what is compared with them: the increments of single
//! events tightly, whole trajectories loosely, and what one paper alone promises.

mod breaches;
mod center_of_utility;
mod checks;
mod citations;
mod fix;
mod host;
mod invariants;
mod load;
mod readings;
mod sanitizers;
mod trace;
