//! The balancers natively: against independent implementations of their sources' rules, the contract, and
//! each rule separately.
//!
//! `readings` holds the rules as plain Rust, `compare` plays both over random connections, `rules` has cases worked out by
//! hand.

mod breaches;
mod compare;
mod contract;
mod load;
mod readings;
mod rules;
