//! OLIA's alpha (Khalili et al. 2012): which paths gain and which give.

use super::laws::ByPath;

/// A path within this share of the largest partly belongs to the largest.
const BAND: f64 = 0.02;

/// OLIA's alpha of each path, for windows and for the quality l/T^2, l the packets between two losses
/// (Khalili et al. 2012; catalogue S13).
///
/// B are the paths with the best quality, M those with the largest window. If B\M is not empty, its members
/// have 1/(n |B\M|) and those of M -1/(n |M|); otherwise all have 0. Memberships are shares here: alpha jumps
/// in the algorithm, and at a tie it slides, so on average it is in between.
pub(super) fn alphas(windows: &[f64], qualities: &[f64]) -> ByPath<f64> {
    let n = windows.len() as f64;
    let largest = memberships(windows);
    let best = memberships(qualities);
    let outdone: ByPath<f64> = best.iter().zip(&largest).map(|(b, m)| b * (1.0 - m)).collect();
    let total_outdone: f64 = outdone.iter().sum();
    let total_largest: f64 = largest.iter().sum();
    let any = outdone.iter().fold(0.0, |max: f64, o| max.max(*o));
    if any == 0.0 {
        return ByPath::from_elem(0.0, windows.len());
    }
    outdone.iter().zip(&largest).map(|(o, m)| any / n * (o / total_outdone - m / total_largest)).collect()
}

fn memberships(values: &[f64]) -> ByPath<f64> {
    let max = values.iter().fold(0.0, |max: f64, v| max.max(*v));
    values.iter().map(|v| (1.0 - (1.0 - v / max) / BAND).clamp(0.0, 1.0)).collect()
}
