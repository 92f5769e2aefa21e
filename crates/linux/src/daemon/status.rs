//! The daemon's status (`tresse/daemon/1`).

use serde::{Deserialize, Serialize};
use tresse_units::{NANOSECOND, SECOND};

use super::connection::{Command, Connection, Decision, State};
use super::{Daemon, run};

/// The state of the daemon.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// `tresse/daemon/1`.
    pub schema: String,
    /// The version of Tresse.
    pub version: String,
    /// Whether it decides but does nothing.
    pub dry_run: bool,
    /// The namespaces that it manages.
    pub namespaces: Vec<NamespaceStatus>,
    /// Its counts since it started.
    pub counters: Counters,
    /// The connections that it manages.
    pub connections: Vec<ConnectionStatus>,
    /// Its latest decisions, the oldest first.
    pub decisions: Vec<Record>,
}

/// A namespace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NamespaceStatus {
    pub name: String,
    /// Managed connections in it.
    pub connections: usize,
    /// How often the kernel's events were lost.
    pub events_lost: u64,
}

/// The daemon's counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Connections that its hosts have opened since it started.
    pub connections: u64,
    /// Connections that got a path manager.
    pub managed: u64,
    /// Connections that existed before it started, or were opened while events were lost.
    pub adopted: u64,
    /// Decisions to open a subflow.
    pub opens: u64,
    /// Decisions to close one.
    pub closes: u64,
    /// Decisions to pause or resume one.
    pub priorities: u64,
    /// Commands that the kernel refused.
    pub refused: u64,
    /// Subflows that a limit prevented.
    pub limited: u64,
    /// How often it looked at all subflows.
    pub looks: u64,
    /// How long the last look took, ns.
    pub look_ns: u64,
    /// How often a subflow was silent for too long (`alarms = true`).
    #[serde(default)]
    pub alarms: u64,
}

/// A managed connection.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConnectionStatus {
    pub namespace: String,
    /// Its token, as `ss` writes it.
    pub token: String,
    pub policy: String,
    /// Its path manager; `waits` before it has sent enough for one.
    pub manager: String,
    /// Its subflows, by their numbers.
    pub subflows: Vec<SubflowStatus>,
}

/// A subflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SubflowStatus {
    /// Address and port here; port 0 until it is known.
    pub local: String,
    /// Address and port there.
    pub remote: String,
    /// `opening`, `open`, `parked` (closed as long as its path is SLOW), `closed`.
    pub state: String,
    /// Whether it carries data only if no other can.
    pub backup: bool,
    /// Congestion window, packets; `null` before the first look.
    pub cwnd_pkts: Option<u32>,
    /// Smoothed RTT, us.
    pub srtt_us: Option<u32>,
    /// CE marks that its ACKs have echoed, packets.
    pub ce_pkts: Option<u64>,
    /// Payload that was ACKed, bytes.
    pub acked_bytes: Option<u64>,
}

/// The outcome of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The kernel has done it.
    Yes,
    /// It was only logged.
    Not,
    /// The kernel refused it, or a limit prevented it.
    Refused(String),
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Seconds since the machine started.
    pub at_s: f64,
    pub namespace: String,
    /// The connection's token, as `ss` writes it.
    pub token: String,
    /// The subflow's number.
    pub subflow: usize,
    /// What was decided.
    pub what: String,
    /// Why.
    pub because: String,
    pub done: Outcome,
}

impl Record {
    pub(super) fn new(namespace: &str, token: u32, decision: &Decision, done: Outcome) -> Self {
        let number = decision.subflow;
        let what = match decision.command {
            Command::Open { from, to, .. } => format!("subflow {number} opened from {} to {to}", from.ip()),
            Command::Close(_) => format!("subflow {number} closed"),
            Command::SetBackup(_, true) => format!("subflow {number} rests"),
            Command::SetBackup(_, false) => format!("subflow {number} works again"),
        };
        Self {
            at_s: run::now() as f64 / SECOND as f64,
            namespace: namespace.to_owned(),
            token: name(token),
            subflow: number,
            what,
            because: decision.because.clone(),
            done,
        }
    }
}

fn name(token: u32) -> String {
    format!("{token:08x}")
}

impl Daemon {
    pub(super) fn status(&self) -> Status {
        let connections = self.hosts.iter().flat_map(|host| {
            let all = host.connections.iter();
            all.map(|(&token, own)| ConnectionStatus::new(&host.name, token, own))
        });
        Status {
            schema: "tresse/daemon/1".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dry_run: self.dry_run,
            namespaces: (self.hosts.iter())
                .map(|host| NamespaceStatus {
                    name: host.name.clone(),
                    connections: host.connections.len(),
                    events_lost: host.lost,
                })
                .collect(),
            counters: self.counters.clone(),
            connections: connections.collect(),
            decisions: self.records.iter().cloned().collect(),
        }
    }
}

impl ConnectionStatus {
    fn new(namespace: &str, token: u32, own: &Connection) -> Self {
        let subflows = own.subflows.iter().map(|own| SubflowStatus {
            local: own.ends.0.to_string(),
            remote: own.ends.1.to_string(),
            state: match own.state {
                State::Opening(_) => "opening",
                State::Open => "open",
                State::Parked => "parked",
                State::Closed => "closed",
            }
            .to_owned(),
            backup: own.is_backup,
            cwnd_pkts: own.seen.map(|seen| seen.cwnd),
            srtt_us: own.seen.map(|seen| seen.srtt),
            ce_pkts: own.seen.map(|seen| seen.marks),
            acked_bytes: own.seen.map(|seen| seen.acked),
        });
        let manager = own.policy.manager.as_ref().filter(|_| own.is_managed());
        Self {
            namespace: namespace.to_owned(),
            token: name(token),
            policy: own.policy.name.clone(),
            manager: manager.map_or("waits", |own| own.declaration().name).to_owned(),
            subflows: subflows.collect(),
        }
    }
}

impl Status {
    /// How long the last look at all subflows took, s.
    pub(super) fn look_s(&self) -> f64 {
        (self.counters.look_ns * NANOSECOND) as f64 / SECOND as f64
    }
}
