//! What is known of an interval: of its subflows, and of its ports.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tresse_controllers::State;
use tresse_units::{SECOND, Time};

use crate::record::flow::Begun;

/// A subflow in an interval, or in the part of it in which its flow was active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    pub flow: Begun,
    /// Which subflow, from 0.
    pub subflow: u32,
    /// When the interval began, or the flow, ps.
    pub start: Time,
    /// How long it was, or until the flow ended, ps.
    pub duration: Time,
    /// Payload that arrived on this subflow, bytes; what arrived on another too counts there as well.
    pub bytes: u64,
    /// The window at the end, packets; 0 if the subflow was closed.
    pub cwnd: u32,
    /// The smoothed RTT at the end, ps; `None` before the first sample, and if the subflow was closed.
    pub srtt: Option<Time>,
    /// The sender's state at the end; `None` if the subflow was closed.
    pub state: Option<State>,
    /// CE marks that were echoed to the sender in this time.
    pub marks: u64,
    /// Segments retransmitted in this time.
    pub retransmissions: u64,
    /// Retransmission timeouts in this time.
    pub timeouts: u64,
    /// The mean of the flow's optimal goodput over the same time, bit/s, all subflows together.
    pub optimum: Option<u64>,
}

impl Sample {
    /// It has what a subflow counted before it was closed, and nothing else: no bytes, no window.
    pub fn is_last_words(&self) -> bool {
        self.state.is_none() && self.bytes == 0 && self.marks + self.retransmissions + self.timeouts > 0
    }

    /// The mean rate, bit/s.
    pub fn goodput(&self) -> u64 {
        (u128::from(self.bytes) * 8 * u128::from(SECOND) / u128::from(self.duration)) as u64
    }
}

/// A port in an interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortSample {
    /// The round of the pattern, from 0.
    pub round: u32,
    /// When the interval began, ps.
    pub start: Time,
    /// How long it was, ps.
    pub duration: Time,
    /// The number of the output port.
    pub port: u32,
    /// The name of its layer.
    pub layer: Arc<str>,
    /// For how long it was sending, ps.
    pub busy: Time,
    /// Packets that wait at the end; the one in transmission does not.
    pub waiting: u64,
    /// Packets that it dropped or lost in this time.
    pub drops: u64,
    /// Packets that it marked in this time.
    pub marks: u64,
    /// Its share at the end, if a balancer gives it one: the mean over destinations, in parts of 2^32.
    pub share: Option<u64>,
}

/// The path of a subflow, from the interval on in which it was first seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathSample {
    pub flow: Begun,
    /// Which subflow, from 0.
    pub subflow: u32,
    /// When the interval ended in which it was first seen, ps.
    pub seen: Time,
    /// Its ports, from the sender on.
    pub ports: Vec<u32>,
}

/// What was sampled in an interval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Interval {
    pub subflows: Vec<Sample>,
    pub ports: Vec<PortSample>,
    /// The paths that are new.
    pub paths: Vec<PathSample>,
}
