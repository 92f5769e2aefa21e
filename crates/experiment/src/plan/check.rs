//! Checks keys that only their topology or pattern knows, while the file is read: only then are the lines known.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::Wrong;
use crate::plan::patterns::kind;
use crate::plan::topologies;

/// Checks the tables of a file.
///
/// # Errors
/// The first error, with its location in the text of the tables.
pub(crate) fn check(mut file: DeTable) -> Result<(), Wrong> {
    if let Some(DeValue::Table(fabric)) = file.get("fabric").map(Spanned::get_ref) {
        topologies::check(fabric)?;
    }
    for mut workload in below(&mut file, "workloads") {
        below(workload.get_mut(), "parts").into_iter().try_for_each(kind::check)?;
        kind::check(workload)?;
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
