//! Whether each controller's code does what its file declares: the tables of `validation/optimum/laws.md`.

use std::fmt::Write as _;

use tresse_controllers::built_in;
use tresse_lab::{Agreement, Judged, agreement};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/optimum/laws.md");
const BEGIN: &str = "<!-- Generated from here on; crates/lab/tests/long/laws.rs says how. -->\n";

/// Writes the table instead of comparing it.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

/// A difference in per cent, with what is allowed.
fn cell(judged: Option<Judged>) -> String {
    judged.map_or_else(
        || "-".to_owned(),
        |Judged { largest_error, tolerance }| {
            let allowed =
                tolerance.map_or_else(|| "not judged".to_owned(), |t| format!("{:.0} %", 100.0 * t));
            format!("{:.1} % ({allowed})", 100.0 * largest_error)
        },
    )
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
fn every_controller_does_what_it_declares() {
    let mut table = "\n| controller | trials | law | utility |\n|---|---|---|---|\n".to_owned();
    let mut wrong = Vec::new();
    for controller in built_in() {
        let compared = agreement(controller).expect("a process").expect("no hook ends it");
        let Agreement { law, utility, trials } = compared;
        if [law, utility].into_iter().flatten().any(|judged| !judged.holds()) {
            wrong.push(controller.name());
        }
        let (name, count) = (controller.name(), trials.len());
        writeln!(table, "| `{name}` | {count} | {} | {} |", cell(law), cell(utility)).expect("a string");
    }
    let there = std::fs::read_to_string(PAGE).expect("the page is there");
    let (prose, old) = there.split_once(BEGIN).expect("the page says where its table begins");
    if std::env::var(UPDATE).is_ok() {
        std::fs::write(PAGE, format!("{prose}{BEGIN}{table}")).expect("the page can be written");
    } else {
        let hint = "hint: TRESSE_UPDATE_DOCS=1 cargo test -p tresse-lab --test long laws writes it";
        assert_eq!(old, table, "{hint}");
    }
    assert!(wrong.is_empty(), "these do not do what they declare: {wrong:?}");
}
