//! Real Linux hosts around an emulated fabric.
//!
//! - Hosts are network namespaces ([`Namespace`]), each with one interface, a TUN device.
//! - The [`Emulator`] reads the packets that hosts send, moves them through the ports of `tresse-fabric`, the same that
//!   the simulator has, and writes them to the host that they are for. The wall clock says what time it is.
//! - An agent runs in each host ([`agent::run`]): it sends and receives flows over real sockets.
//! - [`run`] does all of it for a case, and has the lab's engine drive it: so its results are those of any run.

#![expect(unsafe_code, reason = "epoll and namespaces are system calls")]

pub mod agent;
mod bed;
mod clock;
mod cores;
mod emulator;
pub mod ip;
mod namespace;
mod poll;
mod run;
mod switch;
mod truth;
mod world;

pub use bed::{How, check, clean};
pub use clock::{Clock, Scale};
pub use emulator::{Emulator, Lateness};
pub use namespace::{Error, Namespace, lacks};
pub use run::run;
pub use switch::{Frame, Switch, Way, Ways};
pub use truth::Truth;
