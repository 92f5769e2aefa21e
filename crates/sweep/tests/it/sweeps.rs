use std::fs;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::tempdir;
use tresse_sweep::local::{self, Stop};
use tresse_sweep::{Cost, Plan, Record, run_point};

use crate::{OWNERS, PLAN, Wrong, complete, open, open_shard, plan, refused};

const TWELVE: &str = r#"
[[designs]]
keys = { "fabric.mark" = ["5pkt", "10pkt", "20pkt"], "workloads.long.flows" = { from = 1, to = 4, steps = 4 } }
"#;

fn results(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("results.parquet")).expect("there are results")
}

fn rows(folder: &Path) -> RecordBatch {
    let file = File::open(folder.join("results.parquet")).expect("there are results");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(|own| own.build());
    let batches: Vec<_> = reader.expect("Parquet").map(|batch| batch.expect("a batch")).collect();
    assert_eq!(batches.len(), 1);
    batches.into_iter().next().expect("there is one")
}

fn texts(rows: &RecordBatch, name: &str) -> Vec<Option<String>> {
    let column = rows.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
    column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

#[test]
fn a_sweep_has_a_row_for_each_point() {
    let dir = tempdir().expect("a folder");
    let done = complete(&open(&plan(TWELVE), dir.path()).expect("it can be opened"));
    assert_eq!((done.points, done.failed()), (12, 0));
    let rows = rows(dir.path());
    assert_eq!(rows.num_rows(), 12);
    let marks = texts(&rows, "fabric.mark");
    let sizes: Vec<u32> =
        marks.iter().flatten().map(|text| text.trim_end_matches("pkt").parse().expect("packets")).collect();
    assert!(sizes.is_sorted(), "{sizes:?}");
    let pairs = rows.column_by_name("workloads.long.flows").expect("a column").as_primitive::<Int64Type>();
    assert_eq!(pairs.values()[..4], [1, 2, 3, 4]);
    let goodput = rows.column_by_name("goodput_mean_bps").expect("a column").as_primitive::<Float64Type>();
    // One flow has the link of 100 Mbit/s, four share it.
    assert!(goodput.value(0) > 3.0 * goodput.value(3), "{goodput:?}");
    assert!(goodput.values().iter().all(|rate| (1e6..100e6).contains(rate)), "{goodput:?}");
    let schema = rows.schema();
    let meaning =
        schema.field_with_name("goodput_mean_bps").expect("a column").metadata().get("unit").cloned();
    assert_eq!(meaning.as_deref(), Some("bit/s"));
}

#[test]
fn a_sweep_has_columns_for_slices() {
    let dir = tempdir().expect("a folder");
    let slices =
        "[set]\n\"measure.slices\" = { large = { size = \"above 1MB\" }, none = { size = \"up to 1MB\" } }\n";
    complete(&open(&plan(&format!("{slices}{TWELVE}")), dir.path()).expect("it can be opened"));
    let rows = rows(dir.path());
    let values =
        |name: &str| Some(rows.column_by_name(name)?.as_primitive::<Float64Type>().values().to_vec());
    // All its flows are large.
    assert!(values("large.goodput_mean_bps").is_some());
    assert_eq!(values("large.goodput_mean_bps"), values("goodput_mean_bps"));
    assert_eq!(values("none.goodput_mean_bps"), None);
    let schema = rows.schema();
    let unit =
        schema.field_with_name("large.goodput_mean_bps").expect("a column").metadata().get("unit").cloned();
    assert_eq!(unit.as_deref(), Some("bit/s"));
}

#[test]
fn a_sweep_that_was_stopped_goes_on_to_the_same_bytes() {
    let dirs = [tempdir().expect("a folder"), tempdir().expect("a folder")];
    complete(&open(&plan(TWELVE), dirs[0].path()).expect("it can be opened"));
    let sweep = Arc::new(open(&plan(TWELVE), dirs[1].path()).expect("it can be opened"));
    let stop = Arc::new(Stop::default());
    let work = thread::spawn({
        let (sweep, stop) = (Arc::clone(&sweep), Arc::clone(&stop));
        move || local::run(&sweep, 1, &stop)
    });
    while sweep.standing().done < 3 {
        thread::yield_now();
    }
    stop.stop();
    work.join().expect("it does not panic").expect("what is computed can be kept");
    let before = sweep.standing();
    assert!((3..12).contains(&before.done), "{before:?}");
    drop(sweep);
    // As a process leaves it that is killed while it writes.
    let journal = dirs[1].path().join("journal.jsonl");
    let whole = fs::read(&journal).expect("a journal");
    let torn = ["{\"point\":{\"fabric.ma".as_bytes(), &"{\"point\":{\"β".as_bytes()[..11], &[0; 100]];
    for tail in torn {
        fs::write(&journal, [&whole[..], tail].concat()).expect("it can be written");
        drop(open(&plan(TWELVE), dirs[1].path()).expect("it goes on"));
        assert!(fs::read(&journal).expect("a journal") == whole, "more than the torn line is gone");
    }

    let sweep = open(&plan(TWELVE), dirs[1].path()).expect("it goes on");
    let opened = sweep.standing();
    assert_eq!((opened.points, opened.done, opened.computed), (12, before.done, 0));
    assert!(opened.left_s.is_some_and(|left| left > 0.0));
    assert_eq!(complete(&sweep).points, 12);
    assert_eq!(sweep.standing().computed, 12 - before.done, "nothing is computed twice");
    assert!(results(dirs[0].path()) == results(dirs[1].path()), "the results differ");
}

#[test]
fn shards_are_merged_to_the_same_bytes() {
    let dirs = [tempdir().expect("a folder"), tempdir().expect("a folder")];
    complete(&open(&plan(TWELVE), dirs[0].path()).expect("it can be opened"));
    let sizes: Vec<usize> = ["1/5", "2/5", "3/5", "4/5", "5/5"]
        .into_iter()
        .map(|shard| complete(&open_shard(&plan(TWELVE), dirs[1].path(), shard)).points)
        .collect();
    assert_eq!(sizes, [3, 3, 2, 2, 2]);
    for _ in 0..2 {
        assert_eq!(tresse_sweep::merge(dirs[1].path()).expect("they are of one sweep").points, 12);
        assert!(results(dirs[0].path()) == results(dirs[1].path()), "the results differ");
    }
}

/// A value with a typing error is corrected: its failure is forgotten, in whichever shard it was and is.
#[test]
fn a_failure_that_is_corrected_is_gone_from_shards_and_rows() {
    let dir = tempdir().expect("a folder");
    let of = |values: &str| plan(&format!("[[designs]]\nkeys = {{ \"fabric.mark\" = [{values}] }}\n"));
    let run = |values: &str| {
        for shard in ["1/2", "2/2"] {
            complete(&open_shard(&of(values), dir.path(), shard));
        }
        tresse_sweep::merge(dir.path()).expect("they are of one sweep")
    };
    let before = run("\"10pkt\", \"20pktx\", \"30pkt\", \"40pktx\"");
    assert_eq!((before.points, before.failed()), (4, 2));
    // Two more points come before: what failed moves to the other shard, but for one.
    let after = run("\"5pkt\", \"10pkt\", \"20pkt\", \"30pkt\", \"40pktx\"");
    assert_eq!((after.points, after.failed()), (5, 1), "{:?}", after.failures);
    assert_eq!(after.unfinished, None);
    let errors = tresse_sweep::rows(dir.path()).expect("rows").into_iter().filter(|row| row.error.is_some());
    assert_eq!(errors.count(), 1, "one row for the point that still fails");
}

/// A shard that was lost does not go unnoticed.
#[test]
fn a_missing_shard_is_told() {
    let dir = tempdir().expect("a folder");
    for shard in ["1/3", "3/3"] {
        complete(&open_shard(&plan(TWELVE), dir.path(), shard));
    }
    let merged = tresse_sweep::merge(dir.path()).expect("they are of one sweep");
    assert_eq!((merged.points, merged.unfinished.map(|own| own.of)), (8, Some(12)));
}

#[test]
fn a_plan_that_grows_computes_what_is_new() {
    let dir = tempdir().expect("a folder");
    let mark = |marks: &str| plan(&format!("[[designs]]\nkeys = {{ \"fabric.mark\" = {marks} }}"));
    complete(&open(&mark("[\"5pkt\", \"20pkt\"]"), dir.path()).expect("it can be opened"));
    let sweep = open(&mark("[\"5pkt\", \"10pkt\"]"), dir.path()).expect("it goes on");
    assert_eq!(sweep.standing().done, 1);
    assert_eq!(complete(&sweep).points, 3, "what the plan had before is there still");
    let marks = texts(&rows(dir.path()), "fabric.mark");
    assert_eq!(marks.iter().flatten().collect::<Vec<_>>(), ["5pkt", "10pkt", "20pkt"]);
    drop(sweep);
    let other = format!("seed = 2\n{PLAN}\n[[designs]]\nkeys = {{ \"fabric.mark\" = [\"5pkt\"] }}");
    let other = refused(&Plan::parse("plan.toml", other).expect("the plan can be read"), dir.path());
    assert!(other.0.contains("has another sweep"), "{other:?}");
}

#[test]
fn thresholds_may_be_multiples_of_the_bdp() {
    for (values, expected) in [
        ("[\"0.1BDP\", \"0.2BDP\"]", &["0.1BDP", "0.2BDP"][..]),
        ("{ from = \"0.1BDP\", to = \"0.4BDP\", steps = 3 }", &["0.1BDP", "0.25BDP", "0.4BDP"]),
    ] {
        let dir = tempdir().expect("a folder");
        let plan = plan(&format!("[[designs]]\nkeys = {{ \"fabric.mark\" = {values} }}"));
        assert_eq!(complete(&open(&plan, dir.path()).expect("it can be opened")).failed(), 0);
        assert_eq!(texts(&rows(dir.path()), "fabric.mark").iter().flatten().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_point_that_fails_is_a_row() {
    let dir = tempdir().expect("a folder");
    let done = complete(
        &open(&plan("[[designs]]\nkeys = { \"workloads.long.flows\" = [1, 0, 2] }"), dir.path())
            .expect("it can be opened"),
    );
    assert_eq!((done.points, done.failed()), (3, 1));
    let rows = rows(dir.path());
    let status: Vec<_> = texts(&rows, "status").into_iter().flatten().collect();
    assert_eq!(status, ["failed", "complete", "complete"]);
    let error = texts(&rows, "error")[0].clone().expect("it says why");
    assert!(error.contains("flows"), "{error}");
    // It is not computed again.
    assert_eq!(
        open(&plan("[[designs]]\nkeys = { \"workloads.long.flows\" = [1, 0, 2] }"), dir.path())
            .expect("it goes on")
            .standing()
            .done,
        3
    );
    // Corrected, it is over.
    let corrected = plan("[[designs]]\nkeys = { \"workloads.long.flows\" = [1, 2] }");
    let done = complete(&open(&corrected, dir.path()).expect("it goes on"));
    assert_eq!((done.points, done.failed()), (2, 0));
}

#[test]
fn a_worker_elsewhere_computes_the_same_record() {
    let dirs = [tempdir().expect("a folder"), tempdir().expect("a folder")];
    complete(&open(&plan(TWELVE), dirs[0].path()).expect("it can be opened"));
    let sweep = open(&plan(TWELVE), dirs[1].path()).expect("it can be opened");
    let todo = sweep.todo();
    assert_eq!(todo.len(), 12);
    for (place, spec) in todo.into_iter().rev() {
        let record: Record =
            serde_json::from_str(&run_point::<Wrong>(OWNERS, &spec).expect("a record")).expect("JSON");
        let cost = Cost { seconds: 1.0, worker: "elsewhere".to_owned(), attempts: 2 };
        assert!(
            sweep.keep((place + 1) % 12, record.clone(), cost.clone()).is_err(),
            "it belongs to another point"
        );
        sweep.keep(place, record, cost).expect("it is kept");
    }
    sweep.finish().expect("the results can be written");
    assert!(results(dirs[0].path()) == results(dirs[1].path()), "the results differ");
    assert!(run_point::<Wrong>(OWNERS, "{}").is_err());
}

#[test]
fn two_processes_do_not_write_to_one_folder() {
    let dir = tempdir().expect("a folder");
    let _held = open(&plan(TWELVE), dir.path()).expect("it can be opened");
    let error = open(&plan(TWELVE), dir.path()).expect_err("it is held");
    assert!(error.0.contains("another run is in progress"), "{error:?}");
}
