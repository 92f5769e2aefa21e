//! A transport whose packets take many paths: packet spraying, as in Ultra Ethernet.
//!
//! A packet has one number for all its transmissions, that of its segment, and each transmission takes the
//! path that the connection's balancer picks. ACKs report which packets have arrived, in any order, and for
//! the newest one its path and whether it was marked; a NACK reports a packet that a switch has cut to its
//! header. Packets that no ACK or NACK reports are sent again when a timer expires. There are no congestion
//! states: events are reported to the controller (`report` of controller.h), and to a TCP controller as
//! described in `tcp`.

mod delivery;
mod receiver;
mod sender;
mod spreading;
mod tcp;

pub use receiver::Receiver;
pub use sender::Sender;
pub use tcp::Round;

use std::sync::Arc;

use tresse_balancers::ConfiguredBalancer;
use tresse_units::Time;

/// The information of a sprayed connection about its path.
#[derive(Debug, Clone)]
pub struct Spraying {
    /// Picks the path of each packet.
    pub balancer: Arc<ConfiguredBalancer>,
    /// The number of paths to pick from: at least 1.
    pub paths: u32,
    /// The random stream of its picks.
    pub stream: u64,
    /// The round-trip time of a full packet and its ACK on the empty path, ps.
    pub base_rtt: Time,
    /// The rate of the host's links, bit/s.
    pub line_rate: u64,
}
