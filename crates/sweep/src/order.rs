//! The order of values, and so of the rows of results.

use std::cmp::Ordering;

use toml::Value;

use crate::designs::Setting;
use crate::values::quantity;

/// Numbers and quantities by size, texts alphabetically; a key that is not set comes first.
pub(crate) fn values(one: Option<&Value>, other: Option<&Value>) -> Ordering {
    match (one, other) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(one), Some(other)) => rank(one).cmp(&rank(other)).then_with(|| alike(one, other)),
    }
}

/// The order of points by the values of these keys.
pub(crate) fn settings(keys: &[String], one: &Setting, other: &Setting) -> Ordering {
    let each = keys.iter().map(|key| values(one.get(key), other.get(key)));
    each.fold(Ordering::Equal, Ordering::then)
}

fn rank(value: &Value) -> usize {
    match value {
        Value::Boolean(_) => 0,
        Value::Integer(_) | Value::Float(_) => 1,
        Value::String(text) => quantity(text).map_or(20, |(unit, _)| 2 + unit as usize),
        _ => 21,
    }
}

fn alike(one: &Value, other: &Value) -> Ordering {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::String(text) => quantity(text).map(|(_, number)| number as f64),
        _ => None,
    };
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => one.to_string().cmp(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_the_order_of_their_sizes() {
        let text = |text: &str| Value::String(text.to_owned());
        let sorted = [
            Value::Boolean(false),
            Value::Integer(-3),
            Value::Float(2.5),
            Value::Integer(10),
            text("500Mbps"),
            text("2Gbps"),
            text("9us"),
            text("1ms"),
            text("9pkt"),
            text("10pkt"),
            text("dctcp"),
            text("xmp"),
        ];
        let mut shuffled: Vec<Value> = sorted.iter().rev().cloned().collect();
        shuffled.sort_by(|one, other| values(Some(one), Some(other)));
        assert_eq!(shuffled, sorted);
        assert_eq!(values(None, Some(&sorted[0])), Ordering::Less);
    }
}
