//! Sorts the few words of a bucket without a branch that could be predicted wrongly.

/// Sorts `words`, ascending; it may add words that are greater than or equal to all others.
#[inline]
pub(crate) fn sort_words(words: &mut Vec<u64>) {
    match words.len() {
        0 | 1 => {}
        2..=4 => sort_network::<4>(words),
        5..=8 => sort_network::<8>(words),
        9..=16 => sort_network::<16>(words),
        _ => words.sort_unstable(),
    }
}

/// Batcher's odd-even merge sort over N places, N a power of two; the empty ones sort last.
#[inline]
fn sort_network<const N: usize>(words: &mut Vec<u64>) {
    words.resize(N, u64::MAX);
    let place: &mut [u64; N] = words.as_mut_slice().try_into().expect("as many words as places");
    let mut p = 1;
    while p < N {
        let mut k = p;
        while k >= 1 {
            let mut j = k % p;
            while j + k < N {
                for i in 0..k {
                    let (a, b) = (i + j, i + j + k);
                    if b < N && a / (2 * p) == b / (2 * p) {
                        let (x, y) = (place[a], place[b]);
                        place[a] = x.min(y);
                        place[b] = x.max(y);
                    }
                }
                j += 2 * k;
            }
            k /= 2;
        }
        p *= 2;
    }
}
