//! Reports as JSON.

use serde_json::Value;

/// The longest line of [`compact`]: a claim with its reason, a published number.
const WIDTH: usize = 600;

/// Indented JSON.
pub fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("results are plain data")
}

/// JSON in which values that fit into one line take one: such files are kept and read by people.
pub fn compact(value: &Value) -> String {
    indented(value, 0)
}

fn indented(value: &Value, depth: usize) -> String {
    let flat = value.to_string();
    let (open, close, lines): (_, _, Vec<String>) = match value {
        Value::Object(table) if flat.len() > WIDTH => {
            let line = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(&**key), indented(value, depth + 1))
            };
            ('{', '}', table.iter().map(line).collect())
        }
        Value::Array(list) if flat.len() > WIDTH => {
            ('[', ']', list.iter().map(|v| indented(v, depth + 1)).collect())
        }
        _ => return flat,
    };
    let (outer, inner) = ("  ".repeat(depth), "  ".repeat(depth + 1));
    format!("{open}\n{inner}{}\n{outer}{close}", lines.join(&format!(",\n{inner}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn short_objects_stand_on_a_line() {
        let long = "x".repeat(WIDTH);
        let value = json!({ "list": [{ "a": 1 }, { "b": long }], "n": 2 });
        let text = compact(&value);
        assert_eq!(text.lines().count(), 9, "{text}");
        assert!(text.contains("\n    {\"a\":1},\n"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
