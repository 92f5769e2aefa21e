//! The pages of the controllers: the declarations and texts of their files, and nothing else.

use std::fmt::Write as _;
use std::path::Path;

use tresse_controllers::Controller;
use tresse_workbench::catalogue::controllers;

/// `docs/reference/controllers.md`, the table of all, and a page for each in the folder next to it; by their
/// paths from `docs/reference/`.
pub fn pages(controllers: &[Controller]) -> Vec<(String, String)> {
    let mut table = "# The controllers\n\n\
        <!-- `cargo xtask pages` writes this page and those that it links to from controllers/*.c. -->\n\n\
        A page for each controller shows what its file in [controllers/](../../controllers) declares, and \
        the comment\nat its head: the source, the equations, what the paper leaves open, every deviation. `tresse explain NAME` shows the \
        same.\n[controllers.md](../controllers.md) says how to write one; \
        [papers/catalogue.md](../../papers/catalogue.md) has the sources that are\ncited by a key (XMP, KH, THESIS, VMCC), \
        and the rows that a header calls \"catalogue S10\".\n\n\
        | controller | what it is | coupled | signals | in Linux |\n|---|---|---|---|---|\n"
        .to_owned();
    for c in controllers {
        let (coupled, linux) = (yes(c.coupled()), yes(c.attachable()));
        let signals = controllers::strongest_signals(c);
        let (name, title) = (c.name(), c.title().replace('|', "\\|"));
        writeln!(table, "| [{name}](controllers/{name}.md) | {title} | {coupled} | {signals} | {linux} |")
            .expect("a string");
    }
    let mut pages = vec![("controllers.md".to_owned(), table)];
    let files = files(controllers);
    for c in controllers {
        let mut page = format!("# {}\n\n{}\n", c.name(), controllers::facts(c));
        let (_, declared) = files.iter().find(|(file, _)| *file == c.source_file()).expect("it has a file");
        // A file of several controllers, or with several names, has one comment at its head.
        let first = declared.iter().find(|c| c.alias_of().is_none()).expect("not all are second names");
        match first.name() {
            first if first == c.name() => page += &controllers::header(c),
            first => page += &format!("Its file's header stands at [{first}]({first}.md).\n"),
        }
        page += "\n[All controllers](../controllers.md)\n";
        pages.push((format!("controllers/{}.md", c.name()), page));
    }
    pages
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// The files, each with its controllers, in the order of their names.
fn files(controllers: &[Controller]) -> Vec<(&'static Path, Vec<Controller>)> {
    let mut files: Vec<(&Path, Vec<Controller>)> = Vec::new();
    for &c in controllers {
        match files.iter_mut().find(|(file, _)| *file == c.source_file()) {
            Some((_, declared)) => declared.push(c),
            None => files.push((c.source_file(), vec![c])),
        }
    }
    files
}
