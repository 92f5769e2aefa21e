//! Messages that wait for each other: a graph of tasks as a workload.
//!
//! A [`Graph`] is filled task by task and then turned into [`Tasks`], which are a [`Source`]. Flow files and
//! traces are graphs, with the collectives in traces. A task takes some 40 bytes and a dependency 4, 12 while the graph is
//! built, so 10^7 tasks fit in a gigabyte.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use tresse_units::{NEVER, Time};

use crate::source::{Action, Job, Source, Start};

mod graph;
mod processors;

pub use graph::{Graph, GraphError, MOST_FLOWS, Task, Work};
use processors::Processors;
pub(crate) use processors::Use;

/// No host, and no job.
const NONE: u32 = u32::MAX;

/// A message without an end.
const ENDLESS: u64 = u64::MAX;

impl Work {
    /// The form in the columns: sender, receiver, and size or time.
    fn pack(self) -> (u32, u32, u64) {
        match self {
            Self::Message { from, to, bytes } => (from, to, bytes.unwrap_or(ENDLESS)),
            Self::Wait(time) => (0, NONE, time),
            Self::Gate => (NONE, NONE, 0),
        }
    }

    fn unpack(from: u32, to: u32, amount: u64) -> Self {
        match (from, to) {
            (NONE, NONE) => Self::Gate,
            (_, NONE) => Self::Wait(amount),
            _ => Self::Message { from, to, bytes: (amount != ENDLESS).then_some(amount) },
        }
    }
}

/// The progress of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Predecessors are not done.
    Waiting,
    /// Predecessors are done; its delay passes.
    Due,
    /// A message is on its way, or a time passes.
    Underway,
    /// It is done.
    Done,
}

/// Timed events, in their order at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    /// A wait ends.
    End,
    /// A processor comes to a task that waited for it.
    Turn,
    /// A task begins.
    Begin,
}

/// A job that has begun.
#[derive(Debug, Clone, Copy)]
struct Running {
    number: u32,
    start: Time,
    flows: u32,
    /// Tasks that are not done.
    left: u32,
}

/// The columns of a graph that has been checked.
#[derive(Debug, Clone)]
struct Parts {
    from: Vec<u32>,
    to: Vec<u32>,
    amount: Vec<u64>,
    delay: Vec<Time>,
    stop: Vec<Time>,
    deadline: Vec<Time>,
    job: Vec<u32>,
    needed: Vec<u32>,
    missing: Vec<u32>,
    state: Vec<State>,
    /// Where each task's successors begin among `successors`; one entry more than tasks.
    first: Vec<u32>,
    successors: Vec<u32>,
    /// The tasks that wait for no other, by delay and number.
    roots: Vec<u32>,
    /// How many tasks each job has.
    sizes: BTreeMap<u32, u32>,
    processors: Processors,
    iterations: u32,
    pause: Time,
}

/// A graph of tasks, run once or several times. A flow's name is its task's number, with the number of the iteration
/// in the upper half; its round is the iteration.
#[derive(Debug, Clone)]
pub struct Tasks {
    parts: Parts,
    iteration: u32,
    /// When this iteration began, or will.
    base: Time,
    /// The first of the roots that has not begun.
    root: usize,
    timers: BinaryHeap<Reverse<(Time, EventKind, u32)>>,
    stops: BinaryHeap<Reverse<(Time, u32)>>,
    /// Tasks of this iteration that are not done.
    left: u32,
    /// Messages on their way that have an end.
    finite: u32,
    jobs: BTreeMap<u32, Running>,
    started_jobs: u32,
    processors: Processors,
    out: VecDeque<Action>,
    /// Whether it has messages, and none of them has an end.
    endless: bool,
}

impl Tasks {
    fn new(mut parts: Parts) -> Self {
        let processors = std::mem::take(&mut parts.processors);
        let mut tasks = Self {
            iteration: 0,
            base: 0,
            root: 0,
            timers: BinaryHeap::new(),
            stops: BinaryHeap::new(),
            left: parts.from.len() as u32,
            finite: 0,
            jobs: BTreeMap::new(),
            started_jobs: 0,
            processors,
            out: VecDeque::new(),
            endless: false,
            parts,
        };
        let messages = || (0..tasks.left).filter(|&task| tasks.parts.to[task as usize] != NONE);
        tasks.endless = messages().next().is_some() && messages().all(|task| !tasks.has_end(task));
        tasks
    }

    /// How many messages an iteration has.
    pub fn messages(&self) -> u64 {
        self.parts.to.iter().filter(|&&to| to != NONE).count() as u64
    }

