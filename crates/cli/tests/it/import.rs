//! `tresse import`: what it writes, what it says, and that it leaves nothing behind when anything is wrong.

use std::fs;

use tempfile::TempDir;

use crate::common::{fails, tresse};

const MATRIX: &str =
    "Nodes 16\nConnections 2\n0->13 start 0 size 2000000 prio 1\n13->0 start 0 size 2000000 prio 1\n";

fn names(dir: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(dir.path()).expect("the folder");
    let mut names: Vec<_> =
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
fn an_import_names_what_it_writes_and_what_it_leaves_out() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("bidir.cm"), MATRIX).expect("a file");
    let import = ["import", "htsim-cm", "bidir.cm", "-o", "b.toml"];
    let output = tresse(dir.path()).args(import).output().expect("the command starts");
    let stderr = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{stderr}");
    assert_eq!(String::from_utf8(output.stdout).expect("text"), "b.toml\nb.flows.csv\n");
    assert!(stderr.contains("note: `prio` is left out"), "{stderr}");
    assert_eq!(names(&dir), ["b.flows.csv", "b.toml", "bidir.cm"]);
    let flows = fs::read_to_string(dir.path().join("b.flows.csv")).expect("flows");
    assert_eq!(flows, "from,to,size,start\n0,13,2MB,0ps\n13,0,2MB,0ps\n");

    let again = fails(tresse(dir.path()).args(import), 2);
    assert!(again.contains("b.toml already exists") && again.contains("--force"), "{again}");
    let output =
        tresse(dir.path()).args(import).args(["--force", "--json"]).output().expect("the command starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["schema"], "tresse/import/1");
    assert_eq!(json["files"], serde_json::json!(["b.toml", "b.flows.csv"]));
}

#[test]
fn a_wrong_file_leaves_nothing_behind() {
    let dir = TempDir::new().expect("a temporary folder");
    let refused = |format: &str, text: &[u8], message: &str| {
        fs::write(dir.path().join("f"), text).expect("a file");
        let stderr = fails(tresse(dir.path()).args(["import", format, "f", "-o", "x.toml"]), 2);
        assert!(stderr.starts_with("error: f") && stderr.contains(message), "{stderr}");
        assert_eq!(names(&dir), ["f"]);
    };
    refused("hpcc", MATRIX.as_bytes(), "f:1:1: expected three numbers in the first line");
    refused("hpcc", MATRIX.as_bytes(), "looks like an htsim connection matrix");
    refused("htsim-cm", b"", "f: the file is empty");
    refused("htsim-cm", &MATRIX.as_bytes()[..57], "f:3: the file ends here; expected 2 connections");
    refused("htsim-topo", b"Nodes \xff\n", "f: cannot be read: byte 6 is not UTF-8");
    let missing = fails(tresse(dir.path()).args(["import", "hpcc", "none", "-o", "x.toml"]), 2);
    assert!(missing.contains("none: cannot be read"), "{missing}");
    fs::write(dir.path().join("f"), MATRIX).expect("a file");
    let many = fails(tresse(dir.path()).args(["import", "htsim-topo", "f", "f", "-o", "x.toml"]), 2);
    assert!(many.contains("htsim-topo takes FILE.topo, not 2 files"), "{many}");
    let stdout = fails(tresse(dir.path()).args(["import", "htsim-topo", "f", "-o", "-"]), 2);
    assert!(stdout.contains("several files"), "{stdout}");
    assert_eq!(names(&dir), ["f"]);
}
