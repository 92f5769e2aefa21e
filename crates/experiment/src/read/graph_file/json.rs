//! Node-link JSON, as networkx's `node_link_data` writes it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Attribute, Document, Element, Id};
use crate::diagnostic::Wrong;

/// The entries of an object, in their order, with the text of each value, whose position in the file is its
/// location.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        d.deserialize_map(Entries)
    }
}

/// A file's text, whose parts know their position.
struct File<'a>(&'a str);

impl<'a> File<'a> {
    fn at(&self, value: &RawValue) -> usize {
        value.get().as_ptr() as usize - self.0.as_ptr() as usize
    }

    fn read<T: Deserialize<'a>>(&self, value: &'a RawValue, what: &str) -> Result<T, Wrong> {
        serde_json::from_str(value.get())
            .map_err(|_| Wrong::offset(self.at(value), format!("expected {what}")))
    }

    fn id(&self, value: &'a RawValue) -> Result<Id, Wrong> {
        let key = value.get().to_owned();
        let shown = match self.read(value, "an id")? {
            serde_json::Value::String(text) => text,
            // networkx has tuples, which are lists here.
            other => other.to_string(),
        };
        Ok(Id { key, shown, at: self.at(value) })
    }

    /// The ids with these names, and the other entries.
    fn element<const N: usize>(
        &self,
        value: &'a RawValue,
        what: &str,
        ids: [&str; N],
    ) -> Result<([Id; N], Element), Wrong> {
        let at = self.at(value);
        let Object(entries) = self.read(value, "an object")?;
        let find = |name: &str| {
            let id = entries.iter().find(|(key, _)| key == name);
            let (_, id) = id.ok_or_else(|| Wrong::offset(at, format!("{what} without `{name}`")))?;
            self.id(id)
        };
        let mut found = Vec::new();
        for name in ids {
            found.push(find(name)?);
        }
        let others = entries.iter().filter(|(key, value)| !ids.contains(&&**key) && value.get() != "null");
        let attribute = |(name, value): &(String, &'a RawValue)| Attribute {
            name: name.clone(),
            value: match serde_json::from_str(value.get()) {
                Ok(serde_json::Value::String(text)) => Some(text),
                Ok(serde_json::Value::Array(_) | serde_json::Value::Object(_)) | Err(_) => None,
                Ok(_) => Some(value.get().to_owned()),
            },
            at: self.at(value),
        };
        let attributes = others.map(attribute).collect();
        let found = found.try_into().expect("as many as were asked for");
        Ok((found, Element { at, attributes }))
    }
}

/// Reads node-link JSON.
pub fn read(text: &str) -> Result<Document, Wrong> {
    let file = File(text);
    let Object(entries) = serde_json::from_str(text).map_err(|e| {
        let line = text.split_inclusive('\n').take(e.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or("").to_owned();
        Wrong::offset(line + e.column().saturating_sub(1), message)
    })?;
    let find = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let list = |value| file.read::<Vec<&RawValue>>(value, "a list");
    let start = text.find('{').unwrap_or(0);
    let missing = |what: &str| {
        Wrong::offset(
            start,
            format!("{what}: expected node-link JSON, as networkx's node_link_data writes it"),
        )
    };
    let nodes = list(find("nodes").ok_or_else(|| missing("no `nodes`"))?)?;
    let edges = match (find("links"), find("edges")) {
        (Some(edges), None) | (None, Some(edges)) => list(edges)?,
        (None, None) => return Err(missing("neither `links` nor `edges`")),
        (Some(_), Some(_)) => return Err(missing("both `links` and `edges`")),
    };
    let directed = find("directed").map(|value| file.read(value, "true or false"));
    let mut document =
        Document { directed: directed.transpose()?.unwrap_or(false), nodes: Vec::new(), edges: Vec::new() };
    for value in nodes {
        let ([id], element) = file.element(value, "a node", ["id"])?;
        document.nodes.push((id, element));
    }
    for value in edges {
        document.edges.push(file.element(value, "a link", ["source", "target"])?);
    }
    Ok(document)
}
