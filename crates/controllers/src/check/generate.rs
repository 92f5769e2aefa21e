//! Random scripts.

use tresse_units::SplitMix;

use crate::trace::{Event, Script};
use crate::{CWND_LIMIT, INFINITE_SSTHRESH, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT};

/// The purpose of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any order of events, on up to 8 subflows.
    Ordinary,
    /// One RTT, which makes bounds tight.
    EqualRtts,
    /// The smallest and the largest values of the contract, and 64 subflows: overflow shows there.
    Corners,
    /// Identical subflows in congestion avoidance, then many packets at once, so that the increases per packet can
    /// be compared.
    Ratios,
    /// One subflow.
    Single,
}

impl Kind {
    pub(super) const ALL: [Self; 5] =
        [Self::Ordinary, Self::EqualRtts, Self::Corners, Self::Ratios, Self::Single];
}

/// The largest window of the contract, packets.
const WIDEST: u32 = CWND_LIMIT - 1;
/// 5 us in 1/8 us: two hosts below one switch.
const SHORT_RTT: u32 = 40;
/// 1 s in 1/8 us.
const LONG_RTT: u32 = 8_000_000;
/// More packets than a subflow gets in a script's ACKs, to distinguish increases.
const BURST: u32 = 10_000;
/// The most events of a script; a script of kind `Ratios` has as many as it needs.
const MOST_EVENTS: usize = 200;

/// A generator with the same numbers on every machine.
pub(super) struct Random(SplitMix);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed.wrapping_mul(0xd1b5_4a32_d192_ed03)))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number from `low` to `high`.
    pub(super) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + (self.next() % (u64::from(high - low) + 1)) as u32
    }

    /// A number from `low` to `high`: any, or one so far above `low` as each power of 2 is likely.
    pub(super) fn within(&mut self, low: u64, high: u64) -> u64 {
        let range = high - low;
        let bits = if self.chance(50) { 64 } else { self.between(0, 64 - range.leading_zeros()) };
        let any = if bits == 64 { self.next() } else { self.next() & ((1 << bits) - 1) };
        low + range.checked_add(1).map_or(any, |count| any % count)
    }

    /// Whether something with a chance of `percent` happens.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.between(1, 100) <= percent
    }

    /// A number from `low` to `high`, each power of 2 as likely as the others.
    pub(super) fn logarithmic(&mut self, low: u32, high: u32) -> u32 {
        let bits = self.between(low.ilog2(), high.ilog2());
        let (from, to) = (1u32 << bits, (1u32 << bits).saturating_mul(2) - 1);
        self.between(from.clamp(low, high), to.clamp(low, high))
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u32 - 1) as usize]
    }
}

/// Script number `i` of `of`: later ones are longer.
pub(super) fn script(random: &mut Random, kind: Kind, i: usize, of: usize) -> Script {
    let most = 5 + MOST_EVENTS * i / of.max(1);
    let subflows = match kind {
        Kind::Ordinary | Kind::Ratios => random.between(1, 8) as usize,
        Kind::EqualRtts => random.logarithmic(1, MAX_SUBFLOWS as u32) as usize,
        Kind::Corners => random.one_of(&[1, 2, MAX_SUBFLOWS]),
        Kind::Single => 1,
    };
    if kind == Kind::Ratios {
        return Script { subflows, events: ratios(random, subflows) };
    }
    // Each subflow gets an RTT first, or its siblings would not see it; now and then one does not.
    let rtt = random.logarithmic(SHORT_RTT, LONG_RTT);
    let mut events = Vec::new();
    for subflow in 0..subflows {
        if random.chance(5) {
            continue;
        }
        let rtt = match kind {
            Kind::EqualRtts => rtt,
            Kind::Corners => corner_rtt(random),
            _ => random.logarithmic(SHORT_RTT, LONG_RTT),
        };
        events.push(Event::Ack { packets: 1, marked: 0, rtt: Some(rtt), limited: true, subflow });
    }
    let length = random.between(1, most as u32);
    for _ in 0..length {
        let subflow = random.between(0, subflows as u32 - 1) as usize;
        events.push(event(random, kind, rtt, subflow));
    }
    Script { subflows, events }
}

fn corner_rtt(random: &mut Random) -> u32 {
    random.one_of(&[SRTT_LEAST, SRTT_LEAST + 1, SRTT_LIMIT - 2, SRTT_LIMIT - 1])
}

/// Mostly unmarked ACKs, so that windows have time to grow between two cuts.
fn event(random: &mut Random, kind: Kind, rtt: u32, subflow: usize) -> Event {
    match random.between(1, 100) {
        1..=2 => Event::Loss { subflow },
        3 => Event::Timeout { subflow },
        4 => Event::Local { subflow },
        5 => Event::Wait { us: random.logarithmic(1, 10_000_000).into(), subflow },
        6 => Event::NextHop { congested: random.chance(50), subflow },
        7..=14 => {
            let window = |random: &mut Random| match kind {
                Kind::Corners => random.one_of(&[1, 2, 3, WIDEST - 1, WIDEST]),
                _ => random.logarithmic(2, 100_000),
            };
            let (cwnd, ssthresh) = (window(random), window(random));
            let ssthresh = random.one_of(&[Some(ssthresh), Some(2), Some(INFINITE_SSTHRESH), None]);
            Event::Window { cwnd, ssthresh, subflow }
        }
        _ => {
            let packets = match (kind, random.between(1, 10)) {
                (Kind::Corners, 1..=5) => random.one_of(&[1, 2, WIDEST - 1, WIDEST]),
                (_, 1..=2) => random.logarithmic(1, BURST),
                _ => random.between(1, 4),
            };
            let marked = if random.chance(10) { random.between(1, packets) } else { 0 };
            let sample = match kind {
                Kind::EqualRtts => Some(rtt),
                Kind::Corners => random.chance(50).then(|| corner_rtt(random)),
                _ => random.chance(20).then(|| random.logarithmic(SHORT_RTT, LONG_RTT)),
            };
            Event::Ack { packets, marked, rtt: sample, limited: !random.chance(5), subflow }
        }
    }
}

/// Twice each subflow gets its window in congestion avoidance and an ACK that begins a round, so
/// that its siblings see it; then each gets its window again, and a burst.
fn ratios(random: &mut Random, subflows: usize) -> Vec<Event> {
    let paths: Vec<(u32, u32)> = (0..subflows)
        .map(|_| (random.logarithmic(2, WIDEST), random.logarithmic(SHORT_RTT, LONG_RTT)))
        .collect();
    let window = |i: usize| Event::Window { cwnd: paths[i].0, ssthresh: Some(2), subflow: i };
    let ack = |i: usize, packets| {
        let rtt = Some(paths[i].1);
        Event::Ack { packets, marked: 0, rtt, limited: true, subflow: i }
    };
    let mut events = Vec::new();
    for _ in 0..2 {
        events.extend((0..subflows).flat_map(|i| [window(i), ack(i, 1)]));
    }
    events.extend((0..subflows).map(window));
    events.extend((0..subflows).flat_map(|i| [ack(i, BURST), window(i)]));
    events
}
