//! What `ip`, `tc` and the markers have counted.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tresse_linux::mark;

use super::names::FRAME;
use crate::address::MTU;
use crate::namespace::Namespace;

/// How old readings of queues may be.
pub(super) const FRESH: Duration = Duration::from_millis(5);
/// How old those may be that only show progress.
pub(super) const LAZY: Duration = Duration::from_secs(1);

/// The latest readings.
#[derive(Debug, Default)]
pub(super) struct Readings {
    at: Option<Instant>,
    ports: BTreeMap<String, Reading>,
    /// Packets that interfaces dropped on arrival.
    dropped: u64,
    /// The same on their way between interfaces, of the whole machine.
    backlog: u64,
    /// Those before the first reading.
    before: Option<u64>,
}

/// What a port has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// Bytes of IP packets that left.
    pub bytes: u64,
    pub packets: u64,
    pub drops: u64,
    pub marks: u64,
    /// Packets that wait.
    pub waiting: u64,
}

impl Readings {
    /// Reads again what is older than `within`.
    #[expect(clippy::disallowed_methods, reason = "how long ago the system was asked")]
    pub fn refresh(&mut self, namespace: &Namespace, within: Duration) {
        if self.at.is_some_and(|at| at.elapsed() < within) {
            return;
        }
        let say = |program: &str, what: [&str; 2]| {
            let mut command = Command::new(program);
            let output = command.args(["-n", namespace.name(), "-s", "-j"]).args(what).output();
            output.map(|output| output.stdout).unwrap_or_default()
        };
        let links: Vec<Link> = serde_json::from_slice(&say("ip", ["link", "show"])).unwrap_or_default();
        let queues: Vec<Queue> = serde_json::from_slice(&say("tc", ["qdisc", "show"])).unwrap_or_default();
        self.take(&links, &queues);
        let backlog = backlog();
        self.backlog = backlog - *self.before.get_or_insert(backlog);
        self.at = Some(Instant::now());
    }

    fn take(&mut self, links: &[Link], queues: &[Queue]) {
        for Link { name, stats } in links {
            let own = self.ports.entry(name.clone()).or_default();
            own.packets = stats.tx.packets;
            own.bytes = stats.tx.bytes.saturating_sub(stats.tx.packets * (FRAME - u64::from(MTU)));
        }
        self.dropped = links.iter().map(|link| link.stats.tx.dropped).sum();
        for queue in queues.iter().filter(|queue| queue.kind == "htb") {
            let own = self.ports.entry(queue.dev.clone()).or_default();
            (own.drops, own.waiting) = (queue.drops, queue.qlen);
        }
    }

    /// Adds what the markers have counted.
    pub fn mark(&mut self, namespace: &Namespace) {
        for marker in mark::show(None, Some(namespace.name())).unwrap_or_default() {
            let marks = marker.classes.iter().map(|class| class.marked_pkts).sum();
            self.ports.entry(marker.device).or_default().marks = marks;
        }
    }

    pub fn port(&self, interface: &str) -> Reading {
        self.ports.get(interface).copied().unwrap_or_default()
    }

    /// Packets that were dropped although no queue was full.
    pub fn refused(&self) -> u64 {
        self.dropped + self.backlog
    }
}

#[derive(Debug, Deserialize)]
struct Link {
    #[serde(rename = "ifname")]
    name: String,
    #[serde(rename = "stats64")]
    stats: Stats,
}

#[derive(Debug, Deserialize)]
struct Stats {
    tx: Sent,
}

#[derive(Debug, Deserialize)]
struct Sent {
    bytes: u64,
    packets: u64,
    dropped: u64,
}

#[derive(Debug, Deserialize)]
struct Queue {
    kind: String,
    dev: String,
    #[serde(default)]
    drops: u64,
    #[serde(default)]
    qlen: u64,
}

/// Packets that found a core's backlog full, on all cores.
fn backlog() -> u64 {
    let text = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    let second = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().filter_map(second).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_what_its_link_and_its_queue_have_counted() {
        let links = r#"[
            {"ifname":"p0","stats64":{"rx":{"bytes":1},"tx":{"bytes":3028,"packets":2,"errors":0,"dropped":1}}},
            {"ifname":"p1","stats64":{"tx":{"bytes":0,"packets":0,"dropped":0}}}]"#;
        let queues = r#"[
            {"kind":"htb","handle":"1:","dev":"p0","root":true,"bytes":3028,"packets":2,"drops":7,"qlen":5},
            {"kind":"pfifo","handle":"10:","dev":"p0","parent":"1:1","drops":7,"qlen":5},
            {"kind":"noqueue","dev":"p1","root":true}]"#;
        let mut readings = Readings::default();
        let links: Vec<Link> = serde_json::from_str(links).expect("links");
        let queues: Vec<Queue> = serde_json::from_str(queues).expect("queues");
        readings.take(&links, &queues);
        let own = Reading { bytes: 3000, packets: 2, drops: 7, marks: 0, waiting: 5 };
        assert_eq!(readings.port("p0"), own);
        assert_eq!(readings.port("p1"), Reading::default());
        assert_eq!(readings.refused(), 1);
    }
}
