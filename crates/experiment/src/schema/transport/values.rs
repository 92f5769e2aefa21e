//! The transport's keys whose values are words, and the meaning of these values.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_transport as transport;
use tresse_units::SECOND;

use crate::schema::declared;

/// How losses are repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// No fast retransmit: every loss waits for the timeout.
    GoBackN,
    /// Reno (RFC 5681): the first ACK of new data ends a recovery; a second loss in the window often
    /// needs a timeout.
    Reno,
    /// Reno with at most one fast retransmit per window of data (RFC 6582 §3.2 step 2).
    RenoOnce,
    /// NewReno (RFC 6582): duplicate ACKs only.
    Newreno,
    /// SACK (RFC 6675), paced by PRR.
    Sack,
    /// RACK-TLP (RFC 8985) on top of SACK, paced by PRR: losses detected by time, probes before the timeout.
    Rack,
}

/// How the window is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// At once.
    Immediate,
    /// Over a round, by proportional rate reduction (RFC 6937).
    Prr,
}

/// How the retransmission timeout follows from the RTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rto {
    /// The larger of srtt + 4 rttvar and `rto_min` (RFC 6298).
    Rfc6298,
    /// srtt + the larger of 4 rttvar and `rto_min`, as Linux.
    Linux,
}

/// What a retransmission timeout does to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutCut {
    /// One packet, then slow start, as TCP.
    Restart,
    /// The same as three duplicate ACKs: the controller's answer to a loss, which may be none.
    AsLoss,
}

/// When the subflows besides the first begin their handshakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// When the first one's is complete.
    Established,
    /// When the first ACK of data has arrived (RFC 8684 §3.1), as Linux.
    FirstAck,
}

/// Where the next data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// On the subflow with the lowest smoothed RTT.
    LowestRtt,
    /// On the next subflow in turn.
    RoundRobin,
    /// On the subflow that would finish its data first, in bursts, ahead of its window.
    Linux,
}

/// What the sender does while data on one subflow keeps the receive buffer full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocked {
    /// Wait; after a timeout of the subflow with the first missing data, another one sends this data too. As Linux.
    Wait,
    /// Send the first missing data on a faster subflow too, and halve the window of the one that had it. As the MPTCP
    /// kernel 0.8x.
    Reinject,
}

/// Whether and how a subflow changes its hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "\"on\", \"off\", or a table such as { rehash_rounds = 6 }")]
pub enum Plb {
    /// On with Linux's parameters, or off.
    Switch(Switch),
    /// With these values for some of its parameters.
    Parameters(
        #[schemars(with = "serde_json::Map<String, serde_json::Value>")] BTreeMap<String, toml::Value>,
    ),
}

/// Whether something is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// Off.
    Off,
    /// On.
    On,
}

impl From<Recovery> for transport::Recovery {
    fn from(key: Recovery) -> Self {
        match key {
            Recovery::GoBackN => Self::GoBackN,
            Recovery::Reno => Self::Reno,
            Recovery::RenoOnce => Self::RenoOnce,
            Recovery::Newreno => Self::NewReno,
            Recovery::Sack => Self::Sack,
            Recovery::Rack => Self::Rack,
        }
    }
}

impl From<Reduction> for transport::Reduction {
    fn from(key: Reduction) -> Self {
        match key {
            Reduction::Immediate => Self::Immediate,
            Reduction::Prr => Self::Prr,
        }
    }
}

impl From<Rto> for transport::Rto {
    fn from(key: Rto) -> Self {
        match key {
            Rto::Rfc6298 => Self::Rfc6298,
            Rto::Linux => Self::Linux,
        }
    }
}

impl From<TimeoutCut> for transport::TimeoutCut {
    fn from(key: TimeoutCut) -> Self {
        match key {
            TimeoutCut::Restart => Self::Restart,
            TimeoutCut::AsLoss => Self::AsLoss,
        }
    }
}

impl From<Join> for transport::Join {
    fn from(key: Join) -> Self {
        match key {
            Join::Established => Self::Established,
            Join::FirstAck => Self::FirstAck,
        }
    }
}

impl From<Scheduler> for transport::Scheduler {
    fn from(key: Scheduler) -> Self {
        match key {
            Scheduler::LowestRtt => Self::LowestRtt,
            Scheduler::RoundRobin => Self::RoundRobin,
            Scheduler::Linux => Self::Linux,
        }
    }
}

impl From<Blocked> for transport::Blocked {
    fn from(key: Blocked) -> Self {
        match key {
            Blocked::Wait => Self::Wait,
            Blocked::Reinject => Self::Reinject,
        }
    }
}

impl Plb {
    /// The simulator gives each connection a seed.
    pub(super) fn of_transport(&self) -> Result<Option<transport::Plb>, String> {
        let settings = match self {
            Self::Switch(Switch::Off) => return Ok(None),
            Self::Switch(Switch::On) => &BTreeMap::new(),
            Self::Parameters(settings) => settings,
        };
        let declaration = tresse_fabric::balancers::find("plb").expect("it is declared");
        let values =
            declared::values(declaration.name, declaration.parameters, settings).map_err(|(_, e)| e)?;
        let whole = |name| values.whole(name) as u32;
        Ok(Some(transport::Plb {
            cong_thresh: whole("cong_thresh"),
            rehash_rounds: whole("rehash_rounds"),
            idle_rehash_rounds: whole("idle_rehash_rounds"),
            suspend: values.whole("suspend_rto") * SECOND,
            seed: 0,
        }))
    }
}
