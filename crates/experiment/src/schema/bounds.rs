//! Bounds for all times and rates in files.

use std::ops::RangeInclusive;

use tresse_units::{SECOND, Time};

/// The longest delay or timeout, ps; sums of them stay far below 2^64.
pub const LONGEST: Time = 1000 * SECOND;

/// The allowed rates, bit/s: a packet's transmission takes neither no time nor forever.
pub const RATES: RangeInclusive<u64> = 1_000..=100_000_000_000_000;
