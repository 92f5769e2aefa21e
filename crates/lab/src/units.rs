//! Values with a unit: a string in a file, a whole number in the code (design rule 7).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use tresse_fabric::{Probability as PortProbability, Threshold};

/// A rate, bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

/// A duration, picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

/// A size, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// A number of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packets(pub u32);

/// A queue length, in packets or in bytes, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// Never reached.
    Unlimited,
}

impl From<Threshold> for Queue {
    fn from(threshold: Threshold) -> Self {
        match threshold {
            Threshold::UNLIMITED => Self::Unlimited,
            bytes if bytes.is_bytes() => Self::Bytes(bytes.value()),
            packets => Self::Packets(packets.value()),
        }
    }
}

impl Queue {
    /// As a port takes it.
    pub fn threshold(self) -> Threshold {
        match self {
            Self::Packets(n) => Threshold::packets(n),
            Self::Bytes(n) => Threshold::bytes(n),
            Self::Unlimited => Threshold::UNLIMITED,
        }
    }
}

/// A probability, from 0 to 1: a number without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);

    /// As a port takes it: parts of 2^32.
    pub fn to_port(self) -> PortProbability {
        PortProbability::from_parts((self.0 * PortProbability::ONE.parts() as f64).round() as u64)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(d)?;
        if !(0.0..=1.0).contains(&value) {
            return Err(de::Error::custom(format!("{value} is not a probability: 0 to 1, such as 0.001")));
        }
        if value > 0.0 && Self(value).to_port() == PortProbability::ZERO {
            return Err(de::Error::custom(format!("{value} is too small: a probability has parts of 2^-32")));
        }
        Ok(Self(value))
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "examples": [0.001] })
    }
}

/// A factor above 0, at most 1000, with three decimals: a number without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor(u32);

impl Factor {
    /// In parts of 1000; at least 1.
    pub fn thousandths(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (f64::from(self.0) / 1000.0).fmt(f)
    }
}

impl Serialize for Factor {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(d)?;
        let parts = (value * 1000.0).round();
        // Three decimals are not exact in binary.
        if !(1.0..=1e6).contains(&parts) || (value * 1000.0 - parts).abs() > 1e-6 {
            let message =
                format!("{value}: expected 0.001 to 1000 with at most three decimals, such as 0.17");
            return Err(de::Error::custom(message));
        }
        Ok(Self(parts as u32))
    }
}

impl JsonSchema for Factor {
    fn schema_name() -> Cow<'static, str> {
        "Factor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0.001, "maximum": 1000, "examples": [0.17] })
    }
}

const RATES: &[(&str, u64)] =
    &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];
const DURATIONS: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const PACKETS: &[(&str, u64)] = &[("pkt", 1)];

/// Reads `text` as a decimal number and one of `units`; the result must be whole in the base unit.
fn parse(text: &str, units: &[(&str, u64)], what: &str, example: &str) -> Result<u64, String> {
    let known = || units.iter().map(|(u, _)| *u).collect::<Vec<_>>().join(", ");
    let expected = format!("expected {what} such as \"{example}\" (units: {})", known());
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!("\"{text}\" is negative; {expected}"));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.is_empty() {
        return Err(format!("\"{text}\" has no number; {expected}"));
    }
    if unit.is_empty() {
        return Err(format!("\"{text}\" has no unit; {expected}"));
    }
    let Some(&(_, scale)) = units.iter().find(|(u, _)| *u == unit) else {
        return Err(format!("\"{unit}\" is not a unit of {what}; {expected}"));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let bad = || format!("\"{number}\" is not a number; {expected}");
    let large = || format!("\"{text}\" is too large; {expected}");
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
    let mut value = whole.checked_mul(scale.into()).ok_or_else(large)?;
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        let power = 10u128.checked_pow(digits).ok_or_else(bad)?;
        let part = fraction.parse::<u128>().map_err(|_| bad())?;
        let part = part.checked_mul(scale.into()).ok_or_else(bad)?;
        if part % power != 0 {
            return Err(format!("\"{text}\" is finer than one {}; {expected}", units[0].0));
        }
        value += part / power;
    }
    u64::try_from(value).map_err(|_| large())
}

/// The shortest exact way to write `value`.
fn show(value: u64, units: &[(&str, u64)]) -> String {
    let decimal = units.iter().filter(|(u, _)| !u.ends_with("iB"));
    let (unit, scale) =
        decimal.rev().find(|(_, s)| value.is_multiple_of(*s) && value >= *s).unwrap_or(&units[0]);
    format!("{}{unit}", value / scale)
}

/// Gives a unit type its text form, its place in files, and its schema.
macro_rules! text_form {
    ($type:ident, $pattern:literal, $example:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a string with a unit, such as \"{}\"", $example)
                    }
                    fn visit_str<E: de::Error>(self, v: &str) -> Result<$type, E> {
                        v.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: de::Error>(self, v: i64) -> Result<$type, E> {
                        Err(E::custom(bare(&v, $example)))
                    }
                    fn visit_f64<E: de::Error>(self, v: f64) -> Result<$type, E> {
                        Err(E::custom(bare(&v, $example)))
                    }
                }
                d.deserialize_any(Text)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": $pattern, "examples": [$example] })
            }
        }
    };
}

fn bare(value: &dyn fmt::Display, example: &str) -> String {
    format!("a bare number {value} has no unit; write a string with a unit, such as \"{example}\"")
}

macro_rules! unit {
    ($type:ident($int:ty), $units:ident, $what:literal, $pattern:literal, $example:literal) => {
        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                let value = parse(text, $units, $what, $example)?;
                <$int>::try_from(value).map(Self).map_err(|_| format!("\"{text}\" is too large"))
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&show(self.0.into(), $units))
            }
        }
        text_form!($type, $pattern, $example);
    };
}

unit!(Rate(u64), RATES, "a rate", r"^[0-9.]+ *(bps|kbps|Mbps|Gbps|Tbps)$", "10Gbps");
unit!(Duration(u64), DURATIONS, "a duration", r"^[0-9.]+ *(ps|ns|us|ms|s)$", "20us");
unit!(Bytes(u64), SIZES, "a size", r"^[0-9.]+ *(B|kB|MB|GB|TB|KiB|MiB|GiB)$", "64MB");
unit!(Packets(u32), PACKETS, "a number of packets", r"^[0-9]+ *pkt$", "10pkt");

impl FromStr for Queue {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if text.trim_end().ends_with("pkt") {
            return parse(text, PACKETS, "a queue length", "100pkt").map(Self::Packets);
        }
        let units: Vec<_> = PACKETS.iter().chain(SIZES).copied().collect();
        parse(text, &units, "a queue length", "100pkt").map(Self::Bytes)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Packets(n) => f.write_str(&show(n, PACKETS)),
            Self::Bytes(n) => f.write_str(&show(n, SIZES)),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

text_form!(Queue, r"^([0-9.]+ *(pkt|B|kB|MB|GB|TB|KiB|MiB|GiB)|unlimited)$", "100pkt");
