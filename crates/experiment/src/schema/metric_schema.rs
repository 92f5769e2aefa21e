//! The schema of metric names, for editors.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::schema::metrics::METRICS;

/// A metric of a case, or of one of its slices.
#[derive(Debug)]
pub struct CaseMetric;

impl JsonSchema for CaseMetric {
    fn schema_name() -> Cow<'static, str> {
        "CaseMetric".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = METRICS.iter().map(|row| row.name).collect();
        let of_slices = METRICS.iter().filter(|row| row.of.has("slice")).map(|row| row.name);
        let pattern = format!(r"^[^.]+\.({})$", of_slices.collect::<Vec<_>>().join("|"));
        json_schema!({ "anyOf": [{ "type": "string", "enum": names }, { "type": "string", "pattern": pattern }] })
    }
}
