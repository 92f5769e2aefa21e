//! The report cards of all built-in controllers and of planted defects: each case passes one and fails another, and the
//! table of docs/report-card.md is what they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::tresse;
use crate::planted;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report-card.md");
const BEGIN: &str = "<!-- Generated from here on; crates/cli/tests/long/report_card.rs says how. -->\n";

/// Writes the table instead of comparing it.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// The cards of all built-in controllers.
static BUILT_IN: LazyLock<Value> = LazyLock::new(|| {
    let names: Vec<String> = tresse_controllers::built_in().iter().map(|own| own.name().to_owned()).collect();
    card(&names)
});

fn card(controllers: &[String]) -> Value {
    let dir = TempDir::new().expect("a temporary folder");
    let files = planted::DEFECTS.map(|own| planted::write(dir.path(), own.name));
    let controllers = if controllers.is_empty() { &files[..] } else { controllers };
    let output = tresse(dir.path()).arg("report-card").args(controllers).arg("--json").output();
    let output = output.expect("the command starts");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list `{key}`: {value}"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}`: {value}"))
}

#[test]
fn every_case_passes_one_controller_and_fails_another() {
    let planted = card(&[]);
    let mut verdicts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for card in [&*BUILT_IN, &planted] {
        for case in list(card, "sections").iter().flat_map(|section| list(section, "cases")) {
            let own = list(case, "results").iter().map(|result| text(result, "verdict"));
            verdicts.entry(text(case, "name")).or_default().extend(own);
        }
    }
    assert!(verdicts.len() >= 45, "{verdicts:?}");
    let idle = verdicts.iter().filter(|(_, own)| !own.contains(&"pass") || !own.contains(&"fail"));
    let idle: Vec<_> = idle.map(|(name, _)| *name).collect();
    assert!(idle.is_empty(), "nothing decides these: {idle:?}");
    for (place, defect) in list(&planted, "controllers").iter().enumerate() {
        let mut cases = list(&planted, "sections").iter().flat_map(|section| list(section, "cases"));
        let is_found = cases.any(|case| case["results"][place]["verdict"] == "fail");
        assert!(is_found, "{defect} passes everything");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
fn the_page_has_the_cards_of_all_built_in_controllers() {
    let there = fs::read_to_string(PAGE).expect("the page is there");
    let (prose, old) = there.split_once(BEGIN).expect("the page says where its tables begin");
    let tables = tables(&BUILT_IN);
    if std::env::var(UPDATE).is_ok() {
        fs::write(PAGE, format!("{prose}{BEGIN}{tables}")).expect("the page can be written");
    } else {
        let hint = "hint: TRESSE_UPDATE_DOCS=1 cargo test -p tresse --test long report_card writes it";
        assert_eq!(old, tables, "{hint}");
    }
}

/// A row for each controller: what fails, by section; `*` if no reason is known. Then the reasons.
fn tables(card: &Value) -> String {
    let sections = list(card, "sections");
    let heads: Vec<&str> = sections.iter().map(|section| text(section, "name")).collect();
    let (heads, rule) = (heads.join(" | "), "|---".repeat(heads.len()));
    let mut out = format!("\n| controller | {heads} | on real hosts |\n|---{rule}|---|\n");
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    // Controllers with the same cells share a row: aliases, and those that differ only with several subflows.
    let mut rows: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for (place, controller) in list(card, "controllers").iter().enumerate() {
        let name = text(controller, "name");
        let mut cells: Vec<String> = sections.iter().map(|section| cell(section, place)).collect();
        cells.push(on_hosts(controller));
        match rows.iter_mut().find(|(own, _)| *own == cells) {
            Some((_, names)) => names.push(name),
            None => rows.push((cells, vec![name])),
        }
        for case in sections.iter().flat_map(|section| list(section, "cases")) {
            let result = &case["results"][place];
            let Some(why) = result["why"].as_str().filter(|_| result["verdict"] == "fail") else { continue };
            let name = text(case, "name");
            match reasons.iter_mut().find(|(own, _)| *own == why) {
                Some((_, cases)) if cases.contains(&name) => {}
                Some((_, cases)) => cases.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
    }
    for (cells, names) in rows {
        writeln!(out, "| {} | {} |", names.join(", "), cells.join(" | ")).expect("a string");
    }
    out += "\n## Why they fail\n\n| cases | because |\n|---|---|\n";
    for (why, cases) in reasons {
        writeln!(out, "| {} | {why} |", cases.join(", ")).expect("a string");
    }
    out
}

/// How many of its worst cases stay on real hosts, of those that were replayed there.
fn on_hosts(controller: &Value) -> String {
    let fates: Vec<&str> = list(controller, "worst_cases").iter().map(|case| text(case, "fate")).collect();
    let counted = |fate: &str| fates.iter().filter(|own| **own == fate).count();
    match counted("stays") + counted("vanishes") {
        0 => "not replayed".to_owned(),
        all => format!("{} of {all} stay", counted("stays")),
    }
}

/// What fails in a section: the names of cases, or how many passed.
fn cell(section: &Value, place: usize) -> String {
    let results = list(section, "cases").iter().map(|case| (text(case, "name"), &case["results"][place]));
    let passed = results.clone().filter(|(_, own)| own["verdict"] == "pass").count();
    let failed: Vec<String> = results
        .filter(|(_, own)| own["verdict"] == "fail")
        .map(|(name, own)| format!("{name}{}", if own["why"].is_null() { "\\*" } else { "" }))
        .collect();
    match (passed, &failed[..]) {
        (0, []) => "n/a".to_owned(),
        (passed, []) => format!("{passed} pass"),
        (_, failed) => failed.join(", "),
    }
}
