//! The values of placeholders.

use toml::Spanned;
use toml::de::{DeString, DeValue};

/// The keys of a claim that `for_each` may set.
pub(super) const KEYS: [&str; 23] = [
    "id",
    "text",
    "source",
    "reading_of",
    "metric",
    "left",
    "right",
    "ratio_above",
    "ratio_below",
    "excess",
    "within",
    "difference_above",
    "difference_below",
    "of",
    "above",
    "below",
    "order",
    "slack",
    "jumps",
    "expected",
    "because",
    "contradicts",
    "at_least",
];

pub(super) type Name<'i> = Spanned<DeString<'i>>;
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// The values of placeholders in one claim.
#[derive(Clone, Default)]
pub(super) struct Row<'i> {
    pub(super) values: Vec<(Name<'i>, Value<'i>)>,
    /// The locations in the text of all names and values that must be used by a claim.
    pub(super) from: Vec<usize>,
}

impl<'i> Row<'i> {
    pub(super) fn of(name: &Name<'i>, value: &Value<'i>) -> Self {
        Self { values: vec![(name.clone(), value.clone())], from: vec![value.span().start] }
    }

    pub(super) fn get(&self, name: &str) -> Option<&(Name<'i>, Value<'i>)> {
        self.values.iter().find(|(own, _)| own.get_ref() == name)
    }

    pub(super) fn shares(&self, other: &Self) -> bool {
        let is_shared = |name: &str| !KEYS.contains(&name) && self.get(name).is_some();
        other.values.iter().any(|(name, _)| is_shared(name.get_ref()))
    }

    /// Both combined, if they agree on the names that both have. For keys of the claim, the other takes precedence.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        let mut both = self.clone();
        both.from.extend(&other.from);
        for (name, value) in &other.values {
            let own = both.values.iter().position(|(own, _)| own.get_ref() == name.get_ref());
            match own {
                Some(own) if KEYS.contains(&&**name.get_ref()) => both.values[own].1 = value.clone(),
                Some(own) if text(&both.values[own].1) == text(value) => both.from.push(name.span().start),
                Some(_) => return None,
                None => both.values.push((name.clone(), value.clone())),
            }
        }
        Some(both)
    }
}

/// A value as inserted into a text; none for a list or a table.
pub(super) fn text(value: &Value) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is) => Some(is.to_string()),
        _ => None,
    }
}

/// `scheme = "xmp"`.
pub(super) fn said(name: &Name, value: &Value) -> String {
    let value = match value.get_ref() {
        DeValue::String(text) => format!("\"{text}\""),
        _ => text(value).unwrap_or_else(|| "…".to_owned()),
    };
    format!("{} = {value}", name.get_ref())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::schema::claims::Claim;

    #[test]
    fn every_key_of_a_claim_may_be_set() {
        let schema = schemars::schema_for!(Claim);
        let own = schema.get("properties").and_then(|p| p.as_object()).expect("a table");
        let own: BTreeSet<&str> = own.keys().map(String::as_str).collect();
        let keys: BTreeSet<&str> = KEYS.into_iter().chain(["for_each", "for_all", "each"]).collect();
        assert_eq!(keys, own);
    }
}
