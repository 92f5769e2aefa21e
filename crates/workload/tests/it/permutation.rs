//! The Permutation pattern follows XMP §5.2.1, and repeats bit by bit.

use tresse_units::Stream;
use tresse_workload::{Permutation, RackToRack, Size, Transfer};

const XMP: Permutation = Permutation { hosts: 128, size: Size::Uniform(64_000_000, 512_000_000), seed: 1 };

#[test]
fn every_host_sends_one_flow_and_receives_one() {
    for round in 0..50 {
        let transfers = XMP.round(round);
        let from: Vec<u32> = transfers.iter().map(|t| t.from).collect();
        assert_eq!(from, (0..128).collect::<Vec<_>>());
        let mut to: Vec<u32> = transfers.iter().map(|t| t.to).collect();
        to.sort_unstable();
        assert_eq!(to, (0..128).collect::<Vec<_>>());
        assert!(transfers.iter().all(|t| t.from != t.to));
    }
}

#[test]
fn sizes_are_uniform() {
    // 200 rounds of 128 draws: the mean's standard error is 448/sqrt(12)/160 = 0.8 MB.
    let sizes: Vec<u64> = (0..200).flat_map(|r| XMP.round(r)).map(|t| t.bytes).collect();
    assert!(sizes.iter().all(|s| (64_000_000..=512_000_000).contains(s)));
    let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
    assert!((mean - 288e6).abs() < 4.0 * 0.81e6, "{mean}");
}

#[test]
fn rounds_seeds_and_repetitions() {
    assert_eq!(XMP.round(3), XMP.round(3));
    assert_ne!(XMP.round(3), XMP.round(4));
    assert_ne!(XMP.round(3), Permutation { seed: 2, ..XMP }.round(3));
}

#[test]
fn every_derangement_of_four_is_equally_likely() {
    // There are 9; 9000 draws give 1000 each, with a standard deviation of 30.
    let mut seen = std::collections::BTreeMap::<Vec<u32>, u32>::new();
    for seed in 0..9000 {
        let pattern = Permutation { hosts: 4, size: Size::Fixed(1), seed };
        *seen.entry(pattern.round(0).iter().map(|t| t.to).collect()).or_default() += 1;
    }
    assert_eq!(seen.len(), 9);
    assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
}

#[test]
fn streams_differ_by_purpose_and_identity_and_are_unbiased() {
    let mut a = Stream::new(1, "addresses", 7);
    let mut b = Stream::new(1, "flow size", 7);
    let mut c = Stream::new(1, "addresses", 8);
    let draw = |s: &mut Stream| (0..8).map(|_| s.below(1 << 40)).collect::<Vec<_>>();
    let (a, b, c) = (draw(&mut a), draw(&mut b), draw(&mut c));
    assert!(a != b && a != c && b != c);
    let mut counts = [0u32; 3];
    let mut stream = Stream::new(9, "thirds", 0);
    for _ in 0..30_000 {
        counts[stream.below(3) as usize] += 1;
    }
    // 10,000 each, standard deviation 82.
    assert!(counts.iter().all(|n| (9_600..10_400).contains(n)), "{counts:?}");
}

/// The draws of a seed since the first release: if they changed, results would change.
#[test]
fn draws_are_the_ones_that_they_always_were() {
    let first = |transfers: Vec<Transfer>| -> Vec<_> {
        transfers.into_iter().take(4).map(|t| (t.to, t.bytes)).collect()
    };
    assert_eq!(first(XMP.round(3)), [(111, 277693485), (75, 227256445), (28, 143956708), (12, 308204931)]);
    let racks = RackToRack { rack: 50, size: Size::Uniform(1, 1 << 40), seed: 7 };
    assert_eq!(
        first(racks.round(2)),
        [(57, 326771795243), (98, 153651966310), (66, 699581990797), (67, 615151825484)]
    );
}
