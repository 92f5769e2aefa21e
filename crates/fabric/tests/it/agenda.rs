//! The agenda and the timers behave like a plain sorted set.
//!
//! The agenda is driven as the simulator drives it: nothing is pushed before the last event that came out, nor
//! before the limit of a `pop_until` that returned nothing (the caller's clock is there).

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tresse_fabric::{
    AFTER_PACKETS, ARRIVALS, Agenda, Entity, Event, FatTree, FatTreeConfig, NonEct, Probability, Rank, Sites,
    Threshold, Ties, Timer, Timers,
};
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

/// The length of a window, a horizon that only tunes the speed, and a seed.
fn tuning() -> impl Strategy<Value = (Time, Time, u64)> {
    let window = prop_oneof![
        Just(1),
        Just(1000),
        Just(NANOSECOND),
        Just(20 * MICROSECOND),
        Just(4 * MILLISECOND),
        Just(SECOND)
    ];
    let horizon = prop_oneof![
        Just(0),
        Just(1),
        Just(MICROSECOND),
        Just(MILLISECOND),
        Just(1000 * SECOND),
        Just(Time::MAX)
    ];
    (window, horizon, any::<u64>())
}

/// The sites of a fat tree in which every link has the delay of a window.
fn sites(window: Time) -> Sites {
    let tree = FatTree::new(FatTreeConfig {
        k: 4,
        rate: [1_000_000_000; 3],
        delay: [window; 3],
        limit: [Threshold::packets(100); 3],
        mark: [Threshold::UNLIMITED; 3],
        host: (Threshold::packets(100), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    });
    Sites::new(&tree.expect("k is even").topology(), false)
}

/// The agenda, next to the set that it must equal.
struct Pair {
    queue: Agenda,
    ties: Ties,
    /// By time, class and rank.
    model: BTreeSet<(Time, bool, u32, Entity, u32)>,
    /// Keys that are there or have been: one must not come twice.
    used: BTreeSet<(Time, Entity)>,
    now: Time,
    next_id: u32,
}

impl Pair {
    fn new((window, horizon, seed): (Time, Time, u64)) -> Self {
        let ties = Ties::new(seed);
        let queue = Agenda::new(&sites(window), horizon, ties);
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
        self.queue.push(event, entity % 100);
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
        assert!(self.queue.earliest() <= self.model.first().map_or(NEVER, |first| first.0));
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
    for tuning in [(NANOSECOND, 10 * MICROSECOND, 1), (20 * MICROSECOND, MILLISECOND, 2), (MICROSECOND, 0, 3)]
    {
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

/// Design rule 4: equal keys panic in debug builds.
#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "two events of one entity at one time")]
fn a_tie_in_a_window_to_come_panics() {
    let mut queue = Agenda::new(&sites(MICROSECOND), MILLISECOND, Ties::new(1));
    for id in 0..2 {
        queue.push(Event { time: MICROSECOND, entity: ARRIVALS | 7, id }, 3);
    }
    queue.pop_until(NEVER);
}

/// A queued port has a departure, without a packet, and a pause frame after it.
#[test]
fn a_departure_comes_before_a_pause_frame() {
    let mut queue = Agenda::new(&sites(MICROSECOND), MILLISECOND, Ties::new(1));
    for id in [1, 0] {
        queue.push(Event { time: MICROSECOND, entity: 7, id }, 3);
    }
    let next = || queue.pop_until(NEVER).map(|event| event.id);
    assert_eq!(std::iter::from_fn(next).collect::<Vec<_>>(), [0, 1]);
}

/// A packet that arrives when a window is gone through, or a timer that fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    site: u32,
    time: Time,
    /// Packets come first, then timers, then those that come last.
    class: u8,
    rank: u64,
    id: u32,
}

impl Expected {
    /// It as a timer.
    fn timer(&self) -> Timer {
        let rank = match self.class {
            0 => Rank::After(self.rank as u32),
            1 => Rank::Timer(self.rank),
            _ => Rank::Last,
        };
        Timer { time: self.time, rank, number: self.id, site: self.site }
    }
}

/// How far a window is gone through: up to a time, and of that instant, to a packet of this rank.
#[derive(Debug, Clone, Copy)]
struct Until {
    time: Time,
    rank: Option<u64>,
}

impl Until {
    fn takes(self, event: &Expected) -> bool {
        let is_first = self.rank.is_none_or(|rank| event.class == 0 && event.rank <= rank);
        event.time < self.time || event.time == self.time && is_first
    }
}

/// Windows that are gone through site by site, next to the set that they must equal; what happens at a site adds to the
/// same site at once, and to the others after the window.
struct SiteBySite {
    agenda: Agenda,
    ties: Ties,
    window: Time,
    model: BTreeSet<Expected>,
    /// Timers that are not in the agenda yet.
    timers: BTreeSet<Expected>,
    used: BTreeSet<(Time, Entity)>,
    random: u64,
    ids: u32,
}

const SITES: u64 = 120;

impl SiteBySite {
    fn below(&mut self, end: u64) -> u64 {
        xorshift(&mut self.random) % end
    }

    fn push(&mut self, site: u32, time: Time, is_departure: bool) {
        let entity = self.below(300) as Entity + if is_departure { 0 } else { ARRIVALS };
        if !self.used.insert((time, entity)) {
            return;
        }
        self.ids += 1;
        self.agenda.push(Event { time, entity, id: self.ids }, site);
        let rank = self.ties.rank(time, entity).into();
        self.model.insert(Expected { site, time, class: 0, rank, id: self.ids });
    }

    fn timer(&mut self, site: u32, time: Time) -> Expected {
        self.ids += 1;
        Expected { site, time, class: 1, rank: self.ties.timer(time, self.ids.into()), id: self.ids }
    }

    /// What follows from an event.
    fn follow(&mut self, event: Expected, until: Until) {
        match self.below(4) {
            0 => {
                let time = event.time + 1 + self.below(self.window);
                self.push(event.site, time, true);
            }
            1 => {
                let time = event.time + self.below(2 * self.window);
                let timer = self.timer(event.site, time);
                if until.takes(&timer) {
                    self.agenda.push_timer(timer.timer());
                    self.model.insert(timer);
                } else {
                    self.timers.insert(timer);
                }
            }
            _ => {
                let site = self.below(SITES) as u32;
                let time = event.time + self.window + self.below(20 * self.window);
                self.push(site, time, false);
            }
        }
    }

    /// Timers that come right after packets of this window, at any site, or after all else of an instant.
    fn deeds(&mut self, first: Time, until: Until) -> Vec<Expected> {
        let packets: Vec<Expected> =
            self.model.iter().filter(|e| e.class == 0 && until.takes(e)).copied().take(50).collect();
        let mut deeds = Vec::new();
        for _ in 0..self.below(4) {
            self.ids += 1;
            let (site, id) = (self.below(SITES) as u32, AFTER_PACKETS | self.ids);
            let (time, class, rank) = match packets.get(self.below(60) as usize) {
                Some(packet) => (packet.time, 0, packet.rank),
                None => (first + self.below(until.time - first + 1), 3, 0),
            };
            deeds.push(Expected { site, time, class, rank, id });
        }
        deeds.retain(|deed| until.takes(deed));
        deeds
    }

    /// Goes through the next window, or to an instant in it, or to a packet of that; false if nothing is left.
    fn go(&mut self) -> bool {
        let first = self.timers.iter().map(|t| t.time).min().unwrap_or(NEVER).min(self.agenda.earliest());
        if first == NEVER {
            return false;
        }
        let end = self.agenda.window_end(first);
        let mut until = Until { time: end, rank: None };
        match self.below(4) {
            0 => until.time = first + self.below(end - first + 1),
            1 => {
                let packets = self.model.iter().filter(|e| e.class == 0 && e.time <= end);
                let packets: Vec<Expected> = packets.copied().take(50).collect();
                if let Some(packet) = packets.get(self.below(50) as usize) {
                    until = Until { time: packet.time, rank: Some(packet.rank) };
                }
            }
            _ => {}
        }
        let mut due: Vec<Expected> = self.timers.iter().filter(|t| until.takes(t)).copied().collect();
        self.timers.retain(|timer| !until.takes(timer));
        due.extend(self.deeds(first.min(until.time), until));
        self.model.extend(&due);
        let rank = until.rank.map(|rank| rank as u32);
        self.agenda.open_sites(until.time, rank, due.iter().map(Expected::timer));
        while let Some(event) = self.agenda.next_of_site() {
            let expected = self.model.iter().find(|e| until.takes(e)).copied().expect("as many in the set");
            assert_eq!((event.time, event.id), (expected.time, expected.id), "up to {until:?}");
            self.model.remove(&expected);
            if self.ids < 20_000 {
                self.follow(expected, until);
            }
        }
        assert!(!self.model.iter().any(|event| until.takes(event)), "up to {until:?}");
        true
    }
}

#[test]
fn a_window_comes_out_site_by_site() {
    for (seed, window, first) in
        [(1, 20 * MICROSECOND, 2000), (2, 1000, 300), (3, MILLISECOND, 10), (4, 7, 50)]
    {
        let ties = Ties::new(seed);
        let mut own = SiteBySite {
            agenda: Agenda::new(&sites(window), 10 * window, ties),
            ties,
            window,
            model: BTreeSet::new(),
            timers: BTreeSet::new(),
            used: BTreeSet::new(),
            random: seed,
            ids: 0,
        };
        for _ in 0..first {
            let (site, time) = (own.below(SITES) as u32, own.below(3 * window));
            own.push(site, time, false);
        }
        while own.go() {}
        assert!(own.model.is_empty() && own.agenda.is_empty(), "seed {seed}");
        assert!(own.ids > 1000, "seed {seed}: {} events", own.ids);
    }
}
