//! How long a rate takes to converge (catalogue, holnet/table3.3): until it first stays within 10 % of its final mean
//! for one second.

use std::collections::{BTreeMap, BTreeSet};

use tresse_experiment::schema::measure::Criterion;
use tresse_units::Time;

use tresse_results::record::convergence::{Converged, Convergence};
use tresse_results::record::flow::Begun;
use tresse_results::record::sample::Sample;

/// The rate in an interval, such as that of a subflow in a row of `samples.parquet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// The start of the interval, ps.
    pub start: Time,
    /// Its length, ps.
    pub duration: Time,
    /// The mean rate in it, bit/s.
    pub goodput: u64,
}

/// The time after `begin` (a start, or a change of the network) from which on a rate stays near its final mean, ps:
/// the start of the first interval from which on all intervals of [`Criterion::hold`] are near, before `end`.
/// `None` if the intervals together are shorter than that: then nothing is known.
///
/// `rates` are in the order of time. Intervals that begin before `begin` or end after `end` are left out. The rate
/// does not count as near in a time without an interval. The final mean is over twice the time that the rate has to
/// stay, before `end`, or since `begin` if that is later. The result is as coarse as the intervals; if they are so
/// short that a window's sawtooth shows in them, a rate may never stay near its mean.
pub fn convergence(rates: &[Rate], begin: Time, end: Time, criterion: &Criterion) -> Option<Convergence> {
    let Criterion { within, hold } = *criterion;
    let is_inside = |r: &&Rate| r.start >= begin && r.start + r.duration <= end;
    let rates = || rates.iter().filter(is_inside);
    if rates().map(|r| r.duration).sum::<Time>() < hold {
        return None;
    }
    let late = rates().filter(|r| r.start >= end.saturating_sub(2 * hold));
    let weigh = |(bits, time): (u128, u128), r: &Rate| {
        let duration = u128::from(r.duration);
        (bits + u128::from(r.goodput) * duration, time + duration)
    };
    // The mean is `bits` over `time`; both sides of a comparison are multiplied by `time`.
    let (bits, time) = late.fold((0, 0), weigh);
    let mean = bits.checked_div(time).unwrap_or(0) as u64;
    if bits == 0 {
        return Some(Convergence { time: None, mean });
    }
    let is_near = |r: &Rate| (u128::from(r.goodput) * time).abs_diff(bits) as f64 <= bits as f64 * within;
    // When the rate came near, and until when it has stayed.
    let mut near: Option<[Time; 2]> = None;
    for rate in rates() {
        near = match near {
            _ if !is_near(rate) => None,
            Some([since, until]) if until == rate.start => Some([since, until + rate.duration]),
            _ => Some([rate.start, rate.start + rate.duration]),
        };
        if let Some([since, until]) = near
            && until - since >= hold
        {
            return Some(Convergence { time: Some(since - begin), mean });
        }
    }
    Some(Convergence { time: None, mean })
}

/// Runs with more flows have no convergence times: each flow's start and end is an event for all others.
pub(crate) const MOST_FLOWS: usize = 64;

/// The data of a run for its convergence times.
#[derive(Debug, Default)]
pub(crate) struct Converging {
    criterion: Criterion,
    /// Starts and ends of flows, and changes of links.
    events: BTreeSet<Time>,
    flows: usize,
    /// By part, name and subflow.
    rates: BTreeMap<(usize, u64, u32), (Begun, Vec<Rate>)>,
}

impl Converging {
    /// At the start of a run.
    pub fn new(criterion: Criterion) -> Self {
        Self { criterion, ..Self::default() }
    }

    /// A flow starts.
    pub fn start(&mut self, now: Time) {
        self.flows += 1;
        self.note(now);
    }

    /// A flow ends, or links change.
    pub fn note(&mut self, now: Time) {
        if self.flows <= MOST_FLOWS {
            self.events.insert(now);
        } else {
            (self.events, self.rates) = Default::default();
        }
    }

    /// Adds the samples of an interval.
    pub fn add(&mut self, samples: &[Sample]) {
        if self.flows > MOST_FLOWS {
            return;
        }
        for s in samples {
            let key = (s.flow.part, s.flow.start.name, s.subflow);
            let (_, rates) = self.rates.entry(key).or_insert_with(|| (s.flow, Vec::new()));
            rates.push(Rate { start: s.start, duration: s.duration, goodput: s.goodput() });
        }
    }

