//! The messages of a collective by number, and which of them wait for which. Nothing is stored: all of it follows from
//! a message's number.

use super::{Collective, Operation};

/// The messages of one iteration. They are numbered by step, then rank, then chunk in rings and rotations; by
/// direction, then chunk, then child in trees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    operation: Operation,
    /// The number of ranks, at least 2.
    ranks: u64,
    chunks: u64,
    bytes: u64,
    /// The steps of a ring, or the rotations of an all-to-all.
    steps: u64,
    /// In an all-to-all, how many rotations a rank's next message waits.
    lanes: u64,
}

/// A message between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
}

/// The numbers of up to three messages.
type Few = [Option<u64>; 3];

/// A message's place in a ring or a rotation.
struct InStep {
    step: u64,
    rank: u64,
    chunk: u64,
}

/// A message's place in a tree: over the edge between a child and its parent.
struct OnEdge {
    is_up: bool,
    chunk: u64,
    child: u64,
}

impl Order {
    /// Of a collective that has passed its checks.
    pub fn new(collective: &Collective) -> Self {
        let ranks = collective.ranks.len() as u64;
        let others = ranks - 1;
        let steps = if collective.operation == Operation::RingAllReduce { 2 * others } else { others };
        let lanes = collective.parallel.map_or(others, u64::from).min(others);
        let (operation, chunks, bytes) = (collective.operation, collective.chunks.into(), collective.bytes);
        Self { operation, ranks, chunks, bytes, steps, lanes }
    }

    /// How many messages there are.
    pub fn len(&self) -> u64 {
        match self.operation {
            Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter => {
                self.steps * self.ranks * self.chunks
            }
            Operation::AllToAll => self.steps * self.ranks,
            Operation::TreeAllReduce => 2 * self.edges(),
            Operation::Broadcast => self.edges(),
        }
    }

    /// The payload of all messages together, bytes.
    pub fn all_bytes(&self) -> u128 {
        // A step of a ring or a rotation sends each part of S once; an edge of a tree carries S each way.
        let times = match self.operation {
            Operation::TreeAllReduce => 2 * (self.ranks - 1),
            Operation::Broadcast => self.ranks - 1,
            _ => self.steps,
        };
        u128::from(times) * u128::from(self.bytes)
    }

    /// How many pairs of ranks send messages; each direction counts separately.
    pub fn pairs(&self) -> u64 {
        match self.operation {
            Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter => self.ranks,
            Operation::AllToAll => self.ranks * (self.ranks - 1),
            Operation::TreeAllReduce => 2 * (self.ranks - 1),
            Operation::Broadcast => self.ranks - 1,
        }
    }

    /// Sender, receiver and size of a message.
    pub fn message(&self, number: u64) -> Message {
        let n = self.ranks;
        match self.operation {
            Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter => {
                let InStep { step, rank, chunk } = self.in_step(number);
                let block = part(self.bytes, n, (rank + 2 * n - step) % n);
                Message { from: rank, to: (rank + 1) % n, bytes: part(block, self.chunks, chunk) }
            }
            Operation::AllToAll => {
                let InStep { step, rank, .. } = self.in_step(number);
                let to = (rank + step + 1) % n;
                Message { from: rank, to, bytes: part(self.bytes, n, to) }
            }
            Operation::TreeAllReduce | Operation::Broadcast => {
                let OnEdge { is_up, chunk, child } = self.on_edge(number);
                let (from, to) = if is_up { (child, parent(child)) } else { (parent(child), child) };
                Message { from, to, bytes: part(self.bytes, self.chunks, chunk) }
            }
        }
    }

    /// The messages that a message waits for.
    pub fn before(&self, number: u64) -> impl Iterator<Item = u64> {
        let few: Few = match self.operation {
            Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter => {
                let own = self.in_step(number);
                let step = own.step.checked_sub(1);
                let left = (own.rank + self.ranks - 1) % self.ranks;
                [
                    step.map(|step| InStep { step, rank: left, ..own }),
                    step.map(|step| InStep { step, ..own }),
                    None,
                ]
                .map(|place| place.map(|place| self.of_step(place)))
            }
            Operation::AllToAll => [number.checked_sub(self.lanes * self.ranks), None, None],
            Operation::TreeAllReduce | Operation::Broadcast => self.before_in_tree(number),
        };
        few.into_iter().flatten()
    }

