//! Chakra execution traces: the graph of operations of each rank of a training job (MLCommons Chakra 1.0.0,
//! mlcommons/chakra, `schema/protobuf/et_def.proto`; Sridharan et al., arXiv:2305.14516). Their files are
//! read elsewhere.
//!
//! Rank r is host r. The nodes have these meanings here:
//!
//! - A node begins when everything that it depends on, by control or by data, is done. Nodes of a rank that
//!   do not depend on each other run in parallel.
//! - A computation and a transfer from or to memory are times; metadata does nothing.
//! - A send and a receive are as in a GOAL trace: eager, and matched by pair and tag in the order of the
//!   files.
//! - A collective is over all ranks of its group: the n-th of a group in one rank's file and the n-th in
//!   another's are the same. A rank takes part when its node begins, and its node is done when the rank has
//!   received everything and all that it sends has arrived.
//!
//! As in ASTRA-sim, the size of a collective is each rank's contribution: an all-gather's S is n times that.

mod groups;

use std::collections::BTreeMap;

use tresse_units::Time;

use crate::collective::Operation;
use crate::tasks::{Tasks, Work};
use crate::trace::{Trace, Transfer, Wrong};
use groups::{Call, Calls};

/// A node of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its number, by which others depend on it.
    pub id: u64,
    /// Its name, for people.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// The nodes of this rank that it depends on.
    pub after: Vec<u64>,
}

/// What a node does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Computes, loads or stores for this long, ps.
    Wait(Time),
    /// Sends a message.
    Send {
        /// The receiving rank.
        to: u32,
        /// The tag by which its receive finds it.
        tag: u64,
        /// Its size.
        bytes: u64,
    },
    /// Receives a message.
    Receive {
        /// The sending rank.
        from: u32,
        /// The tag by which it finds its send.
        tag: u64,
        /// Its size.
        bytes: u64,
    },
    /// Takes part in a collective.
    Collective {
        /// Which one.
        kind: Kind,
        /// The rank's contribution, bytes.
        bytes: u64,
        /// The name of the group; empty for all ranks.
        group: String,
    },
}

/// The kinds of collectives; the first rank of a group is the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Everyone gets the sum of all.
    AllReduce,
    /// Everyone gets the parts of all.
    AllGather,
    /// Each gets its part of the sum.
    ReduceScatter,
    /// Each sends a part to each.
    AllToAll,
    /// From the root to all.
    Broadcast,
    /// Everyone waits for all: a tree all-reduce of one byte.
    Barrier,
}

impl Kind {
    /// The name in the schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "ALL_REDUCE",
            Self::AllGather => "ALL_GATHER",
            Self::ReduceScatter => "REDUCE_SCATTER",
            Self::AllToAll => "ALL_TO_ALL",
            Self::Broadcast => "BROADCAST",
            Self::Barrier => "BARRIER",
        }
    }
}

/// The ranks of groups, by name.
pub type Groups = BTreeMap<String, Vec<u32>>;

/// An error in a trace, with the nodes and ranks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChakraError(pub String);

type Read<T> = Result<T, ChakraError>;

fn wrong<T>(message: impl Into<String>) -> Read<T> {
    Err(ChakraError(message.into()))
}

/// A trace that is built rank by rank.
#[derive(Debug)]
pub struct Chakra {
    /// Its places are nodes, numbered over all ranks.
    trace: Trace,
    calls: Calls,
    nodes: Nodes,
}

/// The names of nodes in messages.
#[derive(Debug, Default)]
struct Nodes {
    /// How many nodes there were before each rank.
    first: Vec<u32>,
    ids: Vec<u64>,
    /// The place of each node's name in `names`: many have the same name.
    name_of: Vec<u32>,
    names: Vec<String>,
    places: BTreeMap<String, u32>,
}

impl Nodes {
    fn add(&mut self, id: u64, name: String) -> u32 {
        let next = self.names.len() as u32;
        let of = *self.places.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.ids.push(id);
        self.name_of.push(of);
        self.ids.len() as u32 - 1
    }

