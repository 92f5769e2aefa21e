//! Sans-IO endpoints of a multipath transport: subflow sender and receiver, loss recovery,
//! connection, scheduler.
//!
//! No clock, no network, no random source. A [`Sender`] is notified of ACKs and timeouts and is
//! then asked what to transmit until it has nothing more; a [`Receiver`] is notified of data and
//! returns the ACKs. Sequence numbers count segments, windows count packets, time is picoseconds.
//!
//! The sender's states are Linux's (Open, Disorder, CWR, Recovery, Loss), so that a controller sees here what
//! it will see in the kernel.

#![forbid(unsafe_code)]

mod config;
mod handshake;
mod message;
mod ranges;
mod reassembly;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;
mod sent;
mod set;
mod spray;
mod subflow;
mod wire;

pub use config::{Config, DelayedAck, Echo, Gro, Plb, Recovery, Reduction, Scheduler};
pub use receiver::{Acks, Receiver};
pub use sender::{Origin, Sender, Transmit};
pub use spray::{Answer, Spraying};
pub use subflow::Counters;
pub use wire::{Block, Wire};
