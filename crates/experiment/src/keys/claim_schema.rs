//! What an editor is told of a claim as a file may write it (`read::for_each`).

use schemars::Schema;
use serde_json::json;

/// A claim has `for_each` and `each` too, and may leave every key to an entry above it.
pub(crate) fn claim(schema: &mut Schema) {
    placeholders(schema);
    schema.remove("required");
    let Some(properties) = schema.get_mut("properties").and_then(|p| p.as_object_mut()) else { return };
    // Nobody writes out by hand what `for_all` stands for.
    properties.remove("cases");
    for key in ["text", "because", "contradicts"] {
        let same_as = json!({ "type": "string", "description": "The id of the claim that has it." });
        let same_as = json!({
            "type": "object", "properties": { "same_as": same_as }, "required": ["same_as"],
            "additionalProperties": false,
        });
        let plain = properties[key].take();
        let description = plain["description"].clone();
        properties[key] = json!({ "description": description, "anyOf": [plain, same_as] });
    }
    let for_each =
        "Lists of what the placeholders `{name}` in this entry stand for: one claim for each combination.";
    properties.insert("for_each".into(), json!({ "description": for_each, "type": ["object", "array"] }));
    let for_all = "Lists as in `for_each`: it is one claim, which holds if it does for each combination.";
    properties.insert("for_all".into(), json!({ "description": for_all, "type": ["object", "array"] }));
    let each = "Claims, each for every combination of `for_each`; they need not repeat what this entry says.";
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
