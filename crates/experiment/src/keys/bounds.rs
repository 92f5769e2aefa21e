//! Bounds that hold wherever a file says a time or a rate.

use std::ops::RangeInclusive;

use tresse_units::{SECOND, Time};

/// The longest delay or timeout, ps: sums of them stay far below 2^64.
pub const LONGEST: Time = 1000 * SECOND;

/// Rates at which a packet's transmission is neither nothing nor forever, bit/s.
pub const RATES: RangeInclusive<u64> = 1_000..=100_000_000_000_000;