    /// The messages that wait for a message.
    pub fn after(&self, number: u64) -> impl Iterator<Item = u64> {
        let few: Few = match self.operation {
            Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter => {
                let own = self.in_step(number);
                let step = Some(own.step + 1).filter(|&step| step < self.steps);
                let right = (own.rank + 1) % self.ranks;
                [
                    step.map(|step| InStep { step, ..own }),
                    step.map(|step| InStep { step, rank: right, ..own }),
                    None,
                ]
                .map(|place| place.map(|place| self.of_step(place)))
            }
            Operation::AllToAll => {
                let next = number + self.lanes * self.ranks;
                [(next < self.len()).then_some(next), None, None]
            }
            Operation::TreeAllReduce | Operation::Broadcast => self.after_in_tree(number),
        };
        few.into_iter().flatten()
    }

    /// The messages that wait for no other, in the order of their numbers.
    pub fn first(&self) -> impl Iterator<Item = u64> {
        let end = match self.operation {
            Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter => {
                self.ranks * self.chunks
            }
            Operation::AllToAll => self.lanes * self.ranks,
            // Of the first chunk, in the first direction.
            Operation::TreeAllReduce | Operation::Broadcast => self.ranks - 1,
        };
        let order = *self;
        (0..end).filter(move |&number| order.before(number).next().is_none())
    }

    /// Whether it is among the first messages of its sender: the operation begins with it there.
    pub fn begins(&self, number: u64) -> bool {
        !self.is_ring() || self.in_step(number).step == 0
    }

    /// Whether it is among the last ones of its two ranks: the operation ends with it there.
    pub fn ends(&self, number: u64) -> bool {
        !self.is_ring() || self.in_step(number).step == self.steps - 1
    }

    fn is_ring(&self) -> bool {
        matches!(self.operation, Operation::RingAllReduce | Operation::AllGather | Operation::ReduceScatter)
    }

    fn in_step(&self, number: u64) -> InStep {
        let (place, chunk) = (number / self.chunks, number % self.chunks);
        InStep { step: place / self.ranks, rank: place % self.ranks, chunk }
    }

    fn of_step(&self, InStep { step, rank, chunk }: InStep) -> u64 {
        (step * self.ranks + rank) * self.chunks + chunk
    }

    /// The messages of a tree in one direction.
    fn edges(&self) -> u64 {
        (self.ranks - 1) * self.chunks
    }

    fn on_edge(&self, number: u64) -> OnEdge {
        let is_up = self.operation == Operation::TreeAllReduce && number < self.edges();
        let place = if self.operation == Operation::TreeAllReduce { number % self.edges() } else { number };
        OnEdge { is_up, chunk: place / (self.ranks - 1), child: place % (self.ranks - 1) + 1 }
    }

    fn of_edge(&self, OnEdge { is_up, chunk, child }: OnEdge) -> u64 {
        let is_second = self.operation == Operation::TreeAllReduce && !is_up;
        u64::from(is_second) * self.edges() + chunk * (self.ranks - 1) + child - 1
    }

    fn before_in_tree(&self, number: u64) -> Few {
        let own = self.on_edge(number);
        let OnEdge { is_up, child, .. } = own;
        let [first, second] = match (is_up, parent(child)) {
            (true, _) => self.children(child).map(|other| other.map(|child| OnEdge { child, ..own })),
            // The first rank passes the result down when it has it from its children.
            (false, 0) if self.operation == Operation::TreeAllReduce => {
                self.children(0).map(|other| other.map(|child| OnEdge { is_up: true, child, ..own }))
            }
            (false, 0) => [None, None],
            (false, above) => [Some(OnEdge { child: above, ..own }), None],
        };
        let previous = own.chunk.checked_sub(1).map(|chunk| OnEdge { chunk, ..own });
        [first, second, previous].map(|place| place.map(|place| self.of_edge(place)))
    }

