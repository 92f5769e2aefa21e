//! `path_manager` of a scheme: a name, or a table with the name and values of its parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use tresse_path_manager::{ConfiguredManager, Declaration, SettingError, all, find};
use tresse_units::{ParameterError, Range, Value, Whole};

use crate::diagnostic::{Wrong, did_you_mean};
use crate::schema::declared;

/// A path manager with values for some of its parameters (`tresse list path-managers`).
#[derive(Debug, Clone, PartialEq)]
pub struct PathManager {
    pub name: String,
    /// The values, as given in the file.
    pub parameters: BTreeMap<String, toml::Value>,
}

/// The parameter that is set by the scheme's own key `subflows`, which is an axis.
const SUBFLOWS: &str = "subflows";

impl PathManager {
    /// Whether the scheme's `subflows` sets how many it opens; other path managers decide themselves.
    pub fn takes_subflows(&self) -> bool {
        find(&self.name).is_some_and(|d| d.parameters.iter().any(|p| p.name == SUBFLOWS))
    }

    /// The number of subflows of a scheme that does not give one: the declared default; 1 if the path manager
    /// decides.
    pub fn usual_subflows(&self) -> u32 {
        let declared = find(&self.name).and_then(|d| d.parameters.iter().find(|p| p.name == SUBFLOWS));
        match declared.map(|p| p.range) {
            Some(Range::Whole(Whole { default, .. })) => default as u32,
            _ => 1,
        }
    }

    /// The path manager with `subflows` subflows, if it takes a number.
    ///
    /// # Errors
    /// What is wrong, and the path of keys below the scheme to it.
    pub fn resolve(&self, subflows: u32) -> Result<ConfiguredManager, Wrong> {
        let below = |key: &str, message: String| Wrong::new(["path_manager", key], message);
        let Some(declaration) = find(&self.name) else {
            let known: Vec<&str> = all().iter().map(|d| d.name).collect();
            let hint = did_you_mean(&self.name, known.iter().copied());
            let known = known.join(", ");
            let message = format!("there is no path manager `{}`{hint} (available: {known})", self.name);
            return Err(below("name", message));
        };
        let mut settings = Vec::new();
        for (name, value) in &self.parameters {
            let value = setting(declaration, name, value).map_err(|e| below(name, e))?;
            settings.push((name.as_str(), value));
        }
        if self.takes_subflows() {
            settings.push((SUBFLOWS, Value::Whole(subflows.into())));
        }
        ConfiguredManager::new(declaration, settings).map_err(|e| {
            // Every other value was looked at above.
            match e {
                SettingError::Parameter(ParameterError::Value { .. }) => Wrong::key(SUBFLOWS, e.to_string()),
                _ => below("nstar", e.to_string()),
            }
        })
    }
}

/// The value of the parameter `name`, in its unit.
fn setting(declaration: &Declaration, name: &str, value: &toml::Value) -> Result<Value, String> {
    if name == SUBFLOWS {
        return Err(
            "the number of subflows is an axis: set `subflows` of the scheme, next to `path_manager`".into(),
        );
    }
    let own = declaration.parameters.iter().filter(|p| p.name != SUBFLOWS);
    declared::setting(declaration.name, own, name, value)
}

impl<'de> Deserialize<'de> for PathManager {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = PathManager;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path manager such as \"opn\" or { name = \"fixed\", by = \"port\" }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<PathManager, E> {
                Ok(PathManager { name: name.to_owned(), parameters: BTreeMap::new() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PathManager, A::Error> {
                let mut parameters =
                    BTreeMap::<String, toml::Value>::deserialize(MapAccessDeserializer::new(map))?;
                match parameters.remove("name") {
                    Some(toml::Value::String(name)) => Ok(PathManager { name, parameters }),
                    Some(other) => Err(A::Error::custom(format!("name = {other} is not a string"))),
                    None => Err(A::Error::custom("`name` is missing, such as name = \"fixed\"")),
                }
            }
        }
        d.deserialize_any(Shape)
    }
}

impl Serialize for PathManager {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        if self.parameters.is_empty() {
            return s.serialize_str(&self.name);
        }
        let name = [("name", toml::Value::String(self.name.clone()))];
        s.collect_map(name.into_iter().chain(self.parameters.iter().map(|(k, v)| (k.as_str(), v.clone()))))
    }
}

