//! Which of two schemes is better: what a user decides from.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::judging::Number;
use super::quantities::Side;

/// Two schemes, of which the simulator predicts that the first has more.
#[derive(Debug, Serialize)]
pub struct Order {
    /// The labels of their cases, which differ only in the scheme and its number of subflows.
    pub more: String,
    pub less: String,
    pub quantity: &'static str,
    /// The first minus the second, as a share of the second.
    pub simulated: f64,
    /// The same on real hosts; null before they have run.
    pub real: Option<f64>,
    /// Whether the first has more on real hosts too; null if the interval of the difference contains 0.
    pub holds: Option<bool>,
}

/// The axes in which two cases of an order may differ.
const SCHEME: [&str; 2] = ["scheme", "subflows"];

/// What orders schemes.
const QUANTITIES: [&str; 2] = ["rate", "completion time, mean"];

/// A smaller difference is not a prediction: rates may be a tenth off.
const APART: f64 = 0.10;

/// All orders that are predicted.
pub(super) fn orders(simulated: &[Side]) -> Vec<Order> {
    let mut orders = Vec::new();
    for (place, one) in simulated.iter().enumerate() {
        for other in simulated[place + 1..].iter().filter(|other| besides(one) == besides(other)) {
            for quantity in QUANTITIES {
                let (Some(a), Some(b)) = (number(one, quantity), number(other, quantity)) else { continue };
                let ((more, a), (less, b)) =
                    if a.mean > b.mean { ((one, a), (other, b)) } else { ((other, b), (one, a)) };
                let difference = a.mean - b.mean;
                let is_certain = a.apart(b).is_none_or(|half| difference > half);
                if difference > APART * b.mean && is_certain {
                    let (more, less) = (more.label.clone(), less.label.clone());
                    let simulated = difference / b.mean;
                    orders.push(Order { more, less, quantity, simulated, real: None, holds: None });
                }
            }
        }
    }
    orders
}

/// Adds what real hosts say.
pub(super) fn judge(orders: &mut [Order], real: &[Side]) {
    for order in orders {
        let of = |label: &str| {
            let side = real.iter().find(|side| side.label == label)?;
            number(side, order.quantity)
        };
        let (Some(a), Some(b)) = (of(&order.more), of(&order.less)) else { continue };
        let difference = a.mean - b.mean;
        order.real = (b.mean != 0.0).then(|| difference / b.mean);
        let half = a.apart(b).unwrap_or(0.0);
        order.holds = (difference.abs() > half).then_some(difference > 0.0);
    }
}

/// What a case is besides its scheme.
fn besides(side: &Side) -> IndexMap<&str, &Value> {
    let axes = side.case.iter().map(|(axis, value)| (axis.as_str(), value));
    axes.filter(|(axis, _)| !SCHEME.contains(axis)).collect()
}

/// A quantity of a whole case.
fn number(side: &Side, quantity: &str) -> Option<Number> {
    let own = side.quantities.iter().find(|own| own.of == "all" && own.kind.name == quantity)?;
    Some(Number::of(&own.values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::quantities::tests::side;

    fn verdicts(simulated: &[(&str, &[f64])], real: &[(&str, &[f64])]) -> Vec<(String, Option<bool>)> {
        let sides = |all: &[(&str, &[f64])]| -> Vec<Side> {
            all.iter().map(|(scheme, rates)| side(scheme, "rate", rates)).collect()
        };
        let mut orders = orders(&sides(simulated));
        judge(&mut orders, &sides(real));
        orders.into_iter().map(|order| (format!("{} > {}", order.more, order.less), order.holds)).collect()
    }

    #[test]
    fn an_order_holds_is_reversed_or_is_open() {
        let predicted: &[(&str, &[f64])] = &[("xmp", &[60.0, 61.0, 62.0]), ("lia", &[40.0, 41.0, 42.0])];
        for (xmp, lia, holds) in [
            ([50.0, 51.0, 52.0], [40.0, 41.0, 42.0], Some(true)),
            ([40.0, 41.0, 42.0], [50.0, 51.0, 52.0], Some(false)),
            ([40.0, 50.0, 60.0], [41.0, 50.0, 52.0], None),
        ] {
            let real: &[(&str, &[f64])] = &[("xmp", &xmp), ("lia", &lia)];
            assert_eq!(verdicts(predicted, real), [("xmp > lia".to_owned(), holds)]);
        }
    }

    /// The simulator says nothing about schemes that are as good, or differ by chance.
    #[test]
    fn close_schemes_are_no_order() {
        assert_eq!(verdicts(&[("xmp", &[50.0]), ("lia", &[48.0])], &[]), []);
        assert_eq!(verdicts(&[("xmp", &[30.0, 60.0, 90.0]), ("lia", &[39.0, 40.0, 41.0])], &[]), []);
    }
}
