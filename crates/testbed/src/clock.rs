//! The wall clock, in the simulator's unit.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use tresse_units::Time;

/// How fast an experiment's time passes, for example 1/3 of the wall clock. For the machine, rates are then
/// lower and delays longer by this factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    over: u32,
    under: u32,
}

impl Scale {
    /// As fast as the wall clock.
    pub const WHOLE: Self = Self { over: 1, under: 1 };

    /// The experiment's time, ps, for this much wall-clock time, ns.
    pub fn scaled(self, wall: u64) -> Time {
        (u128::from(wall) * 1000 * u128::from(self.over) / u128::from(self.under)) as Time
    }

    /// The wall-clock time for this time.
    pub fn wall(self, time: Time) -> Duration {
        let ns = u128::from(time) * u128::from(self.under) / u128::from(self.over) / 1000;
        Duration::from_nanos(ns.min(u64::MAX.into()) as u64)
    }

    /// The scale at which `load` events per second become at most `most`, as a fraction of 1.
    pub fn for_load(load: f64, most: f64) -> Self {
        Self { over: 1, under: (load / most).ceil().clamp(1.0, 10_000.0) as u32 }
    }

    /// Half of it.
    #[must_use]
    pub fn half(self) -> Self {
        match self.over % 2 {
            0 => Self { over: self.over / 2, ..self },
            _ => Self { under: self.under * 2, ..self },
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.under {
            1 => write!(f, "{}", self.over),
            under => write!(f, "{}/{under}", self.over),
        }
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (over, under) = text.split_once('/').unwrap_or((text, "1"));
        let part = |text: &str| text.trim().parse().ok().filter(|part| (1..=10_000).contains(part));
        match (part(over), part(under)) {
            (Some(over), Some(under)) if over <= under => Ok(Self { over, under }),
            _ => Err("expected a fraction from 1/10000 to 1, such as `1/3`".to_owned()),
        }
    }
}

/// A clock of an experiment, which was at 0 when it was created. It does not go back, and all processes of
/// the machine can read it.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
    scale: Scale,
}

impl Clock {
    /// A clock that is at 0 now.
    pub fn start(scale: Scale) -> Self {
        Self { start: monotonic(), scale }
    }

    /// Its speed.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Picoseconds of the experiment since its start.
    pub fn now(&self) -> Time {
        self.at(monotonic())
    }

    /// Its time when the kernel's `CLOCK_MONOTONIC` is this, ns.
    pub fn at(&self, monotonic: u64) -> Time {
        self.scale.scaled(monotonic.saturating_sub(self.start))
    }
}

/// The kernel's `CLOCK_MONOTONIC`, ns.
///
/// # Panics
/// If the kernel has none.
pub fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has it");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_a_fraction_of_at_most_1() {
        let third: Scale = "1/3".parse().expect("a fraction");
        assert_eq!(third.scaled(3_000), 1_000_000);
        assert_eq!(third.wall(1_000_000), Duration::from_nanos(3_000));
        assert_eq!((third.to_string(), third.half().to_string()), ("1/3".to_owned(), "1/6".to_owned()));
        assert_eq!("2/5".parse::<Scale>().map(Scale::half), "1/5".parse());
        assert_eq!("1".parse(), Ok(Scale::WHOLE));
        for wrong in ["", "0", "1/0", "2", "3/2", "-1/2", "1/3/4", "0.5"] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_long_run_does_not_overflow() {
        let slow: Scale = "3/10000".parse().expect("a fraction");
        let day = 86_400_000_000_000;
        assert_eq!(slow.wall(slow.scaled(day)).as_nanos() as u64, day);
    }
}
