//! What a developer of Tresse runs: `cargo xtask generate [--check]`.

#![forbid(unsafe_code)]

mod controllers_page;
mod generate;
mod results_page;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "What a developer of Tresse runs")]
enum Command {
    /// Write every file that is generated
    Generate {
        /// Write nothing: name the files that are not up to date, and exit with 1 if there are any
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let Command::Generate { check } = Command::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let result = match check {
        true => generate::check(&root),
        false => generate::write(&root),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
