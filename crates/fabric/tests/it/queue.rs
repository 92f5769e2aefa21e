//! The event queue and the timers behave like a plain sorted set.
//!
//! The queue is driven as the simulator drives it: nothing is pushed before the last event that came out, nor
//! before the limit of a `pop_until` that returned nothing (the caller's clock is there).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tresse_fabric::{ARRIVALS, Entity, Event, EventQueue, Ties, Timers};
use tresse_units::{MICROSECOND, MILLISECOND, NANOSECOND, NEVER, SECOND, Time};

use crate::cases;

/// One more than the largest entity or id.
const NAMES: u32 = 1 << 24;

#[derive(Debug, Clone)]
enum Step {
    /// One event, this far ahead.
    Push { ahead: Time, entity: Entity },
    /// This many entities at one time: more than one chunk, more than the small sorts take.
    Cluster { ahead: Time, entity: Entity, count: u32 },
    /// Everything up to a limit, `count` at most.
    Pop { ahead: Time, count: usize },
    /// Up to the instant of the event that comes this many after the next: a limit in the middle of a bucket.
    PopUpTo { rank: usize },
}

fn ahead() -> impl Strategy<Value = Time> {
    prop_oneof![
        3 => 0..64u64,
        3 => 0..(200 * NANOSECOND),
        3 => 0..(100 * MICROSECOND),
        1 => 0..(300 * MILLISECOND),
        // Far beyond the ring, whatever its size.
        1 => 0..(40 * SECOND),
        // Multiples of every bucket's width: the first instant of a bucket, and the last before it.
        1 => (0..2000u64).prop_map(|n| n << 16),
        1 => (1..2000u64).prop_map(|n| (n << 16) - 1),
    ]
}

fn entity() -> impl Strategy<Value = Entity> {
    prop_oneof![4 => 0..8u32, 4 => ARRIVALS..ARRIVALS + 8, 1 => 0..NAMES, 1 => Just(NAMES - 1)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (ahead(), entity()).prop_map(|(ahead, entity)| Step::Push { ahead, entity }),
        1 => (ahead(), 0..NAMES - 64, 2..40u32)
            .prop_map(|(ahead, entity, count)| Step::Cluster { ahead, entity, count }),
        3 => (ahead(), 1..30usize).prop_map(|(ahead, count)| Step::Pop { ahead, count }),
        2 => (0..30usize).prop_map(|rank| Step::PopUpTo { rank }),
    ]
}

/// Arguments that only tune the speed, from sensible to absurd, and a seed.
fn tuning() -> impl Strategy<Value = (f64, Time, u64)> {
    let events = prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(1e6),
        Just(1e9),
        Just(4e11),
        Just(1e300),
        Just(f64::INFINITY),
        Just(f64::NAN)
    ];
    let horizon = prop_oneof![
        Just(0),
        Just(1),
        Just(MICROSECOND),
        Just(MILLISECOND),
        Just(1000 * SECOND),
        Just(Time::MAX)
    ];
    (events, horizon, any::<u64>())
}

/// The queue, next to the set that it must equal.
struct Pair {
    queue: EventQueue,
    ties: Ties,
    /// By time, class and rank.
    model: BTreeSet<(Time, bool, u32, Entity, u32)>,
    /// Keys that are there or have been: one must not come twice.
    used: BTreeSet<(Time, Entity)>,
    now: Time,
    next_id: u32,
}

impl Pair {
    fn new((events, horizon, seed): (f64, Time, u64)) -> Self {
        let ties = Ties::new(seed);
        let queue = EventQueue::new(events, horizon, ties);
        Self { queue, ties, model: BTreeSet::new(), used: BTreeSet::new(), now: 0, next_id: NAMES - 50 }
    }

    fn expected(&self, event: Event) -> (Time, bool, u32, Entity, u32) {
        let Event { time, entity, id } = event;
        (time, entity >= ARRIVALS, self.ties.rank(time, entity), entity, id)
    }

    fn push(&mut self, ahead: Time, entity: Entity) {
        let time = self.now + ahead;
        if !self.used.insert((time, entity)) {
            return;
        }
        let id = self.next_id % NAMES;
        self.next_id += 1;
        let event = Event { time, entity, id };
        self.queue.push(event);
        self.model.insert(self.expected(event));
    }

    /// Takes up to `count` events from both, none after `limit`.
    fn pop(&mut self, limit: Time, count: usize) {
        for _ in 0..count {
            let expected = self.model.first().copied().filter(|first| first.0 <= limit);
            let event = self.queue.pop_until(limit);
            assert_eq!(event.map(|e| self.expected(e)), expected, "limit {limit}");
            let Some(first) = expected else {
                if limit != NEVER {
                    self.now = self.now.max(limit);
                }
                return;
            };
            self.model.remove(&first);
            self.now = first.0;
            self.check();
        }
    }

