//! MMPTCP: one sprayed subflow for a flow's first bytes, then ordinary subflows (catalogue S30).
//!
//! Source: Kheirkhah, Wakeman, Parisi, INFOCOM 2016; OPN §Performance evaluation. The byte threshold and the
//! number of subflows are those of the author's ns-3 code (`mmp-tcp-socket-base.cc`, `FlowSizeThresh`); as
//! there, the change comes when more bytes than the threshold have been sent, and the sprayed subflow carries
//! no new data once the first ordinary one is established. It repairs its own losses. Here it is closed once
//! it has nothing in flight; in the author's code it stays, idle.

use tresse_units::Time;

use crate::connection::Connection;
use crate::paths::paths;
use crate::{Ack, Action, By, Memory, Opening, PathChoice, PathManager, Priority, Sent};

/// When MMPTCP changes, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// New data that the sprayed subflow carries before the others are opened, bytes.
    pub threshold: u64,
    /// How many are opened then, 1 to 63, in addition to the sprayed one.
    pub subflows: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { threshold: 100_000, subflows: 8 }
    }
}

/// The path manager `mmptcp`.
#[derive(Debug)]
pub struct Mmptcp {
    threshold: u64,
    /// The paths of the ordinary subflows, until they are opened.
    ordinary: Vec<PathChoice>,
    sent: u64,
    /// For each subflow whether data is in flight.
    connection: Connection<bool>,
}

const SPRAYED: usize = 0;

impl Mmptcp {
    /// Opens the sprayed subflow.
    pub fn new(config: &Config, opening: &Opening) -> Self {
        let mut connection = Connection::new();
        connection.open(PathChoice::Spray, false);
        let ordinary = paths(By::Port, config.subflows, opening);
        Self { threshold: config.threshold, ordinary, sent: 0, connection }
    }

    /// The sprayed subflow is paused while there is another one, and closed when it has nothing in flight.
    fn settle(&mut self) {
        if !self.connection.is_established(SPRAYED) {
            return;
        }
        let others = self.connection.established().any(|(i, _)| i != SPRAYED);
        self.connection.set_priority(SPRAYED, if others { Priority::Backup } else { Priority::Normal });
        let in_flight = self.connection.live(SPRAYED).is_some_and(|in_flight| *in_flight);
        if others && !in_flight {
            self.connection.close(SPRAYED);
        }
    }
}

impl PathManager for Mmptcp {
    fn handle_established(&mut self, _now: Time, _memory: &mut Memory, subflow: usize) {
        if self.connection.establish(subflow) {
            self.settle();
        }
    }

    fn handle_closed(&mut self, _now: Time, _memory: &mut Memory, subflow: usize) {
        self.connection.gone(subflow);
        self.settle();
    }

    fn handle_sent(&mut self, _now: Time, _memory: &mut Memory, sent: &Sent) {
        if let Some(in_flight) = self.connection.live(sent.subflow) {
            *in_flight |= sent.packets > 0;
        }
        self.sent = self.sent.saturating_add(sent.new_bytes);
        if self.sent > self.threshold {
            for path in self.ordinary.drain(..) {
                self.connection.open(path, false);
            }
        }
    }

    fn handle_ack(&mut self, _now: Time, _memory: &mut Memory, ack: &Ack) {
        if let Some(in_flight) = self.connection.live(ack.subflow) {
            *in_flight = ack.outstanding > 0;
            self.settle();
        }
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.connection.poll_action()
    }
}
