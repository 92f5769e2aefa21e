//! The bandwidth-delay product of a network: what thresholds are compared with, and may be multiples of.

use tresse_fabric::{ShortestPaths, Topology};
use tresse_units::{BitsPerSecond, Mark, Queue, SECOND, Time};

use crate::diagnostic::Diagnostic;
use crate::read::Loaded;
use crate::schema::fabric::Fabric;

/// The sizes of the packets in the RTT of an empty path.
#[derive(Debug, Clone, Copy)]
pub struct PacketSizes {
    /// A full data packet, headers included, bytes.
    pub data: u32,
    /// An ACK, bytes.
    pub ack: u32,
}

impl PacketSizes {
    /// Those of `[transport]`.
    ///
    /// # Errors
    /// An error in `[transport]`, with its location.
    pub fn of(loaded: &Loaded) -> Result<Self, Diagnostic> {
        let transport = loaded.experiment.transport.config();
        let transport = transport.map_err(|(key, e)| loaded.error_at(&["transport", key], &e))?;
        Ok(Self { data: transport.mss + transport.header, ack: transport.ack })
    }
}

/// By port: what its link adds to the RTT of an empty path, ps: the delays of a data packet there and of an ACK back.
pub fn link_rtts(topology: &Topology, sizes: PacketSizes) -> impl Fn(u32) -> Time {
    let twins = topology.twins();
    move |port| {
        let [there, back] = [port, twins[port as usize]].map(|p| &topology.configs[p as usize]);
        let bits = |bytes: u32| u64::from(bytes) * 8 * SECOND;
        there.delay + back.delay + bits(sizes.data) / there.rate + bits(sizes.ack) / back.rate
    }
}

/// The bandwidth-delay product of a network: what the slowest host sends in the longest RTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bdp {
    /// The RTT of the longest shortest path between two hosts, empty, ps.
    pub base_rtt: Time,
    /// The rate of the slowest host's link.
    pub rate: BitsPerSecond,
}

impl Bdp {
    /// That of `topology` for packets of these sizes.
    pub fn of(topology: &Topology, sizes: PacketSizes) -> Self {
        let rtts: Vec<Time> = (0..topology.configs.len() as u32).map(link_rtts(topology, sizes)).collect();
        let base_rtt = ShortestPaths::new(topology).longest_span(&rtts);
        let ends = topology.network.ends.iter().zip(&topology.configs);
        let nics = ends.filter(|([from, _], _)| *from < topology.network.hosts);
        Self { base_rtt, rate: nics.map(|(_, config)| config.rate).min().unwrap_or(0) }
    }

    /// Its size, bytes.
    pub fn bytes(self) -> f64 {
        self.base_rtt as f64 * self.rate as f64 / (8.0 * SECOND as f64)
    }

    /// A multiple of it, rounded to bytes, of at least one data packet.
    fn multiple(self, parts: u64, sizes: PacketSizes) -> Queue {
        let whole = u128::from(Mark::PARTS) * 8 * u128::from(SECOND);
        let product = u128::from(self.base_rtt) * u128::from(self.rate);
        // What does not fit is beyond any queue.
        let bytes = product.saturating_mul(parts.into()).saturating_add(whole / 2) / whole;
        Queue::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).max(sizes.data.into()))
    }
}

impl Fabric {
    /// Whether a threshold is a multiple of the BDP.
    pub(super) fn has_multiples(&self) -> bool {
        self.clone().marks().into_iter().any(|mark| matches!(mark, Mark::Bdp(_)))
    }

    /// The same with those thresholds in bytes.
    pub(super) fn in_bytes(&self, bdp: Bdp, sizes: PacketSizes) -> Self {
        let mut own = self.clone();
        for mark in own.marks() {
            if let Mark::Bdp(parts) = *mark {
                *mark = Mark::Length(bdp.multiple(parts, sizes));
            }
        }
        own
    }
}
