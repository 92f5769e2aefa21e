//! How long a rate takes to converge (catalogue, holnet/table3.3): until it first stays within 10 % of its final mean
//! for one second.

use tresse_fabric::{SECOND, Time};

/// The rate in an interval, such as that of a subflow in a row of `samples.parquet`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// When the interval began, ps.
    pub start: Time,
    /// How long it was, ps.
    pub duration: Time,
    /// The mean rate in it, bit/s.
    pub goodput: u64,
}

/// What it means to have converged. The default is the catalogue's: within 10 % for 1 s, of the mean over the last
/// 2 s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Criterion {
    /// How far a rate may be from the final mean, per cent of that.
    pub percent: u64,
    /// How long it has to stay there, ps.
    pub hold: Time,
    /// The final mean is over this time before the end, ps, or since the beginning if that is later.
    pub mean_over: Time,
}

impl Default for Criterion {
    fn default() -> Self {
        Self { percent: 10, hold: SECOND, mean_over: 2 * SECOND }
    }
}

/// How long after `begin`, its start or a change of the network, a rate first stays near its final mean before `end`,
/// ps: the start of the first interval from which on all intervals of `hold` are within `percent`. `None` if it
/// never does, or if the final mean is 0.
///
/// `rates` are in the order of time. Those that begin before `begin` or end after `end` are left out. A time without
/// an interval is none in which the rate stays. The result is as coarse as the intervals; where these are so short
/// that a window's sawtooth shows in them, a rate may never stay.
pub fn convergence_time(rates: &[Rate], begin: Time, end: Time, criterion: &Criterion) -> Option<Time> {
    let Criterion { percent, hold, mean_over } = *criterion;
    let within = |r: &&Rate| r.start >= begin && r.start + r.duration <= end;
    let rates = || rates.iter().filter(within);
    let late = rates().filter(|r| r.start >= end.saturating_sub(mean_over));
    let weigh = |(bits, time): (u128, u128), r: &Rate| {
        let duration = u128::from(r.duration);
        (bits + u128::from(r.goodput) * duration, time + duration)
    };
    // The mean is `bits` over `time`; both sides of a comparison are multiplied by `time`.
    let (bits, time) = late.fold((0, 0), weigh);
    if bits == 0 {
        return None;
    }
    let is_near = |r: &Rate| {
        let apart = (u128::from(r.goodput) * time).abs_diff(bits);
        apart * 100 <= bits * u128::from(percent)
    };
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
            return Some(since - begin);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use tresse_fabric::MILLISECOND;

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
        convergence_time(rates, begin, end, &Criterion::default())
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
        // A gap is no time in which it stays.
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
        let criterion = Criterion { mean_over: SECOND / 2, ..Criterion::default() };
        assert_eq!(convergence_time(&rates, 0, 6 * SECOND, &criterion), Some(5 * SECOND));
    }

    #[test]
    fn nothing_and_too_short_a_time_do_not_converge() {
        assert_eq!(time(&[], 0, SECOND), None);
        assert_eq!(time(&sampled(0, 5, |_| 0.0), 0, 5 * SECOND), None, "a rate of 0");
        assert_eq!(time(&sampled(0, 5, |_| 1e8), 0, SECOND - 1), None, "less than a second");
    }
}
