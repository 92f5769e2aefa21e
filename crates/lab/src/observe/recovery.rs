//! How long goodput takes to recover from a change of links: until it first stays at a share of what it was before
//! (`[measure] recovery`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tresse_experiment::plan::link_events::{Change, LinkEvent};
use tresse_experiment::schema::measure::RecoveryCriterion;
use tresse_units::{SECOND, Time};

use crate::observe::convergence::Rate;
use tresse_results::record::recovery::{Recoveries, Recovery};
use tresse_results::record::sample::Sample;

/// The data of a run for its recovery times.
#[derive(Debug)]
pub(crate) struct Recovering {
    criterion: RecoveryCriterion,
    /// When links change, ps. What is so from the start is no change.
    changes: BTreeSet<Time>,
    /// All flows together.
    total: Follower,
    /// The flows that are active, by part and name.
    flows: BTreeMap<(usize, u64), Follower>,
    found: Recoveries,
}

impl Recovering {
    /// At the start of a run whose links have these changes.
    pub fn new(criterion: RecoveryCriterion, changes: &[Change]) -> Self {
        let of_links = changes.iter().filter(|change| change.what != LinkEvent::Reroute && change.at > 0);
        Self {
            criterion,
            changes: of_links.map(|change| change.at).collect(),
            total: Follower::default(),
            flows: BTreeMap::new(),
            found: Recoveries::default(),
        }
    }

    /// Adds the samples of the interval from `start` to `end`; the subflows of a flow follow one another.
    pub fn add(&mut self, start: Time, end: Time, samples: &[Sample]) {
        if start == end || self.changes.is_empty() {
            return;
        }
        let bytes = samples.iter().map(|sample| sample.bytes).sum();
        let verdict = self.total.add(rate(start, end, bytes), &self.changes, &self.criterion);
        self.note(verdict);
        for own in samples.chunk_by(|a, b| a.flow == b.flow) {
            let bytes = own.iter().map(|sample| sample.bytes).sum();
            let rate = rate(own[0].start, own[0].start + own[0].duration, bytes);
            let flow = self.flows.entry((own[0].flow.part, own[0].flow.start.name)).or_default();
            let verdict = flow.add(rate, &self.changes, &self.criterion);
            self.note_flow(verdict);
        }
        // The flows without a sample until the end of the interval have ended.
        let mut ended = Vec::new();
        self.flows.retain(|_, flow| {
            let goes_on = flow.end() == Some(end);
            if !goes_on {
                ended.extend(flow.finish(&self.criterion));
            }
            goes_on
        });
        ended.into_iter().for_each(|verdict| self.note_flow(Some(verdict)));
    }

    /// The recoveries of the run, which has ended.
    pub fn finish(mut self) -> Recoveries {
        for flow in std::mem::take(&mut self.flows).into_values() {
            let verdict = flow.finish(&self.criterion);
            self.note_flow(verdict);
        }
        let verdict = self.total.finish(&self.criterion);
        self.note(verdict);
        self.found
    }

    fn note(&mut self, verdict: Option<Verdict>) {
        match verdict {
            Some(Verdict::Known(recovery)) => self.found.total.push(recovery),
            Some(Verdict::Unknown(at)) => self.found.unjudged.push(at),
            None => {}
        }
    }

    fn note_flow(&mut self, verdict: Option<Verdict>) {
        match verdict {
            Some(Verdict::Known(Recovery { time: None, .. })) => self.found.unrecovered_flows += 1,
            Some(Verdict::Known(Recovery { time, .. })) => {
                self.found.slowest_flow = self.found.slowest_flow.max(time);
            }
            Some(Verdict::Unknown(_)) | None => {}
        }
    }
}

/// What is found out about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Known(Recovery),
    /// There was too little goodput before it, or too little time after it.
    Unknown(Time),
}

/// Follows a goodput from change to change. A change before it has recovered from another belongs to that one.
#[derive(Debug, Default)]
struct Follower {
    /// The last intervals, without a gap: the fewest that make up the criterion's time.
    last: VecDeque<Rate>,
    /// How long they are together, ps.
    time: Time,
    /// The change that it has not recovered from.
    pending: Option<Pending>,
}

