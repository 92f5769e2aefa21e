//! What the pages of the parts say.

use std::collections::BTreeSet;

use tresse_controllers::built_in;

use super::{Kind, explain, explained, list, names};

/// What the pages show is there: a header that names its source, and says what it departs from.
#[test]
fn every_header_names_its_source_and_its_exceptions() {
    let all = built_in();
    for c in &all {
        let (file, header) = (c.source_file().display(), c.header());
        assert!(header.lines().any(|line| line.starts_with("Source:")), "{file}: no `Source:` in its header");
        let mut declared = all.iter().filter(|other| other.source_file() == c.source_file());
        let excepted = declared.any(|c| !c.exceptions().is_empty());
        assert_eq!(excepted, header.contains("EXCEPTION"), "{file}: declared, and said in its header?");
        assert!(!c.title().is_empty() && !c.source().is_empty(), "{file}: {c:?} has no title or source");
        if let Some(single) = c.single() {
            assert!(all.iter().any(|other| other.name() == single), "{file}: {single}");
        }
    }
}

#[test]
fn every_name_is_explained() {
    for name in names() {
        assert!(explained(&name).is_ok_and(|text| text.len() > 40), "{name}");
    }
}

#[test]
fn every_preset_has_the_page_of_all() {
    for preset in tresse_experiment::plan::presets::ALL {
        assert_eq!(explain(preset.name), explain("holnet"));
    }
}

#[test]
fn every_pattern_has_a_page() {
    let pages = list(Kind::Workloads);
    let pages: BTreeSet<&str> = pages.iter().map(|page| &*page.name).collect();
    assert_eq!(pages, tresse_experiment::plan::patterns::ALL.iter().map(|pattern| pattern.name).collect());
}

/// The page of results names the topics that have the rest of it.
#[test]
fn the_page_of_results_names_the_others() {
    let page = explain("results").expect("a page");
    for topic in ["metrics", "measurement", "columns"] {
        assert!(page.contains(&format!("`tresse explain {topic}`")), "{topic}");
        assert!(explain(topic).is_some(), "{topic}");
    }
}

#[test]
fn every_file_of_the_topics_has_a_name() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explain");
    let files = std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("a file").path());
    let mut names: Vec<String> =
        files.map(|file| file.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    names.extend(Kind::LISTED.map(|kind| kind.name().to_owned()));
    for name in names {
        assert!(explain(&name).is_some_and(|text| text.starts_with("# ")), "{name}");
    }
}
