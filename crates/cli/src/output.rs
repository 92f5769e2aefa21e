//! Output on stdout.

use std::io::{self, Write};

use tresse_workbench::json::pretty;

use crate::ended::Ended;

/// One JSON object.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Ended> {
    print(&pretty(value))
}

/// A text and a newline.
pub fn print(text: &str) -> Result<(), Ended> {
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}
