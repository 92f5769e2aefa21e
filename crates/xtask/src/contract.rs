//! `page/src/data/contract.ts`: what the program gives to the page, as TypeScript's types.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// What precedes the types: how they reach the page, and the names that no type of Rust has.
const HEAD: &str = include_str!("contract_head.ts");

/// The file.
pub fn file() -> String {
    let mut text = HEAD.to_owned();
    for (name, schema) in &tresse_report::contract::types() {
        text.push('\n');
        comment(&mut text, "", schema);
        match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => interface(&mut text, name, properties, schema),
            None => writeln!(text, "export type {name} = {};", type_of(schema)).expect("text"),
        }
    }
    text
}

fn interface(text: &mut String, name: &str, properties: &Map<String, Value>, schema: &Value) {
    let required = schema["required"].as_array();
    let is_required = |key: &str| required.is_some_and(|all| all.iter().any(|own| own == key));
    writeln!(text, "export interface {name} {{").expect("text");
    for (key, own) in properties {
        comment(text, "  ", own);
        // What may be left out is left out instead of null.
        let (mark, type_) = match is_required(key) {
            true => ("", type_of(own)),
            false => ("?", type_of(own).replace(" | null", "")),
        };
        writeln!(text, "  {key}{mark}: {type_};").expect("text");
    }
    text.push_str("}\n");
}

fn comment(text: &mut String, indent: &str, schema: &Value) {
    if let Some(description) = schema["description"].as_str() {
        let description = plain(&description.replace('\n', " "));
        writeln!(text, "{indent}/** {description} */").expect("text");
    }
}

/// Without the targets of rustdoc's links: `` [`Report`](path::Report) `` is `Report`.
fn plain(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("`]").unwrap_or((part, ""));
        let rest =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
        write!(plain, "`{name}`{rest}").expect("text");
    }
    plain
}

/// The type of values that match `schema`.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.trim_start_matches("#/$defs/").to_owned();
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let choices = ["anyOf", "oneOf"].iter().find_map(|key| schema[key].as_array());
    if let Some(choices) = choices {
        return union(choices.iter().map(type_of));
    }
    if let Some(values) = schema["enum"].as_array() {
        return union(values.iter().map(Value::to_string));
    }
    match &schema["type"] {
        Value::Array(names) => union(names.iter().map(|name| simple(name.as_str(), schema))),
        name => simple(name.as_str(), schema),
    }
}

/// The type of a schema that names one of JSON's types.
fn simple(name: Option<&str>, schema: &Value) -> String {
    match name {
        Some("string") => "string".to_owned(),
        Some("integer" | "number") => "number".to_owned(),
        Some("boolean") => "boolean".to_owned(),
        Some("null") => "null".to_owned(),
        Some("array") => {
            let item = type_of(&schema["items"]);
            match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
                (Some(least), Some(most)) if least == most => {
                    format!("[{}]", vec![item; most as usize].join(", "))
                }
                _ if item.contains(' ') => format!("({item})[]"),
                _ => format!("{item}[]"),
            }
        }
        Some("object") => format!("{{ [key: string]: {} }}", type_of(&schema["additionalProperties"])),
        _ => "unknown".to_owned(),
    }
}

/// Each type once.
fn union(types: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for own in types {
        if !all.contains(&own) {
            all.push(own);
        }
    }
    all.join(" | ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_become_types() {
        for (schema, type_) in [
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "type": "array", "items": { "type": ["integer", "null"] } }), "(number | null)[]"),
            (
                json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 }),
                "[number, number]",
            ),
            (json!({ "anyOf": [{ "type": "integer" }, { "type": "number" }] }), "number"),
            (json!({ "anyOf": [{ "$ref": "#/$defs/Progress" }, { "type": "null" }] }), "Progress | null"),
            (
                json!({ "oneOf": [{ "const": "x", "description": "…" }, { "enum": ["y", "z"] }] }),
                r#""x" | "y" | "z""#,
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "number" } }),
                "{ [key: string]: number }",
            ),
            (json!(true), "unknown"),
        ] {
            assert_eq!(type_of(&schema), type_, "{schema}");
        }
    }

    #[test]
    fn links_become_names() {
        assert_eq!(plain("As in [`Report`](a::Report), see [`Case`]."), "As in `Report`, see `Case`.");
        assert_eq!(plain("No link [here](x)."), "No link [here](x).");
    }

    #[test]
    fn what_may_be_left_out_is_never_null() {
        let properties =
            json!({ "a": { "type": ["string", "null"], "description": "One." }, "b": { "type": "null" } });
        let mut text = String::new();
        let schema = json!({ "required": ["b"] });
        interface(&mut text, "Both", properties.as_object().expect("a table"), &schema);
        assert_eq!(text, "export interface Both {\n  /** One. */\n  a?: string;\n  b: null;\n}\n");
    }
}
