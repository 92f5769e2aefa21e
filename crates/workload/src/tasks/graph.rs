//! The builder of [`Tasks`]: tasks one by one, and their dependencies.

use std::collections::BTreeMap;

use tresse_units::{NEVER, Time};

use super::{ENDLESS, NONE, Processors, State, Tasks, Use};

/// The most flows of a workload, including all rounds and iterations: each needs about 40 bytes while the
/// workload runs and a row in the results, so more would not fit in any machine's memory.
pub const MOST_FLOWS: u64 = 100_000_000;

/// The kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A message; done when its last byte has arrived, or when it is stopped.
    Message {
        /// The sending host.
        from: u32,
        /// The receiving host, not the same.
        to: u32,
        /// Its size, 1 to 2^64 - 2 bytes; `None` if it continues until it is stopped.
        bytes: Option<u64>,
    },
    /// A time that passes, such as a computation; ps.
    Wait(Time),
    /// Nothing: done as soon as it begins. Many tasks may wait for it, and it for many.
    Gate,
}

/// A task of a graph. It begins `delay` after as many of its predecessors as it needs are done, or after the
/// beginning of the iteration if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// Its kind.
    pub work: Work,
    /// Its delay, ps.
    pub delay: Time,
    /// When a message is stopped if it has not arrived, ps: counted from the same moment as `delay`, and
    /// later than it.
    pub stop: Option<Time>,
    /// How long a message may take, ps, from its own start.
    pub deadline: Option<Time>,
    /// Which job it belongs to, any number. A job lasts from the beginning of its first task to the end of its last.
    pub job: Option<u32>,
}

impl Task {
    /// `work` that begins at once, without end, deadline or job.
    pub fn new(work: Work) -> Self {
        Self { work, delay: 0, stop: None, deadline: None, job: None }
    }

    /// A message of `bytes`.
    pub fn message(from: u32, to: u32, bytes: u64) -> Self {
        Self::new(Work::Message { from, to, bytes: Some(bytes) })
    }
}

/// Why a graph is invalid. Tasks are identified by their numbers, from 0 in the order in which they were
/// added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// There are more tasks than numbers for them.
    #[error("more than 2^32 - 2 tasks")]
    TooManyTasks,
    /// There are more dependencies than numbers for them.
    #[error("more than 2^32 - 1 dependencies")]
    TooManyDependencies,
    /// There are more than [`MOST_FLOWS`].
    #[error("{0} flows: a workload has at most 10^8, because they have to fit into memory")]
    TooManyFlows(u64),
    /// A host sends to itself.
    #[error("task {0} is a message of a host to itself")]
    Itself(u32),
    /// A message has no bytes.
    #[error("task {0} is a message of no bytes")]
    Empty(u32),
    /// A message has 2^64 - 1 bytes, which stands for an endless one.
    #[error("task {0} is a message of 2^64 - 1 bytes: it must have at least one byte less")]
    TooLarge(u32),
    /// A message is stopped before it starts.
    #[error("task {0} is stopped before it starts")]
    StopsEarly(u32),
    /// Only messages are stopped or have deadlines.
    #[error("task {0} is not a message, so it has neither a stop nor a deadline")]
    NoMessage(u32),
    /// A task waits for one that does not exist.
    #[error("task {task} waits for task {predecessor}, which does not exist")]
    NoPredecessor {
        /// The one that waits.
        task: u32,
        /// What it waits for.
        predecessor: u32,
    },
    /// A task needs no predecessors, or more than it has.
    #[error("task {task} needs {needed} of its {predecessors} predecessors")]
    Quorum {
        /// The task.
        task: u32,
        /// How many it needs.
        needed: u32,
        /// How many it has, each counted once.
        predecessors: u32,
    },
    /// Tasks wait for each other: each of these for the next one, and the last for the first.
    #[error("task {} waits for itself, through the tasks that it waits for", .0[0])]
    Cycle(Vec<u32>),
    /// An iteration would never end.
    #[error("task {0} is a message without an end, so no second iteration would ever begin")]
    EndlessIteration(u32),
    /// There must be something to do at least once.
    #[error("no iterations: at least one is needed")]
    NoIterations,
}

