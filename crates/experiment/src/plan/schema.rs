//! The JSON Schema of an experiment file: the schema of the keys, with the keys of each topology and pattern.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::plan::patterns::ALL;
use crate::plan::topologies;
use crate::schema::Experiment;
use crate::schema::workload::Workload;

/// The JSON Schema of an experiment file, without the keys of others.
pub fn schema() -> Schema {
    with(&[])
}

/// The JSON Schema of an experiment file that may also have the keys of these tables.
pub(super) fn with(others: &[fn(&mut SchemaGenerator) -> Schema]) -> Schema {
    let mut generator = SchemaGenerator::default();
    topologies::add_to_schema(&mut generator);
    let workload = Workload::json_schema(&mut generator);
    let common = properties(&workload);
    let mut forms = vec![with_parts(&common)];
    forms.extend(ALL.iter().map(|kind| {
        let own = kind.schema(&mut generator);
        with_pattern(kind.name, &common, own)
    }));
    let mut schema = generator.root_schema_for::<Experiment>();
    for other in others {
        let own = other(&mut generator);
        let all = schema.get_mut("properties").and_then(Value::as_object_mut).expect("it is a table");
        all.extend(properties(&own));
    }
    schema.insert("$defs".to_owned(), Value::Object(generator.take_definitions(true)));
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut);
    if let Some(definitions) = definitions {
        let description = workload.get("description").cloned();
        definitions.insert("Workload".to_owned(), json!({ "description": description, "oneOf": forms }));
    }
    // Where SchemaStore keeps what is in its catalogue: packaging/schemastore.
    schema.insert("$id".to_owned(), json!("https://www.schemastore.org/tresse.json"));
    schema
}

/// A workload of parts.
fn with_parts(common: &Map<String, Value>) -> Value {
    let has = |key: &str| ["parts", "duration", "class"].contains(&key);
    let own = common.iter().filter(|(key, _)| has(key)).map(|(key, value)| (key.clone(), value.clone()));
    table("Several workloads at the same time.".into(), own.collect(), "parts")
}

/// A workload of the pattern `name`, with its own keys `own`.
fn with_pattern(name: &str, common: &Map<String, Value>, own: Schema) -> Value {
    let mut all = common.clone();
    all.shift_remove("parts");
    all.insert("pattern".to_owned(), json!({ "const": name }));
    all.extend(properties(&own));
    table(own.get("description").cloned().unwrap_or_default(), all, "pattern")
}

fn table(description: Value, properties: Map<String, Value>, required: &str) -> Value {
    json!({
        "description": description, "type": "object", "properties": properties, "required": [required],
        "additionalProperties": false,
    })
}

fn properties(schema: &Schema) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}
