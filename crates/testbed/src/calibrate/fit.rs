//! Costs that explain times.

/// What a transfer consists of: segments, packets, bytes.
pub(super) type Parts = [f64; 3];

/// The costs of a segment, a packet and a byte, none below 0, whose sums are closest to the times: the least squares of
/// relative errors.
pub(super) fn costs(transfers: &[(Parts, f64)]) -> Parts {
    let error = |costs: &Parts| -> f64 {
        transfers.iter().map(|(parts, time)| (cost(costs, parts) / time - 1.0).powi(2)).sum()
    };
    // Which of them are not 0: there are seven answers, and the best possible one is among those that are allowed.
    let answers = (1u8..8).filter_map(|used| solution(transfers, used));
    let allowed = answers.filter(|costs| costs.iter().all(|cost| *cost >= 0.0));
    allowed.min_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or([0.0; 3])
}

/// What a transfer costs.
pub(super) fn cost(costs: &Parts, parts: &Parts) -> f64 {
    costs.iter().zip(parts).map(|(cost, part)| cost * part).sum()
}

/// The least squares with those costs that have a bit in `used`; `None` if there are many such.
fn solution(transfers: &[(Parts, f64)], used: u8) -> Option<Parts> {
    let mut rows = [[0.0; 4]; 3];
    for (i, row) in rows.iter_mut().enumerate() {
        if used & 1 << i == 0 {
            row[i] = 1.0;
            continue;
        }
        for (parts, time) in transfers {
            for (j, sum) in row.iter_mut().take(3).enumerate().filter(|(j, _)| used & 1 << j != 0) {
                *sum += parts[i] * parts[j] / (time * time);
            }
            row[3] += parts[i] / time;
        }
    }
    for i in 0..3 {
        let pivot = (i..3).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()))?;
        rows.swap(i, pivot);
        let own = rows[i];
        if own[i].abs() < 1e-300 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i] / own[i];
            row.iter_mut().zip(own).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    Some([0, 1, 2].map(|i| rows[i][3] / rows[i][i]))
}

/// The middle of `values`, between the two middle ones if their number is even.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n => f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUE: Parts = [2e-6, 0.5e-6, 1e-10];

    fn transfers(costs: Parts) -> Vec<(Parts, f64)> {
        let all = [[100.0, 100.0, 1.5e5], [50.0, 200.0, 3e5], [10.0, 440.0, 6.6e5], [90.0, 90.0, 8e5]];
        all.map(|parts| (parts, cost(&costs, &parts))).to_vec()
    }

    #[test]
    fn costs_are_found_again() {
        let found = costs(&transfers(TRUE));
        assert!(found.iter().zip(TRUE).all(|(found, cost)| (found / cost - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn no_cost_is_below_0() {
        let found = costs(&transfers([2e-6, -0.1e-6, 1e-10]));
        assert!(found[1] == 0.0 && found[0] > 1e-6 && found[2] >= 0.0, "{found:?}");
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
