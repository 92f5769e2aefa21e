//! Hosts split among schemes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tresse_workload::host_split;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn parts_are_equal_but_for_one(hosts in 0u32..200, parts in 1u32..5, seed in 0u64..100) {
        let part = host_split(seed, hosts, parts);
        prop_assert_eq!(part.len() as u32, hosts);
        let count = |p| part.iter().filter(|&&q| q == p).count() as u32;
        prop_assert!((0..parts).all(|p| count(p) == hosts / parts || count(p) == hosts / parts + 1));
        prop_assert!(part.iter().all(|&p| p < parts));
        prop_assert_eq!(part, host_split(seed, hosts, parts));
    }
}

#[test]
fn every_half_is_equally_likely() {
    // 6 ways to halve 4 hosts; 6000 seeds give 1000 each, with a standard deviation of 29.
    let mut seen = BTreeMap::<Vec<u32>, u32>::new();
    for seed in 0..6000 {
        *seen.entry(host_split(seed, 4, 2)).or_default() += 1;
    }
    assert!(seen.len() == 6 && seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
}
