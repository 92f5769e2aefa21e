//! The pages of the experiment file's keys: the contents of its schema, and nothing else.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde_json::Value;

/// More values than this are not listed next to a key.
const MANY: usize = 6;

/// `docs/reference/experiment.md`, the file's sections, and a page for each section in the folder next to it;
/// by their paths from `docs/reference/`.
pub fn pages(schema: &Value) -> Vec<(String, String)> {
    let mut index = format!(
        "# The experiment file\n\n\
         <!-- `cargo xtask pages` writes this page and those that it links to from the schema. -->\n\n\
         {}\n\nEditors read the same from [experiment.schema.json](experiment.schema.json) (`tresse schema`).\n\n",
        text(schema)
    );
    let mut pages = Vec::new();
    let mut rows = Vec::new();
    let mut own = Page::new(schema, "");
    for (key, value) in properties(schema) {
        let Some(name) = section(value) else {
            rows.push(Row::of(key, value, schema, own.kind(value, key)));
            continue;
        };
        let table = match (value.get("items"), value.get("additionalProperties")) {
            (Some(_), _) => format!("[[{key}]]"),
            (_, Some(_)) => format!("[{key}.NAME]"),
            _ => format!("[{key}]"),
        };
        let mut row = Row::of(key, value, schema, format!("[`{table}`](experiment/{key}.md)"));
        row.default.clear();
        rows.push(row);
        let page = Page::new(schema, "../").write(&table, key, name);
        pages.push((format!("experiment/{key}.md"), page));
    }
    index += &table(rows);
    index += "\n## Values\n\nA quantity has its unit. A bare number is an error that shows the fix.\n\n\
        | value | example |\n|---|---|\n";
    for (name, def) in properties_of(schema, "$defs").filter(|(_, def)| is_scalar(def)) {
        let examples = def["examples"].as_array().expect("a list").iter().map(|e| format!("`{e}`"));
        writeln!(index, "| {} | {} |", words(name), examples.collect::<Vec<_>>().join(", "))
            .expect("a string");
    }
    index += &own.opened();
    pages.insert(0, ("experiment.md".to_owned(), index));
    pages
}

/// The definition of a section of the file, if the key is one.
fn section(value: &Value) -> Option<&str> {
    let of = [Some(value), value.get("items"), value.get("additionalProperties")];
    let name = of.into_iter().flatten().find_map(reference)?;
    (name != "Replications").then_some(name)
}

fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn properties(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    properties_of(value, "properties")
}

fn properties_of<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    value.get(key).and_then(Value::as_object).into_iter().flatten().map(|(key, value)| (&**key, value))
}