    /// The name of a node.
    fn called(&self, node: u32) -> String {
        let Some(&id) = self.ids.get(node as usize) else { return "the trace".to_owned() };
        let rank = self.first.partition_point(|&first| first <= node) - 1;
        let name = &self.names[self.name_of[node as usize] as usize];
        format!("node {id} (`{name}`) of rank {rank}")
    }

    /// The error in a node, after its name.
    fn told(&self, e: &Wrong) -> ChakraError {
        ChakraError(format!("{}: {}", self.called(e.place), e.what.told(|node| self.called(node))))
    }
}

impl Chakra {
    /// A trace of `ranks`, without nodes. Messages may have `most` bytes; all-reduces use `all_reduce`;
    /// `groups` take precedence over those of the ranks.
    ///
    /// # Errors
    /// If a group has a rank twice or one that does not exist.
    pub fn new(ranks: u32, groups: Groups, all_reduce: Operation, most: u64) -> Read<Self> {
        let calls = Calls::new(ranks, groups, all_reduce, most)?;
        Ok(Self { trace: Trace::new(ranks, most), calls, nodes: Nodes::default() })
    }

    /// Adds the nodes of the next rank, and the groups that its file names.
    ///
    /// # Errors
    /// The first error in a node.
    pub fn add(&mut self, nodes: Vec<Node>, groups: Groups) -> Read<()> {
        let rank = self.nodes.first.len() as u32;
        self.nodes.first.push(self.nodes.ids.len() as u32);
        self.calls.of_rank(rank, groups)?;
        // The first task of each node, and its last.
        let mut tasks = BTreeMap::new();
        let mut waiting = Vec::with_capacity(nodes.len());
        for Node { id, name, action, after } in nodes {
            let place = self.nodes.add(id, name);
            let ends = self.node(rank, place, action)?;
            if tasks.insert(id, ends).is_some() {
                return wrong(format!(
                    "{}: the file has two nodes with this number",
                    self.nodes.called(place)
                ));
            }
            waiting.push((place, ends.0, after));
        }
        for (place, begin, after) in waiting {
            for id in after {
                let Some(&(_, end)) = tasks.get(&id) else {
                    let node = self.nodes.called(place);
                    return wrong(format!("{node}: it depends on node {id}, which is not in its file"));
                };
                self.trace.graph.after(begin, end);
            }
        }
        Ok(())
    }

    /// How many messages so far have no bytes, and are sent with one.
    pub fn empty(&self) -> u64 {
        self.trace.empty
    }

    /// The tasks of a node: its first and its last.
    fn node(&mut self, rank: u32, place: u32, action: Action) -> Read<(u32, u32)> {
        let trace = &mut self.trace;
        let added = match action {
            Action::Nothing => trace.add(place, Work::Gate),
            Action::Wait(time) => trace.add(place, Work::Wait(time)),
            Action::Send { to, tag, bytes } => {
                trace.transfer(place, Transfer { send: true, rank, peer: to, bytes, tag })
            }
            Action::Receive { from, tag, bytes } => {
                trace.transfer(place, Transfer { send: false, rank, peer: from, bytes, tag })
            }
            Action::Collective { kind, bytes, group } => {
                let added = trace.add(place, Work::Gate).and_then(|begin| {
                    let end = trace.add(place, Work::Gate)?;
                    trace.graph.after(end, begin);
                    Ok((begin, end))
                });
                let (begin, end) = added.map_err(|e| self.nodes.told(&e))?;
                let call = Call { kind, bytes, begin, end, place };
                let called = self.calls.add(rank, &group, call);
                called.or_else(|e| wrong(format!("{}: {e}", self.nodes.called(place))))?;
                return Ok((begin, end));
            }
        };
        added.map(|task| (task, task)).map_err(|e| self.nodes.told(&e))
    }

    /// The workload; all of it is one job.
    ///
    /// # Errors
    /// A send without its receive, ranks of a group that do not agree on a collective, nodes that wait for each other.
    pub fn finish(self) -> Read<Tasks> {
        let Self { mut trace, calls, nodes } = self;
        calls.draw(&mut trace, &nodes)?;
        trace.finish().map_err(|e| nodes.told(&e))
    }
}
