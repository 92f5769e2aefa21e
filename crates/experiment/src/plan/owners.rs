//! The crates that own keys at the top of a file. This crate only reads these; a crate that owns some declares them, and
//! whoever reads files for people asks all owners.

use schemars::Schema;
use toml::Table;
use toml::de::DeTable;

use crate::diagnostic::{Diagnostic, Wrong};
use crate::plan::{Case, Plan, check, resolve_with, schema, setting_hint};
use crate::read::owned::{Meaning, OwnedKeys};
use crate::read::{self, Loaded, Profile, Source};
use crate::schema::{Experiment, FOR_PEOPLE, MakeSchema};

/// A crate with keys of its own.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    pub keys: OwnedKeys,
    /// Checks what they refer to. If the cases are not as written, because the profile or a setting changed them, what
    /// they refer to may be gone.
    ///
    /// # Errors
    /// The first thing that does not exist, with its location in the file.
    pub check: fn(&Experiment, &[Case], is_as_written: bool) -> Result<(), Wrong>,
}

/// Whose keys a file may have.
#[derive(Debug, Clone, Copy)]
pub struct Owners {
    /// In the order of the schema.
    known: &'static [Owner],
    has_others: bool,
}

impl Owners {
    /// All owners: a key that none of them owns is refused.
    pub const fn all(owners: &'static [Owner]) -> Self {
        Self { known: owners, has_others: false }
    }

    /// Some of the owners, possibly none: the keys of others are accepted without a check.
    pub const fn some(owners: &'static [Owner]) -> Self {
        Self { known: owners, has_others: true }
    }

    /// As [`load`](crate::load), and checks the owners' keys.
    ///
    /// # Errors
    /// The first error, with its location in the file, or the setting that caused it.
    pub fn load(self, source: Source, profile: Profile, settings: &[String]) -> Result<Loaded, Diagnostic> {
        let hint = |table: &_, setting: &_, message: &_| {
            setting_hint::hint(table, setting, message, || self.schema())
        };
        read::load(source, profile, settings, self.meaning(), &hint)
    }

    /// As [`resolve`](crate::resolve), and checks what the owners' keys refer to.
    ///
    /// # Errors
    /// The first error, with its location in the file.
    pub fn resolve(self, loaded: &Loaded, only: &[String]) -> Result<Plan, Diagnostic> {
        resolve_with(self.known, loaded, only)
    }

    /// The keys of an experiment that was run, from the tables in its results.
    ///
    /// # Errors
    /// The first key or value that this version does not know.
    pub fn keys_of(self, resolved: &Table) -> Result<Experiment, Wrong> {
        let (experiment, _) = read::axes::read(DeTable::parse(&resolved.to_string())?, &self.meaning())?;
        Ok(experiment)
    }

    /// The JSON Schema of an experiment file with the owners' keys.
    pub fn schema(self) -> Schema {
        let own: Vec<MakeSchema> = self.known.iter().map(|own| own.keys.schema).collect();
        schema::with(&own)
    }

    /// The owners' keys.
    pub fn names(self) -> Vec<String> {
        self.known.iter().flat_map(|own| own.keys.names()).cloned().collect()
    }

    /// The keys that are only for people: the experiment's, and the owners'.
    pub fn names_for_people(self) -> Vec<String> {
        let own = FOR_PEOPLE.iter().map(|&name| name.to_owned());
        let of_owners = self.known.iter().filter(|own| own.keys.are_for_people);
        own.chain(of_owners.flat_map(|own| own.keys.names()).cloned()).collect()
    }

    pub(super) fn meaning(self) -> Meaning {
        Meaning::new(check::check, self.known.iter().map(|own| own.keys), self.has_others)
    }
}
