//! How much there is to do in a run, and about how long it takes on this machine: some of its cases are begun, and stopped
//! after a moment.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use indexmap::IndexMap;
use serde::Serialize;
use tresse_experiment::plan::{Case, Plan};
use tresse_results::clock::clock;
use tresse_results::record::progress::Progress;

use crate::runner::{self, Options};

/// What there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Work {
    /// Cases that are computed, each under all seeds: of those with the same results only one is.
    pub cases: usize,
    /// How many seeds, at least.
    pub seeds: u32,
    /// How many seeds, at most: more than `seeds` if what is measured decides.
    pub most_seeds: u32,
    /// About how many flows they all have.
    pub flows: u64,
    /// How much time is simulated under one seed, at most, s; `None` if a case ends when its flows have.
    pub simulated_s: Option<f64>,
}

/// About how long that takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// Packet-hops of all cases and the least number of seeds.
    pub packet_hops: f64,
    /// How long they take on this machine, s. It is measured by the clock: what else runs now makes it longer.
    pub wall_s: f64,
    /// How many cases were begun to find that out.
    pub tried_cases: usize,
    /// For how long together, s.
    pub tried_s: f64,
}

/// The most cases that are begun.
const CASES: usize = 4;

/// For how long all of them are run together.
const TRIED: Duration = Duration::from_secs(1);

/// How often a case is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(5);

/// What there is to do in a run of `plan`.
pub fn work(plan: &Plan, options: &Options) -> Work {
    let seeds = options.replications.least();
    let cases = computed(plan);
    let flows = |case: &&Case| case.parts.iter().map(|part| part.pattern.flow_counts.in_all).sum::<u64>();
    let ends: Option<Vec<f64>> = cases.iter().map(|case| case.duration.map(tresse_units::seconds)).collect();
    Work {
        cases: cases.len(),
        seeds,
        most_seeds: options.replications.most(),
        flows: cases.iter().map(flows).fold(0, u64::saturating_add).saturating_mul(seeds.into()),
        simulated_s: ends.map(|ends| ends.iter().sum()),
    }
}

/// About how long a run of `plan` takes, which takes about a second to find out. `None` if no case tells how far it is, or
/// if one cannot be begun.
pub fn forecast(plan: &Plan, options: &Options) -> Option<Forecast> {
    let cases = computed(plan);
    let tried = cases.len().min(CASES);
    // The first and the last one, and some between them.
    let places = (0..tried).map(|n| n * (cases.len() - 1) / (tried - 1).max(1));
    // By what decides most: who sends how much to whom, in which network.
    let mut begun: IndexMap<_, Vec<Begun>> = IndexMap::new();
    for case in places.map(|place| cases[place]) {
        begun.entry(kind(case)).or_default().push(begin(case, options, TRIED / tried as u32)?);
    }
    let mean = |of: &[Begun], value: fn(&Begun) -> f64| of.iter().map(value).sum::<f64>() / of.len() as f64;
    let all: Vec<Begun> = begun.values().flatten().copied().collect();
    let sum = |value: fn(&Begun) -> f64| {
        cases.iter().map(|case| mean(begun.get(&kind(case)).unwrap_or(&all), value)).sum::<f64>()
    };
    let seeds = f64::from(options.replications.least());
    let together = options.parallel.clamp(1, cases.len() * options.replications.least().max(1) as usize);
    Some(Forecast {
        packet_hops: seeds * sum(|own| own.hops),
        wall_s: seeds * sum(|own| own.seconds) / together as f64,
        tried_cases: tried,
        tried_s: all.iter().map(|own| own.tried).sum(),
    })
}

/// The cases that are computed.
fn computed(plan: &Plan) -> Vec<&Case> {
    let firsts = plan.same().into_iter().enumerate().filter(|(place, first)| place == first);
    firsts.map(|(place, _)| &plan.cases[place]).collect()
}

fn kind(case: &Case) -> (&str, Option<&str>) {
    (&case.pattern, case.variant.as_deref())
}

/// What the beginning of a case tells of all of it.
#[derive(Debug, Clone, Copy)]
struct Begun {
    hops: f64,
    seconds: f64,
    /// How long it was run, s.
    tried: f64,
}

/// Begins a case, and stops it `after` a time; `None` if it cannot be begun, or does not tell how far it is.
fn begin(case: &Case, options: &Options, after: Duration) -> Option<Begun> {
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    thread::scope(|scope| {
        let (ended, has_ended) = mpsc::channel();
        let worker = scope.spawn({
            let (stop, progress) = (&stop, &progress);
            move || {
                let measured = |_: tresse_results::record::outcome::Rows| Ok::<_, Infallible>(());
                let outcome =
                    runner::simulated(case, options.seed, options.threads, stop, progress, measured);
                let _ = ended.send(()); // nobody waits for it if it was stopped
                outcome.ok().map(|Ok(outcome)| outcome)
            }
        });
        // Building the network takes as long for a long case as for a short one.
        let begun = clock();
        let (mut start, mut share) = (begun, None);
        while has_ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
            if progress.hops.load(Ordering::Relaxed) == 0 {
                start = clock();
            } else if start.elapsed() >= after {
                share = runner::share(&progress).filter(|share| *share > 0.0);
                break;
            }
        }
        let (tried, hops) = (start.elapsed().as_secs_f64(), progress.hops.load(Ordering::Relaxed) as f64);
        stop.store(true, Ordering::Relaxed);
        let outcome = worker.join().ok()??;
        let share = if outcome.complete { 1.0 } else { share? };
        let hops = if outcome.complete { outcome.hops as f64 } else { hops };
        let built = (start - begun).as_secs_f64();
        Some(Begun { hops: hops / share, seconds: built + tried / share, tried: built + tried })
    })
}

/// A time in words, as roughly as it is known: with one digit.
pub fn about(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1.0 => return "less than a second".to_owned(),
        s if s < 95.0 => (s, "s"),
        s if s < 95.0 * 60.0 => (s / 60.0, "min"),
        s if s < 47.5 * 3600.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("about {} {unit}", one_digit(value))
}

/// A number of packet-hops in words, as roughly as it is known.
pub fn about_hops(hops: f64) -> String {
    match hops / 1e6 {
        few if few < 1.0 => "less than a million packet-hops".to_owned(),
        many => format!("about {} million packet-hops", one_digit(many)),
    }
}

/// A number with one digit that is not 0.
fn one_digit(value: f64) -> f64 {
    let size = 10f64.powi(value.max(1.0).log10().floor() as i32);
    (value / size).round() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_digit() {
        for (seconds, told) in [
            (0.4, "less than a second"),
            (1.4, "about 1 s"),
            (34.0, "about 30 s"),
            (94.0, "about 90 s"),
            (96.0, "about 2 min"),
            (1500.0, "about 30 min"),
            (5_800.0, "about 2 h"),
            (47.0 * 3600.0, "about 50 h"),
            (1e6, "about 10 days"),
        ] {
            assert_eq!(about(seconds), told);
        }
        assert_eq!(about_hops(5.7e9), "about 6000 million packet-hops");
        assert_eq!(about_hops(3e5), "less than a million packet-hops");
    }
}
