//! Poisson arrivals: the offered load is the requested one, gaps are exponential, pairs uniform.

use std::collections::BTreeMap;

use crate::common::{drive, random};
use tresse_units::Time;
use tresse_workload::{
    Action, Beyond, Limit, Pairs, Poisson, PoissonConfig, Size, Source, Span, Start, distributions,
};

/// Half of a 10 Tbit/s bisection.
const LOAD: f64 = 0.5;
const CAPACITY: u64 = 10_000_000_000_000;

fn config(size: Size, seed: u64) -> PoissonConfig {
    let interval = PoissonConfig::interval(&size, LOAD, CAPACITY);
    PoissonConfig {
        pairs: Pairs::any(64),
        size,
        interval,
        limit: Limit::Flows(100_000),
        deadline: None,
        seed,
    }
}

/// All arrivals; nothing waits for flows to finish.
fn arrivals(config: PoissonConfig) -> Vec<(Time, Start)> {
    let mut poisson = Poisson::new(config);
    let mut all = Vec::new();
    loop {
        let now = poisson.next();
        let Some(Action::Start(start)) = poisson.poll(now) else { return all };
        all.push((now, start));
    }
}

fn sizes() -> impl Iterator<Item = Size> {
    let pareto = |beyond| Size::Pareto { shape: 1.5, mean: 192_000_000, bound: 768_000_000, beyond };
    let files = distributions::all().iter().map(|d| Size::Distribution(d.distribution().into()));
    files.chain([
        pareto(Beyond::Resample),
        pareto(Beyond::Clip),
        Size::Fixed(1500),
        Size::Uniform(1, 1 << 20),
    ])
}

/// The load that the arrivals offer, relative to the requested one.
fn offered(all: &[(Time, Start)], end: Time) -> f64 {
    let bytes: u64 = all.iter().filter_map(|(_, start)| start.bytes).sum();
    bytes as f64 * 8e12 / end as f64 / CAPACITY as f64 / LOAD
}

#[test]
fn the_flows_offer_the_load_that_was_asked_for() {
    let check = |size: &Size, seed, flows| {
        let all = arrivals(PoissonConfig { limit: Limit::Flows(flows), ..config(size.clone(), seed) });
        assert_eq!(all.len() as u64, flows);
        let offered = offered(&all, all[all.len() - 1].0);
        assert!((offered - 1.0).abs() < 1e-5, "{size:?}, seed {seed}: {offered}");
    };
    for (size, seed) in sizes().zip(1..) {
        check(&size, seed, 100_000);
        (20..23).for_each(|seed| check(&size, seed, 5_000));
    }
}

/// With a time limit nothing is stretched: over 10^5 arrivals the gaps leave an error of 0.32 %, and the
/// sizes at most 0.16 %, except for one distribution.
#[test]
fn until_a_time_the_load_is_near() {
    for (size, seed) in sizes().zip(1..) {
        let mean = size.exact_mean();
        let is_heaviest = matches!(size, Size::Distribution(_)) && mean < 3000.0;
        let config = config(size.clone(), seed);
        let end = (config.interval * 1e5) as Time;
        let all = arrivals(PoissonConfig { limit: Limit::Until(end), ..config });
        let within = if is_heaviest { 4.0 * 0.058 } else { 0.01 };
        assert!((offered(&all, end) - 1.0).abs() < within, "{size:?}, seed {seed}");
        let bytes: u64 = all[..90_000].iter().filter_map(|(_, start)| start.bytes).sum();
        let within = if is_heaviest { within } else { 4.0 * 0.0016 };
        assert!((bytes as f64 / 9e4 / mean - 1.0).abs() < within, "{size:?}, seed {seed}: {bytes}");
    }
}

#[test]
fn gaps_are_exponential() {
    let all = arrivals(config(Size::Fixed(100_000), 7));
    let mean = PoissonConfig::interval(&Size::Fixed(100_000), LOAD, CAPACITY);
    assert_eq!(mean, 160_000.0); // ps: 800,000 bits at 5 Tbit/s.
    let times = all.iter().map(|&(time, _)| time);
    // The sum of 10^5 gaps is fixed; this leaves 1 - 10^-5 of each gap to chance.
    let mut gaps: Vec<f64> =
        std::iter::once(0).chain(times.clone()).zip(times).map(|(a, b)| (b - a) as f64 / mean).collect();
    let n = gaps.len() as f64;
    let first = gaps.iter().sum::<f64>() / n;
    let second = gaps.iter().map(|g| g * g).sum::<f64>() / n;
    assert!((first - 1.0).abs() < 1e-6, "{first}");
    // Standard error: below sqrt(20/n).
    assert!((second - 2.0).abs() < 4.0 * (20.0 / n).sqrt(), "{second}");
    // Neighbours are independent.
    let product = gaps.windows(2).map(|g| (g[0] - 1.0) * (g[1] - 1.0)).sum::<f64>() / n;
    assert!(product.abs() < 4.0 / n.sqrt(), "{product}");
    // Kolmogorov and Smirnov: 1.95/sqrt(n) is exceeded one time in a thousand.
    gaps.sort_by(f64::total_cmp);
    let apart = gaps.iter().zip(0..).map(|(g, i)| (1.0 - (-g).exp() - f64::from(i) / n).abs());
    let apart = apart.fold(0.0, f64::max);
    assert!(apart < 1.95 / n.sqrt(), "{apart}");
}

