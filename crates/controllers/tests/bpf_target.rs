//! Every controller compiles for the kernel's BPF machine, long before one is attached.
//!
//! BPF has no floats, no 128-bit product and no signed division, and a program may call nothing
//! that is not in it. The compiler refuses the former; an undefined symbol in the object tells of
//! the latter.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const CLANG: &str = "clang-16";
const NM: &str = "llvm-nm-16";

/// Whether both tools are here; says what is missing if not.
fn tools_are_here() -> bool {
    let missing = [CLANG, NM].into_iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = missing {
        eprintln!("skipped: {tool} is not installed (apt-get install clang-16 llvm-16)");
    }
    missing.is_none()
}

fn controllers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../controllers")
}

/// Compiles `source` to `object`. Freestanding: the target has no C library, and the system's
/// `stdint.h` is another machine's.
fn compile(source: &Path, object: &Path) -> Output {
    Command::new(CLANG)
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-std=c11", "-ffreestanding"])
        .args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fno-crash-diagnostics"])
        .arg("-I")
        .arg(controllers())
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .expect("clang can be started")
}

fn undefined_symbols(object: &Path) -> String {
    let output = Command::new(NM).arg("--undefined-only").arg(object).output().expect("nm can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn every_controller_compiles_for_bpf() {
    if !tools_are_here() {
        return;
    }
    let dir = folder();
    let mut compiled = 0;
    for entry in std::fs::read_dir(controllers()).expect("controllers/ can be read") {
        let source = entry.expect("controllers/ can be read").path();
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let object = dir.path().join("controller.o");
        let output = compile(&source, &object);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {message}", source.display());
        assert_eq!(undefined_symbols(&object), "", "{} calls what is not in it", source.display());
        compiled += 1;
    }
    assert!(compiled > 0, "controllers/ holds files");
}

/// The check itself: what the rules forbid does not get through.
#[test]
fn what_bpf_lacks_is_refused() {
    if !tools_are_here() {
        return;
    }
    for (what, text) in [
        ("a float", "u64 f(u64 a) { return (u64)((double)a * 1.5); }"),
        ("a 128-bit product", "u64 f(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }"),
        ("a signed division", "long long f(long long a, long long b) { return a / b; }"),
        ("a call", "u64 elsewhere(u64); u64 f(u64 a) { return elsewhere(a); }"),
    ] {
        let dir = folder();
        let (source, object) = (dir.path().join("bad.c"), dir.path().join("bad.o"));
        std::fs::write(&source, format!("#include \"controller.h\"\n{text}\n")).expect("a temporary file");
        let refused = !compile(&source, &object).status.success() || !undefined_symbols(&object).is_empty();
        assert!(refused, "{what} gets through");
    }
}
