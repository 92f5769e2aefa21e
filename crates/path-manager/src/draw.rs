//! Random choices that follow from one word.

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), started from a connection's word.
#[derive(Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    pub fn new(stream: u64) -> Self {
        Self(stream)
    }

    /// Keeps `count` of `items`, every choice and every order equally likely (Fisher and Yates).
    ///
    /// # Panics
    /// If there are fewer.
    pub fn choose<T>(&mut self, items: &mut Vec<T>, count: usize) {
        for i in 0..count {
            let other = i + self.below((items.len() - i) as u64) as usize;
            items.swap(i, other);
        }
        items.truncate(count);
    }

    /// A number below `n`. Its bias is below n / 2^64, nothing that could be measured.
    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of Vigna's splitmix64.c from the seed 1234567.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut draw = Draw::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(expected, [draw.next(), draw.next(), draw.next()]);
    }

    /// Each of the 12 ordered pairs is to come 1000 times of 12,000; the standard deviation is 30.
    #[test]
    fn every_ordered_choice_is_equally_likely() {
        let mut seen = [[0u32; 4]; 4];
        for stream in 0..12_000u64 {
            let mut items = vec![0usize, 1, 2, 3];
            Draw::new(stream.wrapping_mul(0x1234_5678_9abc_def1)).choose(&mut items, 2);
            seen[items[0]][items[1]] += 1;
        }
        for (i, row) in seen.iter().enumerate() {
            for (j, &count) in row.iter().enumerate() {
                assert!(if i == j { count == 0 } else { count.abs_diff(1000) < 150 }, "{i} {j}: {count}");
            }
        }
    }
}
