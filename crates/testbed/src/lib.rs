//! Real Linux hosts around an emulated fabric.
//!
//! - Hosts are network namespaces ([`Namespace`]), each with one interface, a TUN device.
//! - The [`Emulator`] reads the packets that hosts send, moves them through the ports of `tresse-fabric`, the
//!   same as in the simulator, and writes them to their destination hosts. Its time is the wall clock.
//! - An agent runs in each host ([`agent::run`]): it sends and receives flows over real sockets.
//! - Instead of it, bridges of the kernel or Open vSwitch can be between the hosts ([`SwitchKind`]).
//! - [`run`] does all of this for a case, driven by the lab's engine: so its results are like those of any
//!   run.

#![expect(unsafe_code, reason = "epoll and namespaces are system calls")]

mod address;
pub mod agent;
mod bed;
pub mod calibrate;
mod clock;
mod cores;
mod emulator;
pub mod ip;
mod namespace;
mod poll;
mod run;
mod send_segment;
mod switch;
mod truth;
mod virtual_switch;
mod wires;
mod world;

pub use bed::{Settings, check, clean, lacks};
pub use clock::{Clock, Scale};
pub use emulator::{Emulator, Lateness};
pub use namespace::{Error, Namespace};
pub use run::run;
pub use send_segment::send_segment;
pub use switch::{Frame, Switch, Way, Ways};
pub use truth::{Late, Truth};
pub use virtual_switch::SwitchKind;
