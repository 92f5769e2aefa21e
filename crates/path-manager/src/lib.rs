//! Path managers: which subflows a connection has, when they are opened and closed, and which of them are
//! paused.
//!
//! No clock, no network, no random source; this crate depends on neither fabric nor transport nor
//! controllers, so a simulator and a daemon on a live host can run the same machines. A [`ConfiguredManager`]
//! is a path manager's [`Declaration`] with values for its parameters. [`ConfiguredManager::open`] makes the
//! [`PathManager`] of one connection, which is notified of what happens (`handle_*`) and asked what to do
//! ([`PathManager::poll_action`]).
//!
//! Time is u64 picoseconds, sizes are u64 bytes, everything else counts packets, ACKs or subflows.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod connection;
mod declaration;
pub mod fixed;
mod manager;
mod memory;
pub mod mmptcp;
pub mod nstar;
pub mod opn;
pub mod path_sharing;
mod paths;
mod registry;
mod score;

pub use declaration::{Declaration, SettingError};
pub use manager::{Ack, Action, Opening, PathChoice, PathManager, Priority, Sent};
pub use memory::{Memories, Memory, MemoryId, Scope};
pub use nstar::LossRate;
pub use paths::By;
pub use registry::{Config, ConfiguredManager, all, find};
pub use score::Score;

/// The most subflows that a parameter may request: the limit of the controllers and of Linux 7.3 for a
/// connection.
pub const MAX_SUBFLOWS: u64 = 64;
