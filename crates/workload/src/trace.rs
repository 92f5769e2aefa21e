//! The common part of the readers of traces: a graph whose sends find their receives, and its errors.
//!
//! A place is a number that the reader gives an operation: a line, or its index among all operations. The
//! reader decides how messages name it.

use std::collections::{BTreeMap, VecDeque};

use crate::size::too_large;
use crate::tasks::{Graph, GraphError, Task, Tasks, Use, Work};

/// The error for a receive from any sender.
pub(crate) const ANY_RANK: &str = "a receive from any rank is decided while the program runs; a trace that \
runs on another network must name the rank";
/// The same for tags.
pub(crate) const ANY_TAG: &str = "any tag is decided while the program runs; a trace must name it";

/// The processor of a task that runs on none.
const NOWHERE: u32 = u32::MAX;

/// How many operations of a cycle a message names.
const NAMED: usize = 8;

/// A graph of what ranks send, receive and wait for; all of it is one job.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub graph: Graph,
    /// The place of every task.
    pub places: Vec<u32>,
    ranks: u32,
    /// The largest message, bytes.
    most: u64,
    sends: BTreeMap<Channel, VecDeque<End>>,
    recvs: BTreeMap<Channel, VecDeque<End>>,
    /// How many messages have no bytes, and are sent with one.
    pub empty: u64,
    /// The number of each processor, by rank and its name there.
    processors: BTreeMap<(u32, u64), u32>,
    /// By processor, whether it computes.
    computes: Vec<bool>,
    /// The processor of each task; shorter than the graph if the last ones run on none.
    on: Vec<u32>,
    /// By task whose beginning others wait for, its gate.
    gates: BTreeMap<u32, u32>,
}

/// The sender, the receiver and the tag.
type Channel = (u32, u32, u64);

/// A send or a receive that waits for its other end.
#[derive(Debug, Clone, Copy)]
struct End {
    task: u32,
    bytes: u64,
    place: u32,
}

/// A send or a receive of a rank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub send: bool,
    pub rank: u32,
    pub peer: u32,
    pub bytes: u64,
    pub tag: u64,
}

/// `task` begins when `other` is done, or has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requires {
    pub task: u32,
    pub other: u32,
    pub begun: bool,
    pub place: u32,
}

/// An error in an operation.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub place: u32,
    pub what: Violation,
}

/// The possible errors.
#[derive(Debug)]
pub(crate) enum Violation {
    TooLarge { bytes: u64, most: u64 },
    NoRank { peer: u32, ranks: u32 },
    Itself(u32),
    Sizes { send: bool, bytes: u64, other: u32, of_other: u64 },
    Alone { send: bool, channel: Channel },
    Cycle(Vec<u32>),
    Graph(GraphError),
}

impl Violation {
    /// In words; `at` gives the reader's name for a place.
    pub fn told(&self, at: impl Fn(u32) -> String) -> String {
        let ends = |send| if send { ("send", "receive") } else { ("receive", "send") };
        match *self {
            Self::TooLarge { bytes, most } => too_large(bytes, most),
            Self::NoRank { peer, ranks } => format!("there is no rank {peer}: the trace has {ranks}, from 0"),
            Self::Itself(rank) => format!("rank {rank} and itself: this needs no network"),
            Self::Sizes { send, bytes, other, of_other } => {
                let (this, that) = ends(send);
                format!("this {this} has {bytes} bytes; its {that} in {} has {of_other}", at(other))
            }
            Self::Alone { send, channel: (from, to, tag) } => {
                let (this, that) = ends(send);
                format!("no {that} matches this {this} from rank {from} to rank {to} with tag {tag}")
            }
            Self::Cycle(ref others) => {
                let named: Vec<String> = others.iter().take(NAMED).map(|&other| at(other)).collect();
                let more = others.len() - named.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                match named.join(", ") {
                    named if named.is_empty() => "it waits for itself".to_owned(),
                    named => format!("it waits for itself, through {named}{more}"),
                }
            }
            Self::Graph(ref e) => e.to_string(),
        }
    }
}

impl Trace {
    /// An empty trace of `ranks`, whose messages may have `most` bytes.
    pub fn new(ranks: u32, most: u64) -> Self {
        Self { ranks, most, ..Self::default() }
    }

