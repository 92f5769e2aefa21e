//! Crates depend on each other in one direction only.

use std::fs;

use super::modules::files;
use super::{crates, root};

/// What each crate may depend on: everything above it in the drawing of `docs/architecture.md` that is listed here.
const MAY: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("controllers", &["units"]),
    ("balancers", &["units", "controllers"]),
    ("fabric", &["units"]),
    ("path-manager", &["units"]),
    ("workload", &["units"]),
    ("transport", &["units", "controllers", "balancers"]),
    ("optimum", &["units", "controllers"]),
    ("linux", &["units", "controllers", "path-manager"]),
    ("sim", &["units", "controllers", "balancers", "fabric", "path-manager", "transport", "workload"]),
    ("experiment", &["units", "controllers", "balancers", "fabric", "path-manager", "transport", "workload"]),
    (
        "lab",
        &[
            "units",
            "controllers",
            "balancers",
            "experiment",
            "fabric",
            "optimum",
            "path-manager",
            "sim",
            "transport",
            "workload",
        ],
    ),
    ("reproduction", &["units", "experiment", "lab"]),
    ("exchange", &["units", "experiment", "fabric", "lab", "workload"]),
    ("sweep", &["units", "controllers", "experiment", "lab", "reproduction"]),
    (
        "testbed",
        &["units", "controllers", "experiment", "fabric", "lab", "linux", "path-manager", "transport"],
    ),
    ("report", &["units", "experiment", "fabric", "lab"]),
    ("embed", &["units", "experiment", "lab", "sim"]),
];

/// These may depend on all.
const TOP: &[&str] = &["cli", "py", "xtask"];

#[test]
fn crates_depend_one_way() {
    let mut wrong = String::new();
    for path in crates() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if TOP.contains(&name.as_str()) {
            continue;
        }
        let Some((_, may)) = MAY.iter().find(|(own, _)| *own == name) else {
            wrong += &format!("crates/{name}: say in this test what it may depend on\n");
            continue;
        };
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("it can be read");
        let section = manifest.split("\n[").find_map(|section| section.strip_prefix("dependencies]"));
        for line in section.unwrap_or_default().lines() {
            let Some(other) = line.strip_prefix("tresse-").and_then(|rest| rest.split(['.', ' ']).next())
            else {
                continue;
            };
            if !may.contains(&other) {
                wrong += &format!("crates/{name} depends on {other}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// `test = false` saves compiling a library a second time, for unit tests that it does not have.
#[test]
fn libraries_with_unit_tests_run_them() {
    let mut wrong = String::new();
    for path in crates() {
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("it can be read");
        let section = manifest.split("\n[").find_map(|section| section.strip_prefix("lib]"));
        if !section.unwrap_or_default().lines().any(|line| line == "test = false") {
            continue;
        }
        for file in files(&path.join("src")) {
            if fs::read_to_string(&file).expect("it can be read").contains("#[test]") {
                wrong += &format!("{}\n", file.strip_prefix(root()).expect("it is in there").display());
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "with `test = false` in Cargo.toml, the tests in these are never run:\n{wrong}"
    );
}
