//! The schema of the metrics that claims and published numbers name, for editors.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use tresse_experiment::schema::metric_schema::CaseMetric;
use tresse_experiment::schema::metrics::{METRICS, OPTIMUM_METRICS, WINDOW_METRICS};

/// A metric of a case, of a window of time, or of the optimum.
struct AnyMetric;

impl JsonSchema for AnyMetric {
    fn schema_name() -> Cow<'static, str> {
        "AnyMetric".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let windows = WINDOW_METRICS.iter().filter(|row| !METRICS.iter().any(|of| of.name == row.name));
        let optimum = OPTIMUM_METRICS.iter().map(|row| format!("optimum.{}", row.name));
        let names: Vec<String> = windows.map(|row| row.name.to_owned()).chain(optimum).collect();
        let of_cases = generator.subschema_for::<CaseMetric>();
        json_schema!({ "anyOf": [of_cases, { "type": "string", "enum": names }] })
    }
}

/// The metric of a claim: also job completion times, for their jumps, and any text with a placeholder.
pub(crate) struct ClaimMetric;

impl JsonSchema for ClaimMetric {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "ClaimMetric".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let any = generator.subschema_for::<AnyMetric>();
        json_schema!({ "anyOf": [any, { "const": "jct_s" }, { "type": "string", "pattern": "\\{" }] })
    }
}

/// Numbers by metric.
pub(crate) struct Numbers;

impl JsonSchema for Numbers {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Numbers".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let any = generator.subschema_for::<AnyMetric>();
        let number = generator.subschema_for::<f64>();
        json_schema!({ "type": "object", "propertyNames": any, "additionalProperties": number })
    }
}
