//! The random numbers must never change: results depend on them.

use tresse_units::{SplitMix, Stream};

/// The first numbers of Vigna's splitmix64.c from the seed 1234567.
#[test]
fn the_generator_is_splitmix64() {
    let mut draw = SplitMix::new(1_234_567);
    let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
    assert_eq!(expected.map(|_| draw.next()), expected);
    assert_eq!([1, 2, 3].map(|n| SplitMix::new(1_234_567).nth(n)), expected);
}

#[test]
fn a_named_place_draws_its_own_numbers() {
    let mut draw = SplitMix::named(7, 0x52, 3);
    let expected = [0x9e8b_e55c_cfaf_45e6, 0x8a7b_d6dd_6e12_e29c, 0x31a7_88f0_683a_1bfc];
    assert_eq!(expected.map(|_| draw.next()), expected);
    let mut draw = SplitMix::named(1, 2, 3);
    assert_eq!([680, 522, 227, 861].map(|_| draw.below(1000)), [680, 522, 227, 861]);
}

#[test]
fn a_stream_draws_its_own_numbers() {
    let mut stream = Stream::new(1, "flow size", 7);
    let expected = [2_382_904_033, 132_662_678_631, 230_052_971_836];
    assert_eq!(expected.map(|_| stream.below(1_000_000_000_000)), expected);
}

/// Each of the 12 ordered pairs should come 1000 times out of 12,000; the standard deviation is 30.
#[test]
fn every_ordered_choice_is_equally_likely() {
    let mut seen = [[0u32; 4]; 4];
    for stream in 0..12_000u64 {
        let mut items = vec![0usize, 1, 2, 3];
        SplitMix::new(stream.wrapping_mul(0x1234_5678_9abc_def1)).choose(&mut items, 2);
        seen[items[0]][items[1]] += 1;
    }
    for (i, row) in seen.iter().enumerate() {
        for (j, &count) in row.iter().enumerate() {
            assert!(if i == j { count == 0 } else { count.abs_diff(1000) < 150 }, "{i} {j}: {count}");
        }
    }
}
