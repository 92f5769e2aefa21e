//! The interpreter of the Python package, which carries out some requests.

use std::env;
use std::ffi::OsString;

/// What to do if the package, or what its extra installs, is missing.
pub fn hint(extra: &str) -> String {
    format!(
        "install the Python package with its extra `{extra}` (docs/python.md), and set TRESSE_PYTHON to the interpreter \
         that has it"
    )
}

/// The interpreter to use: $TRESSE_PYTHON, or python3.
pub fn interpreter() -> OsString {
    #[expect(clippy::disallowed_methods, reason = "it says where Python is: no result depends on it")]
    let said = env::var("TRESSE_PYTHON").ok().filter(|said| !said.is_empty());
    said.map_or_else(|| OsString::from("python3"), OsString::from)
}
