//! The progress of a run: its replications together, and how long it will take.

use std::sync::atomic::{AtomicU64, Ordering};

use super::watch::Watch;
use tresse_results::record::progress::{Progress, ProgressFile};

/// What all replications together have done.
#[derive(Debug, Clone)]
pub struct Standing {
    /// 0 to 1, by bytes carried or by time. Replications that have not begun count as large as the others, and
    /// those whose end is not known count as not begun.
    pub share: f64,
    /// Whether the progress of all running replications is known.
    pub known: bool,
    /// Packet-hops.
    pub hops: u64,
    /// The replications that run now, with their simulated time.
    pub running: Vec<String>,
    /// How many are to run.
    pub units: usize,
    /// How many of them have ended.
    pub done: usize,
    /// The claims for which the run continues.
    pub undecided: Vec<String>,
}

/// Of less than this share nothing is told about the rest.
const LEAST: f64 = 0.0005;

impl Standing {
    /// Seconds until the run ends, after `elapsed` of them; `None` if that is not known.
    pub fn left(&self, elapsed: f64) -> Option<f64> {
        (self.known && self.share > LEAST).then(|| elapsed * (1.0 - self.share) / self.share)
    }
}

impl Standing {
    /// The standing of a run of these schemes after `elapsed_s` seconds, as a file.
    pub(super) fn file(&self, elapsed_s: f64, schemes: &[String]) -> ProgressFile {
        ProgressFile {
            done_ratio: self.known.then_some(self.share),
            elapsed_s,
            left_s: self.left(elapsed_s),
            packet_hops: self.hops,
            replications_done: self.done,
            replications: self.units,
            schemes: schemes.to_vec(),
        }
    }
}

impl Watch {
    /// The progress of the run.
    pub fn standing(&self) -> Standing {
        let planned = self.planned.lock().expect("no holder of the lock panics").clone();
        let mut sum = Standing {
            share: 0.0,
            known: true,
            hops: 0,
            running: Vec::new(),
            units: planned.places.len(),
            done: 0,
            undecided: planned.undecided,
        };
        for (name, p) in planned.places.iter().map(|&place| &self.replications[place]) {
            let hops = p.hops.load(Ordering::Relaxed);
            sum.hops += hops;
            if p.done.load(Ordering::Relaxed) {
                sum.share += 1.0;
                sum.done += 1;
                continue;
            }
            let share = share(p);
            sum.share += share.unwrap_or(0.0);
            if share.is_some() || hops > 0 {
                sum.known &= share.is_some();
                let now = tresse_units::seconds(p.now.load(Ordering::Relaxed));
                sum.running.push(format!("{name} at {now:.1} s"));
            }
        }
        sum.share /= sum.units.max(1) as f64;
        sum
    }
}

/// The progress of a replication, 0 to 1: by its bytes, its flows or its time, whichever is furthest, because it ends with
/// the first of them. `None` if none is known, or if it has not begun.
pub(crate) fn share(p: &Progress) -> Option<f64> {
    // What is to be carried is a mean, and segments that were sent twice arrive twice.
    let part = |done: &AtomicU64, all: &AtomicU64| match all.load(Ordering::Relaxed) {
        0 => None,
        all => Some((done.load(Ordering::Relaxed) as f64 / all as f64).min(1.0)),
    };
    let parts =
        [part(&p.bytes, &p.expected_bytes), part(&p.flows, &p.expected_flows), part(&p.now, &p.expected_ps)];
    parts.into_iter().flatten().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::runner::Planned;

    /// A unit at `bytes` of `expected_bytes`, and at `now` of `expected_ps`.
    fn unit([bytes, expected_bytes, now, expected_ps]: [u64; 4], hops: u64) -> Progress {
        Progress {
            now: now.into(),
            hops: hops.into(),
            bytes: bytes.into(),
            expected_bytes: expected_bytes.into(),
            expected_ps: expected_ps.into(),
            flows: 0.into(),
            expected_flows: 0.into(),
            done: false.into(),
        }
    }

    #[test]
    fn a_unit_is_as_far_as_its_bytes_or_its_time() {
        for (of, wanted) in [
            ([0, 0, 0, 0], None),
            ([1, 4, 7, 0], Some(0.25)),
            ([9, 4, 7, 0], Some(1.0)),
            ([9, 0, 1, 2], Some(0.5)),
            ([1, 4, 1, 2], Some(0.5)),
            ([3, 4, 1, 2], Some(0.75)),
            ([9, 0, 7, 0], None),
        ] {
            assert_eq!(share(&unit(of, 1)), wanted, "{of:?}");
        }
        let by_flows = Progress { flows: 3.into(), expected_flows: 4.into(), ..unit([9, 0, 1, 2], 1) };
        assert_eq!(share(&by_flows), Some(0.75));
    }

    #[test]
    fn units_of_which_the_end_is_not_known_run_too() {
        let done = unit([4, 4, 0, 0], 10);
        done.done.store(true, Ordering::Relaxed);
        let units = [done, unit([0, 0, 5, 0], 7), unit([0; 4], 0), unit([1, 2, 0, 0], 3)];
        let units: Vec<_> = units.into_iter().map(|p| ("a unit".to_owned(), p)).collect();
        let mut watch = Watch::default();
        let planned = |places: &[usize], claims: &[&str]| {
            let undecided = claims.iter().map(|&claim| claim.to_owned()).collect();
            Mutex::new(Planned { places: places.to_vec(), undecided })
        };
        (watch.planned, watch.replications) = (planned(&[0, 1, 2, 3], &[]), units);
        let s = watch.standing();
        assert_eq!((s.share, s.known, s.hops, s.done, s.running.len()), (0.375, false, 20, 1, 2));
        // Units that may not be needed do not count.
        watch.planned = planned(&[0, 3], &["fast"]);
        let s = watch.standing();
        assert_eq!((s.share, s.units, s.hops, s.running.len()), (0.75, 2, 13, 1));
        assert_eq!(s.undecided, ["fast"]);
    }
}
