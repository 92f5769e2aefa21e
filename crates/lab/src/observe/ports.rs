//! Samples of the ports: how busy each was in an interval, and how long its queue is.

use tresse_fabric::Topology;
use tresse_sim::World;
use tresse_units::Time;

use crate::record::sample::PortSample;

/// By port, for how long it has been sending.
#[derive(Debug)]
pub struct Ports(Vec<Time>);

impl Ports {
    /// As they are now.
    pub fn new(world: &World) -> Self {
        Self((0..).zip(world.ports()).map(|(p, _)| world.busy(p)).collect())
    }

    /// The samples, from the last call until now, of the ports that sent something or hold something.
    pub fn take(&mut self, world: &World, fabric: &Topology, round: u32, start: Time) -> Vec<PortSample> {
        let now = world.now();
        let before = std::mem::replace(self, Self::new(world));
        let pairs = before.0.into_iter().zip(&self.0).zip(0..);
        pairs
            .map(|((before, after), port)| PortSample {
                round,
                start,
                duration: now - start,
                port,
                layer: fabric.layer(port),
                // Each packet may count 1 ps too much.
                busy: (after - before).min(now - start),
                waiting: world.waiting(port),
            })
            .filter(|p| p.duration > 0 && (p.busy > 0 || p.waiting > 0))
            .collect()
    }
}
