//! `routing` of the fabric: a name, or a table with a load balancer's name and values of its parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use tresse_fabric::balancers::{self, Follows};
use tresse_fabric::{Balancing, FlagConfig};

use crate::diagnostic::did_you_mean;
use crate::schema::declared;

/// What decides which path packets take, with values for some of its parameters
/// (`tresse list load-balancers`).
#[derive(Debug, Clone, PartialEq)]
pub struct RoutingKey {
    pub name: String,
    /// The values, as given in the file.
    pub parameters: BTreeMap<String, toml::Value>,
}

/// The key of the table that names the load balancer.
const NAME: &str = "name";

/// What a routing's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Two-level routing.
    TwoLevel,
    /// Fixed shortest paths.
    Shortest,
    /// The nodes choose; some balancers need congestion flags.
    Nodes(Balancing, Option<FlagConfig>),
}

impl RoutingKey {
    /// The routing.
    ///
    /// # Errors
    /// What is wrong, and the key below the routing.
    pub(crate) fn resolve(&self) -> Result<Choice, (&str, String)> {
        let of_switches = || balancers::all().iter().filter(|d| d.follows != Follows::Host);
        let Some(declaration) = balancers::find(&self.name) else {
            let known: Vec<&str> = of_switches().map(|d| d.name).collect();
            let hint = did_you_mean(&self.name, known.iter().copied());
            let known = known.join(", ");
            return Err((NAME, format!("there is no routing `{}`{hint} (available: {known})", self.name)));
        };
        if declaration.follows == Follows::Host {
            let message = format!(
                "{0} is set at the hosts: use routing = \"ecmp\" and `{0}` in [transport]",
                self.name
            );
            return Err((NAME, message));
        }
        let values = declared::values(declaration.name, declaration.parameters, &self.parameters)?;
        Ok(match (declaration.name, declaration.balancing(&values)) {
            (_, Some(balancing)) => Choice::Nodes(balancing, declaration.flags(&values)),
            ("two-level", None) => Choice::TwoLevel,
            ("shortest", None) => Choice::Shortest,
            (other, None) => unreachable!("{other} is declared, and no routing"),
        })
    }
}

impl<'de> Deserialize<'de> for RoutingKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = RoutingKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a routing such as \"ecmp\" or { name = \"drill\", samples = 2 }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<RoutingKey, E> {
                Ok(RoutingKey { name: name.to_owned(), parameters: BTreeMap::new() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RoutingKey, A::Error> {
                let mut parameters =
                    BTreeMap::<String, toml::Value>::deserialize(MapAccessDeserializer::new(map))?;
                match parameters.remove(NAME) {
                    Some(toml::Value::String(name)) => Ok(RoutingKey { name, parameters }),
                    Some(other) => Err(A::Error::custom(format!("name = {other} is not a string"))),
                    None => Err(A::Error::custom("`name` is missing, such as name = \"drill\"")),
                }
            }
        }
        d.deserialize_any(Shape)
    }
}

impl Serialize for RoutingKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.parameters.is_empty() {
            return s.serialize_str(&self.name);
        }
        let name = [(NAME, toml::Value::String(self.name.clone()))];
        s.collect_map(name.into_iter().chain(self.parameters.iter().map(|(k, v)| (k.as_str(), v.clone()))))
    }
}

impl JsonSchema for RoutingKey {
    fn schema_name() -> Cow<'static, str> {
        "Routing".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let all = balancers::all().iter().filter(|d| d.follows != Follows::Host);
        let names: Vec<&str> = all.map(|d| d.name).collect();
        json_schema!({
            "description": "A routing's name, or a table with a load balancer's name and its parameters.",
            "anyOf": [
                { "type": "string", "enum": names },
                { "type": "object", "required": [NAME], "properties": { NAME: { "enum": names } } },
            ],
        })
    }
}
