//! Compiles every file of `balancers/` natively and writes the list of their declarations.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

// How a declaration is found in a source text.
include!("../controllers/src/declared.rs");

#[expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts through the environment")]
fn out_dir() -> PathBuf {
    PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"))
}

fn main() {
    let dir = Path::new("../../balancers").canonicalize().expect("balancers/ lies beside crates/");
    println!("cargo::rerun-if-changed={}", dir.display());

    let mut files: Vec<PathBuf> = fs::read_dir(&dir)
        .expect("balancers/ can be read")
        .map(|entry| entry.expect("balancers/ can be read").path())
        .collect();
    files.sort();
    let of_type = |extension: &str| -> Vec<PathBuf> {
        files.iter().filter(|path| path.extension().is_some_and(|e| e == extension)).cloned().collect()
    };
    let sources = of_type("c");

    let mut externs = String::new();
    let mut registry = String::from("pub(crate) static BUILT_IN: &[BuiltIn] = &[\n");
    for path in &sources {
        let text = fs::read_to_string(path).expect("a balancer's file is UTF-8");
        let file = Path::new("balancers").join(path.file_name().expect("a file has a name"));
        for name in declared("BALANCER", &text) {
            writeln!(externs, "    static tresse_balancer_{name}: RawBalancer;").expect("a string");
            writeln!(
                registry,
                "    BuiltIn {{ raw: unsafe {{ &tresse_balancer_{name} }}, source_file: {file:?}, \
                 text: include_str!({path:?}) }},"
            )
            .expect("a string");
        }
    }
    registry.push_str("];\n");
    // All headers: a user's own file may include any.
    registry.push_str("pub(crate) static HEADERS: &[(&str, &str)] = &[\n");
    for path in of_type("h") {
        let name = path.file_name().expect("a file has a name");
        writeln!(registry, "    ({name:?}, include_str!({path:?})),").expect("a string");
    }
    registry.push_str("];\n");
    fs::write(out_dir().join("registry.rs"), format!("unsafe extern \"C\" {{\n{externs}}}\n{registry}"))
        .expect("OUT_DIR can be written");

    cc::Build::new()
        .files(&sources)
        .include(&dir)
        .std("c11")
        .flag("-Wno-unused-parameter")
        .warnings_into_errors(true)
        .opt_level(2)
        .compile("tresse_balancers");
}
