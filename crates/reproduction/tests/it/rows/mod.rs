//! Every experiment of the five papers: its network and its workload, against the paper's text.

mod built_in;
mod common;
mod dcm;
mod holnet;
mod list;
mod opn;
mod opn_load;
mod rates;
mod thesis;
mod tiny;
mod vmcc;
mod xmp;
mod xmp_tree;

use std::collections::BTreeSet;

use tresse_experiment::{Case, Profile};

use common::{Row, files, full, source};
use list::ROWS;

/// The catalogue counts 58: XMP 11, OPN 13, KH 8, THESIS 18, VMCC 8.
#[test]
fn there_are_58_rows() {
    let of = |paper: &str| ROWS.iter().filter(|(id, _)| id.split('/').next() == Some(paper)).count();
    let counts = ["xmp", "opn", "dcm", "holnet", "vmcc"].map(of);
    assert_eq!((counts, ROWS.len()), ([11, 13, 8, 18, 8], 58));
    let ids: BTreeSet<_> = ROWS.iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 58, "a row is listed twice");
}

/// Each row is an experiment with its name; a file that belongs to no row says so.
#[test]
fn every_row_has_an_experiment() {
    let known: BTreeSet<(String, String)> =
        tresse_experiment::read::built_in::rows().iter().cloned().map(owned).collect();
    assert_eq!(known, ROWS.iter().map(|&row| owned(row)).collect());
    let used: BTreeSet<&str> = ROWS.iter().map(|(_, file)| *file).collect();
    for file in files() {
        assert_eq!(used.contains(&*file), full(&file).experiment().rows != Some(Vec::new()), "{file}");
    }
}

fn owned((row, file): (impl Into<String>, impl Into<String>)) -> (String, String) {
    (row.into(), file.into())
}

/// Both profiles are valid to the last key, and no case is lost.
#[test]
fn every_row_resolves_in_both_profiles() {
    for file in files() {
        let (full, quick) = (full(&file), Row::new(source(&file), Profile::Quick, &[], &[]));
        let labels = |row: &Row| row.plan.cases.iter().map(Case::label).collect::<Vec<_>>();
        assert_eq!(labels(full), labels(&quick), "{file}");
        let has_quick = source(&file).text.contains("\n[profile.quick");
        assert_eq!(quick.cuts() > 0, has_quick, "{file}: its quick profile cuts nothing");
        let publication = tresse_reproduction::Publication::of(full.experiment()).expect("it was checked");
        for value in &publication.published.values {
            let case = full.plan.cases.iter().find(|c| {
                let same_number = value.subflows.is_none_or(|n| c.subflows == Some(n));
                let same_variant = value.variant.is_none() || value.variant == c.variant;
                c.scheme == value.scheme && same_number && c.pattern == value.pattern && same_variant
            });
            assert!(case.is_some(), "{file}: a number was published of {value:?}, which is no case");
        }
    }
}