/// A graph of tasks under construction.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    from: Vec<u32>,
    to: Vec<u32>,
    amount: Vec<u64>,
    delay: Vec<Time>,
    // Empty as long as no task has a stop.
    stop: Vec<Time>,
    deadline: Vec<Time>,
    job: Vec<u32>,
    messages: u64,
    /// The predecessor in the upper half, its successor in the lower one.
    edges: Vec<u64>,
    quorum: BTreeMap<u32, u32>,
    processors: Processors,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many tasks there are.
    pub fn len(&self) -> u32 {
        self.from.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.from.is_empty()
    }

    /// The work of an added task.
    ///
    /// # Panics
    /// If there is no such task.
    pub fn work(&self, task: u32) -> Work {
        let i = task as usize;
        Work::unpack(self.from[i], self.to[i], self.amount[i])
    }

    /// Adds a task; returns its number.
    ///
    /// # Errors
    /// If it is inconsistent, or if there are too many.
    pub fn add(&mut self, task: Task) -> Result<u32, GraphError> {
        let number = self.len();
        if number >= NONE - 1 {
            return Err(GraphError::TooManyTasks);
        }
        match task.work {
            Work::Message { from, to, .. } if from == to => return Err(GraphError::Itself(number)),
            Work::Message { bytes: Some(0), .. } => return Err(GraphError::Empty(number)),
            Work::Message { bytes: Some(ENDLESS), .. } => return Err(GraphError::TooLarge(number)),
            Work::Message { .. } if task.stop.is_some_and(|stop| stop <= task.delay) => {
                return Err(GraphError::StopsEarly(number));
            }
            Work::Message { .. } => self.messages += 1,
            _ if task.stop.is_some() || task.deadline.is_some() => return Err(GraphError::NoMessage(number)),
            _ => {}
        }
        if self.messages > MOST_FLOWS {
            return Err(GraphError::TooManyFlows(self.messages));
        }
        let (from, to, amount) = task.work.pack();
        self.from.push(from);
        self.to.push(to);
        self.amount.push(amount);
        self.delay.push(task.delay);
        sparse(&mut self.stop, number, task.stop, NEVER);
        sparse(&mut self.deadline, number, task.deadline, NEVER);
        sparse(&mut self.job, number, task.job, NONE);
        Ok(number)
    }

    /// `task` waits for `predecessor`, which may be added later. Repeating this has no effect.
    pub fn after(&mut self, task: u32, predecessor: u32) {
        self.edges.push(u64::from(predecessor) << 32 | u64::from(task));
    }

    /// `task` needs only `needed` of its predecessors, not all of them.
    pub fn needs(&mut self, task: u32, needed: u32) {
        self.quorum.insert(task, needed);
    }

    /// `task` runs on a processor, which does one thing at a time, in the order in which they can begin. A message
    /// occupies it for no time: it begins when the processor is idle.
    pub(crate) fn run_on(&mut self, task: u32, used: Use) {
        self.processors.add(task, used);
    }

    /// The workload: the whole graph `iterations` times. Each further iteration begins `pause` (ps) after all tasks
    /// of the last one are done.
    ///
    /// # Errors
    /// If it would never run: a predecessor does not exist, tasks wait for each other, a quorum is invalid,
    /// or an iteration never ends; or if there are too many flows.
    pub fn tasks(mut self, iterations: u32, pause: Time) -> Result<Tasks, GraphError> {
        if iterations == 0 {
            return Err(GraphError::NoIterations);
        }
        let flows = self.messages * u64::from(iterations);
        if flows > MOST_FLOWS {
            return Err(GraphError::TooManyFlows(flows));
        }
        self.edges.sort_unstable();
        self.edges.dedup();
        let needed = self.needed()?;
        let count = self.from.len();
        let mut first = vec![0; count + 1];
        for edge in &self.edges {
            first[(edge >> 32) as usize + 1] += 1;
        }
        for i in 0..count {
            first[i + 1] += first[i];
        }
        self.refuse_cycles(&first)?;
        let endless = (0..count).find(|&i| {
            let message = matches!(self.work(i as u32), Work::Message { bytes: None, .. });
            message && self.stop.get(i).is_none_or(|&stop| stop == NEVER)
        });
        if let (Some(task), 2..) = (endless, iterations) {
            return Err(GraphError::EndlessIteration(task as u32));
        }
        let mut roots: Vec<u32> = (0..count as u32).filter(|&t| needed[t as usize] == 0).collect();
        roots.sort_by_key(|&t| self.delay[t as usize]);
        let successors = self.edges.iter().map(|&edge| edge as u32).collect();
        drop(std::mem::take(&mut self.edges));
        let mut left = BTreeMap::new();
        for &job in self.job.iter().filter(|&&job| job != NONE) {
            *left.entry(job).or_insert(0) += 1;
        }
        Ok(Tasks::new(super::Parts {
            from: self.from,
            to: self.to,
            amount: self.amount,
            delay: self.delay,
            stop: self.stop,
            deadline: self.deadline,
            job: self.job,
            missing: needed.clone(),
            needed,
            state: vec![State::Waiting; count],
            first,
            successors,
            roots,
            sizes: left,
            processors: self.processors,
            iterations,
            pause,
        }))
    }

    /// How many predecessors each task needs.
    fn needed(&self) -> Result<Vec<u32>, GraphError> {
        if u32::try_from(self.edges.len()).is_err() {
            return Err(GraphError::TooManyDependencies);
        }
        let mut needed = vec![0; self.from.len()];
        for (predecessor, task) in self.edges.iter().map(|&edge| ends(edge)) {
            if predecessor as usize >= needed.len() || task as usize >= needed.len() {
                return Err(GraphError::NoPredecessor { task, predecessor });
            }
            needed[task as usize] += 1;
        }
        for (&task, &quorum) in &self.quorum {
            let predecessors = needed.get(task as usize).copied().unwrap_or(0);
            if !(1..=predecessors).contains(&quorum) {
                return Err(GraphError::Quorum { task, needed: quorum, predecessors });
            }
            needed[task as usize] = quorum;
        }
        Ok(needed)
    }

    /// Repeatedly removes tasks that wait for no remaining task (Kahn, CACM 1962). A cycle is rejected even
    /// if a quorum would break it: it is always a mistake. `first` has the place of each task's first edge.
    fn refuse_cycles(&self, first: &[u32]) -> Result<(), GraphError> {
        let mut waits = vec![0u32; self.from.len()];
        for &edge in &self.edges {
            waits[ends(edge).1 as usize] += 1;
        }
        let mut free: Vec<u32> = (0..self.len()).filter(|&t| waits[t as usize] == 0).collect();
        while let Some(task) = free.pop() {
            let [begin, end] = [first[task as usize], first[task as usize + 1]].map(|place| place as usize);
            for successor in self.edges[begin..end].iter().map(|&e| ends(e).1) {
                waits[successor as usize] -= 1;
                if waits[successor as usize] == 0 {
                    free.push(successor);
                }
            }
        }
        let Some(start) = waits.iter().position(|&n| n > 0) else { return Ok(()) };
        // Every remaining task has a remaining predecessor: following these leads into a cycle.
        let mut back = BTreeMap::new();
        for (predecessor, task) in self.edges.iter().map(|&edge| ends(edge)) {
            if waits[predecessor as usize] > 0 && waits[task as usize] > 0 {
                back.insert(task, predecessor);
            }
        }
        let mut task = start as u32;
        for _ in 0..self.from.len() {
            task = back[&task];
        }
        let mut cycle = vec![task];
        while back[&cycle[cycle.len() - 1]] != task {
            cycle.push(back[&cycle[cycle.len() - 1]]);
        }
        Err(GraphError::Cycle(cycle))
    }
}

/// The predecessor of an edge, and its successor.
fn ends(edge: u64) -> (u32, u32) {
    ((edge >> 32) as u32, edge as u32)
}

/// Adds a value to a column that stays empty until it has one.
fn sparse<T: Copy>(column: &mut Vec<T>, before: u32, value: Option<T>, none: T) {
    if value.is_some() && column.is_empty() {
        column.resize(before as usize, none);
    }
    if value.is_some() || !column.is_empty() {
        column.push(value.unwrap_or(none));
    }
}
