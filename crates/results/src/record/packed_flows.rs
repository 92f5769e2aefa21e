//! The flows of a replication in a few bytes each: a run may have millions, and all of them are kept until its metrics
//! are made.
//!
//! A flow is a row of numbers. Most are those of the flow before, or differ from them by little: of these a row has
//! none, and of the others the difference, seven bits in a byte (LEB128).

use serde::{Deserialize, Serialize};
use tresse_experiment::plan::parts::Member;
use tresse_fabric::Locality;
use tresse_sim::FlowRecord;
use tresse_transport::Counters;
use tresse_workload::Start;

use crate::record::flow::{Begun, Flow};

/// The numbers of a flow.
const NUMBERS: usize = 29;

type Row = [u64; NUMBERS];

/// Flows in their order; none can be taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackedFlows {
    bytes: Vec<u8>,
    len: usize,
    last: Row,
}

impl PackedFlows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a flow at the end.
    pub fn push(&mut self, flow: &Flow) {
        let row = row(flow);
        let differs = (0..NUMBERS).filter(|&i| row[i] != self.last[i]).fold(0, |bits, i| bits | 1u64 << i);
        put(&mut self.bytes, differs);
        for i in (0..NUMBERS).filter(|i| differs >> i & 1 != 0) {
            let more = row[i].wrapping_sub(self.last[i]) as i64;
            put(&mut self.bytes, (more << 1 ^ more >> 63) as u64);
        }
        self.last = row;
        self.len += 1;
    }

    /// All of them.
    pub fn iter(&self) -> Iter<'_> {
        Iter { bytes: &self.bytes, last: [0; NUMBERS] }
    }
}

impl Extend<Flow> for PackedFlows {
    fn extend<I: IntoIterator<Item = Flow>>(&mut self, flows: I) {
        flows.into_iter().for_each(|flow| self.push(&flow));
    }
}

impl FromIterator<Flow> for PackedFlows {
    fn from_iter<I: IntoIterator<Item = Flow>>(flows: I) -> Self {
        let mut all = Self::default();
        all.extend(flows);
        all
    }
}

impl<'a> IntoIterator for &'a PackedFlows {
    type Item = Flow;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Unpacks flows, one after the other.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    /// Those that are left.
    bytes: &'a [u8],
    last: Row,
}

impl Iterator for Iter<'_> {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        if self.bytes.is_empty() {
            return None;
        }
        let mut differs = take(&mut self.bytes);
        while differs != 0 {
            let coded = take(&mut self.bytes);
            let more = coded >> 1 ^ (coded & 1).wrapping_neg();
            let own = &mut self.last[differs.trailing_zeros() as usize];
            *own = own.wrapping_add(more);
            differs &= differs - 1;
        }
        Some(flow(&self.last))
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut place) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().expect("what was put there");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << place;
        if byte < 0x80 {
            return number;
        }
        place += 7;
    }
}

const LOCALITIES: [Locality; 3] = [Locality::InnerRack, Locality::InterRack, Locality::InterPod];

/// A flow's numbers; where one is close to another, their difference.
fn row(flow: &Flow) -> Row {
    let Flow { begun: Begun { part, member, start }, locality, shares, ideal, record } = flow;
    let place = LOCALITIES.iter().position(|own| own == locality).expect("one of all") as u64;
    let flags = [
        record.complete,
        shares.is_some(),
        *shares == Some(true),
        start.bytes.is_some(),
        start.job.is_some(),
        start.deadline.is_some(),
        ideal.is_some(),
    ];
    let c = &record.counters;
    [
        flags.iter().fold(place, |bits, &flag| bits << 1 | u64::from(flag)),
        *part as u64,
        member.bound_scheme as u64,
        member.group as u64,
        start.name,
        start.from.into(),
        u64::from(start.to).wrapping_sub(start.from.into()),
        start.bytes.unwrap_or(0),
        start.round.into(),
        start.job.unwrap_or(0).into(),
        start.deadline.map_or(0, |deadline| deadline.wrapping_sub(record.start)),
        ideal.unwrap_or(0),
        record.id,
        record.bytes.wrapping_sub(start.bytes.unwrap_or(0)),
        record.start,
        record.end.wrapping_sub(record.start),
        record.opened.into(),
        record.closed,
        c.sent,
        c.retransmissions,
        c.reinjections,
        c.timeouts,
        c.handshake_timeouts,
        c.recoveries,
        c.mark_cuts,
        c.marks,
        c.probes,
        c.rounds,
        c.windows,
    ]
}

