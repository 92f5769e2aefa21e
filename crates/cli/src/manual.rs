//! `tresse completions` and `tresse man`: what shells and `man` want to know of the command, from its own declarations.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;

/// Print the completions of a shell
///
/// Examples:
///   tresse completions bash > /etc/bash_completion.d/tresse
///   tresse completions zsh > ~/.zfunc/_tresse
///   tresse completions fish > ~/.config/fish/completions/tresse.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page, or write one for each command
///
/// Examples:
///   tresse man | man -l -
///   tresse man --out /usr/local/share/man/man1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ManArgs {
    /// The folder to write tresse.1, tresse-run.1 and so on to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tresse", &mut text);
    Ok(io::stdout().lock().write_all(&text)?)
}

pub fn man(args: &ManArgs) -> Result<(), Failure> {
    let command = Cli::command().disable_help_subcommand(true);
    match &args.out {
        Some(folder) => {
            fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .map_err(|e| Failure::Input(format!("--out {}: {e}", folder.display())))?;
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            io::stdout().lock().write_all(&text)?;
        }
    }
    Ok(())
}
