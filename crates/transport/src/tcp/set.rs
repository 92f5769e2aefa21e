//! Sets of subflows, as bits: a connection has at most 64.

/// A set with one subflow in it.
#[inline]
pub(crate) fn bit(subflow: usize) -> u64 {
    1 << subflow
}

/// The subflows of a set, by number.
#[inline]
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        first
    })
}
