//! Packets of recorded hosts on their way to the table.

use std::collections::BTreeMap;

use tresse_experiment::plan::packets::Packets as Wanted;
use tresse_sim::{ObservedPacket, OpenedSubflow};
use tresse_units::Time;

use super::Engine;
use crate::network::Network;
use tresse_results::record::flow::Begun;
use tresse_results::record::outcome::Rows;
use tresse_results::record::packet::Packet;

/// The number of packets that are passed on together.
const BATCH: usize = 8192;

/// The connections of recorded hosts, and the number of their packets.
#[derive(Debug)]
pub(crate) struct Packets {
    wanted: Wanted,
    /// By the simulator's names for connections.
    begun: BTreeMap<u64, Begun>,
    /// By connection and subflow.
    addresses: BTreeMap<(u64, u32), [u16; 2]>,
    /// How many packets have been passed on.
    count: u64,
    /// The time of the first packet beyond the limit.
    end: Option<Time>,
}

impl Packets {
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, begun: BTreeMap::new(), addresses: BTreeMap::new(), count: 0, end: None }
    }

    /// A flow starts. For a persistent connection, its first flow counts.
    pub fn start(&mut self, id: u64, begun: &Begun) {
        let hosts = [begun.start.from, begun.start.to];
        if self.end.is_none() && hosts.iter().any(|host| self.wanted.hosts.contains(host)) {
            self.begun.insert(id, *begun);
        }
    }

    /// The time from which on there were more packets than may be recorded.
    pub fn end(&self) -> Option<Time> {
        self.end
    }

    fn rows(&mut self, opened: &[OpenedSubflow], seen: &[ObservedPacket]) -> Vec<Packet> {
        self.addresses.extend(opened.iter().map(|own| ((own.connection, own.subflow), own.addresses)));
        let room = self.wanted.limit - self.count;
        let room = seen.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        let (kept, more) = seen.split_at(room);
        self.end = self.end.or_else(|| more.first().map(|first| first.time));
        self.count += kept.len() as u64;
        let row = |seen: &ObservedPacket| {
            let addresses = self.addresses.get(&(seen.connection, seen.subflow)).copied().unwrap_or_default();
            let begun = self.begun.get(&seen.connection)?;
            Some(Packet::new(seen, begun, addresses))
        };
        kept.iter().filter_map(row).collect()
    }
}

impl<M, W, E> Engine<'_, M, W>
where
    M: FnMut(Rows) -> Result<(), E>,
    W: Network,
{
    /// Passes on the recorded packets if there are many, or all of them at the end.
    pub(super) fn hand_on_packets(&mut self, is_end: bool) -> Result<(), E> {
        let Some(packets) = &mut self.packets else { return Ok(()) };
        if !is_end && self.world.recorded() < BATCH {
            return Ok(());
        }
        let (opened, seen) = self.world.take_recorded(is_end);
        let rows = packets.rows(&opened, &seen);
        rows.chunks(BATCH).try_for_each(|rows| (self.measured)(Rows::Packets(rows)))
    }
}
