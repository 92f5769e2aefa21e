//! The jumps in the distribution of job completion times (XMP Fig. 9): the two classes with the most jobs.

use std::ops::Range;

use tresse_units::{Time, seconds};

use crate::judge::Jumps;
use tresse_results::record::results::JumpsFound;

/// The jumps of `sorted` times, ps; `None` if there is only one, or no time.
///
/// A class has the times within `within` of its shortest time. The first is the class with the most times. The
/// second is the class with the most times among those whose times are all at least half of `apart` away from it,
/// because the body of a distribution may be wider than a class. Of equal classes, the one with the shorter times
/// is taken.
pub(crate) fn jumps(sorted: &[Time], wanted: &Jumps) -> Option<JumpsFound> {
    let first = fullest(sorted, wanted.within)?;
    let far = wanted.apart / 2;
    let below = sorted.partition_point(|&t| t + far <= sorted[first.start]);
    let above = sorted.partition_point(|&t| t < sorted[first.end - 1] + far);
    let second = [0..below, above..sorted.len()].into_iter().filter_map(|range| {
        let class = fullest(&sorted[range.clone()], wanted.within)?;
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

/// The indices of the times in the fullest class, the first of equal ones; none if there are no times.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tresse_units::MILLISECOND;

    use super::*;

    const WANTED: Jumps = Jumps { name: String::new(), apart: 200 * MILLISECOND, within: 20 * MILLISECOND };

    fn found(ms: impl IntoIterator<Item = u64>) -> Option<JumpsFound> {
        let mut times: Vec<Time> = ms.into_iter().map(|ms| ms * MILLISECOND).collect();
        times.sort_unstable();
        jumps(&times, &WANTED)
    }

    #[test]
    fn two_classes_are_as_far_apart_as_their_medians() {
        // 80 jobs within 9 to 18 ms, 15 within 211 to 225, 5 with two timeouts.
        let jobs = (0..80).map(|i| 9 + i % 10).chain((0..15).map(|i| 211 + i)).chain([430; 5]);
        let jumps = found(jobs).expect("two classes");
        assert_eq!(jumps.at_s, [0.013, 0.218]);
        assert_eq!(jumps.shares, [0.8, 0.15]);
        assert!((jumps.apart_s - 0.205).abs() < 1e-12);
        // The later class may be the fuller one.
        let jobs = (0..5).map(|_| 10).chain([210; 50]);
        assert_eq!(found(jobs).expect("two classes").shares, [5.0 / 55.0, 50.0 / 55.0]);
    }

    #[test]
    fn the_body_of_a_distribution_may_be_wider_than_a_class() {
        let body = (0..900).map(|i| 5 + i % 90);
        let tail = (0..20).map(|i| 215 + i % 10);
        let jumps = found(body.chain(tail)).expect("two classes");
        assert!((jumps.apart_s - 0.2).abs() < 0.02, "{jumps:?}");
    }

    #[test]
    fn one_class_has_no_jumps() {
        assert_eq!(found([]), None);
        assert_eq!(found([10; 100]), None);
        assert_eq!(found((0..100).map(|i| i % 99)), None, "all within 100 ms of one another");
    }

    #[test]
    fn an_even_distribution_has_no_jumps_200_ms_apart() {
        let jumps = found(0..1000).expect("other classes of the same size");
        assert!((jumps.apart_s - 0.2).abs() > 0.02, "{jumps:?}");
    }

    proptest! {
        /// Shares are of different jobs, medians are times that occurred, and the distance is at least half.
        #[test]
        fn classes_do_not_overlap(ms in proptest::collection::vec(0u64..1000, 1..200)) {
            if let Some(jumps) = found(ms.iter().copied()) {
                prop_assert!(jumps.shares[0] + jumps.shares[1] <= 1.0 + 1e-12);
                prop_assert!(jumps.apart_s >= 0.1 - 1e-12);
                for at in jumps.at_s {
                    prop_assert!(ms.iter().any(|&ms| seconds(ms * MILLISECOND) == at));
                }
            }
        }
    }
}
