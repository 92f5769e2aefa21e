//! The pages of the commands: the output of `--help`, and nothing else.

use std::fmt::Write as _;

use tresse::Help;

/// `docs/reference/commands.md`, the table of all, and a page for each in the folder next to it; by their
/// paths from `docs/reference/`.
pub fn pages(commands: &[Help]) -> Vec<(String, String)> {
    let (root, commands) = commands.split_first().expect("tresse itself");
    let mut table = format!(
        "# Commands\n\n\
         <!-- `cargo xtask pages` writes this page and those that it links to from the commands' --help. -->\n\n\
         {}| command | what it does |\n|---|---|\n",
        fenced(&root.text)
    );
    let mut pages: Vec<(String, String)> = Vec::new();
    for command in commands {
        let (first, is_below) =
            command.name.split_once(' ').map_or((&*command.name, false), |(first, _)| (first, true));
        let path = format!("commands/{first}.md");
        let anchor =
            if is_below { format!("#tresse-{}", command.name.replace(' ', "-")) } else { String::new() };
        let about = command.about.replace('|', "\\|");
        writeln!(table, "| [tresse {}]({path}{anchor}) | {about} |", command.name).expect("a string");
        let section = format!("tresse {}\n\n{}", command.name, fenced(&command.text));
        match pages.last_mut().filter(|_| is_below) {
            Some((_, page)) => *page += &format!("## {section}"),
            None => pages.push((path, format!("# {section}"))),
        }
    }
    for (_, page) in &mut pages {
        *page += "[All commands](../commands.md)\n";
    }
    pages.insert(0, ("commands.md".to_owned(), table));
    pages
}

fn fenced(help: &str) -> String {
    format!("```text\n{}\n```\n\n", help.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_below_another_stands_in_its_page() {
        let help = |name: &str| Help {
            name: name.to_owned(),
            about: "does | it".to_owned(),
            text: format!("help of {name}\n"),
        };
        let pages = pages(&["", "run", "mark", "mark add"].map(help));
        let paths: Vec<&str> = pages.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["commands.md", "commands/run.md", "commands/mark.md"]);
        assert!(pages[0].1.contains("| [tresse mark add](commands/mark.md#tresse-mark-add) | does \\| it |"));
        assert!(pages[2].1.contains("\n## tresse mark add\n\n```text\nhelp of mark add\n```\n"));
    }
}
