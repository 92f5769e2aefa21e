//! A transport whose packets take many paths: packet spraying, as Ultra Ethernet has it.
//!
//! A packet has one number for all its transmissions, that of its segment, and each transmission takes the path that
//! the connection's balancer picks. ACKs report which packets have arrived, in whatever order, and of the newest one
//! which path it took and whether it was marked; a NACK reports a packet that a switch has cut to its header. What
//! no ACK or NACK reports is sent again when a timer expires. There are no congestion states: what happens is
//! reported to the controller (`report` of controller.h), and to one of TCP in the way of [`tcp`].

mod delivery;
mod fields;
mod receiver;
mod sender;
mod tcp;

pub use fields::Answer;
pub(crate) use fields::with_path;
pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use std::sync::Arc;

use tresse_balancers::ConfiguredBalancer;
use tresse_units::Time;

/// The information of a sprayed connection about its path.
#[derive(Debug, Clone)]
pub struct Spraying {
    /// Picks the path of each packet.
    pub balancer: Arc<ConfiguredBalancer>,
    /// From how many paths: at least 1.
    pub paths: u32,
    /// The random stream of its picks.
    pub stream: u64,
    /// The round-trip time of a full packet and its ACK on the empty path, ps.
    pub base_rtt: Time,
    /// The rate of the host's links, bit/s.
    pub line_rate: u64,
}
