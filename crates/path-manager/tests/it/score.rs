//! Precision, recall and F against counts done by hand.

use proptest::prelude::*;
use tresse_path_manager::Score;

#[test]
fn the_scores_are_those_of_a_hand_count() {
    let mut score = Score::default();
    let connections = [
        (true, true),
        (true, true),
        (true, true),
        (false, true),
        (true, false),
        (true, false),
        (false, false),
    ];
    for (share, terminated) in connections {
        score.record(share, terminated);
    }
    let expected = Score { true_positives: 3, false_positives: 1, false_negatives: 2, true_negatives: 1 };
    assert_eq!(score, expected);
    assert_eq!((score.precision(), score.recall()), (Some(0.75), Some(0.6)));
    assert_eq!(score.f_score(), Some(2.0 / 3.0));
}

#[test]
fn what_has_no_sample_has_no_score() {
    let nothing = Score { true_negatives: 5, ..Score::default() };
    assert_eq!((nothing.precision(), nothing.recall(), nothing.f_score()), (None, None, None));
    let missed = Score { false_negatives: 2, ..nothing };
    assert_eq!((missed.precision(), missed.recall(), missed.f_score()), (None, Some(0.0), Some(0.0)));
    let alarm = Score { false_positives: 2, ..nothing };
    assert_eq!((alarm.precision(), alarm.recall(), alarm.f_score()), (Some(0.0), None, Some(0.0)));
}

proptest! {
    #[test]
    fn f_is_the_harmonic_mean(tp in 1u64..1000, fp in 0u64..1000, r#fn in 0u64..1000) {
        let score =
            Score { true_positives: tp, false_positives: fp, false_negatives: r#fn, true_negatives: 7 };
        let (p, r) = (score.precision().expect("tp"), score.recall().expect("tp"));
        let f = score.f_score().expect("tp");
        prop_assert!((f - 2.0 * p * r / (p + r)).abs() < 1e-12);
    }
}
