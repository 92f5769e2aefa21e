//! Output on stdout.

use std::io::{self, Write};

use crate::failure::Failure;

/// One JSON object.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&pretty(value))
}

/// A text and a newline.
pub fn print(text: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

/// Indented JSON.
pub fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).expect("results are plain data")
}
