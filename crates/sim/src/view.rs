//! What can be seen of a world.

use tresse_fabric::Fabric;
use tresse_transport::{Receiver, Sender, Wire};
use tresse_units::Time;

use crate::world::{Packets, World};

impl World {
    /// Simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.fabric.now()
    }

    /// Where the packets have gone.
    pub fn packets(&self) -> Packets {
        self.packets
    }

    /// Payload that has arrived, bytes, duplicates included.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// The fabric, for measurements.
    pub fn fabric(&self) -> &Fabric<Wire> {
        &self.fabric
    }

    /// Connections that have not finished.
    pub fn live(&self) -> usize {
        self.live
    }

    /// The sender of a connection that has not finished, by its id; for measurements.
    pub fn sender(&self, id: u64) -> Option<&Sender> {
        self.flow(id).filter(|(_, f)| !f.done).map(|(_, f)| &f.sender)
    }

    /// Segments of a connection that were delivered in order, by its id; for measurements.
    pub fn delivered_segments(&self, id: u64) -> Option<u32> {
        self.flow(id).filter(|(_, f)| !f.done).map(|(_, f)| f.receiver.delivered())
    }

    /// The two ends of a connection, by its id, for measurements: one that has not finished, or, until the
    /// next is started, one that has.
    pub fn ends(&self, id: u64) -> Option<(&Sender, &Receiver)> {
        self.flow(id).map(|(_, f)| (&f.sender, &f.receiver))
    }
}