fn text(value: &Value) -> String {
    value.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Whether it is a quantity or a host: text or a number in the form of its example.
fn is_scalar(def: &Value) -> bool {
    def.get("examples").is_some()
}

/// `PathManager` as `path manager`.
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// The place of a heading: `fabric.red` is at `#fabricred`.
fn anchor(path: &str) -> String {
    path.to_lowercase().chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// The values of a choice with their meanings; `None` if it is something else.
fn choice(value: &Value) -> Option<Vec<(&str, String)>> {
    let all = value.get("oneOf")?.as_array()?;
    all.iter().map(|one| Some((one.get("const")?.as_str()?, text(one)))).collect()
}

struct Row {
    key: String,
    kind: String,
    default: String,
    meaning: String,
}

impl Row {
    /// `of` is the table that has the key.
    fn of(key: &str, value: &Value, of: &Value, kind: String) -> Self {
        let is_required = of["required"].as_array().is_some_and(|keys| keys.iter().any(|own| own == key));
        let default = match value.get("default") {
            _ if is_required => "required".to_owned(),
            Some(default) if default.is_string() || default.is_number() || default.is_boolean() => {
                format!("`{default}`")
            }
            _ => String::new(),
        };
        Self { key: key.to_owned(), kind, default, meaning: text(value).replace('\n', " ") }
    }
}

fn table(rows: Vec<Row>) -> String {
    let mut table = "| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    for Row { key, kind, default, meaning } in rows {
        let meaning = meaning.replace('|', "\\|");
        writeln!(table, "| `{key}` | {kind} | {default} | {meaning} |").expect("a string");
    }
    table
}

/// A section's page: its keys, and below them the tables and choices that these keys take.
struct Page<'a> {
    schema: &'a Value,
    /// The relative path from the page to `docs/reference/`.
    up: &'static str,
    /// Definitions that are or will be on the page, with the path of the key that first names each.
    told: Vec<(&'a str, String)>,
    open: VecDeque<(String, &'a Value)>,
}

impl<'a> Page<'a> {
    fn new(schema: &'a Value, up: &'static str) -> Self {
        Self { schema, up, told: Vec::new(), open: VecDeque::new() }
    }

    fn definition(&self, name: &str) -> &'a Value {
        &self.schema["$defs"][name]
    }

    fn write(mut self, heading: &str, path: &str, name: &'a str) -> String {
        self.told.push((name, String::new()));
        let mut page = format!("# `{heading}`\n");
        page += &self.definition_text(path, self.definition(name));
        page += &self.opened();
        page + "\n[All sections](../experiment.md)\n"
    }

    /// The tables and choices that keys so far take, with those that these take.
    fn opened(&mut self) -> String {
        let mut text = String::new();
        while let Some((path, value)) = self.open.pop_front() {
            text += &format!("\n## `{path}`\n");
            text += &self.definition_text(&path, value);
        }
        text
    }

    /// The text below the heading of a definition.
    fn definition_text(&mut self, path: &str, value: &'a Value) -> String {
        let mut page = match text(value) {
            text if text.is_empty() => String::new(),
            text => format!("\n{text}\n"),
        };
        if let Some(values) = choice(value) {
            page += "\n";
            for (value, meaning) in values {
                page += &format!("- `{value}`: {}\n", meaning.replace('\n', " "));
            }
        } else if let Some(all) = value.get("oneOf").and_then(Value::as_array) {
            page += &self.alternatives(path, all);
        } else {
            page += &format!("\n{}", self.keys(path, value, &[]));
        }
        page
    }

    /// Tables that are distinguished by the value of their key `pattern`; keys common to all are listed once.
    fn alternatives(&mut self, path: &str, all: &'a [Value]) -> String {
        let pattern = |one: &'a Value| one["properties"]["pattern"]["const"].as_str();
        let named: Vec<&Value> = all.iter().filter(|one| pattern(one).is_some()).collect();
        let common: Vec<&str> = named.first().map_or_else(Vec::new, |first| {
            let is_common =
                |key: &str, value: &Value| named.iter().all(|one| one["properties"][key] == *value);
            properties(first).filter(|(key, value)| is_common(key, value)).map(|(key, _)| key).collect()
        });
        let mut page = String::new();
        if let Some(first) = named.first() {
            let others: Vec<&str> =
                properties(first).map(|(k, _)| k).filter(|k| !common.contains(k)).collect();
            page += &format!("\n## Keys of every pattern\n\n{}", self.keys(path, first, &others));
        }
        for one in all {
            let (heading, left_out) = match pattern(one) {
                Some(name) => (format!("`{name}`"), [&common[..], &["pattern"]].concat()),
                None => ("Without a pattern".to_owned(), Vec::new()),
            };
            page += &format!("\n## {heading}\n\n{}\n\n{}", text(one), self.keys(path, one, &left_out));
        }
        page
    }

    fn keys(&mut self, path: &str, value: &'a Value, left_out: &[&str]) -> String {
        let own = properties(value).filter(|(key, _)| !left_out.contains(key));
        let rows: Vec<Row> = own
            .map(|(key, own)| Row::of(key, own, value, self.kind(own, &format!("{path}.{key}"))))
            .collect();
        if rows.is_empty() { "It has no keys of its own.\n".to_owned() } else { table(rows) }
    }

    /// What a key takes.
    fn kind(&mut self, value: &'a Value, path: &str) -> String {
        if let Some(name) = reference(value) {
            return self.kind_of_definition(name, path);
        }
        if let Some(values) = choice(value) {
            self.open.push_back((path.to_owned(), value));
            return self.link(&values, path);
        }
        if let Some(all) = value.get("anyOf").or_else(|| value.get("oneOf")).and_then(Value::as_array) {
            let mut kinds: Vec<String> = Vec::new();
            for one in all {
                let kind = self.kind(one, path);
                if !kind.is_empty() && !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            return kinds.join(" or ");
        }
        if let Some(own) = value.get("const") {
            return format!("`{own}`");
        }
        if let Some(all) = value.get("enum").and_then(Value::as_array) {
            return all.iter().map(|own| format!("`{own}`")).collect::<Vec<_>>().join(", ");
        }
        // The values that `for_each` substitutes for a name in braces.
        if value.get("pattern").and_then(Value::as_str).is_some_and(|pattern| pattern.contains("\\{")) {
            return String::new();
        }
        let kind = match &value["type"] {
            Value::Array(all) => all.iter().find(|kind| *kind != "null").unwrap_or(&Value::Null),
            kind => kind,
        };
        match kind.as_str() {
            Some("array") => match (value.get("items"), value.get("prefixItems").and_then(Value::as_array)) {
                (Some(items), _) => format!("list of {}", self.kind(items, path)),
                (None, Some(items)) => {
                    let kinds: Vec<String> = items.iter().map(|item| self.kind(item, path)).collect();
                    match &kinds[..] {
                        [first, second] if first == second => format!("pair of {first}"),
                        _ => format!("list: {}", kinds.join(", ")),
                    }
                }
                (None, None) => "list".to_owned(),
            },
            Some("object") => match value.get("additionalProperties").filter(|own| own.is_object()) {
                Some(own) => format!("table of {}", self.kind(own, path)),
                None => match properties(value).map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>() {
                    keys if keys.is_empty() => "table".to_owned(),
                    keys => format!("table with {}", keys.join(", ")),
                },
            },
            Some("null") | None => String::new(),
            Some("boolean") => "`true`, `false`".to_owned(),
            Some(kind) => kind.to_owned(),
        }
    }

    fn kind_of_definition(&mut self, name: &'a str, path: &str) -> String {
        let value = self.definition(name);
        if is_scalar(value) {
            return format!("[{}]({}experiment.md#values)", words(name), self.up);
        }
        if name.ends_with("Metric") {
            return format!("[metric]({}../explain/metrics.md)", self.up);
        }
        let is_table = value.get("properties").is_some() || name == "Workload";
        if !is_table && choice(value).is_none() {
            return self.kind(value, path);
        }
        let place = match self.told.iter().find(|(own, _)| *own == name) {
            Some((_, place)) => place.clone(),
            None => {
                self.told.push((name, path.to_owned()));
                self.open.push_back((path.to_owned(), value));
                path.to_owned()
            }
        };
        match choice(value) {
            Some(values) => self.link(&values, &place),
            // The page's own section.
            None if place.is_empty() => "table with the keys of this page".to_owned(),
            None => format!("[table](#{})", anchor(&place)),
        }
    }

    /// A choice's values, as a link to their meanings.
    fn link(&self, values: &[(&str, String)], path: &str) -> String {
        let mut names: Vec<String> =
            values.iter().take(MANY).map(|(value, _)| format!("`\"{value}\"`")).collect();
        if values.len() > MANY {
            names.push("…".to_owned());
        }
        format!("[{}](#{})", names.join(", "), anchor(path))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_section_has_its_keys_and_what_they_take() {
        let schema = json!({
            "description": "An experiment.",
            "properties": {
                "title": { "description": "What it shows.", "type": "string" },
                "fabric": { "description": "The network.", "$ref": "#/$defs/Fabric" },
            },
            "required": ["title", "fabric"],
            "$defs": {
                "Fabric": {
                    "description": "A network.",
                    "properties": {
                        "rate": { "description": "Of\na link.", "anyOf": [{ "$ref": "#/$defs/Rate" }, { "type": "null" }] },
                        "non_ect": { "$ref": "#/$defs/NonEct", "default": "queue" },
                        "red": { "anyOf": [{ "$ref": "#/$defs/Red" }, { "type": "null" }] },
                    },
                },
                "Rate": { "type": "string", "examples": ["10Gbps"] },
                "NonEct": { "oneOf": [{ "description": "It waits.", "const": "queue" }] },
                "Red": { "properties": { "min": { "type": ["integer", "null"] } }, "required": ["min"] },
            },
        });
        let pages = pages(&schema);
        let (index, fabric) = (&pages[0].1, &pages[1].1);
        assert!(index.contains("| `title` | string | required | What it shows. |"), "{index}");
        assert!(
            index.contains("| `fabric` | [`[fabric]`](experiment/fabric.md) |  | The network. |"),
            "{index}"
        );
        assert!(index.contains("| rate | `\"10Gbps\"` |"), "{index}");
        for part in [
            "| `rate` | [rate](../experiment.md#values) |  | Of a link. |",
            "| `non_ect` | [`\"queue\"`](#fabricnon_ect) | `\"queue\"` |  |",
            "\n## `fabric.non_ect`\n\n- `queue`: It waits.\n",
            "| `red` | [table](#fabricred) |",
            "\n## `fabric.red`\n\n| key | value | default | meaning |\n|---|---|---|---|\n| `min` | integer | required |  |\n",
        ] {
            assert!(fabric.contains(part), "{part}\n{fabric}");
        }
    }
}
