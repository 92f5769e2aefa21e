//! The JSON Schema of an experiment file, with the keys that topologies have of their own.

use schemars::{Schema, SchemaGenerator};

use crate::keys::Experiment;
use crate::plan::topologies;

/// The JSON Schema of an experiment file.
pub fn schema() -> Schema {
    let mut generator = SchemaGenerator::default();
    topologies::add_to_schema(&mut generator);
    generator.into_root_schema_for::<Experiment>()
}
