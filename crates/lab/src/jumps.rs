//! The jumps of the distribution of jobs' completion times (XMP Fig. 9): two classes in which most of them are.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use tresse_fabric::{Time, seconds};

use crate::experiment::Jumps;

/// The two most frequent classes of completion times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JumpsFound {
    /// How far they are apart, s.
    pub apart_s: f64,
    /// The median of each, s, the shorter one first.
    pub at_s: [f64; 2],
    /// The share of the jobs in each.
    pub shares: [f64; 2],
}

/// The jumps of `sorted` times, ps; `None` if there is one only, or no time.
///
/// A class is what lies within `within` from its shortest time on. The first is the one with the most times, the
/// second the one with the most of those of which all times are at least half of `apart` from it, for the body of a
/// distribution may be wider than a class; of equal ones the one with the shorter times.
pub(crate) fn jumps(sorted: &[Time], keys: &Jumps) -> Option<JumpsFound> {
    let first = fullest(sorted, keys.within.0)?;
    let far = keys.apart.0 / 2;
    let below = sorted.partition_point(|&t| t + far <= sorted[first.start]);
    let above = sorted.partition_point(|&t| t < sorted[first.end - 1] + far);
    let second = [0..below, above..sorted.len()].into_iter().filter_map(|range| {
        let class = fullest(&sorted[range.clone()], keys.within.0)?;
        Some(range.start + class.start..range.start + class.end)
    });
    // Of equal ones `max_by_key` keeps the last.
    let second = second.rev().max_by_key(Range::len)?;
    let mut classes = [first, second];
    classes.sort_by_key(|class| class.start);
    let at_s = classes.clone().map(|class| seconds(sorted[(class.start + class.end - 1) / 2]));
    let shares = classes.map(|class| class.len() as f64 / sorted.len() as f64);
    Some(JumpsFound { apart_s: at_s[1] - at_s[0], at_s, shares })
}

/// The places of the times of the fullest class, the first of equal ones; none if there are no times.
fn fullest(sorted: &[Time], within: Time) -> Option<Range<usize>> {
    let (mut fullest, mut end) = (0..0, 0);
    for start in 0..sorted.len() {
        while end < sorted.len() && sorted[end] <= sorted[start] + within {
            end += 1;
        }
        if end - start > fullest.len() {
            fullest = start..end;
        }
    }
    (!fullest.is_empty()).then_some(fullest)
}
