//! The schema of metric names, for editors.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::schema::metrics::METRICS;

/// A metric of a case.
#[derive(Debug)]
pub struct CaseMetric;

impl JsonSchema for CaseMetric {
    fn schema_name() -> Cow<'static, str> {
        "CaseMetric".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = METRICS.iter().map(|row| row.name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}