#[test]
fn pairs_are_uniform_among_those_allowed() {
    let racks = [0, 0, 0, 1, 1, 2];
    let all = Pairs::any(6);
    let between = Pairs::between(vec![0, 1, 2], vec![2, 5]);
    for (pairs, count) in [(all.clone(), 30), (all.inter_rack(&racks), 22), (between, 5)] {
        assert_eq!(pairs.check(), Ok(()));
        let config = PoissonConfig { pairs, ..config(Size::Fixed(1), 1) };
        let mut seen = BTreeMap::<(u32, u32), u32>::new();
        for (_, start) in arrivals(config) {
            *seen.entry((start.from, start.to)).or_default() += 1;
        }
        assert_eq!(seen.len(), count);
        // Chi square has count - 1 degrees of freedom: 5 standard deviations above its mean.
        let expected = 1e5 / count as f64;
        let chi: f64 = seen.values().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        let freedom = count as f64 - 1.0;
        assert!(chi < freedom + 5.0 * (2.0 * freedom).sqrt(), "{chi} of {count} pairs");
        assert!(seen.keys().all(|(from, to)| from != to));
    }
}

#[test]
fn lists_without_a_pair_are_refused() {
    let racks = [0, 0, 1];
    for (pairs, what) in [
        (Pairs::any(0), "no host that sends"),
        (Pairs::between(vec![1], vec![]), "none that receives"),
        (Pairs::any(1), "two different hosts"),
        (Pairs::between(vec![3, 3], vec![3]), "two different hosts"),
        (Pairs::between(vec![0, 1], vec![1]).inter_rack(&racks), "all in one rack"),
    ] {
        let error = pairs.check().expect_err(what);
        assert!(error.contains(what), "{error}");
    }
    for pairs in [Pairs::between(vec![0], vec![0, 2]), Pairs::between(vec![0, 2], vec![0])] {
        assert_eq!(pairs.inter_rack(&racks).check(), Ok(()));
    }
}

#[test]
fn it_ends_after_its_flows_or_at_its_time() {
    let flows = PoissonConfig { limit: Limit::Flows(500), ..config(Size::Fixed(1_000_000), 3) };
    let seen = drive(&mut Poisson::new(flows.clone()), random(1), usize::MAX);
    assert_eq!((seen.starts.len(), seen.is_over), (500, true));
    assert_eq!(Poisson::new(flows.clone()).expected_bytes(), 500_000_000);
    // The same flows with a time limit, except for the factor that stretches the gaps.
    let end = (flows.interval * 400.0) as Time;
    let until = PoissonConfig { limit: Limit::Until(end), ..flows };
    assert_eq!(Poisson::new(until.clone()).expected_bytes(), 400_000_000);
    let cut = drive(&mut Poisson::new(until), random(1), usize::MAX);
    assert!(cut.is_over && cut.starts.iter().all(|&(time, _)| time < end));
    // 400, with a standard deviation of 20.
    assert!((320..480).contains(&cut.starts.len()), "{}", cut.starts.len());
    let ratio = cut.starts[0].0 as f64 / seen.starts[0].0 as f64;
    for (&(time, start), &(stretched, same)) in cut.starts.iter().zip(&seen.starts) {
        assert_eq!(start, same);
        assert!((time as f64 / stretched as f64 / ratio - 1.0).abs() < 1e-3, "{time} {stretched}");
    }
    let endless = PoissonConfig { limit: Limit::Until(Time::MAX), ..config(Size::Fixed(1), 1) };
    assert!(Poisson::new(endless.clone()).is_endless() && Poisson::new(endless).expected_bytes() == 0);
}

#[test]
fn deadlines_are_after_the_start_and_shift_nothing() {
    let without = arrivals(config(Size::Uniform(1, 1000), 5));
    for span in [Span::Fixed(20_000_000_000), Span::Exponential(20_000_000_000)] {
        let with = arrivals(PoissonConfig { deadline: Some(span), ..config(Size::Uniform(1, 1000), 5) });
        let mut sum = 0.0;
        for (&(time, start), &(same, plain)) in with.iter().zip(&without) {
            let deadline = start.deadline.expect("it has one");
            sum += (deadline - time) as f64;
            assert_eq!((time, Start { deadline: None, ..start }), (same, plain));
        }
        assert!((sum / 1e5 / 20e9 - 1.0).abs() < 4.0 / 316.0, "{span:?}: {sum}");
    }
}

#[test]
fn twice_the_load_is_the_same_at_twice_the_pace() {
    let slow = arrivals(config(Size::Uniform(1, 1000), 5));
    let fast = config(Size::Uniform(1, 1000), 5);
    let fast = arrivals(PoissonConfig { interval: fast.interval / 2.0, ..fast });
    for (&(t, slow), &(half, fast)) in slow.iter().zip(&fast) {
        assert_eq!(slow, fast);
        assert!((t as f64 / 2.0 - half as f64).abs() < 1e5, "{t} {half}");
    }
}
