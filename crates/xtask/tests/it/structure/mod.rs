//! The statements of `docs/architecture.md` about the sources hold.

mod crates;
mod modules;
mod release;
mod sizes;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use modules::Modules;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of the crates, in the order of their names.
fn crates() -> Vec<PathBuf> {
    let mut crates: Vec<PathBuf> = fs::read_dir(root().join("crates"))
        .expect("there are crates")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .collect();
    crates.sort();
    crates
}

/// The cycles of a crate's modules that span more than one folder: one line for each arrow of such a cycle.
fn circles(src: &Path) -> Vec<String> {
    let modules = Modules::read(src);
    let arrows = modules.arrows();
    let reached = |from| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            open.extend(arrows[at].iter().filter(|to| seen.insert(**to)));
        }
        seen
    };
    let reached: BTreeMap<_, _> = arrows.keys().map(|&path| (path, reached(path))).collect();
    let together = |a, b| reached[a].contains(b) && reached[b].contains(a);
    let mut lines = Vec::new();
    for (&from, targets) in &arrows {
        let circle = arrows.keys().filter(|path| together(from, **path));
        let folders: BTreeSet<_> = circle.map(|path| modules.folder(path)).collect();
        if folders.len() > 1 {
            for to in targets.iter().filter(|to| together(from, **to)) {
                lines.push(format!("{} -> {}", modules.file(from), modules.file(to)));
            }
        }
    }
    lines
}

/// The folders of a crate that have an order: none uses one before it.
const FOLDERS: &[(&str, &[&str])] = &[
    ("experiment", &["plan", "read", "schema", "diagnostic"]),
    ("lab", &["runner", "engine", "observe", "optimum", "record"]),
];

/// The arrows between a crate's `folders` that go against their order: one line for each.
fn backwards(src: &Path, folders: &[&str]) -> Vec<String> {
    let modules = Modules::read(src);
    let place =
        |path: &[String]| folders.iter().position(|folder| path.first().is_some_and(|own| own == folder));
    let mut lines = Vec::new();
    for (from, targets) in modules.arrows() {
        let is_before = |to: &&&Vec<String>| place(to).zip(place(from)).is_some_and(|(to, from)| to < from);
        lines.extend(
            targets
                .iter()
                .filter(is_before)
                .map(|to| format!("{} -> {}", modules.file(from), modules.file(to))),
        );
    }
    lines
}

#[test]
fn folders_are_used_in_their_order() {
    let mut wrong = String::new();
    for (name, folders) in FOLDERS {
        for line in backwards(&root().join("crates").join(name).join("src"), folders) {
            wrong += &format!("crates/{name}/src: {line}\n");
        }
    }
    assert!(wrong.is_empty(), "these go against the order in `docs/architecture.md`:\n{wrong}");
}

#[test]
fn modules_form_no_circle_beyond_a_folder() {
    let mut wrong = String::new();
    for path in crates().iter() {
        let name = path.file_name().expect("a name").to_string_lossy();
        for line in circles(&path.join("src")) {
            wrong += &format!("crates/{name}/src: {line}\n");
        }
    }
    assert!(wrong.is_empty(), "these imports lie on a circle over more than one folder:\n{wrong}");
}

#[test]
fn a_circle_is_found() {
    let dir = tempfile::TempDir::new().expect("a temporary folder");
    let write = |file: &str, text: &str| {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    };
    write("lib.rs", "mod a; mod b; pub use a::one::One;");
    write("a/mod.rs", "pub mod one; pub mod two; #[cfg(test)] mod tests;");
    write("a/one.rs", "use super::two::{self, Two}; pub struct One; fn f() { two::g() }");
    write("a/two.rs", "pub struct Two; pub fn g() { let _: super::one::One; }");
    write("a/tests.rs", "use crate::b::B;");
    write("b/mod.rs", "pub struct B(crate::One);");
    assert_eq!(circles(dir.path()), Vec::<String>::new(), "one folder, and tests");
    assert_eq!(backwards(dir.path(), &["b", "a"]), Vec::<String>::new());
    assert_eq!(backwards(dir.path(), &["a", "b"]), ["b/mod.rs -> a/one.rs"]);
    write("a/two.rs", "use crate::b; pub struct Two; pub fn g() { b::B; super::one::One; }");
    let found = circles(dir.path());
    assert!(found.contains(&"a/two.rs -> b/mod.rs".to_owned()), "{found:?}");
    assert!(found.contains(&"b/mod.rs -> a/one.rs".to_owned()), "{found:?}");
}
