//! What the simulator predicts, and what real hosts say to it.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use tresse_lab::metric::intervals::half_width_95;

use super::quantities::{Bound, Kind, Quantity, Side};

/// A case that both sides have.
#[derive(Debug, Serialize)]
pub struct TwinCase {
    pub case: IndexMap<String, Value>,
    /// Its readable name.
    pub label: String,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// A quantity on both sides.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What it belongs to: `all`, a group of flows, a subflow of a group's flows, a port.
    pub of: String,
    /// What it is.
    pub quantity: &'static str,
    pub unit: &'static str,
    /// In the simulator.
    pub simulated: Number,
    /// On real hosts.
    pub real: Number,
    /// Real minus simulated, in the unit.
    pub difference: f64,
    /// Half the 95 % interval of the difference; null with one seed.
    pub difference_ci95: Option<f64>,
    /// The difference as a share of the simulated value; null if that is 0.
    pub relative: Option<f64>,
    /// The allowed difference; null if there is none.
    pub target: Option<Target>,
    /// Whether the difference matters in the unit, not in per cent.
    #[serde(skip)]
    pub absolute: bool,
}

/// A mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Number {
    pub mean: f64,
    /// Half its 95 % interval; null with one seed.
    pub ci95: Option<f64>,
}

/// An allowed difference.
#[derive(Debug, Serialize)]
pub struct Target {
    /// In words.
    pub within: &'static str,
    /// Whether the difference is within it; null if its interval reaches across: more seeds would tell.
    pub holds: Option<bool>,
}

/// What is predicted of a case before hosts are asked.
#[derive(Debug, Serialize)]
pub struct Predicted {
    pub case: IndexMap<String, Value>,
    pub label: String,
    pub rows: Vec<Prediction>,
}

/// A quantity that is predicted.
#[derive(Debug, Serialize)]
pub struct Prediction {
    pub of: String,
    pub quantity: &'static str,
    pub unit: &'static str,
    pub simulated: Number,
    /// How far real hosts may be from it.
    pub within: &'static str,
}

impl Number {
    pub(super) fn of(values: &[f64]) -> Self {
        Self { mean: values.iter().sum::<f64>() / values.len() as f64, ci95: half_width_95(values) }
    }

    /// Half the 95 % interval of the difference between the two; none if neither has one.
    pub(super) fn apart(self, other: Self) -> Option<f64> {
        match (self.ci95, other.ci95) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0).hypot(b.unwrap_or(0.0))),
        }
    }
}

impl Bound {
    /// The most that is allowed beside this prediction, and in words.
    fn most(self, predicted: f64) -> Option<(f64, &'static str)> {
        match self {
            Self::None => None,
            Self::Relative(part, within) => (predicted != 0.0).then(|| (part * predicted.abs(), within)),
            Self::Absolute(most, within) => Some((most, within)),
            Self::Larger(most, part, within) => Some((most.max(part * predicted.abs()), within)),
        }
    }
}

/// The quantities with a target.
pub(super) fn predictions(simulated: &[Side]) -> Vec<Predicted> {
    let predict = |own: &Quantity| {
        let simulated = Number::of(&own.values);
        let (_, within) = own.kind.bound.most(simulated.mean).filter(|_| own.matters)?;
        let Kind { name: quantity, unit, .. } = own.kind;
        Some(Prediction { of: own.of.clone(), quantity, unit, simulated, within })
    };
    let case = |side: &Side| Predicted {
        case: side.case.clone(),
        label: side.label.clone(),
        rows: side.quantities.iter().filter_map(predict).collect(),
    };
    simulated.iter().map(case).collect()
}

