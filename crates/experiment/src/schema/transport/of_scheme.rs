//! The transport of a scheme: what all schemes have in common, overridden by the scheme's own keys.

use tresse_transport::Config;

use crate::schema::transport::Transport;

/// The keys that lead to the error, starting at the scheme's table, and why.
type WrongBelow = (Vec<&'static str>, String);

impl Transport {
    /// The transport of a scheme whose own keys are `own`; `common` is the transport of `self` without them.
    ///
    /// # Errors
    /// The key that is wrong, and why.
    pub(crate) fn of_scheme(&self, own: Option<&Self>, common: &Config) -> Result<Config, WrongBelow> {
        let Some(own) = own else { return Ok(*common) };
        if own.profile.is_some() && self.profile.is_none() {
            let message = "keys override profiles, and [transport], which has no profile, sets every key, \
            so this one would change little\n\nhint: give [transport] a profile too, and set there \
            only the keys that no scheme's profile should change";
            return Err((vec!["transport", "profile"], message.to_owned()));
        }
        own.over(self).config().map_err(|(key, message)| {
            // [transport] alone is valid: the scheme's keys cause the conflict, also if the message names another.
            let stands_here = own.table().contains_key(key);
            match stands_here {
                true => (vec!["transport", key], message),
                false => (vec!["transport"], format!("with the values of [transport], {key}: {message}")),
            }
        })
    }
}
