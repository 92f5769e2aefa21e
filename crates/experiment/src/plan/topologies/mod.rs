//! The topologies that `[fabric]` describes. Each is one file: its own keys, its description, and its network.

mod dumbbell;
mod fat_tree;
mod file;
mod kind;
mod layers;
mod leaf_spine;
mod papers;
mod parking_lot;
pub(crate) mod virtual_hosts;

use std::ops::Range;
use std::sync::LazyLock;

use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeString, DeTable, Deserializer};

use crate::diagnostic::{Wrong, unknown, wrong};
use crate::schema::fabric::Fabric;
use crate::schema::names;

pub(crate) use kind::{Kind, OwnRoutes};

/// Every topology, in the order of messages.
static ALL: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let drawn = [
        fat_tree::FAT_TREE,
        leaf_spine::LEAF_SPINE,
        virtual_hosts::VIRTUAL_HOSTS,
        dumbbell::DUMBBELL,
        parking_lot::PARKING_LOT,
    ];
    drawn.into_iter().chain(papers::kinds()).chain([file::FILE]).collect()
});

/// The topology with this name.
fn named(name: &str) -> Result<&'static Kind, String> {
    ALL.iter().find(|kind| kind.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|kind| kind.name).collect();
        unknown("value", name, &names)
    })
}

/// The topology of a fabric, if it has no key of another topology.
///
/// # Errors
/// A key of another topology.
pub(crate) fn find(f: &Fabric) -> Result<&'static Kind, Wrong> {
    let kind = named(&f.topology).map_err(|e| wrong("topology", e))?;
    let own = kind.key_names();
    for other in ALL.iter() {
        if let Some(key) = other.key_names().iter().find(|key| f.own.contains_key(*key) && !own.contains(key))
        {
            return Err(wrong(key, format!("`{key}` is {}; {}", other.whose, kind.has)));
        }
    }
    Ok(kind)
}

/// Checks the name of the topology and the keys of topologies, in the text of `[fabric]`. Keys of other topologies
/// are accepted: the profile, a variant or a setting may still change the topology.
///
/// # Errors
/// The first error, with its location.
pub(crate) fn check(fabric: &DeTable) -> Result<(), Wrong> {
    let misread = |span: Range<usize>, message: String| Wrong::offset(span.start, message);
    let Some(topology) = fabric.get("topology") else { return Ok(()) };
    let name = topology.get_ref().as_str().unwrap_or_default();
    named(name).map_err(|e| misread(topology.span(), e))?;
    let known = key_names();
    if let Some((key, _)) = fabric.iter().find(|(key, _)| !known.iter().any(|known| known == key.get_ref())) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(misread(key.span(), unknown("key", key.get_ref(), &known)));
    }
    for kind in ALL.iter() {
        let own = kind.key_names();
        let is_own = |(key, _): &(&Spanned<DeString>, &_)| own.iter().any(|own| own == key.get_ref());
        let keys = fabric.iter().filter(is_own).map(|(key, value)| (key.clone(), value.clone())).collect();
        (kind.keys.check)(Deserializer::from(Spanned::new(topology.span(), keys)))?;
    }
    Ok(())
}

/// The names of all keys that `[fabric]` may have: `topology`, those that size a topology, and those of all.
fn key_names() -> Vec<String> {
    let common = names(Fabric::json_schema);
    let mut names = vec![common[0].clone()];
    for key in ALL.iter().flat_map(Kind::key_names) {
        if !names.contains(key) {
            names.push(key.clone());
        }
    }
    names.extend_from_slice(&common[1..]);
    names
}

/// Adds the topologies and their keys to the schema of `[fabric]`.
pub(crate) fn add_to_schema(generator: &mut SchemaGenerator) {
    generator.subschema_for::<Fabric>();
    let names = ALL
        .iter()
        .map(|kind| json_schema!({ "description": kind.meaning, "type": "string", "const": kind.name }));
    let topology = json_schema!({ "description": "Its shape.", "oneOf": names.collect::<Vec<_>>() });
    let mut properties = Map::from_iter([("topology".to_owned(), topology.to_value())]);
    for kind in ALL.iter() {
        let own = (kind.keys.schema)(generator);
        properties.extend(own.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
    }
    let fabric = generator.definitions_mut().get_mut("Fabric").and_then(Value::as_object_mut);
    let fabric = fabric.expect("it was just made");
    let common = fabric.get_mut("properties").and_then(Value::as_object_mut).expect("it is a table");
    for (key, value) in std::mem::take(common) {
        properties.entry(key).or_insert(value);
    }
    *common = properties;
    fabric.insert("additionalProperties".to_owned(), Value::Bool(false));
}
