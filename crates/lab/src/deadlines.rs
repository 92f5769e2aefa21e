//! Deadlines that were missed.

use tresse_fabric::Time;

/// How many deadlines there were, and how many of them were missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// Those of which it is known whether they were met.
    pub known: u64,
    /// Those that were not.
    pub missed: u64,
}

impl Deadlines {
    /// Of flows or jobs: each with its deadline, ps from the start of the run, and when it was done, if it was.
    /// `now` is the end of the run: what was to be done by then and is not has missed its deadline. Of what had more
    /// time nothing is known yet.
    pub fn of(all: impl IntoIterator<Item = (Time, Option<Time>)>, now: Time) -> Self {
        let mut deadlines = Self::default();
        for (deadline, end) in all {
            let missed = match end {
                Some(end) => end > deadline,
                None if deadline < now => true,
                None => continue,
            };
            deadlines.known += 1;
            deadlines.missed += u64::from(missed);
        }
        deadlines
    }

    /// The share that was missed, 0 to 1; `None` if nothing is known of any.
    pub fn missed_ratio(self) -> Option<f64> {
        (self.known > 0).then(|| self.missed as f64 / self.known as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_time_is_at_the_deadline_or_before() {
        for (deadline, end, now, known, missed) in [
            (10, Some(9), 20, 1, 0),
            (10, Some(10), 20, 1, 0),
            (10, Some(11), 20, 1, 1),
            // Not done: too late for it, in time still, and just in time.
            (10, None, 20, 1, 1),
            (10, None, 5, 0, 0),
            (10, None, 10, 0, 0),
        ] {
            let deadlines = Deadlines::of([(deadline, end)], now);
            assert_eq!(deadlines, Deadlines { known, missed }, "{deadline} {end:?} {now}");
        }
    }

    #[test]
    fn the_ratio_is_of_those_that_are_known() {
        let all = [(1, Some(1)), (1, Some(2)), (1, None), (9, None), (4, Some(3))];
        let deadlines = Deadlines::of(all, 5);
        assert_eq!((deadlines, deadlines.missed_ratio()), (Deadlines { known: 4, missed: 2 }, Some(0.5)));
        assert_eq!(Deadlines::of([(9, None)], 5).missed_ratio(), None);
    }
}
