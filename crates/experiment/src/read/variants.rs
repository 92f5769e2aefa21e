//! Variants of an experiment, `[variants.NAME]`: a fourth axis, along which anything may differ.

use std::sync::Arc;

use toml::{Table, Value};

use crate::diagnostic::{Diagnostic, Wrong};
use crate::read;
use crate::read::axes::is_said_once;
use crate::read::loaded::{Loaded, LoadedVariant, Places};
use crate::read::owned::Meaning;
use crate::schema::variant::Variant;

/// Checks the contents of a variant.
fn refused(over: &Table, meaning: &Meaning) -> Option<Wrong> {
    if let Some(key) = over.keys().find(|key| is_said_once(key) && meaning.is_known(key)) {
        let message = format!("a variant changes what is run: `{key}` belongs to the whole experiment");
        return Some(Wrong::key(key, message));
    }
    let measure = over.get("measure").and_then(Value::as_table);
    measure.filter(|measure| measure.contains_key("table")).map(|_| {
        let message = "all variants share the table: `table` belongs in the experiment's [measure]";
        Wrong::new(["measure", "table"], message)
    })
}

/// Applies a setting to the variants too, because `--set` comes last; returns the paths in `table` that this
/// changed.
///
/// # Errors
/// If it cannot be applied.
pub(crate) fn set(table: &mut Table, path: &str, setting: &str) -> Result<Vec<String>, Diagnostic> {
    let head = path.split('.').next().unwrap_or(path);
    let variants = table.get_mut("variants").and_then(Value::as_table_mut);
    let Some(variants) = variants.filter(|_| !is_said_once(head) && path != "measure.table") else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for (name, over) in variants.iter_mut() {
        let Some(over) = over.as_table_mut() else { continue };
        read::apply(over, setting, read::Names::Unknown)?;
        paths.push(format!("variants.{name}.{path}"));
    }
    Ok(paths)
}

/// The experiments that result from applying its variants to `base`.
///
/// # Errors
/// The first error in one of them, with its location.
pub(crate) fn load(base: &Loaded) -> Result<Vec<LoadedVariant>, Diagnostic> {
    let places = Places::of(&base.source.text, &base.meaning);
    let mut without = base.resolved.clone();
    without.remove("variants");
    let variants = base.experiment.variants.iter();
    variants.map(|(name, variant)| one(base, &without, &places, (name.as_str(), variant))).collect()
}

/// The variant `name` of `base`, whose tables are `without` variants.
fn one(
    base: &Loaded,
    without: &Table,
    places: &Places,
    (name, variant): (&str, &Variant),
) -> Result<LoadedVariant, Diagnostic> {
    if let Some(wrong) = refused(&variant.over, &base.meaning) {
        return Err(base.error(wrong.below_all(["variants", name])));
    }
    let header = format!("[variants.{name}]");
    let mut table = without.clone();
    let mut changes = Vec::new();
    read::merge(&mut table, &variant.over, "", &mut changes);
    read::recheck(&table, &base.meaning).map_err(|e| {
        read::with_keys(base.source.error_below(&["variants", name], &header, &e, &base.meaning))
    })?;
    let mut overrides = base.overrides.clone();
    overrides.extend(changes.into_iter().map(|(path, ..)| {
        let keys: Vec<&str> = ["variants", name].into_iter().chain(path.split('.')).collect();
        let cause = base.cause(&keys.join(".")).map(str::to_owned);
        (path.clone(), cause.unwrap_or_else(|| places.place(&base.source.name, &keys, &header)))
    }));
    let loaded =
        Loaded::new(Arc::clone(&base.source), table, overrides, base.files.clone(), base.meaning.clone())?;
    Ok(LoadedVariant { name: name.to_owned(), only: variant.only.clone(), loaded })
}
