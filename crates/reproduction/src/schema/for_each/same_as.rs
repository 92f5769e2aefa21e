//! Sentences that a claim takes from another claim.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;
use tresse_experiment::diagnostic::{Wrong, did_you_mean};

use super::row::{Value, text};
use super::wrong;

/// Replaces `{ same_as = "id" }` in a claim's `key` by that claim's value.
pub(super) fn same_as(key: &str, claims: &mut [Value]) -> Result<(), Wrong> {
    let mut taken = Vec::new();
    let of = |claim, key| DeValue::get(claim, key);
    let all = claims.iter().map(Spanned::get_ref);
    let all: Vec<_> = all.map(|claim| Some((text(of(claim, "id")?)?, of(claim, key)))).collect();
    let mut by_id = BTreeMap::new();
    for (id, own) in all.iter().flatten() {
        by_id.entry(id.as_str()).or_insert(own); // that an id is there twice is told later
    }
    for (place, own) in all.iter().enumerate() {
        let Some((own, Some(value))) = own else { continue };
        let DeValue::Table(table) = value.get_ref() else { continue };
        let Some(of) = table.get("same_as").filter(|_| table.len() == 1).and_then(text) else {
            return wrong(value.span(), "expected a sentence, or { same_as = \"the id of a claim\" }");
        };
        if of == *own {
            return wrong(value.span(), format!("{own}: this is the claim itself"));
        }
        let Some(theirs) = by_id.get(of.as_str()) else {
            let hint = did_you_mean(&of, all.iter().flatten().map(|(id, _)| id.as_str()));
            return wrong(value.span(), format!("{own}: there is no claim `{of}`{hint}"));
        };
        match theirs.map(Spanned::get_ref) {
            None => return wrong(value.span(), format!("{own}: `{of}` has no `{key}`")),
            Some(DeValue::Table(_)) => {
                let message = format!("{own}: `{of}` takes its `{key}` from another claim: name that one");
                return wrong(value.span(), message);
            }
            Some(theirs) => taken.push((place, Spanned::new(value.span(), theirs.clone()))),
        }
    }
    for (place, taken) in taken {
        if let DeValue::Table(claim) = claims[place].get_mut()
            && let Some(value) = claim.get_mut(key)
        {
            *value = taken;
        }
    }
    Ok(())
}
