//! The pages of the controllers: the declarations and texts of their files, and nothing else.

use std::fmt::Write as _;
use std::path::Path;

use tresse_controllers::Controller;
use tresse_workbench::catalogue::controllers;

/// `docs/reference/controllers.md`, the table of all, and a page for each file in the folder next to it; by their
/// paths from `docs/reference/`.
pub fn pages(controllers: &[Controller]) -> Vec<(String, String)> {
    let mut table = "# The controllers\n\n\
        <!-- `cargo xtask pages` writes this page and those that it links to from controllers/*.c. -->\n\n\
        A controller's page shows what its file in [controllers/](../../controllers) declares, and \
        the comment\nat its head: the source, the equations, what the paper leaves open, every deviation. `tresse explain NAME` shows the \
        same.\n[controllers.md](../controllers.md) says how to write one; \
        [papers/catalogue.md](../../papers/catalogue.md) has the sources that are\ncited by a key (XMP, KH, THESIS, VMCC), \
        and the rows that a header calls \"catalogue S10\".\n\n\
        | controller | what it is | coupled | signals | in Linux |\n|---|---|---|---|---|\n"
        .to_owned();
    let files = files(controllers);
    for c in controllers {
        let (coupled, linux) = (yes(c.coupled()), yes(c.attachable()));
        let signals = controllers::strongest_signals(c);
        let (name, title) = (c.name(), c.title().replace('|', "\\|"));
        let (_, declared) = files.iter().find(|(file, _)| *file == c.source_file()).expect("it has a file");
        let link = match first(declared).name() {
            first if first == name => format!("{name}.md"),
            first => format!("{first}.md#{name}"),
        };
        writeln!(table, "| [{name}](controllers/{link}) | {title} | {coupled} | {signals} | {linux} |")
            .expect("a string");
    }
    let mut pages = vec![("controllers.md".to_owned(), table)];
    for (_, declared) in &files {
        // A file of several controllers, or with several names, has one comment at its head.
        let first = first(declared);
        let mut page =
            format!("# {}\n\n{}\n{}", first.name(), controllers::facts(first), controllers::header(first));
        for c in declared.iter().filter(|c| c.name() != first.name()) {
            write!(page, "\n## {}\n\n{}", c.name(), controllers::facts(c)).expect("a string");
        }
        page += "\n[All controllers](../controllers.md)\n";
        pages.push((format!("controllers/{}.md", first.name()), page));
    }
    pages
}

/// The controller that a file is called by on its page.
fn first(declared: &[Controller]) -> &Controller {
    declared.iter().find(|c| c.alias_of().is_none()).expect("not all are second names")
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
