//! How fairly rates are shared.

/// Jain's index of `rates`, (Σx)² / (n Σx²): 1 when all are equal, 1/n when one has everything (Jain, Chiu and Hawe,
/// DEC TR-301, 1984). `None` without rates, and if all are 0.
pub fn jain(rates: impl IntoIterator<Item = f64>) -> Option<f64> {
    let add = |(n, sum, squares): (f64, f64, f64), rate: f64| (n + 1.0, sum + rate, squares + rate * rate);
    let (n, sum, squares) = rates.into_iter().fold((0.0, 0.0, 0.0), add);
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_for_equals_and_a_share_for_one_of_many() {
        assert_eq!(jain([7.0; 5]), Some(1.0));
        assert_eq!(jain([0.0, 0.0, 3.0, 0.0]), Some(0.25));
        // As many with something as without: the share of those with something.
        assert_eq!(jain([2.0, 0.0, 2.0, 0.0]), Some(0.5));
        // (1 + 2 + 3)² / (3 x 14).
        assert_eq!(jain([1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!((jain([]), jain([0.0, 0.0])), (None, None));
    }

    proptest! {
        #[test]
        fn it_lies_between_and_has_no_unit(rates in prop::collection::vec(1e3f64..1e11, 1..50), unit in 1e-6f64..1e6) {
            let index = jain(rates.iter().copied()).expect("rates");
            prop_assert!((1.0 / rates.len() as f64 - 1e-12..=1.0 + 1e-12).contains(&index), "{index}");
            let scaled = jain(rates.iter().map(|r| r * unit)).expect("rates");
            prop_assert!((scaled - index).abs() < 1e-9);
        }
    }
}
