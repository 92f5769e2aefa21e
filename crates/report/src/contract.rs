//! What the page reads, as JSON Schemas: `page/src/data/contract.ts` is made of them.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::head::PageHead;
use crate::network::Drawing;
use crate::view::RunList;

/// The schema of each type, by its name.
pub fn types() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<PageHead>();
    generator.subschema_for::<RunList>();
    generator.subschema_for::<Drawing>();
    generator.take_definitions(true)
}
