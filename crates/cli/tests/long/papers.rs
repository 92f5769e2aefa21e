//! `tresse paper` with experiments whose quick profile takes half a minute; crates/cli/tests/it has one of each other paper.

use tempfile::TempDir;

use crate::common::paper;

#[test]
fn what_the_files_expect_comes_out() {
    for (name, only) in [("dcm", "shift"), ("vmcc", "remap")] {
        let dir = TempDir::new().expect("a temporary folder");
        let (text, _) = paper(dir.path(), &[name, "--only", only]);
        assert!(text.contains("not as expected: 0"), "{text}");
    }
}