/// A change that a goodput has not recovered from.
#[derive(Debug, Clone, Copy)]
struct Pending {
    at: Time,
    /// The goodput before it, bit/s.
    before: u64,
    /// Since when it is back, ps.
    back: Option<Time>,
}

impl Follower {
    /// When the last interval ended.
    fn end(&self) -> Option<Time> {
        self.last.back().map(|rate| rate.start + rate.duration)
    }

    /// The mean over the last intervals, bit/s; `None` if they are too short together.
    fn mean(&self, criterion: &RecoveryCriterion) -> Option<u64> {
        if self.time < criterion.hold {
            return None;
        }
        let bits = |rate: &Rate| u128::from(rate.goodput) * u128::from(rate.duration);
        Some((self.last.iter().map(bits).sum::<u128>() / u128::from(self.time)) as u64)
    }

    /// Adds the next interval. An interval in which a change falls counts from the change on.
    fn add(
        &mut self,
        rate: Rate,
        changes: &BTreeSet<Time>,
        criterion: &RecoveryCriterion,
    ) -> Option<Verdict> {
        let end = rate.start + rate.duration;
        if self.end().is_some_and(|until| until != rate.start) {
            (self.last, self.time) = Default::default();
            self.pending.iter_mut().for_each(|pending| pending.back = None);
        }
        let mut verdict = None;
        if self.pending.is_none()
            && let Some(&at) = changes.range(rate.start..end).next()
        {
            match self.mean(criterion) {
                Some(before) if before > 0 => self.pending = Some(Pending { at, before, back: None }),
                Some(_) | None => verdict = Some(Verdict::Unknown(at)),
            }
        }
        self.remember(rate, criterion);
        let Some(pending) = &mut self.pending else { return verdict };
        if (rate.goodput as f64) < criterion.share * pending.before as f64 {
            pending.back = None;
            return verdict;
        }
        let back = *pending.back.get_or_insert(rate.start.max(pending.at));
        if end - back < criterion.hold {
            return verdict;
        }
        let Pending { at, before, .. } = *pending;
        self.pending = None;
        let after = self.mean(criterion).unwrap_or(0);
        Some(Verdict::Known(Recovery { at, time: Some(back - at), before, after }))
    }

    fn remember(&mut self, rate: Rate, criterion: &RecoveryCriterion) {
        self.last.push_back(rate);
        self.time += rate.duration;
        while let Some(first) = self.last.front()
            && self.time - first.duration >= criterion.hold
        {
            self.time -= first.duration;
            self.last.pop_front();
        }
    }

    /// There are no more intervals. Nothing is known of a goodput that is back but has not stayed for long enough.
    fn finish(&self, criterion: &RecoveryCriterion) -> Option<Verdict> {
        let Pending { at, before, back } = self.pending?;
        Some(match (self.end(), self.mean(criterion)) {
            (Some(end), Some(after)) if back.is_none() && end >= at + criterion.hold => {
                Verdict::Known(Recovery { at, time: None, before, after })
            }
            _ => Verdict::Unknown(at),
        })
    }
}

/// The goodput of so many bytes in the time from `start` to `end`.
fn rate(start: Time, end: Time, bytes: u64) -> Rate {
    let goodput = u128::from(bytes) * 8 * u128::from(SECOND) / u128::from(end - start);
    Rate { start, duration: end - start, goodput: goodput as u64 }
}

#[cfg(test)]
mod tests {
    use tresse_units::MILLISECOND;

    use super::*;

    const HELD: RecoveryCriterion = RecoveryCriterion { share: 0.9, hold: 10 * MILLISECOND };

    /// What is found of a goodput of `rates`, one for each millisecond, with changes of links at these times.
    fn found(rates: &[u64], changes: &[Time]) -> Vec<Verdict> {
        let (mut follower, changes) = (Follower::default(), changes.iter().copied().collect());
        let rate =
            |(&goodput, i): (&u64, u64)| Rate { start: i * MILLISECOND, duration: MILLISECOND, goodput };
        let mut found: Vec<Verdict> =
            rates.iter().zip(0..).filter_map(|own| follower.add(rate(own), &changes, &HELD)).collect();
        found.extend(follower.finish(&HELD));
        found
    }

