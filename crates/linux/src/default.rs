//! A network namespace's default congestion control.

use std::fs;

use crate::Error;
use crate::netns::{self, Namespace};

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The names of all congestion controls that the kernel knows.
pub(crate) fn available() -> Vec<String> {
    let text = fs::read_to_string(AVAILABLE).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The default of `namespace`.
pub(crate) fn get(namespace: &Namespace) -> Result<String, Error> {
    let text = namespace.within(|| fs::read_to_string(DEFAULT))?;
    let text = text.map_err(|e| Error::Machine(format!("{}: {DEFAULT}: {e}", namespace.label)))?;
    Ok(text.trim().to_owned())
}

/// The labels of the visible namespaces whose default is `name`.
pub(crate) fn namespaces_of(name: &str) -> Vec<String> {
    let all = netns::all().into_iter();
    all.filter(|namespace| get(namespace).is_ok_and(|own| own == name)).map(|own| own.label).collect()
}

/// Makes `name` the default of `namespace`.
pub(crate) fn set(namespace: &Namespace, name: &str) -> Result<(), Error> {
    namespace.within(|| fs::write(DEFAULT, name))?.map_err(|e| {
        Error::Machine(format!(
            "{}: `{name}` cannot become the default: {DEFAULT}: {e}\n\nhint: run it as root",
            namespace.label
        ))
    })
}

/// Restores the default `before` of `namespace`. If it is unknown or gone, sets CUBIC, or otherwise Reno,
/// which the kernel always has and always allows. Returns the new default.
pub(crate) fn restore(namespace: &Namespace, before: Option<&str>) -> Result<String, Error> {
    for name in before.into_iter().chain(["cubic"]) {
        if set(namespace, name).is_ok() {
            return Ok(name.to_owned());
        }
    }
    set(namespace, "reno").map(|()| "reno".to_owned())
}
