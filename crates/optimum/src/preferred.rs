//! The rule behind the weighted row of THESIS Table 4.1, which is not an optimum.

/// Rates of a user with a preferred and a second path, and of the single-path user who shares the
/// preferred one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreferredFirst {
    /// The user's rate on the preferred path.
    pub preferred: f64,
    /// The user's rate on the second path.
    pub second: f64,
    /// The single-path user's rate.
    pub single: f64,
}

/// The preferred path first, the remainder on the second path: on the preferred path, of capacity `capacity`,
/// the subflow of weight `weight` shares with a TCP of weight 1; the second path, of capacity `second`,
/// carries the rest up to the application's `limit`. All rates are in one unit.
///
/// Under such a limit the optimum of (3.11) is different: there the limit's price applies equally to both
/// paths.
pub fn preferred_first(capacity: f64, weight: f64, second: f64, limit: f64) -> PreferredFirst {
    let preferred = (capacity * weight / (1.0 + weight)).min(limit);
    PreferredFirst {
        preferred,
        second: second.min(limit - preferred),
        single: (capacity - preferred).min(limit),
    }
}
