//! The keys of an experiment's file that say what was published: `[published]` and `[[claims]]`.

pub mod claims;
mod for_each;
pub mod forms;
mod json;
mod metric_names;
mod references;
pub mod witnesses;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, Deserializer};
use tresse_experiment::diagnostic::Wrong;
use tresse_experiment::schema::Experiment;
use tresse_experiment::{OwnedKeys, Owner, Owners};

use claims::{Claim, Published, Selectors};

/// These keys, for those who read experiments.
pub const OWNER: Owner = Owner {
    keys: OwnedKeys::of::<Publication>().written_out_by(for_each::write_out).about_every_scheme_if(
        |experiment| Publication::of(experiment).is_ok_and(|own| own.is_of_every_scheme()),
    ),
    check: references::check,
};

/// For those who read an experiment only for these keys.
pub(crate) const OWNERS: Owners = Owners::some(&[OWNER]);

/// What an experiment says about a paper's results: published numbers, and claims.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Publication {
    /// The published numbers.
    #[serde(default)]
    pub published: Published,
    /// What the paper claims, checked against the results.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

impl Publication {
    /// That of an experiment.
    ///
    /// # Errors
    /// If it was read without [`OWNER`], the first key or value that is wrong.
    pub fn of(experiment: &Experiment) -> Result<Self, Wrong> {
        // Offsets are in a text that nobody has seen.
        Self::read(&experiment.owned.to_string()).map_err(|wrong| Wrong::whole(wrong.message))
    }

    fn read(text: &str) -> Result<Self, Wrong> {
        let mut file = DeTable::parse(text)?;
        for_each::write_out(file.get_mut())?;
        Ok(Self::deserialize(Deserializer::from(file))?)
    }

    /// Whether there is anything that a run could be judged by.
    pub fn is_empty(&self) -> bool {
        self.published.values.is_empty() && self.claims.is_empty()
    }

    /// Whether a claim leaves the scheme open.
    fn is_of_every_scheme(&self) -> bool {
        self.claims.iter().flat_map(Claim::statements).any(|claim| {
            let lists = [&claim.right, &claim.of].into_iter().flatten();
            let mut all = claim.left.iter().chain(lists.flat_map(Selectors::all));
            all.any(|selector| selector.scheme.is_none())
        })
    }
}
