//! Samples of ports: how busy each was in an interval, how long its queue is, and its share.

use tresse_fabric::Topology;
use tresse_units::Time;

use crate::network::{Network, PortNow};
use tresse_results::record::sample::PortSample;

/// The totals of all ports so far.
#[derive(Debug)]
pub struct Ports(Vec<Totals>);

/// The totals of a port so far.
#[derive(Debug, Clone, Copy)]
struct Totals {
    /// The time that it has been sending.
    busy: Time,
    /// Packets that it dropped or lost.
    drops: u64,
    /// Packets that it marked.
    marks: u64,
}

impl Ports {
    /// The current totals.
    pub fn new(world: &dyn Network) -> Self {
        let totals = |PortNow { counters, busy, .. }| Totals {
            busy,
            drops: counters.drops + counters.lost,
            marks: counters.marks,
        };
        Self(world.ports().into_iter().map(totals).collect())
    }

    /// The samples since the last call, for the ports that sent, hold or dropped something, or have a share.
    pub fn take(
        &mut self,
        world: &dyn Network,
        fabric: &Topology,
        round: u32,
        start: Time,
    ) -> Vec<PortSample> {
        let now = world.now();
        let before = std::mem::replace(self, Self::new(world));
        let shares = world.mean_shares();
        let pairs = before.0.into_iter().zip(&self.0).zip(0..);
        pairs
            .map(|((before, after), port)| PortSample {
                round,
                start,
                duration: now - start,
                port,
                layer: fabric.layer(port),
                // Each packet may count 1 ps too much.
                busy: (after.busy - before.busy).min(now - start),
                waiting: world.waiting(port),
                drops: after.drops - before.drops,
                marks: after.marks - before.marks,
                share: shares.get(port as usize).copied().flatten(),
            })
            .filter(|p| p.duration > 0 && (p.busy > 0 || p.waiting > 0 || p.drops > 0 || p.share.is_some()))
            .collect()
    }
}
