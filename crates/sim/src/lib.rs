//! Puts endpoints on the fabric and advances time: the only event loop.
//!
//! A [`World`] is a fabric with connections on it. Start connections with [`World::start`], then
//! let [`World::advance`] advance time until one of them finishes.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bell;
pub mod ceiling;
mod crew;
mod deeds;
mod fair_queue;
mod flow;
mod foresight;
mod lifecycle;
mod messages;
mod part;
mod path_management;
mod recorder;
mod sending;
mod spec;
mod threads;
mod turns;
mod view;
mod windows;
mod world;

pub use recorder::{ObservedPacket, OpenedSubflow, Recording};
pub use spec::{FlowRecord, FlowSpec, Manager, Paths, Sprayed};
pub use world::{Ahead, Mechanisms, Packets, Step, World};
