//! The command `tresse`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tresse::main()
}
