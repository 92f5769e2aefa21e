//! Sizes in strata.

use tresse_workload::{BLOCK, Beyond, Size, Strata};

#[test]
fn one_size_of_a_block_comes_from_each_part() {
    let size = Size::Uniform(0, BLOCK * 1000 - 1);
    let mut strata = Strata::new(size, 1);
    for block in 0..5 {
        let drawn: Vec<u64> = (0..BLOCK).map(|n| strata.nth(block * BLOCK + n)).collect();
        let mut parts: Vec<u64> = drawn.iter().map(|s| s / 1000).collect();
        assert!(!parts.is_sorted());
        parts.sort_unstable();
        assert!(parts.into_iter().eq(0..BLOCK));
    }
}

#[test]
fn the_nth_size_depends_on_the_seed_and_n() {
    let size = Size::Pareto { shape: 1.5, mean: 192_000_000, bound: 768_000_000, beyond: Beyond::Clip };
    let mut strata = Strata::new(size.clone(), 1);
    let forward: Vec<u64> = (0..3 * BLOCK).map(|n| strata.nth(n)).collect();
    let mut strata = Strata::new(size.clone(), 1);
    for n in (0..3 * BLOCK).rev().step_by(7) {
        assert_eq!(strata.nth(n), forward[n as usize]);
    }
    assert_ne!(Strata::new(size, 2).nth(0), forward[0]);
}

#[test]
fn at_every_place_of_a_block_sizes_are_distributed_alike() {
    // 2000 seeds: the share below the median has a standard deviation of 1.1 %.
    let size = Size::Uniform(0, 999_999);
    for n in [0, 1, 500, 1023, 1024] {
        let low = (0..2000).filter(|&seed| Strata::new(size.clone(), seed).nth(n) < 500_000).count();
        assert!((low as i64 - 1000).abs() < 100, "{n}: {low}");
    }
}
