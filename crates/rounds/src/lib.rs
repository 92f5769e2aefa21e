//! A second fidelity: the same controllers, called a few times a round instead of once a packet, over links that are
//! fluids.
//!
//! A subflow sends *batches*: what the ACKs of an earlier batch let it send, spread over the time in which they arrive,
//! at most a round trip. A batch flows into all links of its path at once, at its rate.
//! While it flows, each link keeps the time that its queue spends above K and the share that finds it full: from these
//! follow the batch's marks and losses, and its round trip from the queues at its beginning and end. When its first ACK
//! arrives, the controller's hooks are called for the whole batch, in the order of the contract.
//!
//! [`Rounds`] has what a [`World`](tresse_sim::World) has, but for packets: neither their order nor where within a
//! batch something happens is known.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bursts;
mod changes;
mod connection;
mod copies;
mod events;
mod fair;
mod hearing;
mod lasting;
mod link;
mod links;
mod managing;
mod network;
mod red;
mod repairing;
mod sending;
mod settling;
mod spraying;

pub use network::{Rounds, SubflowState};
