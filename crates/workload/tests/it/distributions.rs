//! Distributions: valid files, rejected files, and the built-in ones.

use proptest::prelude::*;
use tresse_units::Stream;
use tresse_workload::{Distribution, distributions};

/// The values in docs/explain/distributions.md: the mean, bytes, and the shares up to 10 kB, 100 kB, 1 MB and
/// above, per cent; NaN where nothing is expected.
const EXPECTED: &[(&str, f64, [f64; 4])] = &[
    ("websearch-hpcc", 1.71e6, [15.0, 39.2, 15.8, 30.0]),
    ("websearch-expresspass", 1.71e6, [15.5, 38.8, 15.7, 30.0]),
    ("datamining-expresspass", 7.49e6, [80.0, 2.2, 9.0, 8.8]),
    ("datamining-pfabric-pkts", 7.47e6, [79.6, 2.7, 8.8, 8.9]),
    ("cachefollower-expresspass", 713e3, [48.0, 4.0, 18.0, 30.0]),
    ("webserver-expresspass", 66e3, [63.1, 17.7, 19.1, 0.0]),
    ("datamining-opn-table2", 7.62e6, [78.0, 5.0, 8.0, 9.0]),
    ("websearch-opn-table2", 1.709e6, [49.0, 3.0, 18.0, 30.0]),
    ("cachefollower-opn-table2", 691e3, [50.0, 3.0, 18.0, 29.0]),
    ("webserver-opn-table2", 65.9e3, [63.0, 18.0, 19.0, 0.0]),
    ("hadoop-hpcc", 120e3, [70.3, 18.2, 9.0, 2.5]),
    ("hadoop-homa-all", 122e3, [71.0, 17.7, 8.6, 2.7]),
];

#[test]
fn the_built_in_ones_are_as_the_page_has_them() {
    for &(name, mean, shares) in EXPECTED {
        let built_in = distributions::find(name).expect(name);
        let d = built_in.distribution();
        assert!((d.mean() / mean - 1.0).abs() < 0.005, "{name}: {}", d.mean());
        for (ours, theirs) in d.shares().iter().zip(shares) {
            assert!((100.0 * ours - theirs).abs() < 0.11, "{name}: {:?}", d.shares());
        }
    }
}

#[test]
fn all_are_there_each_with_its_origin() {
    let all = distributions::all();
    assert_eq!(all.len(), 14);
    for d in all {
        let read = d.distribution();
        assert!(read.mean() > 1.0 && read.largest() > 100_000, "{}", d.name);
        assert!((read.shares().iter().sum::<f64>() - 1.0).abs() < 1e-12, "{}", d.name);
        // The file's first line says the same as the list.
        assert!(
            d.text.lines().next().is_some_and(|line| line.starts_with(&format!("# {}", d.origin))),
            "{}",
            d.name
        );
        assert_eq!(distributions::find(d.name), Some(d));
    }
    assert_eq!(distributions::find("websearch"), None);
}

/// Table 2's shares are all that differs: within a class of sizes, a size is as likely as in ExpressPass's file.
#[test]
fn table_2_has_the_sizes_of_its_source_within_each_class() {
    for name in ["datamining", "websearch", "cachefollower", "webserver"] {
        let [source, table] = ["expresspass", "opn-table2"]
            .map(|end| distributions::find(&format!("{name}-{end}")).expect("built in").distribution());
        let (mut of_source, mut of_table) = (0.0, 0.0);
        for (mine, own) in table.shares().into_iter().zip(source.shares()) {
            for part in [0.1, 0.35, 0.6, 0.9] {
                let sizes = [table.quantile(of_table + mine * part), source.quantile(of_source + own * part)];
                assert!(
                    own == 0.0 || (sizes[0] as f64 / sizes[1] as f64 - 1.0).abs() < 2e-3,
                    "{name}: {sizes:?}"
                );
            }
            (of_source, of_table) = (of_source + own, of_table + mine);
        }
    }
}

#[test]
fn means_are_exact() {
    // By hand: 0.15 * 5,000 + 0.05 * 15,000 + … of WebSearch_distribution.txt.
    let d = distributions::find("websearch-hpcc").expect("built in").distribution();
    assert_eq!(d.mean(), 1_711_250.0);
    // A mass of a tenth at 1000, and the rest uniform up to 3000.
    let d = Distribution::parse("1000 0.1\n3000 1\n", u64::MAX).expect("valid");
    assert!((d.mean() - 1900.0).abs() < 1e-9);
    assert_eq!([0.05, 0.1, 0.55, 1.0].map(|u| d.quantile(u)), [1000, 1000, 2000, 3000]);
    // Two lines of one size are a mass too.
    let d = Distribution::parse("100 0\n100 .5 # half of them\n\n200 .5\n200 1", u64::MAX).expect("valid");
    assert!((d.mean() - 150.0).abs() < 1e-9);
    assert_eq!([0.1, 0.5, 0.500001, 0.9].map(|u| d.quantile(u)), [100, 100, 200, 200]);
}

#[test]
fn per_cent_is_the_same_as_a_share() {
    let share = Distribution::parse("0 0\n10000 .15\n20000 1", u64::MAX).expect("valid");
    let per_cent = Distribution::parse("0\t0\r\n10000\t15\r\n20000\t100\r\n", u64::MAX).expect("valid");
    assert_eq!(share, per_cent);
}