    /// The result of every subflow after its start and after every event, in that order; none if there were too
    /// many flows. Times that were too short to converge are left out.
    pub fn finish(self) -> Vec<Converged> {
        let mut all = Vec::new();
        for ((_, _, subflow), (flow, rates)) in self.rates {
            let [Some(first), Some(last)] = [rates.first(), rates.last()] else { continue };
            let (start, end) = (first.start, last.start + last.duration);
            let later = self.events.range(start + 1..end.max(start + 1)).copied();
            let mut events: Vec<Time> = std::iter::once(start).chain(later).collect();
            events.push(end);
            let stretches = events.windows(2).filter_map(|w| {
                let convergence = convergence(&rates, w[0], w[1], &self.criterion)?;
                Some(Converged { flow, subflow, after: w[0], convergence })
            });
            all.extend(stretches);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use tresse_units::MILLISECOND;
    use tresse_units::SECOND;

    use super::*;

    const STEP: Time = 10 * MILLISECOND;

    /// Samples of `rate(t)`, t in seconds in the middle of an interval, over `seconds` from `begin`.
    fn sampled(begin: Time, seconds: u64, rate: impl Fn(f64) -> f64) -> Vec<Rate> {
        let sample = |i: u64| {
            let middle = (i as f64 + 0.5) * STEP as f64 / SECOND as f64;
            Rate { start: begin + i * STEP, duration: STEP, goodput: rate(middle) as u64 }
        };
        (0..seconds * SECOND / STEP).map(sample).collect()
    }

    fn time(rates: &[Rate], begin: Time, end: Time) -> Option<Time> {
        convergence(rates, begin, end, &Criterion::default())?.time
    }

    #[test]
    fn an_exponential_approach_converges_after_its_time_constant_times_ln_10() {
        for tau in [0.1, 0.5, 1.0] {
            let rates = sampled(3 * SECOND, 20, |t| 1e8 * (1.0 - (-t / tau).exp()));
            let measured =
                time(&rates, 3 * SECOND, 23 * SECOND).expect("it converges") as f64 / SECOND as f64;
            let exact = tau * 10f64.ln();
            assert!((measured - exact).abs() <= 0.01, "{tau}: {measured} and {exact}");
        }
    }

    #[test]
    fn from_above_as_from_below() {
        let rates = sampled(0, 20, |t| 1e8 * (1.0 + (-t).exp()));
        let measured = time(&rates, 0, 20 * SECOND).expect("it converges") as f64 / SECOND as f64;
        assert!((measured - 10f64.ln()).abs() <= 0.01, "{measured}");
    }

    #[test]
    fn a_constant_rate_has_converged_at_once() {
        let rates = sampled(0, 3, |_| 5e7);
        assert_eq!(time(&rates, 0, 3 * SECOND), Some(0));
        // From a change on that lies within an interval.
        assert_eq!(time(&rates, STEP / 2, 3 * SECOND), Some(STEP / 2));
    }

    #[test]
    fn what_swings_by_more_never_converges() {
        // Between 50 and 100 in a second: never for a second within 10 % of 75.
        let sawtooth = sampled(0, 20, |t| 1e8 * (0.5 + 0.5 * t.fract()));
        assert_eq!(time(&sawtooth, 0, 20 * SECOND), None);
        let wave = |depth: f64| sampled(0, 20, move |t| 1e8 * (1.0 + depth * (6.0 * t).sin()));
        assert_eq!(time(&wave(0.2), 0, 20 * SECOND), None);
        assert_eq!(time(&wave(0.05), 0, 20 * SECOND), Some(0));
    }

    #[test]
    fn one_interval_outside_begins_the_second_anew() {
        let mut rates = sampled(0, 6, |_| 1e8);
        rates[99].goodput = 111_000_000;
        assert_eq!(time(&rates, 0, 6 * SECOND), Some(SECOND), "at 0.99 s it has not stayed for a second");
        rates[99].goodput = 109_000_000;
        assert_eq!(time(&rates, 0, 6 * SECOND), Some(0));
        // A missing sample interrupts the stay.
        rates.remove(50);
        assert_eq!(time(&rates, 0, 6 * SECOND), Some(51 * STEP));
    }

    #[test]
    fn the_final_mean_is_over_the_last_two_seconds_before_the_end() {
        // 100, from 5 s on 50: before the change it had converged at once, over all of it after 5 s.
        let rates = sampled(0, 10, |t| if t < 5.0 { 1e8 } else { 5e7 });
        assert_eq!(time(&rates, 0, 5 * SECOND), Some(0));
        assert_eq!(time(&rates, 0, 10 * SECOND), Some(5 * SECOND));
        assert_eq!(time(&rates, 5 * SECOND, 10 * SECOND), Some(0));
        // The last 2 s of 6 are half of each: 75 is near to neither.
        assert_eq!(time(&rates, 0, 6 * SECOND), None);
        let criterion = Criterion { hold: SECOND / 4, ..Criterion::default() };
        let of = |end| convergence(&rates, 0, end, &criterion);
        assert_eq!(
            of(6 * SECOND),
            Some(Convergence { time: Some(5 * SECOND), mean: 50_000_000 }),
            "0.5 s count"
        );
    }

    #[test]
    fn nothing_is_known_of_too_short_a_time() {
        let of = |rates: &[Rate], end| convergence(rates, 0, end, &Criterion::default());
        assert_eq!(of(&[], SECOND), None);
        let constant = sampled(0, 5, |_| 1e8);
        assert_eq!(of(&constant, SECOND - 1), None, "less than a second");
        assert_eq!(of(&constant, SECOND), Some(Convergence { time: Some(0), mean: 100_000_000 }));
        let silent = Some(Convergence { time: None, mean: 0 });
        assert_eq!(of(&sampled(0, 5, |_| 0.0), 5 * SECOND), silent, "a rate of 0 is near to nothing");
    }
}
