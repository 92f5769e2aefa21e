//! `tresse paper` with experiments whose quick profile takes longer than those of crates/cli/tests/it, which has one of each other paper.

use tempfile::TempDir;

use crate::common::paper;

#[test]
fn what_the_files_expect_comes_out() {
    for (name, only) in [("dcm", "shift"), ("opn", "nstar-table"), ("vmcc", "remap")] {
        let dir = TempDir::new().expect("a temporary folder");
        let (text, _) = paper(dir.path(), &[name, "--only", only]);
        assert!(text.contains("not as expected: 0"), "{text}");
    }
}