    fn times(rates: &[u64], changes: &[Time]) -> Vec<Option<u64>> {
        let time = |verdict: &Verdict| match verdict {
            Verdict::Known(recovery) => recovery.time.map(|time| time / (MILLISECOND / 10)),
            Verdict::Unknown(_) => panic!("{verdict:?}"),
        };
        found(rates, changes).iter().map(time).collect()
    }

    /// So many intervals of each goodput.
    fn steps(steps: &[(usize, u64)]) -> Vec<u64> {
        steps.iter().flat_map(|&(n, goodput)| std::iter::repeat_n(goodput, n)).collect()
    }

    const AT: Time = 20 * MILLISECOND;

    #[test]
    fn it_is_back_when_it_first_stays_at_the_share() {
        // In tenths of a millisecond.
        assert_eq!(times(&steps(&[(20, 100), (7, 0), (30, 90)]), &[AT]), [Some(70)]);
        assert_eq!(times(&steps(&[(20, 100), (7, 0), (30, 89)]), &[AT]), [None]);
        // 9 ms are not enough, and the time counts from when it stays.
        assert_eq!(times(&steps(&[(20, 100), (3, 0), (9, 100), (1, 89), (10, 90)]), &[AT]), [Some(130)]);
        assert_eq!(times(&steps(&[(20, 100), (20, 100)]), &[AT]), [Some(0)], "it was never gone");
        assert_eq!(times(&steps(&[(20, 100), (20, 100)]), &[]), []);
    }

    #[test]
    fn an_interval_in_which_the_change_falls_counts_from_the_change_on() {
        let at = AT + 4 * MILLISECOND / 10;
        assert_eq!(times(&steps(&[(40, 100)]), &[at]), [Some(0)]);
        assert_eq!(times(&steps(&[(20, 100), (1, 40), (30, 100)]), &[at]), [Some(6)]);
    }

    #[test]
    fn a_change_before_it_is_back_belongs_to_the_one_before() {
        // The link fails, and is back after 15 ms: what counts is the goodput before it failed.
        let rates = steps(&[(20, 100), (15, 50), (2, 70), (30, 100)]);
        assert_eq!(times(&rates, &[AT, AT + 15 * MILLISECOND]), [Some(170)]);
        // Two failures, of which each is over before the next.
        let rates = steps(&[(20, 100), (5, 0), (25, 100), (7, 0), (20, 100)]);
        assert_eq!(times(&rates, &[AT, AT + 30 * MILLISECOND]), [Some(50), Some(70)]);
    }

    #[test]
    fn what_is_too_short_is_not_judged() {
        let unknown = |at| vec![Verdict::Unknown(at)];
        assert_eq!(found(&steps(&[(9, 100), (20, 100)]), &[9 * MILLISECOND]), unknown(9 * MILLISECOND));
        assert_eq!(found(&steps(&[(20, 0), (20, 100)]), &[AT]), unknown(AT), "nothing can be lost");
        assert_eq!(found(&steps(&[(20, 100), (9, 0)]), &[AT]), unknown(AT));
        assert_eq!(found(&steps(&[(20, 100), (20, 0), (9, 100)]), &[AT]), unknown(AT), "it is just back");
        let never = Recovery { at: AT, time: None, before: 100, after: 0 };
        assert_eq!(found(&steps(&[(20, 100), (10, 0)]), &[AT]), [Verdict::Known(never)]);
    }

    #[test]
    fn the_former_goodput_is_a_mean() {
        // 100 and 60 in turn: 90 % of 80 are 72.
        let saw: Vec<u64> = (0..20).map(|i| if i % 2 == 0 { 100 } else { 60 }).collect();
        let after = |goodput| [saw.clone(), steps(&[(12, goodput)])].concat();
        assert_eq!(times(&after(72), &[AT]), [Some(0)]);
        assert_eq!(times(&after(71), &[AT]), [None]);
    }
}