    /// Adds a task.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add(&mut self, place: u32, work: Work) -> Result<u32, Wrong> {
        let task = Task { job: Some(0), ..Task::new(work) };
        let task = self.graph.add(task).map_err(|e| Wrong { place, what: Violation::Graph(e) })?;
        self.places.push(place);
        Ok(task)
    }

    /// Adds a send or a receive: done when its message has arrived, which has at least one byte. It takes the
    /// first other end with its pair and tag that no other took, in the order of appearance.
    ///
    /// # Errors
    /// If it is too large, its other end has another size, or its peer does not exist.
    pub fn transfer(&mut self, place: u32, transfer: Transfer) -> Result<u32, Wrong> {
        let Transfer { send, rank, peer, bytes, tag } = transfer;
        let wrong = |what| Err(Wrong { place, what });
        if bytes > self.most {
            return wrong(Violation::TooLarge { bytes, most: self.most });
        }
        if peer >= self.ranks {
            return wrong(Violation::NoRank { peer, ranks: self.ranks });
        }
        if peer == rank {
            return wrong(Violation::Itself(rank));
        }
        let channel = if send { (rank, peer, tag) } else { (peer, rank, tag) };
        let work =
            if send { Work::Message { from: rank, to: peer, bytes: Some(bytes.max(1)) } } else { Work::Gate };
        self.empty += u64::from(send && bytes == 0);
        let task = self.add(place, work)?;
        let (mine, others) =
            if send { (&mut self.sends, &mut self.recvs) } else { (&mut self.recvs, &mut self.sends) };
        let Some(other) = others.get_mut(&channel).and_then(VecDeque::pop_front) else {
            mine.entry(channel).or_default().push_back(End { task, bytes, place });
            return Ok(task);
        };
        if others[&channel].is_empty() {
            others.remove(&channel);
        }
        if other.bytes != bytes {
            return wrong(Violation::Sizes { send, bytes, other: other.place, of_other: other.bytes });
        }
        let (send, recv) = if send { (task, other.task) } else { (other.task, task) };
        self.graph.after(recv, send);
        Ok(task)
    }

    /// An operation runs on this processor of its rank, which does one thing at a time.
    pub fn run_on(&mut self, task: u32, rank: u32, name: u64) {
        let next = self.computes.len() as u32;
        let processor = *self.processors.entry((rank, name)).or_insert(next);
        if processor == next {
            self.computes.push(false);
        }
        self.computes[processor as usize] |= matches!(self.graph.work(task), Work::Wait(1..));
        self.on.resize(task as usize, NOWHERE);
        self.on.push(processor);
    }

    /// Tells the graph which tasks wait for a processor: those on one that computes. If another operation waits for
    /// the beginning of one of them, its gate takes the processor, and the task gives it back.
    fn share_processors(&mut self) {
        for (task, &processor) in (0..).zip(&self.on) {
            if self.computes.get(processor as usize) != Some(&true) {
                continue;
            }
            // A receive begins when its message is there, which its gate does not wait for.
            let gate = self.gates.get(&task).filter(|_| self.graph.work(task) != Work::Gate);
            if let Some(&gate) = gate {
                self.graph.run_on(gate, Use { processor, takes: true, gives: false });
            }
            self.graph.run_on(task, Use { processor, takes: gate.is_none(), gives: true });
        }
    }

    /// Adds the dependencies between the operations of a rank. If one waits for the beginning of another, a
    /// gate precedes the latter: it is done when the operation begins.
    ///
    /// # Errors
    /// If there are too many.
    pub fn require(&mut self, all: &[Requires]) -> Result<(), Wrong> {
        let begun: BTreeMap<u32, u32> = all.iter().filter(|r| r.begun).map(|r| (r.other, r.place)).collect();
        let mut gates = BTreeMap::new();
        for (other, place) in begun {
            let gate = self.add(place, Work::Gate)?;
            self.graph.after(other, gate);
            gates.insert(other, gate);
        }
        for r in all {
            let task = gates.get(&r.task).copied().unwrap_or(r.task);
            self.graph.after(task, if r.begun { gates[&r.other] } else { r.other });
        }
        self.gates.append(&mut gates);
        Ok(())
    }

    /// The workload.
    ///
    /// # Errors
    /// The first operation without its other end, or one that waits for itself.
    pub fn finish(mut self) -> Result<Tasks, Wrong> {
        self.share_processors();
        let alone = |ends: &BTreeMap<Channel, VecDeque<End>>, send| {
            let fronts = ends.iter().filter_map(|(&channel, ends)| Some((ends.front()?.place, channel)));
            fronts.min().map(|(place, channel)| (place, send, channel))
        };
        let first = [alone(&self.sends, true), alone(&self.recvs, false)].into_iter().flatten().min();
        if let Some((place, send, channel)) = first {
            return Err(Wrong { place, what: Violation::Alone { send, channel } });
        }
        let places = self.places;
        self.graph.tasks(1, 0).map_err(|e| match e {
            GraphError::Cycle(tasks) => {
                let mut circle: Vec<u32> = tasks.iter().map(|&task| places[task as usize]).collect();
                // An operation may have several tasks.
                circle.dedup();
                let place = circle.remove(0);
                while circle.last() == Some(&place) {
                    circle.pop();
                }
                Wrong { place, what: Violation::Cycle(circle) }
            }
            e => Wrong { place: places.last().copied().unwrap_or(0), what: Violation::Graph(e) },
        })
    }
}