#[test]
fn a_flow_has_at_least_one_byte() {
    let d = Distribution::parse("0 0\n3 1", u64::MAX).expect("valid");
    assert_eq!([0.0, 0.1, 0.4, 0.6, 1.0].map(|u| d.quantile(u)), [1, 1, 1, 2, 3]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let many = "1 0\n".repeat(1_000_001);
    let cases: [(&str, &str); 15] = [
        ("0 0\n10 x\n20 1", "2:4: `x` is not a number; expected lines such as `10000 0.15`"),
        ("0 0\n10kB .5\n20 1", "2:1: `10kB` is not a number; expected lines such as `10000 0.15`"),
        ("0 0\ninf .5\n20 1", "2:1: `inf` is not a number; expected lines such as `10000 0.15`"),
        ("# x\n10", "2:1: expected a size in bytes and a probability, such as `10000 0.15`"),
        ("0 0\n10 1 0.5", "2:6: a line has two numbers: a size in bytes and a probability"),
        ("-5 0\n10 1", "1:1: a size must not be negative"),
        ("0 0\n 1e17 1", "2:2: a size must be at most 2^53 bytes"),
        ("0 -0.1\n10 1", "1:3: a probability must not be negative"),
        ("0 0\n20 .5\n10 1", "3:1: sizes must not decrease: the previous one is 20"),
        (
            "0 0\n20 .5\n30 .4\n40 1",
            "3:4: cumulative probabilities must not decrease: the previous one is 0.5",
        ),
        ("0 0\n20 .98", "2:4: it does not reach 1: it ends at 0.98 (the last must be 1, or 100 in per cent)"),
        ("0 0\n20 150", "2:4: it does not reach 1: it ends at 150 (the last must be 1, or 100 in per cent)"),
        ("0 0\n0 1", "2:1: every size is 0, but a flow has at least one byte"),
        ("# only\n# comments\n", "1:1: there are only comments: expected lines such as `10000 0.15`"),
        (&many, "1000001:1: a distribution has at most 1000000 lines"),
    ];
    for (text, expected) in cases {
        let error = Distribution::parse(text, u64::MAX).expect_err(expected).to_string();
        assert_eq!(error.lines().next(), Some(expected));
    }
    // With the line.
    let error = Distribution::parse("0 0\n10\tx\n20 1", u64::MAX).expect_err("wrong");
    assert_eq!(
        (error.to_string(), error.text),
        ("2:4: `x` is not a number; expected lines such as `10000 0.15`".to_owned(), "10 x".to_owned())
    );
    // A binary file does not fill the screen.
    let error = Distribution::parse(&"\u{1}".repeat(1 << 20), u64::MAX).expect_err("wrong");
    assert!(error.to_string().len() < 1 << 21 && error.text.len() < 200, "{}", error.text.len());
    assert!(Distribution::parse("", u64::MAX).is_err());
}

/// Knots that rise: (size steps, probability steps).
fn knots() -> impl Strategy<Value = String> {
    prop::collection::vec((0u64..5_000_000, 0u32..100), 2..20).prop_map(|steps| {
        let total = steps.iter().map(|s| s.1).sum::<u32>().max(1);
        let (mut size, mut sum) = (1, 0);
        let mut text = String::new();
        for (by, p) in steps {
            (size, sum) = (size + by, sum + p);
            text += &format!("{size} {}\n", f64::from(sum) / f64::from(total));
        }
        text + &format!("{size} 1\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn quantiles_rise_invert_the_distribution_and_have_its_mean(text in knots()) {
        let d = Distribution::parse(&text, u64::MAX).expect("valid");
        const N: u32 = 20_000;
        let (mut before, mut sum) = (0, 0.0);
        for n in 0..N {
            let u = (f64::from(n) + 0.5) / f64::from(N);
            let size = d.quantile(u);
            prop_assert!(size >= before);
            // Sizes are rounded to bytes: half a byte to either side brackets u.
            prop_assert!(d.cumulative(size as f64 - 0.51) <= u + 1e-9 && u <= d.cumulative(size as f64 + 0.51) + 1e-9);
            (before, sum) = (size, sum + size as f64);
        }
        prop_assert!((sum / f64::from(N) - d.mean()).abs() <= 1.0 + d.largest() as f64 / f64::from(N));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-0-9.eE# \t\nxµ]{0,60}") {
        if let Err(e) = Distribution::parse(&text, u64::MAX) {
            prop_assert!(e.line >= 1 && e.column >= 1 && !e.to_string().is_empty());
        }
    }
}

#[test]
fn draws_are_distributed_as_the_file_says() {
    // Kolmogorov and Smirnov: with 10,000 draws, 1.95/100 is exceeded one time in a thousand.
    for built_in in distributions::all() {
        let d = built_in.distribution();
        let size = tresse_workload::Size::Distribution(d.clone().into());
        let mut stream = Stream::new(3, built_in.name, 0);
        let mut drawn: Vec<u64> = (0..10_000).map(|_| size.draw(&mut stream)).collect();
        drawn.sort_unstable();
        for class in [1e3, 10e3, 50e3, 100e3, 1e6, 5e6] {
            let share = drawn.partition_point(|&s| s as f64 <= class) as f64 / 1e4;
            assert!((share - d.cumulative(class)).abs() < 0.0195, "{}: {share} at {class}", built_in.name);
        }
    }
}