    fn after_in_tree(&self, number: u64) -> Few {
        let own = self.on_edge(number);
        let OnEdge { is_up, child, .. } = own;
        let [first, second] = match (is_up, parent(child)) {
            (true, 0) => {
                self.children(0).map(|other| other.map(|child| OnEdge { is_up: false, child, ..own }))
            }
            (true, above) => [Some(OnEdge { child: above, ..own }), None],
            (false, _) => self.children(child).map(|other| other.map(|child| OnEdge { child, ..own })),
        };
        let next = Some(own.chunk + 1).filter(|&chunk| chunk < self.chunks);
        let next = next.map(|chunk| OnEdge { chunk, ..own });
        [first, second, next].map(|place| place.map(|place| self.of_edge(place)))
    }

    /// The children of a rank: ranks are in the tree as in a heap.
    fn children(&self, rank: u64) -> [Option<u64>; 2] {
        [2 * rank + 1, 2 * rank + 2].map(|child| Some(child).filter(|&child| child < self.ranks))
    }
}

/// The parent of a rank other than the first.
fn parent(rank: u64) -> u64 {
    (rank - 1) / 2
}

/// The size of part `i` of `n` of something.
fn part(bytes: u64, n: u64, i: u64) -> u64 {
    let end = |i: u64| (u128::from(bytes) * u128::from(i) / u128::from(n)) as u64;
    end(i + 1) - end(i)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every operation, with few and many ranks, chunks and lanes.
    fn all() -> impl Iterator<Item = Order> {
        let with = |operation: Operation, ranks: u32, more: u32| {
            let is_cut = operation != Operation::AllToAll;
            Order::new(&Collective {
                operation,
                ranks: (0..ranks).collect(),
                bytes: 1000,
                chunks: if is_cut { more } else { 1 },
                parallel: (!is_cut && more > 1).then_some(more),
                iterations: 1,
                compute: 0,
            })
        };
        let sizes = [2, 3, 4, 7, 12].into_iter().flat_map(|ranks| [1, 2, 5].map(|more| (ranks, more)));
        sizes.flat_map(move |(ranks, more)| Operation::ALL.map(|operation| with(operation, ranks, more)))
    }

    #[test]
    fn a_message_waits_for_those_that_it_comes_after() {
        for order in all() {
            let numbers = || 0..order.len();
            let waits: BTreeSet<_> =
                numbers().flat_map(|n| order.before(n).map(move |before| (before, n))).collect();
            let leads: BTreeSet<_> =
                numbers().flat_map(|n| order.after(n).map(move |after| (n, after))).collect();
            assert_eq!(waits, leads, "{order:?}");
            // Nobody passes on what another rank has received.
            for &(before, after) in &waits {
                let [m, next] = [before, after].map(|number| order.message(number));
                assert!([m.from, m.to].contains(&next.from), "{order:?}: {before} {after}");
            }
            // Nothing waits for itself: all of it comes to an end.
            let mut done = BTreeSet::new();
            while done.len() < order.len() as usize {
                let ready =
                    |n: &_| !done.contains(n) && order.before(*n).all(|before| done.contains(&before));
                let now: Vec<_> = numbers().filter(ready).collect();
                assert!(!now.is_empty(), "{order:?}: {} of {} wait forever", done.len(), order.len());
                done.extend(now);
            }
            let first: Vec<_> = numbers().filter(|n| waits.iter().all(|(_, after)| after != n)).collect();
            assert_eq!(order.first().collect::<Vec<_>>(), first, "{order:?}");
        }
    }

    #[test]
    fn sums_are_those_of_the_messages() {
        for order in all() {
            let messages: Vec<_> = (0..order.len()).map(|number| order.message(number)).collect();
            assert_eq!(
                messages.iter().map(|m| u128::from(m.bytes)).sum::<u128>(),
                order.all_bytes(),
                "{order:?}"
            );
            let pairs: BTreeSet<_> = messages.iter().map(|m| (m.from, m.to)).collect();
            assert_eq!(pairs.len() as u64, order.pairs(), "{order:?}");
            assert!(messages.iter().all(|m| m.from != m.to && m.bytes > 0), "{order:?}");
        }
    }
}
