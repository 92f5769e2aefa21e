//! Suggestions for a wrong `--set`.

use schemars::Schema;
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::read::{KEYS, is_unknown_key};

/// A setting closer to what was probably meant, if `message` and the setting allow a guess; otherwise where to find
/// all keys, if its key is unknown.
pub(super) fn hint(
    table: &Table,
    setting: &str,
    message: &str,
    schema: impl Fn() -> Schema,
) -> Option<String> {
    let (path, text) = setting.split_once('=').map(|(path, text)| (path.trim(), text.trim()))?;
    let with_unit = || {
        let (_, example) = message.strip_prefix("a bare number")?.rsplit_once(", such as ")?;
        let example = example.trim_matches('"');
        let unit = example.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let is_number = unit.len() < example.len();
        is_number.then(|| format!("`--set {path}={text}{}`", unit_meant(text, unit)))
    };
    let a_list = || {
        let is_list = text.contains(',') && !text.starts_with(['[', '{', '"']);
        is_list.then(|| format!("several values are a list: `--set '{path}=[{text}]'`"))
    };
    let longer = || {
        let key = message.strip_prefix("unknown key `")?.split('`').next()?;
        let mut known = places(table, key, &schema());
        if known.is_empty() {
            known.extend(below(table, key));
        }
        (path == key && !known.is_empty()).then(|| {
            let settings: Vec<String> = known.iter().map(|place| format!("`--set {place}={text}`")).collect();
            format!("did you mean {}?", settings.join(" or "))
        })
    };
    let keys = || is_unknown_key(message).then(|| KEYS.to_owned());
    with_unit().or_else(a_list).or_else(longer).or_else(keys)
}

/// The unit of a bare number, where an example has `unit`: nobody writes thousands of megabytes, or of gigabits per second.
fn unit_meant<'a>(number: &str, unit: &'a str) -> &'a str {
    let is_large = number.parse().is_ok_and(|number: f64| number >= 1000.0);
    ["bps", "B"].into_iter().find(|base| is_large && unit.ends_with(base)).unwrap_or(unit)
}

/// The paths of the keys with this name, one table below the top; for named tables, in the first existing one.
fn places(table: &Table, key: &str, schema: &Schema) -> Vec<String> {
    let schema = schema.as_value();
    let has = |of: &Json| properties(schema, of).iter().any(|own| own.get(key).is_some());
    let tops = schema["properties"].as_object().into_iter().flatten();
    let paths = tops.flat_map(|(top, of)| {
        if has(of) {
            return vec![format!("{top}.{key}")];
        }
        if !of.get("additionalProperties").is_some_and(has) {
            return Vec::new();
        }
        let named = table.get(top).and_then(Value::as_table).into_iter().flatten();
        let Some((name, own)) = named.filter_map(|(name, own)| Some((name, own.as_table()?))).next() else {
            return Vec::new();
        };
        match own.get("parts").and_then(Value::as_table) {
            // Of a workload with parts, few keys are its own.
            Some(parts) if !own.contains_key(key) && !OF_WHOLE.contains(&key) => {
                let has_it = parts.iter().filter(|(_, part)| part.get(key).is_some());
                has_it.map(|(part, _)| format!("{top}.{name}.parts.{part}.{key}")).collect()
            }
            _ => vec![format!("{top}.{name}.{key}")],
        }
    });
    paths.collect()
}

/// The keys that a workload with parts may have.
const OF_WHOLE: [&str; 3] = ["parts", "duration", "class"];

/// The path of the first key with this name in the file, below its top.
fn below(table: &Table, key: &str) -> Option<String> {
    table.iter().find_map(|(own, value)| {
        let table = value.as_table()?;
        let end = if table.contains_key(key) { Some(key.to_owned()) } else { below(table, key) };
        Some(format!("{own}.{}", end?))
    })
}

/// The properties of a table, or of each of its forms.
fn properties<'a>(schema: &'a Json, of: &'a Json) -> Vec<&'a Json> {
    let name = of.get("$ref").and_then(Json::as_str).and_then(|own| own.strip_prefix("#/$defs/"));
    let of = name.map_or(of, |name| &schema["$defs"][name]);
    let forms = of.get("oneOf").and_then(Json::as_array).into_iter().flatten();
    forms.chain([of]).filter_map(|form| form.get("properties")).collect()
}
