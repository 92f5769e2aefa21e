//! `tresse completions` and `tresse man`: shell completions and manual pages, made from the command's declarations.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap_complete::Shell;
use tresse_units::output_file::write_whole;
use tresse_workbench::Failure;

use crate::ended::Ended;
use crate::flowing;

/// Print the completions for a shell
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
    /// The folder to write tresse.1, tresse-run.1 and so on to; it is created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A command with its help.
#[derive(Debug)]
pub struct Help {
    /// Its name, such as `controller new`; empty for `tresse` itself.
    pub name: String,
    /// What it does, in one line.
    pub about: String,
    /// What `tresse NAME --help` prints.
    pub text: String,
}

/// The help of every command, each before its subcommands.
pub fn help() -> Vec<Help> {
    let mut root = flowing::command().disable_help_subcommand(true).term_width(100);
    root.build();
    let mut all = Vec::new();
    add_help(&mut root, "", &mut all);
    all
}

fn add_help(command: &mut clap::Command, name: &str, all: &mut Vec<Help>) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    all.push(Help { name: name.to_owned(), about, text: command.render_long_help().to_string() });
    for below in command.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
        let name = format!("{name} {}", below.get_name());
        add_help(below, name.trim_start(), all);
    }
}

pub fn completions(args: &CompletionsArgs) -> Result<(), Ended> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut flowing::command(), "tresse", &mut text);
    Ok(io::stdout().lock().write_all(&text)?)
}

pub fn man(args: &ManArgs) -> Result<(), Ended> {
    let command = flowing::command().disable_help_subcommand(true);
    match &args.out {
        Some(folder) => {
            fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .and_then(|()| keep_tables(folder))
                .map_err(|e| Failure::Input(format!("--out {}: {e}", folder.display())))?;
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(command).render(&mut text)?;
            io::stdout().lock().write_all(unfilled(&String::from_utf8_lossy(&text)).as_bytes())?;
        }
    }
    Ok(())
}

/// Applies [`unfilled`] to every page of a folder.
fn keep_tables(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("tresse") && name.ends_with(".1") {
            write_whole(&path, unfilled(&fs::read_to_string(&path)?))?;
        }
    }
    Ok(())
}

/// A manual page whose tables and examples, the lines that begin with a space, keep their lines and spaces.
fn unfilled(page: &str) -> String {
    let mut text = String::new();
    let mut filled = true;
    for line in page.lines() {
        if line.starts_with(' ') == filled {
            text.push_str(if filled { ".nf\n" } else { ".fi\n" });
            filled = !filled;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::unfilled;

    #[test]
    fn tables_keep_their_lines() {
        assert_eq!(unfilled("a\n  b   c\n  d\ne\n"), "a\n.nf\n  b   c\n  d\n.fi\ne\n");
    }
}
