//! The settings of a marker, and their validation.

use serde::Serialize;

use crate::Error;

/// The most classes in addition to the default one.
pub const CLASSES: usize = 8;
/// The largest threshold, bytes: 1 ms at 400 Gbit/s, within the range of the kernel's arithmetic.
pub const MAX_THRESHOLD: u64 = 64 << 20;
/// The largest weight of a class.
pub const MAX_WEIGHT: u32 = 1000;
/// Rates of a marker, bit/s: 1 Mbit/s to 400 Gbit/s.
pub const RATES: std::ops::RangeInclusive<u64> = 1_000_000..=400_000_000_000;

/// A queue's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Full-sized frames of the device: its MTU and 14 bytes of Ethernet header each.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
}

/// The criterion for the packets of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The Differentiated Services code point of the IP header, 0..=63.
    Dscp(u8),
    /// The mark that a firewall rule, a filter or the socket (`SO_MARK`) gave it.
    Mark(u32),
}

/// A class of service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// At most 15 letters, digits, `-` and `_`.
    pub name: String,
    /// Its share of the rate is its weight divided by the weights of all classes with a backlog; 1..=1000.
    pub weight: u32,
    pub rule: Match,
    /// Its own threshold; without one, its share of the whole queue's.
    pub threshold: Option<Length>,
}

/// The settings of a marker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The rate of the link that it represents, bit/s, Ethernet headers included.
    pub rate_bps: u64,
    /// K: a packet that finds more than this in the queue is marked.
    pub threshold: Length,
    /// Classes; packets that match none are in a class `default` of weight 1. The first match counts.
    pub classes: Vec<Class>,
}

impl Settings {
    /// Whether everything is in range and no class shadows another.
    pub(super) fn check(&self) -> Result<(), Error> {
        let input = |message: String| Err(Error::Input(message));
        if !RATES.contains(&self.rate_bps) {
            return input(format!(
                "a rate of {} bit/s: expected 1 Mbit/s to 400 Gbit/s, the rate of the link to mark for",
                self.rate_bps
            ));
        }
        check_threshold(self.threshold)?;
        if self.classes.len() > CLASSES {
            return input(format!(
                "{} classes: at most {CLASSES} are allowed, in addition to the default one",
                self.classes.len()
            ));
        }
        for (i, class) in self.classes.iter().enumerate() {
            class.check()?;
            for other in &self.classes[..i] {
                if other.name == class.name {
                    return input(format!("two classes are called `{}`", class.name));
                }
                if other.rule == class.rule {
                    let what = class.rule;
                    return input(format!(
                        "the classes `{}` and `{}` both take {what}",
                        other.name, class.name
                    ));
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for Match {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dscp(v) => write!(f, "dscp {v}"),
            Self::Mark(v) => write!(f, "mark {v:#x}"),
        }
    }
}

impl Class {
    fn check(&self) -> Result<(), Error> {
        let name = &self.name;
        let input = |message: String| Err(Error::Input(message));
        if name == "default" {
            return input(
                "`default` is the class of the packets that match no other: choose another name".into(),
            );
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(1..=15).contains(&name.len()) || !name.chars().all(fits) {
            return input(format!("a class `{name}`: expected 1 to 15 letters, digits, `-` or `_`"));
        }
        if !(1..=MAX_WEIGHT).contains(&self.weight) {
            return input(format!("class `{name}`: a weight of {}: expected 1 to {MAX_WEIGHT}", self.weight));
        }
        if let Match::Dscp(v) = self.rule
            && v > 63
        {
            return input(format!("class `{name}`: DSCP {v}: expected 0 to 63"));
        }
        self.threshold.map_or(Ok(()), check_threshold)
    }
}

fn check_threshold(length: Length) -> Result<(), Error> {
    match length {
        Length::Packets(0) | Length::Bytes(0) => Err(Error::Input(
            "a threshold of 0: expected at least one packet, such as \"20pkt\" or \"30kB\"".into(),
        )),
        Length::Bytes(n) if n > MAX_THRESHOLD => {
            Err(Error::Input(format!("a threshold of {n} bytes: expected at most 64 MiB")))
        }
        // Only the device determines its length in packets.
        Length::Packets(_) | Length::Bytes(_) => Ok(()),
    }
}
