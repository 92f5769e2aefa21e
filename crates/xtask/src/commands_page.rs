//! The page of the commands: the output of `--help`, and nothing else.

use std::fmt::Write as _;

use tresse::Help;

/// `docs/reference/commands.md`: the table of all, and a section for each.
pub fn page(commands: &[Help]) -> String {
    let (root, commands) = commands.split_first().expect("tresse itself");
    let mut page = format!(
        "# Commands\n\n\
         <!-- `cargo xtask pages` writes this page from the commands' --help. -->\n\n\
         {}| command | what it does |\n|---|---|\n",
        fenced(&root.text)
    );
    for command in commands {
        let (name, about) = (&command.name, command.about.replace('|', "\\|"));
        writeln!(page, "| [tresse {name}](#tresse-{}) | {about} |", name.replace(' ', "-"))
            .expect("a string");
    }
    page.push('\n');
    for command in commands {
        let level = if command.name.contains(' ') { "###" } else { "##" };
        write!(page, "{level} tresse {}\n\n{}", command.name, fenced(&command.text)).expect("a string");
    }
    page
}

fn fenced(help: &str) -> String {
    format!("```text\n{}\n```\n\n", help.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_a_row_and_a_section() {
        let help = |name: &str| Help {
            name: name.to_owned(),
            about: "does | it".to_owned(),
            text: format!("help of {name}\n"),
        };
        let page = page(&["", "run", "mark", "mark add"].map(help));
        assert!(page.contains("| [tresse mark add](#tresse-mark-add) | does \\| it |\n"));
        assert!(page.contains("\n## tresse run\n\n```text\nhelp of run\n```\n"));
        assert!(page.contains("\n### tresse mark add\n\n```text\nhelp of mark add\n```\n"));
    }
}
