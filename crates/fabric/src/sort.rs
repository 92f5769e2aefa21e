//! Sorts the few words of a bucket without a branch that could be predicted wrongly.

/// Sorts `words`, ascending.
#[inline]
pub(crate) fn sort_words(words: &mut [u64]) {
    match words.len() {
        0 | 1 => {}
        n @ 2..=8 => sort_padded::<8>(words, n),
        n @ 9..=16 => sort_padded::<16>(words, n),
        _ => words.sort_unstable(),
    }
}

/// Batcher's odd-even merge sort over N places, N a power of two; the empty ones sort last.
#[inline]
fn sort_padded<const N: usize>(words: &mut [u64], n: usize) {
    let mut place = [u64::MAX; N];
    place[..n].copy_from_slice(words);
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
    words.copy_from_slice(&place[..n]);
}
