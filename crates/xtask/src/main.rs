//! What a developer of Tresse runs: `cargo xtask generate [--check]`, `cargo xtask pages FOLDER`, `cargo xtask real RUNS`.

#![forbid(unsafe_code)]

mod balancers_page;
mod commands_page;
mod contract;
mod controllers_page;
mod generate;
mod keys_page;
mod networks_page;
mod palette;
mod real;
mod topics_page;
mod twin_page;
mod worst_cases;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "What a developer of Tresse runs")]
enum Command {
    /// Write every generated file that is in git
    Generate {
        /// Write nothing: name the files that are not up to date, and exit with 1 if there are any
        #[arg(long)]
        check: bool,
    },
    /// Write the pages that are only in the site: the reference, and a page for each paper
    Pages {
        /// The folder, which is emptied first
        folder: PathBuf,
    },
    /// Keep the results of runs on real hosts in papers/results/PAPER-real.json
    Real {
        /// The folder with the runs' folders
        runs: PathBuf,
    },
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let result = match Command::parse() {
        Command::Generate { check: true } => generate::check(&root),
        Command::Generate { check: false } => generate::write(&root),
        Command::Pages { folder } => generate::write_pages(&root, &folder),
        Command::Real { runs } => real::keep(&root, &runs),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