/// The flow of these numbers.
fn flow(row: &Row) -> Flow {
    let &[
        flags,
        part,
        bound_scheme,
        group,
        name,
        from,
        to,
        bytes,
        round,
        job,
        deadline,
        ideal,
        ref record @ ..,
    ] = row;
    let &[id, arrived, start, lasted, opened, closed, ref counters @ ..] = record;
    let &[
        sent,
        retransmissions,
        reinjections,
        timeouts,
        handshake_timeouts,
        recoveries,
        mark_cuts,
        marks,
        probes,
        rounds,
        windows,
    ] = counters;
    let has = |place: u32| flags >> place & 1 != 0;
    let counters = Counters {
        sent,
        retransmissions,
        reinjections,
        timeouts,
        handshake_timeouts,
        recoveries,
        mark_cuts,
        marks,
        probes,
        rounds,
        windows,
    };
    Flow {
        begun: Begun {
            part: part as usize,
            member: Member { bound_scheme: bound_scheme as usize, group: group as usize },
            start: Start {
                name,
                from: from as u32,
                to: to.wrapping_add(from) as u32,
                bytes: has(3).then_some(bytes),
                round: round as u32,
                job: has(2).then_some(job as u32),
                deadline: has(1).then_some(deadline.wrapping_add(start)),
            },
        },
        locality: LOCALITIES[(flags >> 7) as usize],
        shares: has(5).then_some(has(4)),
        ideal: has(0).then_some(ideal),
        record: FlowRecord {
            id,
            bytes: arrived.wrapping_add(bytes),
            complete: has(6),
            start,
            end: start.wrapping_add(lasted),
            opened: opened as u32,
            closed,
            counters,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow all of whose numbers follow from `seed`: many are 0, some the largest there are.
    fn any(seed: u64) -> Flow {
        let mut draws = tresse_units::SplitMix::new(seed);
        let mut number = || match draws.next() % 4 {
            0 => 0,
            1 => draws.next() % 100,
            2 => draws.next(),
            _ => u64::MAX - draws.next() % 3,
        };
        let start = Start {
            name: number(),
            from: number() as u32,
            to: number() as u32,
            bytes: Some(number()).filter(|n| n % 3 > 0),
            round: number() as u32,
            job: Some(number() as u32).filter(|n| n % 3 > 0),
            deadline: Some(number()).filter(|n| n % 3 > 0),
        };
        let member = Member { bound_scheme: number() as usize, group: number() as usize };
        let mut counters = [0; 11];
        counters.fill_with(&mut number);
        let [
            sent,
            retransmissions,
            reinjections,
            timeouts,
            handshake_timeouts,
            recoveries,
            mark_cuts,
            marks,
            probes,
            rounds,
            windows,
        ] = counters;
        Flow {
            begun: Begun { part: number() as usize, member, start },
            locality: LOCALITIES[(number() % 3) as usize],
            shares: [None, Some(false), Some(true)][(number() % 3) as usize],
            ideal: Some(number()).filter(|n| n % 3 > 0),
            record: FlowRecord {
                id: number(),
                bytes: number(),
                complete: number() % 2 == 0,
                start: number(),
                end: number(),
                opened: number() as u32,
                closed: number(),
                counters: Counters {
                    sent,
                    retransmissions,
                    reinjections,
                    timeouts,
                    handshake_timeouts,
                    recoveries,
                    mark_cuts,
                    marks,
                    probes,
                    rounds,
                    windows,
                },
            },
        }
    }

    #[test]
    fn every_flow_comes_back() {
        let flows: Vec<Flow> = (0..2000).map(any).collect();
        let packed: PackedFlows = flows.iter().copied().collect();
        assert_eq!((packed.len(), packed.is_empty()), (2000, false));
        assert_eq!(packed.iter().collect::<Vec<_>>(), flows);
        assert_eq!(PackedFlows::default().iter().next(), None);
    }

    #[test]
    fn what_is_alike_takes_no_room() {
        let mut packed = PackedFlows::default();
        for id in 0..1000 {
            let mut flow = any(1);
            flow.record.id = id;
            packed.push(&flow);
        }
        // The first one, and then which number differs, and by 1.
        let first = packed.bytes.len() - 999 * 3;
        assert!(first < 300, "{}", packed.bytes.len());
    }
}
