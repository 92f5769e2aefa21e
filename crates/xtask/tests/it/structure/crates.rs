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
        "results",
        &[
            "units",
            "controllers",
            "balancers",
            "experiment",
            "fabric",
            "optimum",
            "sim",
            "transport",
            "workload",
        ],
    ),
    ("rounds", &["units", "controllers", "fabric", "path-manager", "sim", "transport"]),
    (
        "lab",
        &[
            "units",
            "controllers",
            "experiment",
            "fabric",
            "optimum",
            "path-manager",
            "results",
            "rounds",
            "sim",
            "transport",
            "workload",
        ],
    ),
    ("reproduction", &["units", "experiment", "lab", "results"]),
    ("exchange", &["units", "experiment", "fabric", "results", "workload"]),
    ("sweep", &["units", "controllers", "experiment", "lab", "reproduction", "results"]),
    (
        "testbed",
        &[
            "units",
            "controllers",
            "experiment",
            "fabric",
            "lab",
            "linux",
            "path-manager",
            "results",
            "transport",
        ],
    ),
    ("report", &["units", "experiment", "fabric", "results"]),
    (
        "workbench",
        &[
            "units",
            "controllers",
            "balancers",
            "exchange",
            "experiment",
            "fabric",
            "lab",
            "linux",
            "path-manager",
            "report",
            "reproduction",
            "results",
            "sweep",
            "testbed",
            "workload",
        ],
    ),
    ("embed", &["units", "experiment", "lab", "sim", "workbench"]),
    // The command is what its console script runs; a test holds that nothing else of it is named.
    ("py", &["units", "cli", "controllers", "experiment", "lab", "report", "results", "sweep", "workbench"]),
    // The help of the command's own commands is a page of the site.
    (
        "xtask",
        &[
            "cli",
            "balancers",
            "controllers",
            "experiment",
            "lab",
            "report",
            "reproduction",
            "results",
            "workbench",
        ],
    ),
];

/// It may depend on all: whatever can be done has a command.
const TOP: &str = "cli";

#[test]
fn crates_depend_one_way() {
    let mut wrong = String::new();
    for path in crates() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name == TOP {
            continue;
        }
        let Some((_, may)) = MAY.iter().find(|(own, _)| *own == name) else {
            wrong += &format!("crates/{name}: say in this test what it may depend on\n");
            continue;
        };
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("it can be read");
        for other in manifest.split("\n[").filter_map(dependencies).flatten() {
            if !may.contains(&other) {
                wrong += &format!("crates/{name} depends on {other}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The crates of the workspace in a section of dependencies, also in one for a single platform.
fn dependencies(section: &str) -> Option<impl Iterator<Item = &str>> {
    let (head, lines) = section.split_once("]\n")?;
    let is_of_crate = head == "dependencies" || head.ends_with(".dependencies");
    is_of_crate.then(|| {
        let named = lines.lines().filter_map(|line| line.strip_prefix("tresse")?.split(['.', ' ']).next());
        named.map(|rest| rest.strip_prefix('-').unwrap_or(TOP))
    })
}

/// The package of Python stands on `workbench`; it runs the command only as a program.
#[test]
fn py_names_the_command_once() {
    let mut named = Vec::new();
    for file in files(&root().join("crates/py/src")) {
        let text = fs::read_to_string(&file).expect("it can be read");
        let items = text.split("tresse::").skip(1);
        named
            .extend(items.map(|rest| {
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
            }));
        assert!(!text.contains("use tresse;"), "{}", file.display());
    }
    assert_eq!(named, [Some("command".to_owned())]);
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
