//! How alike the verdicts of two sets of results are.

use tresse_results::record::claim::Verdict;

/// How alike the verdicts of two sets of results are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Agreement {
    /// Claims with the same verdict in both.
    pub same: usize,
    /// Claims that both have judged.
    pub of: usize,
    /// The rank correlation of the verdicts, -1 to 1: Kendall's tau-b, with inconclusive between the others. `None` if one
    /// side has a single verdict.
    pub tau: Option<f64>,
}

impl Agreement {
    /// Of the verdicts of each claim.
    pub fn of(verdicts: &[[Verdict; 2]]) -> Self {
        // Pairs of claims that differ on each side; those in the same order less those in the other.
        let (mut differ, mut concordant) = ([0; 2], 0);
        for (place, [a, b]) in verdicts.iter().enumerate() {
            for [c, d] in &verdicts[..place] {
                let [own, theirs] = [a.cmp(c), b.cmp(d)].map(|order| order as i32);
                concordant += own * theirs;
                differ = [differ[0] + own.abs(), differ[1] + theirs.abs()];
            }
        }
        let most = differ.map(f64::from).iter().product::<f64>().sqrt();
        Self {
            same: verdicts.iter().filter(|[a, b]| a == b).count(),
            of: verdicts.len(),
            tau: (most > 0.0).then(|| f64::from(concordant) / most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DoesNotHold, Holds, Inconclusive};

    #[test]
    fn verdicts_in_the_same_order_agree() {
        let alike = [[Holds, Holds], [DoesNotHold, DoesNotHold], [Inconclusive, Inconclusive]];
        assert_eq!(Agreement::of(&alike), Agreement { same: 3, of: 3, tau: Some(1.0) });
        let reverse = [[Holds, DoesNotHold], [DoesNotHold, Holds]];
        assert_eq!(Agreement::of(&reverse), Agreement { same: 0, of: 2, tau: Some(-1.0) });
        assert_eq!(Agreement::of(&[[Holds, Holds]; 4]), Agreement { same: 4, of: 4, tau: None });
    }

    /// By hand: of ten pairs four are in the same order and one in the other; four are equal on the left, two on the right.
    #[test]
    fn tau_b_counts_ties() {
        let verdicts = [
            [Holds, Holds],
            [Holds, Holds],
            [Holds, DoesNotHold],
            [DoesNotHold, Inconclusive],
            [DoesNotHold, DoesNotHold],
        ];
        let tau = Agreement::of(&verdicts).tau.expect("both sides differ");
        let by_hand = 3.0 / 48f64.sqrt();
        assert!((tau - by_hand).abs() < 1e-12, "{tau}");
    }
}
