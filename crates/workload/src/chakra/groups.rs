//! The collectives of groups: which nodes belong together, and their messages.

use std::collections::BTreeMap;

use super::{Groups, Kind, Nodes, Read, wrong};
use crate::collective::{Collective, Ends, Operation};
use crate::size::too_large;
use crate::tasks::{MOST_FLOWS, Work};
use crate::trace::Trace;

/// The name of the group of all ranks, like an empty name.
const ALL: &str = "0";

/// How many groups a message names.
const NAMED: usize = 8;

/// A node that takes part in a collective.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub kind: Kind,
    pub bytes: u64,
    pub begin: u32,
    pub end: u32,
    pub place: u32,
}

/// A group, and the calls of each of its ranks, in the order of its file.
#[derive(Debug)]
struct Group {
    name: String,
    ranks: Vec<u32>,
    calls: BTreeMap<u32, Vec<Call>>,
}

/// The collectives of all groups.
#[derive(Debug)]
pub(super) struct Calls {
    ranks: u32,
    all_reduce: Operation,
    most: u64,
    /// The groups for every rank.
    common: Groups,
    /// The groups named in the file of this rank.
    own: Groups,
    /// By name, the groups of this rank seen so far.
    met: BTreeMap<String, usize>,
    groups: Vec<Group>,
    known: BTreeMap<(String, Vec<u32>), usize>,
}

impl Calls {
    pub fn new(ranks: u32, common: Groups, all_reduce: Operation, most: u64) -> Read<Self> {
        check(&common, ranks)?;
        let (own, met, groups, known) = (Groups::new(), BTreeMap::new(), Vec::new(), BTreeMap::new());
        Ok(Self { ranks, all_reduce, most, common, own, met, groups, known })
    }

    /// The next calls are by this rank, whose file names these groups.
    pub fn of_rank(&mut self, rank: u32, groups: Groups) -> Read<()> {
        check(&groups, self.ranks).or_else(|e| wrong(format!("rank {rank}: {e}")))?;
        self.own = groups;
        self.met.clear();
        Ok(())
    }

    /// The rank calls the next collective of a group.
    pub fn add(&mut self, rank: u32, name: &str, call: Call) -> Read<()> {
        let group = match self.met.get(name) {
            Some(&group) => group,
            None => self.meet(rank, name)?,
        };
        self.groups[group].calls.entry(rank).or_default().push(call);
        Ok(())
    }

    fn meet(&mut self, rank: u32, name: &str) -> Read<usize> {
        let all = if name.is_empty() { ALL } else { name };
        let said = self.common.get(name).or_else(|| self.own.get(name));
        let ranks = match said.or_else(|| self.common.get(all)).or_else(|| self.own.get(all)) {
            // PyTorch's notation for all ranks.
            Some(ranks) if !ranks.is_empty() => ranks.clone(),
            None if all != ALL => {
                let known = self.common.keys().chain(self.own.keys()).take(NAMED);
                let known: Vec<String> = known.map(|name| format!("`{name}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return wrong(format!(
                    "there is no group `{name}`: groups are defined in comm_group.json or in a METADATA node of the rank, \
                     which have {known}; only `0` needs no definition"
                ));
            }
            _ => (0..self.ranks).collect(),
        };
        if !ranks.contains(&rank) {
            return wrong(format!("rank {rank} is not in its group `{name}`"));
        }
        let next = self.groups.len();
        let group = *self.known.entry((all.to_owned(), ranks)).or_insert_with_key(|(name, ranks)| {
            self.groups.push(Group { name: name.clone(), ranks: ranks.clone(), calls: BTreeMap::new() });
            next
        });
        self.met.insert(name.to_owned(), group);
        Ok(group)
    }

