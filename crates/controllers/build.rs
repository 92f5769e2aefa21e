//! Compiles every file of `controllers/` natively and writes the list of what they declare.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

// Shared with the loader of users' files: how a declaration is found in a source text.
include!("src/declared.rs");

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts through the environment")]
fn out_dir() -> PathBuf {
    PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"))
}

fn main() {
    let dir = Path::new("../../controllers").canonicalize().expect("controllers/ lies beside crates/");
    println!("cargo::rerun-if-changed={}", dir.display());

    let mut files: Vec<PathBuf> = fs::read_dir(&dir)
        .expect("controllers/ can be read")
        .map(|entry| entry.expect("controllers/ can be read").path())
        .collect();
    files.sort();
    let of_type = |extension: &str| -> Vec<PathBuf> {
        files.iter().filter(|path| path.extension().is_some_and(|e| e == extension)).cloned().collect()
    };
    let sources = of_type("c");

    // No list has it: an environment puts it in a controller's place.
    println!("cargo::rerun-if-changed=src/agent.c");
    let mut registry = String::from("pub(crate) static BUILT_IN: &[BuiltIn] = &[\n");
    let mut externs = String::from("    pub(crate) static tresse_agent: RawController;\n");
    for path in &sources {
        let text = fs::read_to_string(path).expect("a controller's file is UTF-8");
        let file = Path::new("controllers").join(path.file_name().expect("a file has a name"));
        for (kind, raw, of_kind) in
            [("CONTROLLER", "RawController", "Controller"), ("ALIAS", "RawAlias", "Alias")]
        {
            for name in declared(kind, &text) {
                writeln!(externs, "    static tresse_{name}: {raw};").expect("writing to a string");
                writeln!(
                    registry,
                    "    BuiltIn {{ declaration: Declaration::{of_kind}(unsafe {{ &tresse_{name} }}), \
                     source_file: {file:?}, text: include_str!({path:?}) }},"
                )
                .expect("writing to a string");
            }
        }
    }
    registry.push_str("];\n");
    // All of them: a user's own file may include any.
    registry.push_str("pub(crate) static HEADERS: &[(&str, &str)] = &[\n");
    for path in of_type("h") {
        let name = path.file_name().expect("a file has a name");
        writeln!(registry, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    registry.push_str("];\n");
    fs::write(out_dir().join("registry.rs"), format!("unsafe extern \"C\" {{\n{externs}}}\n{registry}"))
        .expect("OUT_DIR can be written");

    cc::Build::new()
        .files(&sources)
        .file("src/agent.c")
        .include(&dir)
        .std("c11")
        .flag("-Wno-unused-parameter")
        .warnings_into_errors(true)
        .opt_level(2)
        .compile("tresse_controllers");
}
