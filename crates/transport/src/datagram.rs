//! Datagrams: no connection, no ACKs, no congestion control.

use std::sync::Arc;

use crate::{Body, Config, Counters, Origin, Transmit};

/// The sending end of a flow of datagrams.
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    sent: u64,
}

impl Sender {
    /// A flow whose datagrams have the headers of this transport.
    pub fn new(config: impl Into<Arc<Config>>) -> Self {
        Self { config: config.into(), sent: 0 }
    }

    /// One datagram with this payload, bytes.
    pub fn send(&mut self, payload: u32) -> Transmit {
        self.sent += 1;
        Transmit { subflow: 0, origin: Origin::New, payload, body: Body::Datagram }
    }

    /// The counters.
    pub fn counters(&self) -> Counters {
        Counters { sent: self.sent, ..Counters::default() }
    }

    /// The transport that its headers are taken from.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// The receiving end of a flow of datagrams.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<Config>,
    received: u64,
}

impl Receiver {
    /// The other end of a [`Sender`] with the same argument.
    pub fn new(config: impl Into<Arc<Config>>) -> Self {
        Self { config: config.into(), received: 0 }
    }

    /// A datagram with this payload, bytes, has arrived.
    pub fn receive(&mut self, payload: u64) {
        self.received += payload;
    }

    /// The payload that has arrived, bytes.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The transport that its headers are taken from.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
