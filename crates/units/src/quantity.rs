//! Values with a unit: a string in a file, a whole number in the code (design rule 7).

use std::fmt;
use std::str::FromStr;

use crate::text::{parse, show, text_form};

/// A rate, bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

/// A duration, picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

/// A size, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// How fast something computes, floating-point operations/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flops(pub u64);

/// A number of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packets(pub u32);

const RATES: &[(&str, u64)] =
    &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];
const DURATIONS: &[(&str, u64)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
pub(crate) const SIZES: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
const FLOPS: &[(&str, u64)] = &[
    ("flops", 1),
    ("Mflops", 1_000_000),
    ("Gflops", 1_000_000_000),
    ("Tflops", 1_000_000_000_000),
    ("Pflops", 1_000_000_000_000_000),
];
pub(crate) const PACKETS: &[(&str, u64)] = &[("pkt", 1)];

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
unit!(Flops(u64), FLOPS, "a computing speed", r"^[0-9.]+ *(flops|Mflops|Gflops|Tflops|Pflops)$", "312Tflops");
unit!(Packets(u32), PACKETS, "a number of packets", r"^[0-9]+ *pkt$", "10pkt");
