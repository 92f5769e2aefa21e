//! `docs/reference/controllers.md` is what the controllers' files declare and say, and nothing else.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use tresse::catalogue::controllers;
use tresse_controllers::{Controller, built_in};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/controllers.md");

/// Writes the page instead of comparing it.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

#[test]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
fn the_page_of_the_controllers_is_up_to_date() {
    let page = page(&built_in());
    if std::env::var(UPDATE).is_ok() {
        std::fs::write(PAGE, page).expect("the page can be written");
        return;
    }
    let there = std::fs::read_to_string(PAGE).expect("the page is there");
    let line = there.lines().zip(page.lines()).position(|(there, new)| there != new);
    let line = line.unwrap_or_else(|| there.lines().count().min(page.lines().count()));
    assert!(
        there == page,
        "docs/reference/controllers.md is out of date from line {} on:\n  there:  {}\n  should: {}\n\n\
         hint: {UPDATE}=1 cargo test -p tresse-lab --test catalogue writes it",
        line + 1,
        there.lines().nth(line).unwrap_or_default(),
        page.lines().nth(line).unwrap_or_default()
    );
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

fn page(controllers: &[Controller]) -> String {
    let mut page = "# The controllers\n\n\
        <!-- Generated from controllers/*.c; crates/lab/tests/catalogue.rs says how. -->\n\n\
        What each file of [controllers/](../../controllers) declares, and the comment at its head: the \
        source,\nthe equations, what the paper leaves open, every deviation. `tresse explain NAME` shows the \
        same.\n[controllers.md](../controllers.md) says how to write one; \
        [catalogue.md](../catalogue.md) has the sources that are\ncited by a key (XMP, KH, THESIS, VMCC), \
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
    let files = files(controllers);
    for c in controllers {
        write!(page, "\n## {}\n\n{}\n", c.name(), controllers::facts(c)).expect("a string");
        let (_, declared) = files.iter().find(|(file, _)| *file == c.source_file()).expect("it has a file");
        // One comment heads a file of several.
        match declared[0].name() {
            first if first == c.name() => page += &controllers::header(c),
            first => writeln!(page, "Its file's header stands at [{first}](#{first}).").expect("a string"),
        }
    }
    page
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// What the pages show is there: a header that names its source, and says what it departs from.
#[test]
fn every_header_names_its_source_and_its_exceptions() {
    for (file, declared) in files(&built_in()) {
        let (file, header) = (file.display(), declared[0].header());
        assert!(header.lines().any(|line| line.starts_with("Source:")), "{file}: no `Source:` in its header");
        let excepted = declared.iter().any(|c| !c.exceptions().is_empty());
        assert_eq!(excepted, header.contains("EXCEPTION"), "{file}: declared, and said in its header?");
        for c in declared {
            assert!(!c.title().is_empty() && !c.source().is_empty(), "{file}: {c:?} has no title or source");
            if let Some(single) = c.single() {
                assert!(built_in().iter().any(|other| other.name() == single), "{file}: {single}");
            }
        }
    }
}

#[test]
fn every_preset_has_the_page_of_all() {
    for preset in tresse_experiment::plan::presets::ALL {
        assert_eq!(tresse::catalogue::explain(preset.name), tresse::catalogue::explain("holnet"));
    }
}

#[test]
fn every_pattern_has_a_page() {
    let pages = tresse::catalogue::list(tresse::catalogue::Kind::Workloads);
    let pages: BTreeSet<&str> = pages.iter().map(|page| &*page.name).collect();
    assert_eq!(pages, tresse_experiment::plan::patterns::ALL.iter().map(|pattern| pattern.name).collect());
}

/// The page of results ends with every table that a run can leave.
#[test]
fn the_page_of_results_lists_every_column() {
    let page = tresse::catalogue::explain("results").expect("a page");
    assert!(page.ends_with(&tresse_lab::store::explain()));
}