/// The cases that both sides have.
pub(super) fn judge(simulated: &[Side], real: &[Side]) -> Vec<TwinCase> {
    let both = |own: &Side| {
        let other = real.iter().find(|other| other.case == own.case)?;
        let row = |left: &Quantity| {
            let same = |right: &&Quantity| right.of == left.of && right.kind.name == left.kind.name;
            let right = other.quantities.iter().find(same)?;
            (left.matters || right.matters).then(|| Row::new(left, right))
        };
        let rows = own.quantities.iter().filter_map(row).collect();
        Some(TwinCase { case: own.case.clone(), label: own.label.clone(), rows })
    };
    simulated.iter().filter_map(both).collect()
}

impl Row {
    fn new(left: &Quantity, right: &Quantity) -> Self {
        let [simulated, real] = [left, right].map(|side| Number::of(&side.values));
        let difference = real.mean - simulated.mean;
        let half = simulated.apart(real);
        let Kind { name: quantity, unit, bound, .. } = left.kind;
        let target = bound
            .most(simulated.mean)
            .filter(|_| left.matters) // only what was predicted
            .map(|(most, within)| Target { within, holds: verdict(difference, half, most) });
        Self {
            of: left.of.clone(),
            quantity,
            unit,
            simulated,
            real,
            difference,
            difference_ci95: half,
            relative: (simulated.mean != 0.0).then(|| difference / simulated.mean),
            target,
            absolute: matches!(bound, Bound::Absolute(..) | Bound::Larger(..)),
        }
    }
}

/// Whether a difference is within `most`: if all of its interval is, and not if none of it is. With one seed there is only
/// the difference.
fn verdict(difference: f64, half: Option<f64>, most: f64) -> Option<bool> {
    let half = half.unwrap_or(0.0);
    if difference.abs() + half <= most {
        Some(true)
    } else if difference.abs() - half > most {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::quantities::tests::side;

    #[test]
    fn an_interval_that_reaches_across_the_bound_decides_nothing() {
        assert_eq!(verdict(1.0, Some(0.5), 2.0), Some(true));
        assert_eq!(verdict(-1.0, Some(1.5), 2.0), None);
        assert_eq!(verdict(-3.0, Some(1.5), 2.0), None);
        assert_eq!(verdict(-3.0, Some(0.5), 2.0), Some(false));
        assert_eq!([verdict(1.0, None, 2.0), verdict(3.0, None, 2.0)], [Some(true), Some(false)]);
    }

    /// A count that is 0 on both sides says nothing; one that is predicted to be 0 and is not is shown, but not judged.
    #[test]
    fn what_only_real_hosts_have_is_shown() {
        let case = |count: f64| {
            let mut side = side("lia", "CE marks", &[count]);
            side.quantities[0].matters = count > 0.0;
            vec![side]
        };
        let targets = |simulated, real| -> Vec<bool> {
            let rows = judge(&case(simulated), &case(real)).remove(0).rows;
            rows.iter().map(|row| row.target.is_some()).collect()
        };
        assert_eq!(
            [targets(0.0, 0.0), targets(0.0, 3.0), targets(3.0, 0.0)],
            [vec![], vec![false], vec![true]]
        );
    }

    /// What is predicted does not depend on what is measured, and is judged as it was written.
    #[test]
    fn predictions_are_those_that_are_judged() {
        let simulated = [side("lia", "rate", &[50.0, 52.0, 54.0])];
        let predicted = predictions(&simulated);
        let row = &judge(&simulated, &[side("lia", "rate", &[70.0, 71.0, 72.0])])[0].rows[0];
        assert_eq!(predicted[0].rows[0].simulated, row.simulated);
        let target = row.target.as_ref().expect("a rate has one");
        assert_eq!((predicted[0].rows[0].within, target.holds), (target.within, Some(false)));
    }

    #[test]
    fn a_queue_may_be_off_by_two_packets_or_a_tenth() {
        let bound = Bound::Larger(2.0, 0.1, "2 packets or 10 %");
        assert_eq!(bound.most(10.0).map(|(most, _)| most), Some(2.0));
        assert_eq!(bound.most(200.0).map(|(most, _)| most), Some(20.0));
        assert!(Bound::Relative(0.1, "10 %").most(0.0).is_none());
    }
}
