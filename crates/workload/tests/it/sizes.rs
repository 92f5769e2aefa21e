//! Sizes: their means and their bounds.

use tresse_units::Stream;
use tresse_workload::{Beyond, Size, distributions};

/// XMP §5.2.1, Random.
fn xmp(beyond: Beyond) -> Size {
    Size::Pareto { shape: 1.5, mean: 192_000_000, bound: 768_000_000, beyond }
}

#[test]
fn the_bound_of_xmps_pareto_lowers_its_mean() {
    // Catalogue A6.5: about 140 MB drawn again, 155 MB clipped.
    assert!((xmp(Beyond::Resample).exact_mean() / 139.94e6 - 1.0).abs() < 1e-4);
    assert!((xmp(Beyond::Clip).exact_mean() / 155.05e6 - 1.0).abs() < 1e-4);
    assert_eq!(xmp(Beyond::Clip).mean(), 155_049_583);
    for (beyond, at_the_bound) in [(Beyond::Resample, 0.0), (Beyond::Clip, (1.0f64 / 12.0).powf(1.5))] {
        let size = xmp(beyond);
        let mut stream = Stream::new(1, "pareto", 0);
        let drawn: Vec<u64> = (0..100_000).map(|_| size.draw(&mut stream)).collect();
        assert!(drawn.iter().all(|s| (64_000_000..=768_000_000).contains(s)));
        // The standard deviation of a size is about 130 MB.
        let mean = drawn.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - size.exact_mean()).abs() < 4.0 * 130e6 / 316.0, "{beyond:?}: {mean}");
        let share = drawn.iter().filter(|&&s| s == 768_000_000).count() as f64 / 1e5;
        assert!((share - at_the_bound).abs() < 4.0 * 0.0005, "{beyond:?}: {share}");
    }
}

#[test]
fn to_draw_again_is_to_draw_from_what_fits() {
    // The rule literally: draws without a bound, discarding those beyond it.
    let free = Size::Pareto { shape: 1.5, mean: 192_000_000, bound: u64::MAX >> 12, beyond: Beyond::Clip };
    let mut stream = Stream::new(2, "pareto", 0);
    let mut kept: Vec<u64> =
        (0..50_000).map(|_| free.draw(&mut stream)).filter(|&s| s <= 768_000_000).collect();
    kept.sort_unstable();
    let size = xmp(Beyond::Resample);
    for percent in 1..100 {
        let place = f64::from(percent) / 100.0;
        let quantile = size.quantile(place);
        let share = kept.partition_point(|&s| s <= quantile) as f64 / kept.len() as f64;
        assert!((share - place).abs() < 0.009, "{percent} %: {share}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let pareto = |shape, mean, bound| Size::Pareto { shape, mean, bound, beyond: Beyond::Clip };
    for (size, what) in [
        (Size::Fixed(0), "at least one byte"),
        (Size::Uniform(0, 5), "at least one byte"),
        (Size::Uniform(6, 5), "above the second"),
        (pareto(1.0, 1000, 4000), "shape is above 1"),
        (pareto(f64::NAN, 1000, 4000), "shape is above 1"),
        (pareto(f64::INFINITY, 1000, 4000), "shape is above 1"),
        (pareto(1.5, 3000, 900), "below the smallest size"),
        (pareto(1.5, 2, 900), "below one byte"),
    ] {
        let error = size.check().expect_err(what);
        assert!(error.contains(what), "{size:?}: {error}");
    }
    let web = distributions::find("websearch-hpcc").expect("built in").distribution();
    for size in [Size::Fixed(1), Size::Uniform(5, 5), pareto(1.5, 3000, 1000), Size::Distribution(web.into())]
    {
        assert_eq!(size.check(), Ok(()));
    }
}

#[test]
fn quantiles_keep_to_the_bounds() {
    for size in [Size::Fixed(7), Size::Uniform(10, 12), xmp(Beyond::Resample), xmp(Beyond::Clip)] {
        let least = match size {
            Size::Fixed(bytes) | Size::Uniform(bytes, _) => bytes,
            _ => 64_000_000,
        };
        assert_eq!(size.quantile(0.0), least, "{size:?}");
        assert_eq!(size.quantile(1.0), size.largest(), "{size:?}");
    }
    // Each third of the draws is one of three sizes.
    let three = [0.0, 0.33, 0.34, 0.66, 0.67, 0.999].map(|u| Size::Uniform(10, 12).quantile(u));
    assert_eq!(three, [10, 10, 11, 11, 12, 12]);
}