    /// The mean size of the messages that have an end, bytes; `None` if there is none.
    pub fn mean_bytes(&self) -> Option<f64> {
        let ends = |&(&to, &amount): &(&u32, &u64)| to != NONE && amount != ENDLESS;
        let sizes =
            || self.parts.to.iter().zip(&self.parts.amount).filter(ends).map(|(_, &amount)| amount as f64);
        let count = sizes().count();
        (count > 0).then(|| sizes().sum::<f64>() / count as f64)
    }

    /// How many of the messages that wait for nothing begin together before all others.
    pub fn first_messages(&self) -> u64 {
        let delay = |&task: &u32| self.parts.delay[task as usize];
        let messages = || self.parts.roots.iter().filter(|&&task| self.parts.to[task as usize] != NONE);
        let first = messages().next().map(delay);
        messages().take_while(|task| Some(delay(task)) == first).count() as u64
    }

    /// How many pairs of hosts send messages; each direction counts separately.
    pub fn pairs(&self) -> u64 {
        let messages = self.parts.from.iter().zip(&self.parts.to).filter(|&(_, &to)| to != NONE);
        messages.collect::<BTreeSet<_>>().len() as u64
    }

    /// Whether some of its tasks make up jobs.
    pub fn has_jobs(&self) -> bool {
        !self.parts.sizes.is_empty()
    }

    /// How many hosts are needed: one more than the highest number of a host that sends or receives.
    pub fn hosts(&self) -> u32 {
        let pairs = self.parts.from.iter().zip(&self.parts.to).filter(|&(_, &to)| to != NONE);
        pairs.map(|(&from, &to)| from.max(to) + 1).max().unwrap_or(0)
    }

    fn work(&self, task: u32) -> Work {
        let i = task as usize;
        Work::unpack(self.parts.from[i], self.parts.to[i], self.parts.amount[i])
    }

    fn name(&self, task: u32) -> u64 {
        u64::from(self.iteration) << 32 | u64::from(task)
    }

    /// When a task is stopped, counted from the moment when everything that it waits for is done.
    fn stop(&self, task: u32) -> Option<Time> {
        self.parts.stop.get(task as usize).copied().filter(|&stop| stop != NEVER)
    }

    fn has_end(&self, task: u32) -> bool {
        self.parts.amount[task as usize] != ENDLESS || self.stop(task).is_some()
    }

    fn next_root(&self) -> Option<(Time, EventKind, u32)> {
        let task = *self.parts.roots.get(self.root)?;
        Some((self.base.saturating_add(self.parts.delay[task as usize]), EventKind::Begin, task))
    }

    /// The next timed event, the end of a wait or a beginning.
    fn next_timer(&self) -> Option<(Time, EventKind, u32)> {
        let timer = self.timers.peek().map(|&Reverse(timer)| timer);
        [timer, self.next_root()].into_iter().flatten().min()
    }

    /// Does the first thing that is due; `false` if there is none.
    fn step(&mut self, now: Time) -> bool {
        if let Some(&Reverse((at, task))) = self.stops.peek()
            && at <= now
        {
            self.stops.pop();
            if self.parts.state[task as usize] == State::Underway {
                self.out.push_back(Action::Stop(self.name(task)));
                self.finite -= 1;
                self.done(task, now);
            }
            return true;
        }
        let Some(timer @ (at, what, task)) = self.next_timer().filter(|&(at, ..)| at <= now) else {
            return false;
        };
        if self.next_root() == Some(timer) {
            self.root += 1;
        } else {
            self.timers.pop();
        }
        match what {
            EventKind::End => self.done(task, now),
            EventKind::Turn => self.start(task, at, now),
            EventKind::Begin => self.begin(task, at, now),
        }
        true
    }

    /// Begins a task that was to begin `at`, once its processor is idle.
    fn begin(&mut self, task: u32, at: Time, now: Time) {
        if self.processors.take(task) {
            self.start(task, at, now);
        }
    }

    /// A task leaves its processor, which comes to the next one.
    fn leave_processor(&mut self, task: u32, now: Time) {
        let next = self.processors.give(task);
        self.timers.extend(next.map(|next| Reverse((now, EventKind::Turn, next))));
    }

    /// Starts a task that was to begin `at`, and has its processor.
    fn start(&mut self, task: u32, at: Time, now: Time) {
        let i = task as usize;
        let job = self.enter_job(task, now);
        self.parts.state[i] = State::Underway;
        match self.work(task) {
            Work::Gate => self.done(task, now),
            Work::Wait(time) => self.timers.push(Reverse((now.saturating_add(time), EventKind::End, task))),
            Work::Message { from, to, bytes } => {
                let deadline = self.parts.deadline.get(i).copied().filter(|&d| d != NEVER);
                self.finite += u32::from(self.has_end(task));
                if let Some(stop) = self.stop(task) {
                    let origin = at - self.parts.delay[i].min(at);
                    self.stops.push(Reverse((origin.saturating_add(stop), task)));
                }
                self.out.push_back(Action::Start(Start {
                    name: self.name(task),
                    from,
                    to,
                    bytes,
                    round: self.iteration,
                    job,
                    deadline: deadline.map(|d| now.saturating_add(d)),
                }));
                self.leave_processor(task, now);
            }
        }
    }

