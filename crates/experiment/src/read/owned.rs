//! The keys at the top of a file that other crates own. This crate only reads them as they are written; their owner says
//! what may be in them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::de::{DeString, DeTable, DeValue, Deserializer, Error};
use toml::{Spanned, Table};

use crate::diagnostic::{Wrong, unknown};
use crate::schema::{self, Experiment, MakeSchema};

/// The keys of one owner, with their type erased.
#[derive(Debug, Clone, Copy)]
pub struct OwnedKeys {
    /// The schema of a table with all of them. None is required.
    pub(crate) schema: MakeSchema,
    write_out: fn(&mut DeTable) -> Result<(), Wrong>,
    are_of_every_scheme: fn(&Experiment) -> bool,
    pub(crate) are_for_people: bool,
    check: fn(Deserializer) -> Result<(), Error>,
    with_defaults: fn(Table) -> Result<Table, Error>,
}

impl OwnedKeys {
    /// The keys of the table `K`. Unless the functions below say otherwise, a file has no abbreviations in them, they are not
    /// about every scheme, and results are judged by them.
    pub const fn of<K: Serialize + DeserializeOwned + JsonSchema>() -> Self {
        Self {
            schema: K::json_schema,
            write_out: |_| Ok(()),
            are_of_every_scheme: |_| false,
            are_for_people: false,
            check: |own| K::deserialize(own).map(drop),
            with_defaults: |own| {
                let keys: K = own.try_into()?;
                Ok(Table::try_from(keys).unwrap_or_default())
            },
        }
    }

    /// The same; `write_out` expands abbreviations in them, in the tables of a file. Its errors have their location in the
    /// text.
    #[must_use]
    pub const fn written_out_by(self, write_out: fn(&mut DeTable) -> Result<(), Wrong>) -> Self {
        Self { write_out, ..self }
    }

    /// The same; `are` tells whether they are about every scheme, so that one more scheme changes what they are about.
    #[must_use]
    pub const fn about_every_scheme_if(self, are: fn(&Experiment) -> bool) -> Self {
        Self { are_of_every_scheme: are, ..self }
    }

    /// The same; they are only for people, so that changing them does not change what results are judged by.
    #[must_use]
    pub const fn only_for_people(self) -> Self {
        Self { are_for_people: true, ..self }
    }

    /// Their names, in the order of the schema.
    pub(crate) fn names(&self) -> &'static [String] {
        schema::names(self.schema)
    }
}

/// The keys of one owner, with their names.
#[derive(Debug)]
struct Owned {
    names: &'static [String],
    keys: OwnedKeys,
}

/// What reading a file needs to know of the meaning of its keys.
#[derive(Debug, Clone)]
pub(crate) struct Meaning {
    /// Checks the keys of topologies and patterns.
    check: fn(DeTable) -> Result<(), Wrong>,
    owned: Arc<[Owned]>,
    /// Whether a key that nobody is known to own is accepted, because its owner is not among those of `owned`.
    has_others: bool,
}

/// A key at the top of a file, and its value.
type Entry<'t> = (Spanned<DeString<'t>>, Spanned<DeValue<'t>>);

impl Meaning {
    pub fn new(
        check: fn(DeTable) -> Result<(), Wrong>,
        owned: impl Iterator<Item = OwnedKeys>,
        has_others: bool,
    ) -> Self {
        let owned = owned.map(|keys| Owned { names: keys.names(), keys }).collect();
        Self { check, owned, has_others }
    }

    /// The tables of a text, with abbreviations expanded.
    pub fn parse<'t>(&self, text: &'t str) -> Result<Spanned<DeTable<'t>>, Wrong> {
        let mut file = DeTable::parse(text)?;
        self.owned.iter().try_for_each(|own| (own.keys.write_out)(file.get_mut()))?;
        Ok(file)
    }

    /// The experiment in the tables of a file, each of whose keys has one value.
    ///
    /// # Errors
    /// The first error, with its location in the text of the tables.
    pub fn read(&self, file: Spanned<DeTable>) -> Result<Experiment, Wrong> {
        let span = file.span();
        let (owned, run): (Vec<Entry>, Vec<Entry>) =
            file.clone().into_inner().into_iter().partition(|(key, _)| self.is_owned(key.get_ref()));
        let run = Spanned::new(span.clone(), run.into_iter().collect());
        let mut experiment = Experiment::deserialize(Deserializer::from(run))
            .map_err(|error| self.wrong_key(file.get_ref(), &error).unwrap_or_else(|| error.into()))?;
        for own in self.owned.iter() {
            let keys = owned.iter().filter(|(key, _)| own.names.iter().any(|name| name == key.get_ref()));
            let keys = Spanned::new(span.clone(), keys.cloned().collect());
            (own.keys.check)(Deserializer::from(keys))?;
        }
        let owned = Spanned::new(span, owned.into_iter().collect());
        experiment.owned = Table::deserialize(Deserializer::from(owned))?;
        (self.check)(file.into_inner())?;
        Ok(experiment)
    }

    /// The error of a key at the top that nobody knows: the keys that may be meant include those of the owners.
    fn wrong_key(&self, file: &DeTable, error: &Error) -> Option<Wrong> {
        let start = error.span()?.start;
        let (key, _) = file.iter().find(|(key, _)| key.span().start == start)?;
        let is_known = schema::of_experiment().iter().any(|own| own == key.get_ref());
        let known = schema::of_experiment().iter().chain(self.owned.iter().flat_map(|own| own.names));
        let known: Vec<&str> = known.map(String::as_str).collect();
        (!is_known).then(|| Wrong::offset(start, unknown("key", key.get_ref(), &known)))
    }

    /// Whether another crate owns this key, or may own it.
    fn is_owned(&self, key: &str) -> bool {
        match self.has_others {
            true => !schema::of_experiment().iter().any(|own| own == key),
            false => self.owned.iter().any(|own| own.names.iter().any(|name| name == key)),
        }
    }

    /// Whether a file may have this key at its top.
    pub fn is_known(&self, key: &str) -> bool {
        self.is_owned(key) || schema::of_experiment().iter().any(|own| own == key)
    }

    /// Whether its owner says that this key is only for people.
    pub fn is_for_people(&self, key: &str) -> bool {
        let mut shown = self.owned.iter().filter(|own| own.keys.are_for_people);
        shown.any(|own| own.names.iter().any(|name| name == key))
    }

    /// The owned keys of an experiment with their defaults.
    pub fn with_defaults(&self, experiment: &Experiment) -> Table {
        let of_owner = |own: &Owned| {
            let mut keys = experiment.owned.clone();
            keys.retain(|key, _| own.names.iter().any(|name| name == key));
            (own.keys.with_defaults)(keys).ok()
        };
        self.owned.iter().filter_map(of_owner).flatten().collect()
    }

    /// Whether some of them are about every scheme.
    pub fn is_of_every_scheme(&self, experiment: &Experiment) -> bool {
        self.owned.iter().any(|own| (own.keys.are_of_every_scheme)(experiment))
    }
}
