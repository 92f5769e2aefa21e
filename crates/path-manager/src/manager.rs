//! The events that every path manager is notified of, and its answers.

use std::fmt::Debug;

use tresse_units::{NEVER, Time};

use crate::Memory;
use crate::opn::Silence;

/// Where a connection starts, for [`ConfiguredManager::open`](crate::ConfiguredManager::open).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// The time.
    pub now: Time,
    /// Addresses of this host, at least 1.
    pub locals: u16,
    /// Addresses of the other host, at least 1.
    pub remotes: u16,
    /// Paths between the two that a choice of source port can reach, at least 1; in a leaf-spine fabric
    /// the spine switches (OPN's m).
    pub paths: u16,
    /// A random word for this connection: all of its random choices follow from it.
    pub stream: u64,
}

/// The path that the packets of a subflow take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathChoice {
    /// Between the addresses of these numbers, counted from 0 at each host.
    Addresses {
        /// This host's.
        local: u16,
        /// The other's.
        remote: u16,
    },
    /// Between the first addresses, with the source port of this number: its own five-tuple for ECMP.
    Port(u16),
    /// Between the first addresses, each packet on a random path (packet spraying). Packets overtake each
    /// other, so the host must not treat three duplicate ACKs as a loss.
    Spray,
}

/// What a scheduler may do with a subflow. A subflow starts as `Normal`.
///
/// As long as there are established subflows, at least one of them is `Normal`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// It carries new data.
    Normal,
    /// It carries no new data, and the other host is notified (MP_PRIO with B set, RFC 8684 §3.3.8).
    Backup,
    /// It carries no new data; only this host knows. It still repairs its own losses.
    Slow,
}

/// An action for the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open a subflow. Numbers count up from 0 and are never used again. Subflow 0 is opened by the
    /// connection's own handshake (MP_CAPABLE); the others join it (MP_JOIN).
    Open {
        /// Its number.
        subflow: usize,
        /// Its path through the network.
        path: PathChoice,
    },
    /// Close a subflow; its data in flight is sent again on others. Another one is live.
    Close {
        /// Its number.
        subflow: usize,
    },
    /// Change a subflow's priority.
    SetPriority {
        /// Its number.
        subflow: usize,
        /// The new one.
        priority: Priority,
    },
    /// Send the data in flight on a subflow again, now, on subflows whose priority is `Normal`. The subflow
    /// stays open and its window stays as it is.
    Reinject {
        /// Its number.
        subflow: usize,
    },
}

/// Packets have left on a subflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The subflow.
    pub subflow: usize,
    /// Data packets, retransmissions included.
    pub packets: u64,
    /// Those of them that were sent before on this subflow, for any reason.
    pub retransmissions: u64,
    /// Bytes of the connection's data that were never sent before on any subflow.
    pub new_bytes: u64,
}

/// ACKs have arrived for a subflow; duplicate ones count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The subflow.
    pub subflow: usize,
    /// Data packets that are in flight after them.
    pub outstanding: u64,
    /// Those of them that carried ECE.
    pub marked: u64,
    /// The smoothed RTT after them; 0 if there is no sample yet.
    pub srtt: Time,
}

/// The path manager of one connection.
///
/// After [`ConfiguredManager::open`](crate::ConfiguredManager::open) and after every `handle_*`, take the
/// actions until there are none, then look at the deadline again. Every call has the [`Memory`] that the
/// connection shares with the others of its [`Scope`](crate::Scope); times never go back. A timer that is due
/// is served before an event at the same instant, whichever the host reports first. Events of a closed
/// subflow are ignored.
///
/// # Panics
/// `handle_*` panics if a subflow was never opened.
pub trait PathManager: Debug + Send {
    /// Whether it wants to be notified of sent packets and ACKs.
    fn observes(&self) -> bool {
        true
    }

    /// Whether it has chosen fewer subflows than there are paths, by what it knows of losses (OPN's concurrency tuning);
    /// `None` if it never does.
    fn limits(&self) -> Option<bool> {
        None
    }

    /// How long a subflow may be silent before it takes new data off it because of its path (OPN's traffic shifting);
    /// `None` if it never does.
    fn silence(&self) -> Option<Silence> {
        None
    }

    /// The handshake of `subflow` is complete.
    fn handle_established(&mut self, now: Time, memory: &mut Memory, subflow: usize);

    /// `subflow` has ended without an [`Action::Close`]: reset, timed out, or closed by the other host.
    fn handle_closed(&mut self, now: Time, memory: &mut Memory, subflow: usize);

    /// Data has been sent.
    fn handle_sent(&mut self, _now: Time, _memory: &mut Memory, _sent: &Sent) {}

    /// ACKs have arrived.
    fn handle_ack(&mut self, _now: Time, _memory: &mut Memory, _ack: &Ack) {}

    /// The deadline has passed.
    fn handle_timeout(&mut self, _now: Time, _memory: &mut Memory) {}

    /// When [`handle_timeout`](Self::handle_timeout) is to be called; [`NEVER`] if no timer runs.
    fn deadline(&self) -> Time {
        NEVER
    }

    /// The next action; take them in this order.
    fn poll_action(&mut self) -> Option<Action>;
}