    /// The number of the task's job, which begins if it has not yet.
    fn enter_job(&mut self, task: u32, now: Time) -> Option<u32> {
        let key = self.parts.job.get(task as usize).copied().filter(|&job| job != NONE)?;
        let running = self.jobs.entry(key).or_insert_with(|| {
            let number = self.started_jobs;
            self.started_jobs += 1;
            Running { number, start: now, flows: 0, left: self.parts.sizes[&key] }
        });
        running.flows += u32::from(self.parts.to[task as usize] != NONE);
        Some(running.number)
    }

    /// A task is done: tasks that waited only for it may begin.
    fn done(&mut self, task: u32, now: Time) {
        let i = task as usize;
        self.parts.state[i] = State::Done;
        self.left -= 1;
        for s in self.parts.first[i]..self.parts.first[i + 1] {
            let successor = self.parts.successors[s as usize];
            let j = successor as usize;
            // A task whose quorum was reached has already begun.
            if self.parts.state[j] == State::Waiting {
                self.parts.missing[j] -= 1;
                if self.parts.missing[j] == 0 {
                    self.parts.state[j] = State::Due;
                    let at = now.saturating_add(self.parts.delay[j]);
                    self.timers.push(Reverse((at, EventKind::Begin, successor)));
                }
            }
        }
        // A message left when it was sent.
        if self.parts.to[i] == NONE {
            self.leave_processor(task, now);
        }
        self.leave_job(task, now);
        if self.left == 0 && self.iteration + 1 < self.parts.iterations {
            self.iterate(now);
        }
    }

    fn leave_job(&mut self, task: u32, now: Time) {
        let Some(key) = self.parts.job.get(task as usize).copied().filter(|&job| job != NONE) else { return };
        let running = self.jobs.get_mut(&key).expect("a job begins with its first task");
        running.left -= 1;
        if running.left == 0 {
            let Running { number, start, flows, .. } = *running;
            self.out.push_back(Action::Ended(Job { number, start, end: now, flows, deadline: None }));
            self.jobs.remove(&key);
        }
    }

    /// The next iteration, after the pause.
    fn iterate(&mut self, now: Time) {
        self.iteration += 1;
        self.base = now.saturating_add(self.parts.pause);
        self.root = 0;
        self.left = self.parts.from.len() as u32;
        self.stops.clear();
        self.parts.missing.copy_from_slice(&self.parts.needed);
        self.parts.state.fill(State::Waiting);
    }

    /// Forgets the stops of messages that have arrived, so that they wake nobody.
    fn drop_stale_stops(&mut self) {
        while let Some(&Reverse((_, task))) = self.stops.peek()
            && self.parts.state[task as usize] == State::Done
        {
            self.stops.pop();
        }
    }
}

impl Source for Tasks {
    fn next(&self) -> Time {
        let stop = self.stops.peek().map(|&Reverse((at, _))| at);
        let timer = self.next_timer().map(|(at, ..)| at);
        [stop, timer].into_iter().flatten().min().unwrap_or(NEVER)
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        while self.out.is_empty() && self.step(now) {}
        if self.out.is_empty() {
            self.drop_stale_stops();
        }
        self.out.pop_front()
    }

    fn handle_finished(&mut self, now: Time, name: u64) {
        let task = name as u32;
        let underway = self.parts.state.get(task as usize) == Some(&State::Underway);
        assert!(underway && name >> 32 == u64::from(self.iteration), "flow {name:#x} is not on its way");
        self.finite -= 1;
        self.done(task, now);
    }

    fn is_over(&self) -> bool {
        self.out.is_empty() && self.finite == 0 && self.timers.is_empty() && self.next_root().is_none()
    }

    fn is_endless(&self) -> bool {
        self.endless
    }

    fn expected_bytes(&self) -> u64 {
        let messages = self.parts.to.iter().zip(&self.parts.amount).filter(|&(&to, _)| to != NONE);
        let bytes = messages.filter(|&(_, &bytes)| bytes != ENDLESS).map(|(_, &bytes)| u128::from(bytes));
        let all = bytes.sum::<u128>() * u128::from(self.parts.iterations);
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}
