//! The schema of a claim as a file may write it, for editors (`for_each`).

use schemars::Schema;
use serde_json::json;

/// In a file a claim may also have `for_each` and `each`, and may inherit every key from an entry above it.
pub(crate) fn claim(schema: &mut Schema) {
    placeholders(schema);
    schema.remove("required");
    let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut()) else { return };
    // `for_all` expands to it; files do not set it.
    properties.remove("cases");
    for key in ["text", "because", "contradicts"] {
        let same_as = json!({ "type": "string", "description": "The id of the claim to take it from." });
        let same_as = json!({
            "type": "object", "properties": { "same_as": same_as }, "required": ["same_as"],
            "additionalProperties": false,
        });
        let plain = properties[key].take();
        let description = plain["description"].clone();
        properties[key] = json!({ "description": description, "anyOf": [plain, same_as] });
    }
    let for_each =
        "Lists of values for the placeholders `{name}` in this entry: one claim for each combination.";
    properties.insert("for_each".into(), json!({ "description": for_each, "type": ["object", "array"] }));
    let for_all =
        "Lists as in `for_each`, but for a single claim, which holds if it holds for each combination.";
    properties.insert("for_all".into(), json!({ "description": for_all, "type": ["object", "array"] }));
    let each = "Claims, each for every combination of `for_each`; they inherit the keys of this entry.";
    let claims =
        json!({ "description": each, "type": "array", "items": { "$ref": "#/$defs/Claim" }, "minItems": 1 });
    properties.insert("each".into(), claims);
}

/// A placeholder may stand where a number is expected.
pub(crate) fn placeholders(schema: &mut Schema) {
    let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut()) else { return };
    for property in properties.values_mut() {
        let kind = property.get("type").map(ToString::to_string).unwrap_or_default();
        if ["integer", "number"].iter().any(|number| kind.contains(number)) {
            let plain = property.take();
            let description = plain["description"].clone();
            let placeholder = json!({ "type": "string", "pattern": "^\\{[A-Za-z0-9_-]+\\}$" });
            *property = json!({ "description": description, "anyOf": [plain, placeholder] });
        }
    }
}
