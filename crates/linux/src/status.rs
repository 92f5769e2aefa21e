//! `tresse status`: the attached controllers, and their activity.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::attached::{self, Hook};
use crate::sockets::{MAX_NAMES, Socket};
use crate::{Error, default, netns, sockets};

/// An attached controller at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Controller {
    pub controller: String,
    /// Its name in the kernel.
    pub kernel_name: String,
    /// The version of the program that attached it.
    pub version: String,
    /// SHA-256 of its build: of the eBPF object, or of a user's file and the program around it.
    pub digest: String,
    /// The parameters' values.
    pub parameters: BTreeMap<String, u64>,
    /// The network namespaces whose default it is.
    pub default_in: Vec<String>,
    /// The connections that it controls, in every visible namespace.
    pub connections: Vec<Connection>,
    /// The wrapper's counts since it was attached: see [`crate::COUNTERS`].
    #[serde(serialize_with = "as_object")]
    pub counters: Vec<(&'static str, u64)>,
    /// The cost of its hooks, if the kernel counts it (`sysctl kernel.bpf_stats_enabled=1`).
    pub hooks: Vec<Hook>,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Connection {
    /// The token of an MPTCP connection, as `ss` writes it; `null` for plain TCP.
    pub token: Option<String>,
    /// Its network namespace: a name in `ip netns`, `current` for the caller's own, otherwise a process in it: `pid 123`.
    pub namespace: String,
    pub subflows: Vec<Subflow>,
}

/// One subflow of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subflow {
    /// Address and port here.
    pub local: String,
    /// Address and port there.
    pub remote: String,
    /// Congestion window, packets.
    pub cwnd_pkts: u32,
    /// Smoothed RTT, us.
    pub srtt_us: u32,
    /// CE marks that its ACKs have echoed, packets.
    pub ce_pkts: u32,
    /// The sender's state.
    pub state: &'static str,
}

/// Everything that is attached; and errors for pins that cannot be understood.
///
/// # Errors
/// Without the permission to look.
pub fn status() -> Result<(Vec<Controller>, Vec<Error>), Error> {
    let (attached, strange) = attached::all()?;
    if attached.is_empty() {
        return Ok((Vec::new(), strange));
    }
    let namespaces = netns::all();
    let names: Vec<&str> = attached.iter().map(|a| a.kernel_name.as_str()).collect();
    let mut sockets = Vec::new();
    for (i, names) in names.chunks(MAX_NAMES).enumerate() {
        let found = sockets::list(names, &namespaces)?;
        sockets.extend(found.into_iter().map(|s| Socket { which: s.which + i * MAX_NAMES, ..s }));
    }
    let defaults: Vec<_> = namespaces.iter().map(|n| (n, default::get(n).unwrap_or_default())).collect();
    let controllers = attached
        .iter()
        .enumerate()
        .map(|(i, a)| Controller {
            controller: a.stamp.controller.clone(),
            kernel_name: a.kernel_name.clone(),
            version: a.stamp.version.clone(),
            digest: a.stamp.digest.clone(),
            parameters: a.stamp.parameters.clone(),
            default_in: defaults
                .iter()
                .filter(|(_, name)| *name == a.kernel_name)
                .map(|(namespace, _)| namespace.label.clone())
                .collect(),
            connections: connections(sockets.iter().filter(|s| s.which == i)),
            counters: a.counters(),
            hooks: a.hooks(),
        })
        .collect();
    Ok((controllers, strange))
}

/// Sockets with the same token are the subflows of one connection.
fn connections<'a>(sockets: impl Iterator<Item = &'a Socket>) -> Vec<Connection> {
    let mut connections: Vec<Connection> = Vec::new();
    for s in sockets {
        let token = s.token.map(|t| format!("{t:08x}"));
        let subflow = Subflow {
            local: s.local.to_string(),
            remote: s.remote.to_string(),
            cwnd_pkts: s.cwnd,
            srtt_us: s.srtt / 8,
            ce_pkts: s.delivered_ce,
            state: s.state,
        };
        let is_it = |c: &&mut Connection| token.is_some() && c.token == token && c.namespace == s.namespace;
        match connections.iter_mut().find(is_it) {
            Some(connection) => connection.subflows.push(subflow),
            None => {
                let namespace = s.namespace.clone();
                connections.push(Connection { token, namespace, subflows: vec![subflow] });
            }
        }
    }
    connections
}

fn as_object<S: serde::Serializer>(pairs: &[(&'static str, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}
