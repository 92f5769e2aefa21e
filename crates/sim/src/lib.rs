//! Puts endpoints on the fabric and turns time: the only event loop.
//!
//! A [`World`] is a fabric with connections on it. Start connections with [`World::start`], then let
//! [`World::advance`] turn time until one of them finishes.

pub mod ceiling;
mod world;

pub use world::{FlowRecord, FlowSpec, Packets, Path, Step, World};
