//! The controllers under clang's sanitizers and libFuzzer, for a fixed number of inputs (scripts/fuzz).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Inputs of each controller, always the same ones. After 4000 hardly any reaches code that none has reached before;
/// `make test-all` takes those.
fn runs() -> &'static str {
    if std::env::var_os("TRESSE_TEST_ALL").is_some() { "4000" } else { "200" }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `None`, with a line that says why, where clang or its runtime is missing.
fn fuzz(runs: &str, files: &[PathBuf]) -> Option<Output> {
    // A folder of its own: an input that fails is left there.
    let dir = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(root().join("scripts/fuzz"))
        .args(["--runs", runs])
        .args(files)
        .current_dir(dir.path())
        .output()
        .expect("the script starts");
    if output.status.code() == Some(3) {
        eprint!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(output)
}

#[test]
fn no_controller_does_what_a_sanitizer_sees() {
    let Some(output) = fuzz(runs(), &[]) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let done = said.matches(&format!("Done {} runs", runs())).count();
    let controllers = tresse_controllers::built_in().iter().filter(|c| c.alias_of().is_none()).count();
    assert_eq!(done, controllers, "{said}");
}

/// What the sanitizers and the assertions are there for is found.
#[test]
fn what_is_broken_is_found() {
    let broken = root().canonicalize().expect("it is there").join("crates/controllers/tests/broken");
    for (name, message) in [
        ("meddles", "a sibling is written"),
        ("lowers", "grow lowers the window"),
        ("undercuts", "a cut goes below the floor"),
        ("divides", "runtime error: division by zero"),
        ("reaches", "AddressSanitizer: heap-buffer-overflow"),
        ("shifts", "runtime error: shift exponent"),
    ] {
        let Some(output) = fuzz("100000", &[broken.join(name).with_extension("c")]) else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name} passes");
        assert!(said.contains(message), "{name}\n{said}");
    }
}
