//! Sans-IO endpoints of transports: TCP with one or more subflows, packet spraying, datagrams.
//!
//! No clock, no network, no random source. A [`Sender`] is notified of ACKs and timeouts and is
//! then asked what to transmit until it has nothing more; a [`Receiver`] is notified of data and
//! returns the ACKs. Sequence numbers count segments, windows count packets, time is picoseconds.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod config;
mod counters;
pub mod datagram;
mod message;
mod reassembly;
mod receiver;
mod rtt;
mod sender;
pub mod spray;
pub mod tcp;
mod transmit;
mod wire;

pub use config::{
    Blocked, BufferRule, Config, DelayedAck, Echo, Gro, Join, Plb, ReceiveBuffer, Recovery, Reduction, Rto,
    Scheduler, TimeoutCut,
};
pub use counters::Counters;
pub use message::Incoming;
pub use receiver::{Receiver, Replies};
pub use sender::Sender;
pub use transmit::{Origin, Transmit};
pub use wire::{Ack, Answer, Block, Body, Count, Fate, Segment, SprayedPacket, Stamp, Wire};
