//! A packet to be sent.

use crate::{Body, Segment};

/// The contents of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Data that was never sent before.
    New,
    /// Data that was sent before on another subflow.
    Reinjected,
    /// A segment that was sent before on this subflow.
    Retransmitted,
    /// No data: it belongs to the subflow's handshake.
    Handshake,
}

/// A packet to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// On which subflow.
    pub subflow: usize,
    /// Its contents.
    pub origin: Origin,
    /// Payload, bytes.
    pub payload: u32,
    /// Its header.
    pub body: Body,
}

impl Transmit {
    /// The header, if it is a segment of TCP.
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Segment(segment) => Some(segment),
            _ => None,
        }
    }
}
