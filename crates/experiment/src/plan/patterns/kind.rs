//! The registry's entry for a pattern, and how a workload finds its pattern.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::DeTable;

use crate::diagnostic::{Diagnostic, Wrong, unknown};
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{ALL, Pattern};
use crate::schema::workload::Workload;
use crate::schema::{MakeSchema, names};

/// The keys that one pattern has in addition to those of every workload. The doc comment describes the pattern.
pub(crate) trait Keys: DeserializeOwned + JsonSchema {
    /// The pattern's name in files.
    const NAME: &'static str;

    /// What starts the flows.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the file.
    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic>;
}

/// A pattern, with the type of its keys erased.
#[derive(Debug)]
pub struct Kind {
    /// Its name in files.
    pub name: &'static str,
    check: fn(toml::Deserializer) -> Result<(), toml::de::Error>,
    build: fn(&WorkloadContext) -> Result<Pattern, Diagnostic>,
    schema: MakeSchema,
}

impl Kind {
    /// The pattern with these keys.
    pub(crate) const fn of<K: Keys>() -> Self {
        Self {
            name: K::NAME,
            check: |own| K::deserialize(own).map(drop),
            build: |at| at.keys::<K>()?.build(at),
            schema: K::json_schema,
        }
    }

    /// The JSON Schema of its own keys.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    /// The pattern of this name.
    fn find(name: &str) -> Result<&'static Self, String> {
        ALL.iter().find(|kind| kind.name == name).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|kind| kind.name).collect();
            unknown("value", name, &names)
        })
    }
}

/// Checks the keys of a workload beyond those of every workload. Keys of other patterns are accepted: the profile,
/// a variant or a setting may still change the pattern.
///
/// # Errors
/// The first error, with its location in the text that contains the table.
pub(crate) fn check(workload: Spanned<DeTable>) -> Result<(), Wrong> {
    let Some(pattern) = workload.get_ref().get("pattern") else { return Ok(()) };
    let name = pattern.get_ref().as_str().unwrap_or_default();
    let kind = Kind::find(name).map_err(|message| Wrong::offset(pattern.span().start, message))?;
    let (common, own) = (names(Workload::json_schema), names(kind.schema));
    let has = |keys: &[String], key: &str| keys.iter().any(|own| own == key);
    let (span, said) = (workload.span(), workload.into_inner());
    let mut typed = DeTable::new();
    for (key, value) in said {
        if has(own, key.get_ref()) {
            typed.insert(key, value);
        } else if !has(common, key.get_ref())
            && !ALL.iter().any(|kind| has(names(kind.schema), key.get_ref()))
        {
            let known: Vec<&str> = common.iter().chain(own).map(String::as_str).collect();
            return Err(Wrong::offset(key.span().start, unknown("key", key.get_ref(), &known)));
        }
    }
    Ok((kind.check)(toml::Deserializer::from(Spanned::new(span, typed)))?)
}

/// What starts the flows of a workload.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub(crate) fn build(at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
    let Some(name) = &at.workload.pattern else {
        let message = "it needs a `pattern`, such as \"permutation\" (`tresse list workloads`)";
        return Err(at.wrong("", message));
    };
    let kind = Kind::find(name).map_err(|e| at.wrong("pattern", &e))?;
    let keys = names(kind.schema);
    if let Some(key) = at.workload.own.keys().find(|key| !keys.contains(key)) {
        let message = format!("the pattern {name} has no `{key}` (it has: {})", keys.join(", "));
        return Err(at.wrong(key, &message));
    }
    (kind.build)(at)
}
