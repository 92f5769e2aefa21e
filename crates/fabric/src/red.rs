//! Random early detection (Floyd and Jacobson, ToN 1993): an averaged queue signals with a probability
//! that grows with its length.

use tresse_units::{SplitMix, Time};

use crate::threshold::Threshold;

/// RED's parameters. `min` and `max` are in the same unit, packets or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedConfig {
    /// Below this averaged length nothing is signalled.
    pub min: Threshold,
    /// From this averaged length on, every packet is signalled; with `gentle`, from twice this length on.
    pub max: Threshold,
    /// The probability just below `max`, in parts of 2^16.
    pub probability: u32,
    /// The weight of a new length in the average is 2^-`weight`; 0 to 16. 0 means no averaging.
    pub weight: u32,
    /// Above `max` the probability goes on to 1 at twice `max` (Floyd 2000) instead of jumping there.
    pub gentle: bool,
    /// Signals depend on earlier ones, so that the gaps between them are uniform (§4, eq. 3); otherwise each
    /// packet is signalled with the same probability, whatever happened before.
    pub uniform: bool,
    /// Which random stream it draws from: the run's seed and the port's number.
    pub stream: (u64, u32),
}

/// RED's state.
#[derive(Debug)]
pub(crate) struct Red {
    config: RedConfig,
    /// The averaged length with [`FRACTION`] fractional bits.
    average: u64,
    /// Packets since the last signal.
    count: u64,
    draws: SplitMix,
}

/// Purpose of the random draws.
const RED: u64 = 3;
/// Fractional bits of the averaged length; lengths stay below 2^31.
const FRACTION: u32 = 24;

impl Red {
    pub fn new(config: RedConfig) -> Self {
        let (seed, port) = config.stream;
        Self { config, average: 0, count: 0, draws: SplitMix::named(seed, RED, port.into()) }
    }

    /// Whether lengths are in bytes.
    #[inline]
    pub fn counts_bytes(&self) -> bool {
        self.config.min.is_bytes()
    }

    /// A packet meets a queue of `length`, which has been empty for `idle`; a typical packet takes
    /// `packet_time`. Returns whether to signal it.
    pub fn arrive(&mut self, length: u64, idle: Time, packet_time: Time) -> bool {
        // As if small packets had arrived while the queue was empty (§4, m).
        let missed = idle / packet_time.max(1);
        self.average = if missed > 0 { self.decayed(missed) } else { self.average };
        let sample = length << FRACTION;
        self.average = self.average - (self.average >> self.config.weight) + (sample >> self.config.weight);
        let Some(probability) = self.probability() else {
            self.count = 0;
            return false;
        };
        self.count += 1;
        // p / (1 - count p) makes the gaps between signals uniform instead of geometric (§4, eq. 3).
        let spent = if self.config.uniform { (self.count - 1).saturating_mul(probability) } else { 0 };
        let signal = match ONE.checked_sub(spent) {
            None | Some(0) => true,
            Some(rest) => {
                u128::from(self.draws.next() >> 32) * u128::from(rest) < u128::from(probability) << 32
            }
        };
        if signal {
            self.count = 0;
        }
        signal
    }

    /// The probability before it is spread, in parts of [`ONE`]; `None` below `min`.
    fn probability(&self) -> Option<u64> {
        let (min, max) = (self.config.min.value() << FRACTION, self.config.max.value() << FRACTION);
        let most = u64::from(self.config.probability) << 16;
        let part =
            |of: u64, over: u64, range: u64| (u128::from(of) * u128::from(over) / u128::from(range)) as u64;
        match self.average {
            a if a < min || (a == min && min < max) => None,
            a if a < max => Some(part(most, a - min, max - min).max(1)),
            a if self.config.gentle && a < 2 * max => Some(most + part(ONE - most, a - max, max)),
            _ => Some(ONE),
        }
    }

    /// The average times (1 - w)^n.
    fn decayed(&self, n: u64) -> u64 {
        let keep = ONE - (ONE >> self.config.weight);
        let (mut result, mut factor, mut left) = (u128::from(self.average), u128::from(keep), n);
        while left > 0 && result > 0 {
            if left & 1 == 1 {
                result = (result * factor) >> 32;
            }
            factor = (factor * factor) >> 32;
            left >>= 1;
        }
        result as u64
    }
}

/// 1, as a probability.
const ONE: u64 = 1 << 32;
