//! A collective as a workload. Its messages are made as they become ready, and all that is kept of those that are done
//! is a bit: a ring of a thousand ranks has millions of them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tresse_units::{NEVER, Time};

use super::order::Order;
use super::{Collective, CollectiveError};
use crate::source::{Action, Job, Source, Start};

/// A bit for each message.
#[derive(Debug, Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: u64) -> Self {
        Self(vec![0; len.div_ceil(64) as usize])
    }

    fn has(&self, number: u64) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 != 0
    }

    fn set(&mut self, number: u64) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }
}

/// The messages of a collective, once or several times. A flow's name is its number in the operation, with the number
/// of the iteration in the upper half; its round and its job are the iteration.
#[derive(Debug, Clone)]
pub struct CollectiveSource {
    collective: Collective,
    order: Order,
    iteration: u32,
    /// When the messages that are ready start.
    due: Time,
    ready: BinaryHeap<Reverse<u64>>,
    started: Bits,
    arrived: Bits,
    /// Messages of this iteration that have not arrived.
    left: u64,
    /// Messages on their way.
    underway: u64,
    /// The job that this iteration is.
    job: Option<Job>,
    out: VecDeque<Action>,
}

impl CollectiveSource {
    pub(super) fn new(collective: Collective) -> Result<Self, CollectiveError> {
        collective.check()?;
        let order = Order::new(&collective);
        Ok(Self {
            collective,
            order,
            iteration: 0,
            due: 0,
            ready: order.first().map(Reverse).collect(),
            started: Bits::new(order.len()),
            arrived: Bits::new(order.len()),
            left: order.len(),
            underway: 0,
            job: None,
            out: VecDeque::new(),
        })
    }

    /// How many messages begin together before all others.
    pub fn first_messages(&self) -> u64 {
        self.order.first().count() as u64
    }

    /// How many pairs of hosts send messages; each direction counts separately.
    pub fn pairs(&self) -> u64 {
        self.order.pairs()
    }

    fn start(&mut self, number: u64, now: Time) {
        let message = self.order.message(number);
        let [from, to] = [message.from, message.to].map(|rank| self.collective.ranks[rank as usize]);
        let job = self.job.get_or_insert(Job {
            number: self.iteration,
            start: now,
            end: now,
            flows: 0,
            deadline: None,
        });
        job.flows += 1;
        self.started.set(number);
        self.underway += 1;
        self.out.push_back(Action::Start(Start {
            name: u64::from(self.iteration) << 32 | number,
            from,
            to,
            bytes: Some(message.bytes),
            round: self.iteration,
            job: Some(job.number),
            deadline: None,
        }));
    }

    /// All messages of the iteration have arrived.
    fn end_iteration(&mut self, now: Time) {
        self.out.extend(self.job.take().map(|job| Action::Ended(Job { end: now, ..job })));
        if self.iteration + 1 < self.collective.iterations {
            self.iteration += 1;
            self.due = now.saturating_add(self.collective.compute);
            self.ready.extend(self.order.first().map(Reverse));
            self.started = Bits::new(self.order.len());
            self.arrived = Bits::new(self.order.len());
            self.left = self.order.len();
        }
    }
}

impl Source for CollectiveSource {
    fn next(&self) -> Time {
        if self.ready.is_empty() { NEVER } else { self.due }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if self.out.is_empty()
            && self.due <= now
            && let Some(Reverse(number)) = self.ready.pop()
        {
            self.start(number, now);
        }
        self.out.pop_front()
    }

    fn handle_finished(&mut self, now: Time, name: u64) {
        let number = name & u64::from(u32::MAX);
        let is_known = name >> 32 == u64::from(self.iteration) && number < self.order.len();
        let is_underway = is_known && self.started.has(number) && !self.arrived.has(number);
        assert!(is_underway, "flow {name:#x} is not on its way");
        self.arrived.set(number);
        (self.left, self.underway) = (self.left - 1, self.underway - 1);
        self.due = now;
        // What waited for several messages is ready with the last of them.
        for next in self.order.after(number) {
            if self.order.before(next).all(|before| self.arrived.has(before)) {
                self.ready.push(Reverse(next));
            }
        }
        if self.left == 0 {
            self.end_iteration(now);
        }
    }

    fn is_over(&self) -> bool {
        self.out.is_empty() && self.underway == 0 && self.ready.is_empty()
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn expected_bytes(&self) -> u64 {
        let all = self.order.all_bytes().saturating_mul(self.collective.iterations.into());
        u64::try_from(all).unwrap_or(u64::MAX)
    }
}