    fn check(&self) {
        assert_eq!(self.queue.len(), self.model.len());
        assert_eq!(self.queue.is_empty(), self.model.is_empty());
        for (ahead, &(.., entity, id)) in self.model.iter().take(4).enumerate() {
            assert!(self.queue.upcoming(ahead).is_none_or(|known| known == (entity, id)), "{ahead} ahead");
        }
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Push { ahead, entity } => self.push(ahead, entity),
            // From the last entity down: the order of pushes is not the order of events.
            Step::Cluster { ahead, entity, count } => {
                (0..count).rev().for_each(|i| self.push(ahead, entity + i));
            }
            Step::Pop { ahead, count } => self.pop(self.now + ahead, count),
            Step::PopUpTo { rank } => {
                if let Some(&(time, ..)) = self.model.iter().nth(rank) {
                    self.pop(time, usize::MAX);
                }
            }
        }
        self.check();
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn events_come_out_as_from_a_sorted_set(tuning in tuning(), steps in prop::collection::vec(step(), 1..300)) {
        let mut pair = Pair::new(tuning);
        for step in &steps {
            pair.apply(step);
        }
        let mut all: Vec<_> = pair.queue.iter().map(|e| pair.expected(e)).collect();
        all.sort_unstable();
        prop_assert!(pair.model.iter().eq(&all));
        pair.pop(NEVER, usize::MAX);
        prop_assert!(pair.queue.is_empty());
    }

    #[test]
    fn timers_fire_as_from_a_sorted_map(
        steps in prop::collection::vec(
            (0..24u32, 0..1000u64, prop_oneof![3 => 0..50u64, 1 => Just(NEVER)], prop::bool::weighted(0.1)),
            1..400,
        ),
        seed in any::<u64>(),
    ) {
        let ties = Ties::new(seed);
        let mut timers = Timers::new(ties);
        let mut model: BTreeMap<u32, (Time, u64)> = BTreeMap::new();
        let first = |model: &BTreeMap<u32, (Time, u64)>| {
            model.iter().map(|(&i, &(time, name))| (time, ties.timer(time, name), i)).min()
        };
        for (i, name, time, pop) in steps {
            if pop {
                let expected = first(&model).map(|(_, _, i)| i);
                prop_assert_eq!(timers.pop(), expected);
                if let Some(i) = expected {
                    model.remove(&i);
                }
            } else if time == NEVER {
                timers.clear(i);
                model.remove(&i);
            } else {
                timers.set(i, name, time);
                model.insert(i, (time, name));
            }
            prop_assert_eq!(timers.next(), first(&model).map_or(NEVER, |(time, ..)| time));
            for i in 0..26 {
                prop_assert_eq!(timers.time(i), model.get(&i).map_or(NEVER, |&(time, _)| time));
            }
        }
    }
}

/// Marsaglia's xorshift: enough to spread events.
fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// The hold model: each event that comes out puts one in. The ring turns over many times, and each
/// thousandth event lies seconds ahead.
#[test]
fn the_order_holds_while_the_ring_turns() {
    for tuning in [(1e10, 10 * MICROSECOND, 1), (1e8, MILLISECOND, 2), (1.0, 0, 3)] {
        let mut pair = Pair::new(tuning);
        let mut seed = 88_172_645_463_325_252;
        for entity in 0..500 {
            pair.push(xorshift(&mut seed) % (10 * MICROSECOND), entity);
        }
        for n in 0..20_000 {
            pair.pop(NEVER, 1);
            let reach = if n % 1000 == 0 { 3 * SECOND } else { 12 * MICROSECOND };
            pair.push(1 + xorshift(&mut seed) % reach, (xorshift(&mut seed) % 500) as Entity);
            // The sets of a long run would slow the test down; keys that are past cannot come again.
            pair.used = pair.used.split_off(&(pair.now, 0));
        }
        pair.pop(NEVER, usize::MAX);
    }
}

/// One bucket with every number of events that the sorting networks and the general sort take.
#[test]
fn a_bucket_of_any_size_comes_out_sorted() {
    let mut seed = 42;
    for count in 1..=40 {
        for _ in 0..20 {
            let mut pair = Pair::new((1.0, 0, 1));
            for _ in 0..count {
                pair.push((1 << 20) + xorshift(&mut seed) % (1 << 16), (xorshift(&mut seed) % 64) as Entity);
            }
            pair.pop(NEVER, usize::MAX);
        }
    }
}

/// Design rule 4: equal keys panic in debug builds.
#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "two events of one entity at one time")]
fn a_tie_in_a_bucket_to_come_panics() {
    let mut queue = EventQueue::new(1e9, MILLISECOND, Ties::new(1));
    for id in 0..2 {
        queue.push(Event { time: MICROSECOND, entity: ARRIVALS | 7, id });
    }
    queue.pop_until(NEVER);
}

/// A queued port has a departure, without a packet, and a pause frame after it.
#[test]
fn a_departure_comes_before_a_pause_frame() {
    let mut queue = EventQueue::new(1e9, MILLISECOND, Ties::new(1));
    for id in [1, 0] {
        queue.push(Event { time: MICROSECOND, entity: 7, id });
    }
    let next = || queue.pop_until(NEVER).map(|event| event.id);
    assert_eq!(std::iter::from_fn(next).collect::<Vec<_>>(), [0, 1]);
}

/// The same, when the second of the two comes after their bucket was opened.
#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "two events of one entity at one time")]
fn a_tie_in_the_open_bucket_panics() {
    let mut queue = EventQueue::new(1.0, 0, Ties::new(1));
    queue.push(Event { time: 1 << 20, entity: 1, id: 0 });
    queue.push(Event { time: (1 << 20) + 5, entity: 7, id: 1 });
    queue.pop_until(NEVER);
    queue.push(Event { time: (1 << 20) + 5, entity: 7, id: 2 });
    queue.pop_until(NEVER);
    queue.pop_until(NEVER);
}
