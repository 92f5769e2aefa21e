//! Runs whose tables are not what they were: every reader says so, and names the table.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};
use crate::page::short;

/// Every way to read a run.
const READERS: [&[&str]; 7] = [
    &["report", "broken", "-o", "page.html"],
    &["compare", "broken"],
    &["compare", "broken", "run"],
    &["compare", "run", "broken"],
    &["show", "broken"],
    &["show", "broken", "--json"],
    &["export", "broken", "--format", "perfetto", "-o", "out.json"],
];

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("it can be copied");
    }
}

#[test]
fn every_reader_names_the_table_that_was_damaged() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "run");
    let broken = dir.path().join("broken");
    for table in ["flows", "links"] {
        let whole = fs::read(dir.path().join(format!("run/{table}.parquet"))).expect("a table");
        let path = broken.join(format!("{table}.parquet"));
        // One bit of a page, one of the metadata at the end, and the end itself.
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            bytes
        };
        for bytes in [flipped(100), flipped(whole.len() - 100), whole[..whole.len() / 2].to_vec(), Vec::new()]
        {
            copy(&dir.path().join("run"), &broken);
            fs::write(&path, bytes).expect("it is ours");
            let named = format!("broken/{table}.parquet: not the table that the run wrote");
            for reader in READERS.iter().filter(|reader| table == "flows" || reader[0] != "export") {
                let error = fails(tresse(dir.path()).args(*reader), 2);
                assert!(error.contains(&named), "{reader:?}: {error}");
            }
            let csv = ["export", "broken", "--format", "csv", "--table", table];
            let output = tresse(dir.path()).args(csv).output().expect("the command starts");
            assert!(output.status.code() == Some(2) && output.stdout.is_empty());
        }
        // `run.json` alone can be kept, and compared; a page says what it lacks.
        fs::remove_file(&path).expect("it is ours");
        tresse(dir.path()).args(["compare", "broken", "run"]).assert().success();
        let page = tresse(dir.path()).args(["report", "broken", "-o", "-"]).output().expect("it starts");
        let told = format!("{table}.parquet is gone, so what it had is not shown");
        assert!(page.status.success() && String::from_utf8_lossy(&page.stdout).contains(&told));
    }
    assert!(!dir.path().join("page.html").exists() && !dir.path().join("out.json").exists());
}

/// JSON, but no run: the message says what stands there, and has no type of ours.
#[test]
fn every_reader_says_what_is_wrong_with_run_json() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::create_dir(dir.path().join("broken")).expect("a folder");
    fs::create_dir(dir.path().join("run")).expect("a folder");
    for (text, found) in [("0", "0"), (r#""status": 1"#, r#""status""#), ("[]", "a list")] {
        for run in ["broken", "run"] {
            fs::write(dir.path().join(run).join("run.json"), text).expect("it is ours");
        }
        for reader in READERS {
            let error = fails(tresse(dir.path()).args(reader), 2);
            let wanted = format!("expected an object, found {found} at line 1");
            assert!(error.contains("run.json: ") && error.contains(&wanted), "{reader:?}: {error}");
        }
    }
}

#[test]
fn a_run_without_sums_still_opens() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "run");
    let path = dir.path().join("run/run.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&path).expect("it is there")).expect("JSON");
    let sums = run.as_object_mut().expect("a table").remove("tables").expect("the sums");
    let tables = fs::read_dir(dir.path().join("run")).expect("a folder").flatten();
    let tables = tables.filter(|own| own.path().extension().is_some_and(|e| e == "parquet")).count();
    assert_eq!(sums.as_object().expect("a table").len(), tables, "each table has its sum");
    fs::write(&path, run.to_string()).expect("it is ours");
    for reader in [&["report", "run"][..], &["compare", "run", "run"], &["show", "run"]] {
        tresse(dir.path()).args(reader).assert().success();
    }
}
