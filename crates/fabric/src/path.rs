//! A path that is fixed port by port.

/// A path through the network that is fixed port by port, there and back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// From the sender to the receiver.
    pub there: Vec<u32>,
    /// From the receiver to the sender, over the same links.
    pub back: Vec<u32>,
}

/// The ports that packets take which are divided over several paths, hop by hop: each with its share of the packets.
pub type HopShares = Vec<Vec<(u32, f64)>>;