    /// The messages of all collectives.
    pub fn draw(self, trace: &mut Trace, nodes: &Nodes) -> Read<()> {
        let mut collectives = Vec::new();
        for group in &self.groups {
            let most = group.calls.values().map(Vec::len).max().unwrap_or(0);
            for number in 0..most {
                let calls = group.agreed(number, nodes)?;
                if calls.len() > 1 {
                    let collective = self.collective(&calls[0], &group.ranks, nodes)?;
                    collectives.push((collective, calls));
                }
            }
        }
        // Checked before they are drawn: they might not fit.
        let messages: u128 = collectives.iter().map(|(c, _)| c.messages()).sum();
        if messages > u128::from(MOST_FLOWS) {
            let n = collectives.len();
            return wrong(format!(
                "its {n} collectives have {messages} messages: at most {MOST_FLOWS} are allowed"
            ));
        }
        let mut place_of = vec![0; self.ranks as usize];
        for (collective, calls) in collectives {
            let (begin, end): (Vec<u32>, Vec<u32>) = calls.iter().map(|c| (c.begin, c.end)).unzip();
            for (&rank, call) in collective.ranks.iter().zip(&calls) {
                place_of[rank as usize] = call.place;
            }
            let first = trace.graph.len();
            let ends = Ends { begin: &begin, end: &end };
            let drawn = collective.join(&mut trace.graph, ends);
            drawn.or_else(|e| wrong(format!("{}: {e}", nodes.called(calls[0].place))))?;
            // A message belongs to its sender.
            trace.places.extend((first..trace.graph.len()).map(|task| match trace.graph.work(task) {
                Work::Message { from, .. } => place_of[from as usize],
                Work::Wait(_) | Work::Gate => calls[0].place,
            }));
        }
        Ok(())
    }

    /// The collective of a call, with these ranks. Every part has at least one byte.
    fn collective(&self, call: &Call, ranks: &[u32], nodes: &Nodes) -> Read<Collective> {
        let n = ranks.len() as u64;
        let (operation, bytes) = match call.kind {
            Kind::AllReduce => (self.all_reduce, call.bytes.max(n)),
            Kind::AllGather => (Operation::AllGather, call.bytes.max(1).saturating_mul(n)),
            Kind::ReduceScatter => (Operation::ReduceScatter, call.bytes.max(n)),
            Kind::AllToAll => (Operation::AllToAll, call.bytes.max(n)),
            Kind::Broadcast => (Operation::Broadcast, call.bytes.max(1)),
            Kind::Barrier => (Operation::TreeAllReduce, 1),
        };
        let ranks = ranks.to_vec();
        let collective =
            Collective { operation, ranks, bytes, chunks: 1, parallel: None, iterations: 1, compute: 0 };
        let largest = match call.kind {
            Kind::AllGather => call.bytes,
            _ => collective.largest_message(),
        };
        if largest > self.most {
            let message = too_large(largest, self.most);
            return wrong(format!("{}: a message of {message}", nodes.called(call.place)));
        }
        Ok(collective)
    }
}

impl Group {
    /// The `number`-th call of each rank, in their order.
    fn agreed(&self, number: usize, nodes: &Nodes) -> Read<Vec<Call>> {
        let call = |rank: &u32| self.calls.get(rank).and_then(|calls| calls.get(number)).copied();
        let Some(first) = self.ranks.iter().find_map(call) else { return Ok(Vec::new()) };
        let place = |call: &Call| {
            let Call { kind, bytes, .. } = call;
            let what = match kind {
                Kind::Barrier => kind.name().to_owned(),
                _ => format!("{} of {bytes} bytes", kind.name()),
            };
            format!("{} is {what}", nodes.called(call.place))
        };
        let which =
            format!("the collectives of group `{}` are matched by their order in the files", self.name);
        let same = |call: &Call| {
            call.kind == first.kind && (call.bytes == first.bytes || call.kind == Kind::Barrier)
        };
        let mut calls = Vec::with_capacity(self.ranks.len());
        for rank in &self.ranks {
            let Some(call) = call(rank) else {
                let there = self.calls.get(rank).map_or(0, Vec::len);
                let message = format!("but rank {rank} has only {there}; {which}");
                return wrong(format!("{}, number {} of its group, {message}", place(&first), number + 1));
            };
            if !same(&call) {
                let message = format!("{}, and {}", place(&first), place(&call));
                return wrong(format!("{message}, both number {} of their group; {which}", number + 1));
            }
            calls.push(call);
        }
        Ok(calls)
    }
}

/// Groups have every rank at most once, and only existing ranks.
fn check(groups: &Groups, ranks: u32) -> Read<()> {
    for (name, group) in groups {
        let mut sorted = group.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return wrong(format!("group `{name}` has rank {} twice", twice[0]));
        }
        if let Some(absent) = sorted.last().filter(|&&last| last >= ranks) {
            return wrong(format!("group `{name}` has rank {absent}, but the trace has {ranks}, from 0"));
        }
    }
    Ok(())
}