impl JsonSchema for PathManager {
    fn schema_name() -> Cow<'static, str> {
        "PathManager".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = all().iter().map(|d| d.name).collect();
        json_schema!({
            "description": "A path manager's name, or a table with its name and parameters.",
            "anyOf": [
                { "type": "string", "enum": names },
                { "type": "object", "required": ["name"], "properties": { "name": { "enum": names } } },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use tresse_path_manager::{Config, opn};
    use tresse_units::{MICROSECOND, Value};

    use super::PathManager;

    fn read(text: &str) -> Result<PathManager, String> {
        let table: toml::Table = toml::from_str(text).expect("valid TOML");
        table["path_manager"].clone().try_into().map_err(|e: toml::de::Error| e.message().to_owned())
    }

    fn config(text: &str, subflows: u32) -> Result<Config, (String, String)> {
        let manager = read(text).map_err(|e| (String::new(), e))?;
        let scheme = manager.resolve(subflows).map_err(|e| (e.keys().join("."), e.message))?;
        Ok(scheme.config().clone())
    }

    #[test]
    fn the_scheme_says_how_many_subflows() {
        for (text, manager) in [
            (r#"path_manager = "fixed""#, "address"),
            (r#"path_manager = { name = "fixed", by = "port" }"#, "port"),
        ] {
            let expected = tresse_path_manager::ConfiguredManager::new(
                tresse_path_manager::find("fixed").expect("declared"),
                [("subflows", Value::Whole(7)), ("by", Value::Choice(manager.to_owned()))],
            );
            assert_eq!(config(text, 7).as_ref(), Ok(expected.expect("valid").config()));
        }
    }

    #[test]
    fn times_and_sizes_have_units() {
        let Ok(Config::Opn(opn)) = config(r#"path_manager = { name = "opn", timer_3 = "20ms" }"#, 1) else {
            panic!("opn with a period of 20 ms");
        };
        assert_eq!(opn.tuning.expect("it tunes").timer_3, 20_000 * MICROSECOND);
        assert!(opn.shifting.is_some_and(|s| s.timer_1 == opn::Silence::TwiceSrtt));
        let Ok(Config::Mmptcp(mmptcp)) =
            config(r#"path_manager = { name = "mmptcp", threshold = "1MB" }"#, 4)
        else {
            panic!("mmptcp with 1 MB");
        };
        assert_eq!((mmptcp.threshold, mmptcp.subflows), (1_000_000, 4));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, place, expected) in [
            (r#""fixd""#, "path_manager.name", "there is no path manager `fixd`; did you mean `fixed`?"),
            (
                r#"{ name = "fixed", bye = "port" }"#,
                "path_manager.bye",
                "no parameter `bye`; did you mean `by`?",
            ),
            (r#"{ name = "fixed", by = "prot" }"#, "path_manager.by", "is not one of address, port"),
            (r#"{ name = "fixed", subflows = 4 }"#, "path_manager.subflows", "`subflows` of the scheme"),
            (r#"{ name = "opn", timer_3 = 10 }"#, "path_manager.timer_3", "such as \"200us\""),
            (r#"{ name = "opn", timer_3 = "1.5ns" }"#, "path_manager.timer_3", "finer than one microsecond"),
            (r#"{ name = "opn", timer_3 = "2000s" }"#, "path_manager.timer_3", "from 1 to 60000000 us"),
            (r#"{ name = "opn", nstar = "empirical" }"#, "path_manager.nstar", "needs `table`"),
            (r#"{ name = "opn", table = [0] }"#, "path_manager.table", "from 1 to 32"),
            (r#"{ name = "path-sharing", gamma = "10" }"#, "path_manager.gamma", "a whole number"),
            (r#"{ name = "path-sharing", gamma = -1 }"#, "path_manager.gamma", "a whole number"),
            (r#"{ name = "mmptcp" }"#, "subflows", "1 to 63"),
            (r#"{ by = "port" }"#, "", "`name` is missing"),
            ("4", "", "a path manager such as"),
        ] {
            let (path, message) = config(&format!("path_manager = {text}"), 64).expect_err(text);
            assert_eq!(path, place, "{text}: {message}");
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn what_was_read_is_written_again() {
        for text in
            [r#""opn""#, r#"{ name = "opn", nstar = "empirical", table = [20, 9], timer_2 = "50ms" }"#]
        {
            let manager = read(&format!("path_manager = {text}")).expect("valid");
            let written = toml::Value::try_from(&manager).expect("it can be written");
            assert_eq!(written.try_into::<PathManager>(), Ok(manager));
        }
    }
}
