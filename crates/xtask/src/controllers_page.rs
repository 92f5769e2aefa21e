//! The page of the controllers: the declarations and texts of their files, and nothing else.

use std::fmt::Write as _;
use std::path::Path;

use tresse_controllers::Controller;
use tresse_workbench::catalogue::controllers;

/// `docs/reference/controllers.md`: the table of all, and a section for each file.
pub fn page(controllers: &[Controller]) -> String {
    let mut page = "# The controllers\n\n\
        <!-- `cargo xtask pages` writes this page from controllers/*.c. -->\n\n\
        For each controller, this page shows what its file in [controllers/](../../controllers) declares, and the comment\n\
        at its head: the source, the equations, what the paper leaves open, every deviation. `tresse explain NAME` shows the \
        same.\n[controllers.md](../controllers.md) says how to write one; \
        [papers/catalogue.md](../../papers/catalogue.md) has the sources that are\ncited by a key (XMP, KH, THESIS, VMCC), \
        and the rows that a header calls \"catalogue S10\".\n\n\
        | controller | what it is | coupled | signals | in Linux |\n|---|---|---|---|---|\n"
        .to_owned();
    for c in controllers {
        let (coupled, linux) = (yes(c.coupled()), yes(c.attachable()));
        let signals = controllers::strongest_signals(c);
        let (name, title) = (c.name(), c.title().replace('|', "\\|"));
        writeln!(page, "| [{name}](#{name}) | {title} | {coupled} | {signals} | {linux} |")
            .expect("a string");
    }
    for (_, declared) in &files(controllers) {
        // A file of several controllers, or with several names, has one comment at its head.
        let first = first(declared);
        let (facts, header) = (controllers::facts(first), controllers::header(first));
        write!(page, "\n## {}\n\n{facts}\n{header}", first.name()).expect("a string");
        for c in declared.iter().filter(|c| c.name() != first.name()) {
            write!(page, "\n### {}\n\n{}", c.name(), controllers::facts(c)).expect("a string");
        }
    }
    page
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
