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

use crate::tasks::{Graph, GraphError, MOST_FLOWS, Task, Tasks};

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

/// The size of part `i` of `n` of something.
fn part(bytes: u64, n: u64, i: u64) -> u64 {
    let end = |i: u64| (u128::from(bytes) * u128::from(i) / u128::from(n)) as u64;
    end(i + 1) - end(i)
}

/// The tasks that a collective in a larger graph waits for, and those that wait for it: one for each rank, in
/// order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub begin: &'a [u32],
    pub end: &'a [u32],
}

/// A graph into which a collective is drawn, from the task `first` on.
struct Draft<'a> {
    graph: &'a mut Graph,
    first: u32,
    ends: Option<Ends<'a>>,
}

impl Draft<'_> {
    /// The rank takes part from this message on.
    fn begins(&mut self, task: u32, from: u64) {
        if let Some(ends) = self.ends {
            self.graph.after(task, ends.begin[from as usize]);
        }
    }

    /// This message is among the last ones of both ranks.
    fn ends(&mut self, task: u32, from: u64, to: u64) {
        for rank in [from, to] {
            if let Some(ends) = self.ends {
                self.graph.after(ends.end[rank as usize], task);
            }
        }
    }
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
    pub fn tasks(&self) -> Result<Tasks, CollectiveError> {
        let mut graph = Graph::new();
        self.draw(&mut graph, None)?;
        Ok(graph.tasks(self.iterations, self.compute)?)
    }

    /// Draws the messages, once, into a graph with other tasks: a rank takes part when its task of `begin` is
    /// done, and its task of `end` waits until the rank has received everything and all that it sends has
    /// arrived.
    ///
    /// # Errors
    /// As [`tasks`](Self::tasks).
    pub(crate) fn join(&self, graph: &mut Graph, ends: Ends) -> Result<(), CollectiveError> {
        self.draw(graph, Some(ends))
    }

    fn draw(&self, graph: &mut Graph, ends: Option<Ends>) -> Result<(), CollectiveError> {
        self.check()?;
        let mut draft = Draft { first: graph.len(), graph, ends };
        let steps = self.ranks.len() as u64 - 1;
        match self.operation {
            Operation::RingAllReduce => self.ring(&mut draft, 2 * steps)?,
            Operation::AllGather | Operation::ReduceScatter => self.ring(&mut draft, steps)?,
            Operation::AllToAll => self.rotations(&mut draft)?,
            Operation::TreeAllReduce => {
                self.up(&mut draft)?;
                self.down(&mut draft, true)?;
            }
            Operation::Broadcast => self.down(&mut draft, false)?,
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
        // Before the graph is built: it might not fit.
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
        Ok(())
    }

    fn send(&self, draft: &mut Draft, from: u64, to: u64, bytes: u64) -> Result<u32, GraphError> {
        let (from, to) = (self.ranks[from as usize], self.ranks[to as usize]);
        draft.graph.add(Task { job: Some(0), ..Task::message(from, to, bytes) })
    }

    /// In step s rank r sends block r - s to its right: the one that it got in the previous step, with its
    /// own added while sums are computed. As with MPI_Sendrecv, it continues when it has received the next
    /// one and its own has arrived.
    fn ring(&self, draft: &mut Draft, steps: u64) -> Result<(), GraphError> {
        let (n, chunks) = (self.ranks.len() as u64, u64::from(self.chunks));
        let first = draft.first;
        let number = |step: u64, rank: u64, chunk: u64| first + ((step * n + rank) * chunks + chunk) as u32;
        for step in 0..steps {
            for rank in 0..n {
                let block = part(self.bytes, n, (rank + 2 * n - step) % n);
                for chunk in 0..chunks {
                    let to = (rank + 1) % n;
                    let task = self.send(draft, rank, to, part(block, chunks, chunk))?;
                    if step == 0 {
                        draft.begins(task, rank);
                    }
                    if step == steps - 1 {
                        draft.ends(task, rank, to);
                    }
                    if step > 0 {
                        draft.graph.after(task, number(step - 1, (rank + n - 1) % n, chunk));
                        draft.graph.after(task, number(step - 1, rank, chunk));
                    }
                }
            }
        }
        Ok(())
    }

    /// In rotation s rank r sends to r + s. If limited, each of `parallel` lanes sends its next message when
    /// its last one has arrived.
    fn rotations(&self, draft: &mut Draft) -> Result<(), GraphError> {
        let n = self.ranks.len() as u64;
        for rotation in 1..n {
            for rank in 0..n {
                let to = (rank + rotation) % n;
                let task = self.send(draft, rank, to, part(self.bytes, n, to))?;
                draft.begins(task, rank);
                draft.ends(task, rank, to);
                if let Some(lanes) = self.parallel.map(u64::from).filter(|&lanes| rotation > lanes) {
                    let before = draft.first + ((rotation - lanes - 1) * n + rank) as u32;
                    draft.graph.after(task, before);
                }
            }
        }
        Ok(())
    }

    /// Sums go up: a rank sends a chunk to its parent when it has it from its children, and the previous
    /// chunk has arrived.
    fn up(&self, draft: &mut Draft) -> Result<(), GraphError> {
        let (n, chunks) = (self.ranks.len() as u64, u64::from(self.chunks));
        for chunk in 0..chunks {
            for child in 1..n {
                let task = self.send(draft, child, parent(child), part(self.bytes, chunks, chunk))?;
                draft.begins(task, child);
                draft.ends(task, child, parent(child));
                for grandchild in children(child, n) {
                    draft.graph.after(task, draft.first + (chunk * (n - 1) + grandchild - 1) as u32);
                }
                if chunk > 0 {
                    draft.graph.after(task, task - (n - 1) as u32);
                }
            }
        }
        Ok(())
    }

    /// Results come down: a rank sends a chunk to a child when it has it itself, and the child has the
    /// previous one.
    fn down(&self, draft: &mut Draft, summed: bool) -> Result<(), GraphError> {
        let (n, chunks) = (self.ranks.len() as u64, u64::from(self.chunks));
        let (up, down) = (draft.first, draft.graph.len());
        for chunk in 0..chunks {
            let before = (chunk * (n - 1)) as u32;
            for child in 1..n {
                let from = parent(child);
                let task = self.send(draft, from, child, part(self.bytes, chunks, chunk))?;
                draft.begins(task, from);
                draft.ends(task, from, child);
                if from > 0 {
                    draft.graph.after(task, down + before + from as u32 - 1);
                } else if summed {
                    for of_root in children(0, n) {
                        draft.graph.after(task, up + before + of_root as u32 - 1);
                    }
                }
                if chunk > 0 {
                    draft.graph.after(task, task - (n - 1) as u32);
                }
            }
        }
        Ok(())
    }
}

/// The parent of a rank other than the first: ranks are in the tree as in a heap.
fn parent(rank: u64) -> u64 {
    (rank - 1) / 2
}

fn children(rank: u64, n: u64) -> impl Iterator<Item = u64> {
    (2 * rank + 1..2 * rank + 3).filter(move |&child| child < n)
}
