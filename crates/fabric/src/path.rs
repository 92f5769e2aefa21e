//! A path that is fixed port by port.

/// A path through the network that is fixed port by port, there and back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// From the sender to the receiver.
    pub there: Vec<u32>,
    /// From the receiver to the sender, over the same links.
    pub back: Vec<u32>,
}
