//! The data that switches write into departing packets: in-band telemetry, as in HPCC (Li et al., SIGCOMM 2019).
//!
//! Queued ports write it, into packets that may be or were trimmed: those of sprayed connections. A header without
//! its payload is where a full port tells of itself. A packet has only one cache line, so the data is kept next to it.

use tresse_units::{BitsPerSecond, Time};

use super::Fabric;

/// A hop that a packet has made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hop {
    /// Bytes that the port had sent then, those of the packet included.
    pub bytes: u64,
    /// When the packet began to leave, ps.
    pub time: Time,
    /// Bytes that waited in the port then.
    pub queue: u64,
    /// The rate of the port, bit/s.
    pub rate: BitsPerSecond,
}

/// Hops that a packet has room for.
const ROOM: usize = 8;

#[derive(Debug, Clone, Copy, Default)]
struct Hops {
    count: usize,
    hops: [Hop; ROOM],
}

/// The data written into packets.
#[derive(Debug, Default)]
pub(super) struct Telemetry {
    /// By packet.
    of: Vec<Hops>,
    /// The data of the last delivered packet.
    delivered: Hops,
    /// The next packet that is sent has these.
    echoed: Option<Hops>,
}

impl Telemetry {
    /// A packet is sent.
    pub fn begin(&mut self, id: u32) {
        let id = id as usize;
        if id >= self.of.len() {
            self.of.resize(id + 1, Hops::default());
        }
        self.of[id] = self.echoed.take().unwrap_or_default();
    }

    /// A packet is delivered.
    pub fn end(&mut self, id: u32) {
        self.delivered = self.of[id as usize];
    }

    fn write(&mut self, id: u32, hop: Hop) {
        let own = &mut self.of[id as usize];
        if let Some(place) = own.hops.get_mut(own.count) {
            *place = hop;
            own.count += 1;
        }
    }
}

impl<P: Copy> Fabric<P> {
    /// Lets queued ports write into packets that may be trimmed. The fabric is not cut into parts.
    #[must_use]
    pub fn with_telemetry(mut self) -> Self {
        assert!(self.part.is_none(), "what is written stays in the part");
        self.telemetry = Some(Box::default());
        self
    }

    /// The first eight hops of the packet that was delivered last, starting from its sender.
    pub fn hops_of_delivered(&self) -> &[Hop] {
        self.telemetry.as_ref().map_or(&[], |own| &own.delivered.hops[..own.delivered.count])
    }

    /// The next packet that is sent carries the hops of the packet that was delivered last.
    pub fn echo_hops(&mut self) {
        if let Some(own) = &mut self.telemetry {
            own.echoed = Some(own.delivered);
        }
    }

    /// A packet begins to leave a queued port at `now`.
    #[inline]
    pub(super) fn write_hop(&mut self, number: u32, id: u32, now: Time) {
        if self.telemetry.is_some() {
            self.write_telemetry(number, id, now);
        }
    }

    #[inline(never)]
    fn write_telemetry(&mut self, number: u32, id: u32, now: Time) {
        let Some(telemetry) = &mut self.telemetry else { return };
        if !self.packets.get(id).header.is_sprayed() {
            return;
        }
        let port = &self.ports[number as usize];
        let Some(queued) = port.queued() else { return };
        let queued = &self.queued_ports[queued];
        let queue = queued.waiting_bytes();
        let bytes = port.counters().bytes - queue;
        telemetry.write(id, Hop { bytes, time: now, queue, rate: queued.rate() });
    }
}
