//! The workloads of a text, for whoever knows the keys of their patterns.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::Wrong;
use crate::read::for_each;

/// Checks the keys that a workload's pattern has of its own; an error has its place in the text of the table.
pub(crate) type CheckWorkload = fn(Spanned<DeTable>) -> Result<(), Wrong>;

/// Checks the workloads of a text, and their parts.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn check(text: &str, check: CheckWorkload) -> Result<(), Wrong> {
    let mut table = for_each::parse(text)?.into_inner();
    for mut workload in below(&mut table, "workloads") {
        below(workload.get_mut(), "parts").into_iter().try_for_each(check)?;
        check(workload)?;
    }
    Ok(())
}

/// The tables of the table `key`.
fn below<'i>(table: &mut DeTable<'i>, key: &str) -> Vec<Spanned<DeTable<'i>>> {
    let Some(DeValue::Table(tables)) = table.remove(key).map(Spanned::into_inner) else { return Vec::new() };
    let spanned = |value: Spanned<DeValue<'i>>| match (value.span(), value.into_inner()) {
        (span, DeValue::Table(table)) => Some(Spanned::new(span, table)),
        _ => None,
    };
    tables.into_iter().filter_map(|(_, value)| spanned(value)).collect()
}
