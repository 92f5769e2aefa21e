//! Collective operations: the messages between the hosts of a training job or an MPI program, as graphs.
//!
//! The algorithms are the textbook's (Thakur, Rabenseifner and Gropp, IJHPCA 2005; Patarasuk and Yuan, JPDC
//! 2009). S is the size, n the number of ranks. If n does not divide S, parts differ by a byte.
//!
//! | operation | messages of a rank | bytes of a rank | steps |
//! |---|---|---|---|
//! | ring all-reduce | 2(n-1) | 2(n-1)/n S | 2(n-1) |
//! | all-gather, reduce-scatter (ring) | n-1 | (n-1)/n S | n-1 |
//! | all-to-all | n-1 | (n-1)/n S | n-1, or side by side |
//! | tree all-reduce | to its parent and its children | S each | 2 log2 n, rounded down |
//! | broadcast | to its children | S each | log2 n, rounded down |

use tresse_units::{Stream, Time};

use crate::tasks::{Graph, GraphError, MOST_FLOWS, Task};

mod order;
mod source;

use order::Order;
pub use source::CollectiveSource;

/// What a collective does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Every rank gets the sum of all ranks' vectors of S bytes: a reduce-scatter round a ring, then an all-gather.
    RingAllReduce,
    /// The same over a binary tree: sums go up to the first rank, and the result comes down again.
    TreeAllReduce,
    /// Every rank has a part of S, and gets all of S, round a ring.
    AllGather,
    /// Every rank has a vector of S bytes, and gets its part of their sum, round a ring.
    ReduceScatter,
    /// Every rank sends a different part of its S bytes to each other rank, in n-1 rotations.
    AllToAll,
    /// The first rank's S bytes go to all others, down a binary tree.
    Broadcast,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::RingAllReduce,
        Self::TreeAllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Broadcast,
    ];

    /// The name in experiment files.
    pub fn name(self) -> &'static str {
        match self {
            Self::RingAllReduce => "ring-all-reduce",
            Self::TreeAllReduce => "tree-all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::Broadcast => "broadcast",
        }
    }
}

/// A collective, once or several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// What it does.
    pub operation: Operation,
    /// The hosts that take part, each once, in the order of their ranks: around the ring, or down the tree
    /// level by level.
    pub ranks: Vec<u32>,
    /// S, bytes.
    pub bytes: u64,
    /// Into how many pieces each message is cut, at least 1. Around a ring the pieces travel in parallel, so
    /// a rank has this many messages in flight; down a tree they follow each other, so a rank passes one on
    /// while it gets the next. Not for the all-to-all.
    pub chunks: u32,
    /// How many messages of a rank are in flight at a time in an all-to-all. Default: all of them.
    pub parallel: Option<u32>,
    /// How many times it is done; each time is a job.
    pub iterations: u32,
    /// How long all ranks compute between two iterations, ps, starting when the last rank has everything.
    pub compute: Time,
}

/// Why a collective is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectiveError {
    /// There is nobody to send to.
    #[error("a collective needs at least 2 ranks")]
    Alone,
    /// A host has two ranks.
    #[error("host {0} is listed twice: a host has one rank")]
    Twice(u32),
    /// Nothing would be sent.
    #[error("no chunks: at least 1 is needed")]
    NoChunks,
    /// Nothing would be sent.
    #[error("no message would ever be sent: `parallel` must be at least 1")]
    NoParallel,
    /// Only some operations are cut into pieces.
    #[error("an all-to-all is not pipelined, so it has no chunks; it has `parallel`")]
    Chunks,
    /// Only an all-to-all has this choice.
    #[error("{0} is bound by its own dependencies; only an all-to-all has `parallel`")]
    Parallel(&'static str),
    /// A message would be empty.
    #[error("{bytes} bytes are too few: each of {parts} parts needs at least one")]
    TooSmall {
        /// S.
        bytes: u64,
        /// Into how many parts it is cut.
        parts: u64,
    },
    /// It is too large.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// All hosts, every `stride`-th first: 0, `stride`, 2 `stride`, ..., then 1, 1 + `stride`, and so on. If
/// `stride` is the size of a rack, neighbours in the ring are in different racks.
///
/// # Panics
/// If `stride` is 0.
pub fn strided(hosts: u32, stride: u32) -> Vec<u32> {
    (0..stride.min(hosts)).flat_map(|first| (first..hosts).step_by(stride as usize)).collect()
}

/// `ranks` in a random order, which depends only on the seed.
pub fn shuffled(mut ranks: Vec<u32>, seed: u64) -> Vec<u32> {
    Stream::new(seed, "collective ranks", 0).shuffle(&mut ranks);
    ranks
}

/// The tasks that a collective in a larger graph waits for, and those that wait for it: one for each rank, in
/// order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub begin: &'a [u32],
    pub end: &'a [u32],
}

