//! Random scripts.

use tresse_units::SplitMix;

use super::script::{Event, ReportedPacket, Script};
use crate::{Feedback, MAX_PATHS};

/// The aim of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Most packets arrive well, and are reported after about a window.
    Ordinary,
    /// Most packets do not.
    Bad,
    /// The smallest and the largest values of the contract, and feedback on any path.
    Corners,
    /// Few paths, and immediate feedback.
    Few,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Few, Self::Ordinary, Self::Bad, Self::Corners];
}

/// The most events of a script.
const MOST_EVENTS: u64 = 300;

/// The largest congestion window, packets.
const WIDEST: u32 = 1 << 20;

/// Up to about half an hour, as a power of 2, ns.
const LONGEST_BITS: u64 = 41;

/// The same numbers on every machine.
struct Random(SplitMix);

impl Random {
    /// A number from `low` to `high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// A number from `low` to `high`, with each power of 2 equally likely.
    fn logarithmic(&mut self, low: u64, high: u64) -> u64 {
        let bits = self.between(low.ilog2().into(), high.ilog2().into());
        self.between(1 << bits, (2 << bits) - 1).clamp(low, high)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u64 - 1) as usize]
    }
}

/// Script number `i` out of `of` for the `k`-th setting: later ones are longer.
pub(super) fn script((k, i): (usize, usize), kind: Kind, of: usize) -> Script {
    let mut random = Random(SplitMix::named(0, k as u64, i as u64));
    let most = 5 + MOST_EVENTS * i as u64 / of.max(1) as u64;
    let paths = match kind {
        Kind::Ordinary | Kind::Bad => random.logarithmic(1, 300),
        Kind::Few => random.between(1, 5),
        Kind::Corners => {
            let most = u64::from(MAX_PATHS);
            random.one_of(&[1, 2, 3, 64, 65, most - 1, most])
        }
    } as u32;
    let window = match kind {
        Kind::Few => 1,
        _ => random.logarithmic(1, 64) as u32,
    };
    let mut events = vec![Event::Window { packets: window }];
    let length = random.between(1, most);
    events.extend((0..length).map(|_| event(&mut random, kind, paths, window)));
    Script { paths, stream: random.between(0, 1 << 20), events }
}

fn event(random: &mut Random, kind: Kind, paths: u32, window: u32) -> Event {
    match random.between(1, 100) {
        1..=3 => {
            let packets = match kind {
                Kind::Corners => random.one_of(&[1, 2, WIDEST]),
                _ => random.logarithmic(1, 300) as u32,
            };
            Event::Window { packets }
        }
        4..=12 => {
            let ns = match random.between(1, 4) {
                1 => 1 << random.between(0, LONGEST_BITS),
                _ => random.logarithmic(100, 100_000),
            };
            Event::Wait { ns }
        }
        13..=55 => Event::Pick,
        _ => {
            let ago = match kind {
                Kind::Few => random.between(0, 2),
                _ => random.between(0, 2 * u64::from(window)),
            };
            let of = match kind {
                Kind::Corners => ReportedPacket::Path(random.between(0, u64::from(paths) - 1) as u32),
                _ => ReportedPacket::Ago(ago as u32),
            };
            Event::Feedback { of, what: feedback(random, kind) }
        }
    }
}

fn feedback(random: &mut Random, kind: Kind) -> Feedback {
    let good = match kind {
        Kind::Ordinary => 75,
        Kind::Bad => 20,
        Kind::Corners | Kind::Few => 50,
    };
    match random.between(1, 100) {
        n if n <= good => Feedback::Good,
        _ => random.one_of(&[Feedback::Ecn, Feedback::Ecn, Feedback::Trim, Feedback::Timeout]),
    }
}
