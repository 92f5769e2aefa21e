//! The connections of a capture: their names on the wire, and the positions of their bytes.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use tresse_results::record::packet::Kind;

use super::mptcp::{End, Ends};
use super::packet::Packet;
use crate::key::Key;

/// Ports below are not used.
const FIRST_PORT: u32 = 1024;
/// The port of receivers, until a pair of hosts has more subflows than a host has ports.
const RECEIVER: u32 = 5001;

/// The byte positions of segments. All are full, except for some that end a message.
#[derive(Debug, Default)]
struct Offsets {
    /// The segments that end a message, with their payload.
    ends: BTreeMap<u32, u32>,
    /// The short segments, and how many bytes are missing up to there.
    short: Vec<(u32, u64)>,
}

impl Offsets {
    fn fix(&mut self, full: u32) {
        let short = self.ends.iter().filter(|(_, payload)| **payload < full);
        self.short = short
            .scan(0, |missing, (&segment, payload)| {
                *missing += u64::from(full - payload);
                Some((segment, *missing))
            })
            .collect();
    }

    /// Bytes before a segment.
    fn before(&self, segment: u32, full: u32) -> u64 {
        let shorter = self.short.partition_point(|(short, _)| *short < segment);
        let missing = shorter.checked_sub(1).map_or(0, |last| self.short[last].1);
        u64::from(segment) * u64::from(full) - missing
    }
}

#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// Its number, from 0 in the order in which first packets were recorded.
    pub number: u32,
    /// Payload of a full segment, bytes: the maximum of all segments.
    pub full: u32,
    /// Its packets are ECN-capable.
    pub ecn: bool,
    /// Hosts that have recorded it.
    pub seen_by: BTreeSet<u32>,
    data: Offsets,
    subflows: BTreeMap<u32, Subflow>,
}

#[derive(Debug, Default)]
pub(crate) struct Subflow {
    /// Of the sender and of the receiver.
    pub ports: [u16; 2],
    data: Offsets,
}

impl Connection {
    /// Bytes before a segment of the connection.
    pub fn bytes_before(&self, dsn: u32) -> u64 {
        self.data.before(dsn, self.full)
    }

    /// Bytes before a segment of a subflow.
    pub fn bytes_before_on(&self, subflow: u32, seq: u32) -> u64 {
        self.subflow(subflow).data.before(seq, self.full)
    }

    /// A subflow with packets.
    pub fn subflow(&self, number: u32) -> &Subflow {
        &self.subflows[&number]
    }
}

/// The connections with packets.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    all: BTreeMap<Key, Connection>,
    /// Groups with a connection that has several subflows.
    several: BTreeSet<String>,
    /// Subflows between two hosts.
    between: BTreeMap<[u64; 2], u32>,
}

impl Connections {
    /// Learns from a packet.
    pub fn add(&mut self, row: &Packet) {
        let number = self.all.len() as u32;
        let connection = self.all.entry(row.key.clone()).or_default();
        if connection.seen_by.is_empty() {
            connection.number = number;
        }
        connection.seen_by.insert(row.host);
        if row.subflow > 0 && !self.several.contains(&row.key.group) {
            self.several.insert(row.key.group.clone());
        }
        let subflow = connection.subflows.entry(row.subflow).or_insert_with(|| {
            let between = self.between.entry([row.key.from, row.key.to]).or_default();
            let ports = u32::from(u16::MAX) + 1 - FIRST_PORT;
            let [sender, receiver] = [FIRST_PORT + *between % ports, RECEIVER + *between / ports];
            *between += 1;
            Subflow { ports: [sender as u16, receiver as u16], data: Offsets::default() }
        });
        if let (Kind::Data, Some([seq, dsn])) = (row.kind, row.data) {
            connection.full = connection.full.max(row.payload);
            connection.ecn |= row.ecn > 0;
            if row.last {
                subflow.data.ends.insert(seq, row.payload);
                connection.data.ends.insert(dsn, row.payload);
            }
        }
    }

    /// To be called when all packets are known.
    pub fn fix(&mut self) {
        for connection in self.all.values_mut() {
            connection.data.fix(connection.full);
            connection.subflows.values_mut().for_each(|own| own.data.fix(connection.full));
        }
    }

    /// The connection of a known packet.
    pub fn of(&self, key: &Key) -> &Connection {
        &self.all[key]
    }

    /// Whether a connection of this group has several subflows.
    pub fn has_several(&self, group: &str) -> bool {
        self.several.contains(group)
    }

    /// How many connections two hosts have recorded.
    pub fn seen_twice(&self) -> usize {
        self.all.values().filter(|connection| connection.seen_by.len() > 1).count()
    }
}

/// A word derived from a connection's name, instead of the random one that its ends would draw.
fn word(key: &Key, what: &str, subflow: u32) -> u64 {
    let Key { round, group, flow, from, to } = key;
    let hash: [u8; 32] =
        Sha256::digest(format!("{what} {subflow} {round} {flow} {from} {to} {group}")).into();
    u64::from_be_bytes(hash[..8].try_into().expect("eight bytes"))
}

/// The ends of a connection, with their keys.
pub(crate) fn ends(key: &Key) -> Ends {
    ["sender's key", "receiver's key"].map(|what| End::new(word(key, what, 0)))
}

/// The sequence numbers of the SYNs of a subflow's ends.
pub(crate) fn first_numbers(key: &Key, subflow: u32) -> [u32; 2] {
    ["sender's first number", "receiver's first number"].map(|what| word(key, what, subflow) as u32)
}

/// The nonces of the ends of a subflow that joins.
pub(crate) fn nonces(key: &Key, subflow: u32) -> [u32; 2] {
    ["sender's nonce", "receiver's nonce"].map(|what| word(key, what, subflow) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_before_a_segment_count_short_ones() {
        let mut offsets = Offsets { ends: BTreeMap::from([(2, 100), (3, 1460), (4, 60)]), short: Vec::new() };
        offsets.fix(1460);
        let before = [0, 1, 2, 3, 4, 5, 6].map(|segment| offsets.before(segment, 1460));
        assert_eq!(before, [0, 1460, 2920, 3020, 4480, 4540, 6000]);
    }
}
