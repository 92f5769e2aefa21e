//! The transport of a scheme: what all schemes have in common, overridden by the scheme's own keys, or its own profile.

use tresse_transport::Config;

use crate::schema::transport::Transport;

/// The keys that lead to the error, starting at the scheme's table, and why.
type WrongBelow = (Vec<&'static str>, String);

impl Transport {
    /// The transport of a scheme whose own keys are `own`; `common` is the transport of `self` without them. A scheme
    /// with its own profile is another host: nothing of `self` applies to it.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub(crate) fn of_scheme(&self, own: Option<&Self>, common: &Config) -> Result<Config, WrongBelow> {
        let Some(own) = own else { return Ok(*common) };
        let keys = if own.profile.is_some() { own.clone() } else { own.over(self) };
        keys.config().map_err(|(key, message)| {
            // [transport] alone is valid: the scheme's keys cause the conflict, also if the message names another.
            let stands_here = own.table().contains_key(key);
            match (stands_here, own.profile.is_some()) {
                (true, _) => (vec!["transport", key], message),
                (false, true) => (vec!["transport"], format!("{key}: {message}")),
                (false, false) => {
                    (vec!["transport"], format!("with the values of [transport], {key}: {message}"))
                }
            }
        })
    }

    /// The keys that are given here and have another value for a scheme with its own profile, whose keys are `own`: by
    /// name, the value here and the one of the scheme. Somebody may expect them to apply to all schemes.
    pub fn not_of_scheme(&self, own: &Self) -> Vec<(String, String, String)> {
        if own.profile.is_none() {
            return Vec::new();
        }
        let values = own.values();
        let given = self.table().into_iter().filter(|(key, _)| key != "profile");
        let differs = given.filter(|(key, value)| values.get(key) != Some(value));
        let text = |value: Option<&toml::Value>| match value {
            Some(toml::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "unset".to_owned(),
        };
        differs.map(|(key, value)| (key.clone(), text(Some(&value)), text(values.get(&key)))).collect()
    }
}
