//! The accuracy of path-sharing detection, against the truth (VMCC Table II).

/// Connections by the truth about them and the action taken.
///
/// A sample is a connection, as in VMCC Table II: it is positive if any of its subflows was terminated, and
/// this is right if any two of its subflows shared a path. It does not matter which one was terminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Subflows share a path, and one was terminated.
    pub true_positives: u64,
    /// None share a path, yet one was terminated.
    pub false_positives: u64,
    /// Subflows share a path, yet none was terminated.
    pub false_negatives: u64,
    /// None share a path, and none was terminated.
    pub true_negatives: u64,
}

impl Score {
    /// Counts a connection: whether subflows of it `share` a path, whether one was `terminated`.
    pub fn record(&mut self, share: bool, terminated: bool) {
        let count = match (share, terminated) {
            (true, true) => &mut self.true_positives,
            (false, true) => &mut self.false_positives,
            (true, false) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        };
        *count += 1;
    }

    /// TP / (TP + FP): how many of the terminations were right. `None` if there was none.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_positives, self.true_positives + self.false_positives)
    }

    /// TP / (TP + FN): how many of the connections that share a path were found. `None` if there is none.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// 2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall if both are defined and not both 0.
    /// `None` if nothing was shared and nothing terminated: there was nothing to find.
    ///
    /// So it is 0, not undefined, if something was to be found and all of it was missed.
    pub fn f_score(&self) -> Option<f64> {
        let hits = 2 * self.true_positives;
        ratio(hits, hits + self.false_positives + self.false_negatives)
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
