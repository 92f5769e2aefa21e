//! The receiving end of a flow, whatever its transport is.

use tresse_units::{NEVER, Time};

use crate::message::Incoming;
use crate::{Body, Config, Wire, datagram, spray, tcp};

/// The receiving end of a flow.
// As for the sender.
#[derive(Debug)]
#[repr(u8)]
pub enum Receiver {
    /// Subflows of TCP.
    Tcp(tcp::Receiver),
    /// One window over many paths.
    Sprayed(Box<spray::Receiver>),
    /// No transport.
    Datagrams(datagram::Receiver),
}

/// The ACKs that a packet calls for, in this order: up to two.
pub type Replies = [Option<Body>; 2];

impl Receiver {
    /// Data has arrived on `subflow`, marked CE or not.
    #[inline]
    pub fn handle_data(&mut self, now: Time, subflow: usize, wire: &Wire, ce: bool) -> Replies {
        match (self, &wire.body) {
            (Self::Tcp(receiver), Body::Segment(segment)) => {
                receiver.handle_data(now, subflow, segment, ce).map(|ack| ack.map(Body::Ack))
            }
            (Self::Sprayed(receiver), Body::Sprayed(packet)) => {
                [receiver.handle_data(now, packet, ce).map(Body::Answer), None]
            }
            _ => {
                debug_assert!(false, "data of another transport");
                [None, None]
            }
        }
    }

    /// The header of a packet has arrived; `last_hop`: the port that trimmed it leads here. Returns the NACK; `None` if
    /// the connection is not sprayed.
    pub fn handle_trimmed(&mut self, wire: &Wire, last_hop: bool) -> Option<Body> {
        match (self, &wire.body) {
            (Self::Sprayed(receiver), Body::Sprayed(packet)) => {
                Some(Body::Answer(receiver.handle_trimmed(packet, last_hop)))
            }
            _ => None,
        }
    }

    /// The deadline of `subflow` has passed. Returns the ACK, if there is one to send.
    pub fn handle_timeout(&mut self, subflow: usize) -> Option<Body> {
        match self {
            Self::Tcp(receiver) => receiver.handle_timeout(subflow).map(Body::Ack),
            Self::Sprayed(receiver) => receiver.handle_timeout().map(Body::Answer),
            Self::Datagrams(_) => None,
        }
    }

    /// When the next poll or the delayed ACK of `subflow` is due; `NEVER` if no packet waits.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        match self {
            Self::Tcp(receiver) => receiver.deadline(subflow),
            Self::Sprayed(receiver) => receiver.deadline(),
            Self::Datagrams(_) => NEVER,
        }
    }

    /// The messages of a connection and the data that has arrived; `None` for datagrams.
    #[inline]
    pub fn messages(&self) -> Option<&Incoming> {
        match self {
            Self::Tcp(receiver) => Some(&receiver.messages),
            Self::Sprayed(receiver) => Some(&receiver.messages),
            Self::Datagrams(_) => None,
        }
    }

    /// As [`Self::messages`], to add one or to take one.
    pub fn messages_mut(&mut self) -> Option<&mut Incoming> {
        match self {
            Self::Tcp(receiver) => Some(&mut receiver.messages),
            Self::Sprayed(receiver) => Some(&mut receiver.messages),
            Self::Datagrams(_) => None,
        }
    }

    /// Whether the whole message has arrived, and was not taken.
    #[inline]
    pub fn complete(&self) -> bool {
        self.messages().is_some_and(Incoming::complete)
    }

    /// Payload that has arrived on `subflow`, bytes, in order or not; duplicates count once. With several
    /// messages, the last segments of all but the last message count as full ones.
    pub fn arrived(&self, subflow: usize) -> u64 {
        match self {
            Self::Tcp(receiver) => receiver.arrived(subflow),
            Self::Sprayed(receiver) => {
                let messages = &receiver.messages;
                messages.payload(messages.arrived(), messages.complete())
            }
            Self::Datagrams(receiver) => receiver.received(),
        }
    }

    /// Segments that arrived more than once on their subflow; data that came on two subflows is not counted.
    pub fn duplicates(&self) -> u64 {
        match self {
            Self::Tcp(receiver) => receiver.duplicates(),
            Self::Sprayed(receiver) => receiver.duplicates(),
            Self::Datagrams(_) => 0,
        }
    }

    /// Calls `fetch` with the addresses of the cache lines, other than its own, that data on `subflow` will touch.
    /// Only those of TCP: others gained nothing.
    #[inline]
    pub fn for_each_line(&self, subflow: usize, fetch: impl Fn(*const u8)) {
        if let Self::Tcp(receiver) = self {
            receiver.for_each_line(subflow, fetch);
        }
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        match self {
            Self::Tcp(receiver) => receiver.config(),
            Self::Sprayed(receiver) => receiver.config(),
            Self::Datagrams(receiver) => receiver.config(),
        }
    }
}
