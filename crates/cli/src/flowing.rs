//! Help texts whose paragraphs take the width of the terminal.
//!
//! They are doc comments that clap takes as they are (`verbatim_doc_comment`), for the sake of their examples and
//! tables. So the paragraphs come in the lines of the source.

use clap::{Command, CommandFactory};

use crate::Cli;

/// The command with all its subcommands.
pub fn command() -> Command {
    flowing(Cli::command())
}

fn flowing(command: Command) -> Command {
    let long = command.get_long_about().map(|text| joined(&text.to_string()));
    let command = match long {
        Some(text) => command.long_about(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// Joins the lines of each paragraph; lines that begin with a space are examples and tables, and stay.
fn joined(text: &str) -> String {
    let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut joined = String::new();
    let mut before = "";
    for line in text.lines() {
        if !joined.is_empty() {
            joined.push(if is_text(before) && is_text(line) { ' ' } else { '\n' });
        }
        joined.push_str(line);
        before = line;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn paragraphs_are_joined_and_tables_stay() {
        let text = "Do it\n\nOne line\nand the next.\n\nExamples:\n  a\n  b\nmore\ntext";
        assert_eq!(joined(text), "Do it\n\nOne line and the next.\n\nExamples:\n  a\n  b\nmore text");
    }
}
