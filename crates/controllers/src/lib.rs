//! Congestion controllers: the C files of `controllers/`, compiled natively, behind a safe interface.
//!
//! A [`Controller`] is a declaration (name, source, signals, parameters) with its hooks; a second name for
//! one is a [`Controller`] too. A [`ConfiguredController`] is a controller with values for its parameters. A [`Group`] is
//! the controllers of one connection, one for each subflow, that see each other as siblings.
//!
//! The contract, hook by hook, is `controllers/controller.h`.
//!
//! Everything that a user's C file of another [`Kind`] needs is here too: compiling and loading it ([`Compiled`]),
//! reading its parameters, and running it apart ([`sandbox`]).

#![warn(missing_docs)]
#![expect(unsafe_code, reason = "controllers are C")]

pub mod center_of_utility;
pub mod check;
mod compile;
mod declared;
mod group;
mod header;
mod hooks;
mod included;
pub mod law;
mod load;
mod mistakes;
mod parameters;
mod raw;
mod registry;
pub mod sandbox;
pub mod trace;
mod user_file;

pub use compile::{Compiled, Kind, LoadError, is_same_file, without_repeats};
pub use declared::declared;
pub use group::{ConfiguredController, Group};
pub use header::header;
pub use hooks::Hooks;
pub use included::included;
pub use load::{declared_in, headers, load};
pub use parameters::{
    ParameterError, RawParameter, check_defaults, declared_parameters, declared_text, parameter_values,
};
pub use raw::{Ack, Cause, Hop, PRIVATE_WORDS, Report, State, Subflow};
pub use registry::{Claim, Controller, Exception, Signal, agent, all, built_in, find};
pub use user_file::{Build, Code, UserFile};

/// The slow-start threshold of a subflow that has not left its first slow start, packets.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The maximum number of subflows of a connection.
pub const MAX_SUBFLOWS: usize = 64;

/// The host keeps cwnd below this, packets, so that no controller's arithmetic can overflow.
pub const CWND_LIMIT: u32 = (1 << 20) + 1;

/// The host keeps srtt at this or above, 1/8 us (1 us), unless it is 0: unknown.
pub const SRTT_LEAST: u32 = 8;

/// The host keeps srtt below this, 1/8 us (16.8 s).
pub const SRTT_LIMIT: u32 = 1 << 27;
