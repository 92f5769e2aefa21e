//! How applications write: constant and adaptive rates, and datagrams.

use tresse_units::{MILLISECOND, Rate, SECOND, Time};

use crate::diagnostic::Wrong;
use crate::schema::workload::Application;

/// How an application writes: the classes of THESIS §2.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum App {
    /// Always this many bit/s.
    Constant(u64),
    /// One of several rates, bit/s, in ascending order.
    Adaptive {
        /// The rates, at least one.
        levels: Vec<u64>,
        /// How often it chooses, ps.
        period: Time,
    },
}

impl App {
    /// The most that it writes, bit/s of payload.
    pub fn most(&self) -> u64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Adaptive { levels, .. } => levels[levels.len() - 1],
        }
    }

    /// From the keys of a file.
    ///
    /// # Errors
    /// The wrong key below `application`, and why.
    pub fn new(key: &Application) -> Result<Self, Wrong> {
        let period = key.period.map_or(SECOND, |p| p.0);
        match (key.rate, &key.levels[..]) {
            (Some(Rate(0)), []) => {
                Err(Wrong::key("rate", "an application must write something: use a rate above 0"))
            }
            (Some(rate), []) if key.period.is_none() => Ok(Self::Constant(rate.0)),
            (Some(_), []) => Err(Wrong::key("period", "a constant rate has no period")),
            (None, levels) if !levels.is_empty() => {
                if levels[0].0 == 0 || !levels.is_sorted_by(|a, b| a.0 < b.0) {
                    return Err(Wrong::key(
                        "levels",
                        "rates must be above 0, each higher than the one before",
                    ));
                }
                if !(MILLISECOND..=1000 * SECOND).contains(&period) {
                    return Err(Wrong::key("period", "1ms to 1000s"));
                }
                Ok(Self::Adaptive { levels: levels.iter().map(|r| r.0).collect(), period })
            }
            _ => Err(Wrong::key("rate", "either a constant `rate`, or `levels` to choose among")),
        }
    }
}