impl Collective {
    /// How many messages an iteration has.
    pub fn messages(&self) -> u128 {
        let (n, chunks) = (self.ranks.len() as u128, u128::from(self.chunks));
        let others = n.saturating_sub(1);
        match self.operation {
            Operation::RingAllReduce => 2 * others * n * chunks,
            Operation::AllGather | Operation::ReduceScatter => others * n * chunks,
            Operation::AllToAll => others * n,
            Operation::TreeAllReduce => 2 * others * chunks,
            Operation::Broadcast => others * chunks,
        }
    }

    /// The largest of its messages, bytes.
    pub fn largest_message(&self) -> u64 {
        let blocks = match self.operation {
            Operation::TreeAllReduce | Operation::Broadcast => 1,
            _ => self.ranks.len() as u64,
        };
        self.bytes.div_ceil(blocks.max(1)).div_ceil(u64::from(self.chunks.max(1)))
    }

    /// The workload. A flow's number is its place in the operation: by step, then rank, then chunk for rings and
    /// rotations; by direction, then chunk, then child for trees.
    ///
    /// # Errors
    /// If it is inconsistent, is too small to be cut, or has more flows than [`MOST_FLOWS`].
    pub fn source(&self) -> Result<CollectiveSource, CollectiveError> {
        CollectiveSource::new(self.clone())
    }

    /// Draws the messages, once, into a graph with other tasks: a rank takes part when its task of `begin` is
    /// done, and its task of `end` waits until the rank has received everything and all that it sends has
    /// arrived.
    ///
    /// # Errors
    /// As [`source`](Self::source).
    pub(crate) fn join(&self, graph: &mut Graph, ends: Ends) -> Result<(), CollectiveError> {
        self.check()?;
        let (order, first) = (Order::new(self), graph.len());
        for number in 0..order.len() {
            let message = order.message(number);
            let [from, to] = [message.from, message.to].map(|rank| self.ranks[rank as usize]);
            let task = graph.add(Task { job: Some(0), ..Task::message(from, to, message.bytes) })?;
            if order.begins(number) {
                graph.after(task, ends.begin[message.from as usize]);
            }
            for rank in [message.from, message.to].into_iter().filter(|_| order.ends(number)) {
                graph.after(ends.end[rank as usize], task);
            }
            order.before(number).for_each(|before| graph.after(task, first + before as u32));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), CollectiveError> {
        if self.ranks.len() < 2 {
            return Err(CollectiveError::Alone);
        }
        let mut sorted = self.ranks.clone();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CollectiveError::Twice(pair[0]));
        }
        match (self.operation, self.chunks, self.parallel) {
            (_, 0, _) => return Err(CollectiveError::NoChunks),
            (_, _, Some(0)) => return Err(CollectiveError::NoParallel),
            (Operation::AllToAll, 2.., _) => return Err(CollectiveError::Chunks),
            (Operation::AllToAll, ..) | (_, _, None) => {}
            (operation, ..) => return Err(CollectiveError::Parallel(operation.name())),
        }
        let flows = self.messages() * u128::from(self.iterations.max(1));
        if flows > u128::from(MOST_FLOWS) {
            let flows = u64::try_from(flows).unwrap_or(u64::MAX);
            return Err(GraphError::TooManyFlows(flows).into());
        }
        let blocks = match self.operation {
            Operation::TreeAllReduce | Operation::Broadcast => 1,
            _ => self.ranks.len() as u64,
        };
        if self.bytes / blocks < u64::from(self.chunks) {
            let parts = blocks * u64::from(self.chunks);
            return Err(CollectiveError::TooSmall { bytes: self.bytes, parts });
        }
        if self.iterations == 0 {
            return Err(GraphError::NoIterations.into());
        }
        Ok(())
    }
}
