//! Keys that make no difference to a case.

use std::collections::BTreeSet;

use tempfile::tempdir;
use tresse_sweep::{LeftOut, Plan, Record, Row, Unseen, rows, run_point};

use crate::{OWNERS, PLAN, Wrong, complete, open, open_shard};

/// The plan with LIA and XMP, of which only XMP's packets can be marked.
fn both(head: &str, designs: &str) -> Plan {
    let dctcp = "[experiment.schemes.dctcp]\ncontroller = \"dctcp\"\n";
    let schemes =
        "[experiment.schemes.lia]\ncontroller = \"lia\"\n[experiment.schemes.xmp]\ncontroller = \"xmp\"\n";
    let text = format!("{head}\n{}\n{designs}", PLAN.replace(dctcp, schemes));
    Plan::parse("plan.toml", text).expect("the plan can be read")
}

const OVER_K: &str = "[[designs]]\nkeys = { \"fabric.mark\" = [\"5pkt\", \"10pkt\", \"20pkt\"] }";

/// Scheme and K of each row.
fn marks(rows: &[Row]) -> Vec<(String, Option<String>)> {
    let text = |value: &toml::Value| value.as_str().unwrap_or_default().to_owned();
    rows.iter()
        .map(|row| {
            let scheme = row.case.get("scheme").and_then(|name| name.as_str()).unwrap_or("none");
            (scheme.to_owned(), row.setting.get("fabric.mark").map(text))
        })
        .collect()
}

fn row(scheme: &str, mark: Option<&str>) -> (String, Option<String>) {
    (scheme.to_owned(), mark.map(str::to_owned))
}

fn lia_once() -> Vec<(String, Option<String>)> {
    let xmp = ["5pkt", "10pkt", "20pkt"].map(|mark| row("xmp", Some(mark)));
    [row("lia", None)].into_iter().chain(xmp).collect()
}

#[test]
fn a_scheme_without_marks_has_one_row_for_all_thresholds() {
    let dirs = [tempdir().expect("a folder"), tempdir().expect("a folder"), tempdir().expect("a folder")];
    let done = complete(&open(&both("", OVER_K), dirs[0].path()).expect("it can be opened"));
    assert_eq!((done.points, done.failed()), (4, 0));
    assert_eq!(marks(&rows(dirs[0].path()).expect("rows")), lia_once());
    let unseen = Unseen {
        key: "fabric.mark".to_owned(),
        by: BTreeSet::from(["lia".to_owned()]),
        why: "no packet can be marked".to_owned(),
    };
    assert_eq!(done.left_out, LeftOut { points: 2, unseen: vec![unseen] });

    // Shards, and workers elsewhere, compute the same.
    let bytes = |folder: &std::path::Path| std::fs::read(folder.join("results.parquet")).expect("results");
    for shard in ["1/2", "2/2"] {
        complete(&open_shard(&both("", OVER_K), dirs[1].path(), shard));
    }
    let merged = tresse_sweep::merge(dirs[1].path()).expect("they are of one sweep");
    assert_eq!((merged.points, merged.left_out), (4, done.left_out));
    assert!(bytes(dirs[0].path()) == bytes(dirs[1].path()), "the results differ");
    let sweep = open(&both("", OVER_K), dirs[2].path()).expect("it can be opened");
    for (place, spec) in sweep.todo() {
        let record = run_point::<Wrong>(OWNERS, &spec).expect("a record");
        let record: Record = serde_json::from_str(&record).expect("JSON");
        let cost = tresse_sweep::Cost { seconds: 1.0, worker: "elsewhere".to_owned(), attempts: 1 };
        sweep.keep(place, record, cost).expect("it is kept");
    }
    sweep.finish().expect("the results can be written");
    assert!(bytes(dirs[0].path()) == bytes(dirs[2].path()), "the results differ");
}

/// If this fails, the sweep leaves out points that it must not leave out.
#[test]
fn what_is_left_out_would_have_been_the_same() {
    let digests = |scheme: &str| -> BTreeSet<String> {
        let one = |mark: &str| {
            let dir = tempdir().expect("a folder");
            let head =
                format!("only = {{ scheme = \"{scheme}\" }}\nset = {{ \"fabric.mark\" = \"{mark}\" }}");
            let plan = both(&head, "[[designs]]\nkeys = { \"workloads.long.flows\" = [2] }");
            let sweep = open(&plan, dir.path()).expect("it can be opened");
            let record = run_point::<Wrong>(OWNERS, &sweep.todo()[0].1).expect("a record");
            serde_json::from_str::<Record>(&record).expect("JSON").digest
        };
        ["5pkt", "10pkt", "20pkt", "unlimited"].into_iter().map(one).collect()
    };
    assert_eq!(digests("lia").len(), 1);
    assert_eq!(digests("xmp").len(), 4);
}

#[test]
fn parameters_are_those_of_their_scheme() {
    let dir = tempdir().expect("a folder");
    let keys = "\"fabric.mark\" = [\"5pkt\", \"20pkt\"], \"schemes.xmp.parameters.beta\" = [2, 4]";
    let plan = both("", &format!("[[designs]]\nkeys = {{ {keys} }}"));
    let done = complete(&open(&plan, dir.path()).expect("it can be opened"));
    assert_eq!((done.points, done.left_out.points), (5, 3));
    let why: Vec<_> = done.left_out.unseen.iter().map(|own| (own.key.as_str(), own.why.as_str())).collect();
    let wanted =
        [("fabric.mark", "no packet can be marked"), ("schemes.xmp.parameters.beta", "of another scheme")];
    assert_eq!(why, wanted);
}

#[test]
fn a_plan_that_grows_does_not_compute_it_again() {
    let dir = tempdir().expect("a folder");
    complete(&open(&both("", OVER_K), dir.path()).expect("it can be opened"));
    let more = "[[designs]]\nkeys = { \"fabric.mark\" = [\"1pkt\", \"5pkt\"] }";
    let sweep = open(&both("", more), dir.path()).expect("it goes on");
    assert_eq!((sweep.standing().points, sweep.standing().done), (3, 2));
}

#[test]
fn thresholds_that_drop_matter_to_all() {
    let dir = tempdir().expect("a folder");
    let plan = both("set = { \"fabric.non_ect\" = \"drop\" }", OVER_K);
    let done = complete(&open(&plan, dir.path()).expect("it can be opened"));
    assert_eq!((done.points, done.left_out), (3, LeftOut::default()));
    assert_eq!(rows(dir.path()).expect("rows").len(), 6);
}

#[test]
fn a_value_that_is_wrong_is_wrong_for_those_that_see_it() {
    let dir = tempdir().expect("a folder");
    let wrong = "[[designs]]\nkeys = { \"fabric.mark\" = [\"0.5Gbps\", \"5pkt\"] }";
    let done = complete(&open(&both("", wrong), dir.path()).expect("it can be opened"));
    assert_eq!((done.points, done.failed()), (3, 1));
    let wanted = [row("lia", None), row("xmp", Some("5pkt")), row("none", Some("0.5Gbps"))];
    let rows = rows(dir.path()).expect("rows");
    let own: BTreeSet<_> = marks(&rows).into_iter().collect();
    assert_eq!(own, BTreeSet::from(wanted));
}
