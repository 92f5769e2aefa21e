//! Ctrl-C and SIGTERM. A command with nothing to keep ends at once; a run ends early and keeps what was measured. A
//! second signal ends the process at once.

use std::io::{self, Write};
use std::sync::Arc;

use tresse_units::output_file;
use tresse_workbench::{Failure, Interrupt};

/// Installs the handler, once per process. From then on a signal ends the process at once, unless there is something
/// to keep.
///
/// # Errors
/// If the system does not allow it.
pub fn catch() -> Result<Arc<Interrupt>, Failure> {
    catch_with("error: interrupted")
}

/// As [`catch`]; `last` is said when the process ends at once.
///
/// # Errors
/// If the system does not allow it.
pub fn catch_with(last: &'static str) -> Result<Arc<Interrupt>, Failure> {
    let interrupt = Arc::new(Interrupt::default());
    let handler = Arc::clone(&interrupt);
    ctrlc::set_handler(move || {
        if !handler.ask() {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "{last}");
            output_file::remove_unfinished();
            std::process::exit(130);
        }
    })
    .map_err(|e| Failure::Machine(format!("the interrupt signal: {e}")))?;
    Ok(interrupt)
}
