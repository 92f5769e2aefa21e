//! The interpreter of the Python package, which carries out some requests.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// What each extra of the package installs and its requests import: as in `pyproject.toml`.
pub static EXTRAS: [(&str, &[&str]); 4] = [
    ("plot", &["matplotlib", "pyarrow"]),
    ("tune", &["optuna", "pyarrow"]),
    ("sweep", &["scipy"]),
    ("ray", &["ray"]),
];

/// Prints which of the modules in its arguments are missing.
const FIND: &str = "\
import importlib.util, sys
print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])
";

/// What to do if the package, or what an extra of it installs, is missing.
pub fn hint(extra: &str) -> String {
    let otherwise = match extra {
        "plot" => "; `tresse report` draws the same figures without it, on the page of the run",
        _ => "",
    };
    format!("{}{otherwise}", install(&[extra]))
}

fn install(extras: &[&str]) -> String {
    let names: Vec<String> = extras.iter().map(|extra| format!("`{extra}`")).collect();
    let (extra, what) = match names.len() {
        1 => ("extra", "it"),
        _ => ("extras", "them"),
    };
    format!(
        "install the Python package with its {extra} {} (docs/python.md), and set TRESSE_PYTHON to the interpreter that has \
         {what}",
        names.join(", ")
    )
}

/// The modules that requests with an extra import, the package's own first.
pub fn modules(extra: &str) -> Vec<&'static str> {
    let own = EXTRAS.iter().filter(|(name, _)| *name == extra).flat_map(|(_, modules)| *modules).copied();
    ["tresse"].into_iter().chain(own).collect()
}

/// What the interpreter has of the package and its extras.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub found: String,
    /// How to get the rest; `None` if nothing is missing.
    pub remedy: Option<String>,
}

/// Looks for the package and all that its extras install.
pub fn installed() -> Installed {
    let interpreter = interpreter();
    let name = interpreter.to_string_lossy().into_owned();
    let mut all = vec!["tresse"];
    EXTRAS.iter().flat_map(|(_, modules)| *modules).for_each(|own| {
        if !all.contains(own) {
            all.push(*own);
        }
    });
    let found = Command::new(&interpreter).arg("-c").arg(FIND).args(&all).stderr(Stdio::null()).output();
    let every: Vec<&str> = EXTRAS.iter().map(|(extra, _)| *extra).collect();
    let Some(told) = found.ok().filter(|own| own.status.success()) else {
        return Installed { found: format!("there is no {name}"), remedy: Some(install(&every)) };
    };
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let missing: Vec<&str> = told.split_whitespace().collect();
    told_of(&name, &all, &missing)
}

fn told_of(interpreter: &str, all: &[&str], missing: &[&str]) -> Installed {
    let has: Vec<&str> = all.iter().copied().filter(|own| !missing.contains(own)).collect();
    let has = if has.is_empty() { "nothing".to_owned() } else { has.join(", ") };
    if missing.is_empty() {
        return Installed { found: format!("{interpreter} has {has}"), remedy: None };
    }
    let needs = |(extra, _): &&(&str, &[&str])| modules(extra).iter().any(|own| missing.contains(own));
    let extras: Vec<&str> = EXTRAS.iter().filter(needs).map(|(extra, _)| *extra).collect();
    Installed {
        found: format!("{interpreter} has {has}; not {}", missing.join(", ")),
        remedy: Some(install(&extras)),
    }
}

/// The interpreter to use: $TRESSE_PYTHON, or python3.
pub fn interpreter() -> OsString {
    #[expect(clippy::disallowed_methods, reason = "it says where Python is: no result depends on it")]
    let said = env::var("TRESSE_PYTHON").ok().filter(|said| !said.is_empty());
    said.map_or_else(|| OsString::from("python3"), OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extras_are_those_of_the_package() {
        let text = include_str!("../../../pyproject.toml");
        let project: toml::Table = toml::from_str(text).expect("TOML");
        let extras = &project["project"]["optional-dependencies"];
        for (extra, modules) in EXTRAS {
            let wanted = extras[extra].as_array().expect("a list");
            let wanted: Vec<&str> = wanted.iter().map(|own| own.as_str().expect("text")).collect();
            let of_old = |own: &&&str| !own.contains("python_version <");
            let names = wanted.iter().filter(of_old).map(|own| own.split('>').next().unwrap_or_default());
            assert_eq!(names.collect::<Vec<_>>(), modules, "{extra}");
        }
    }

    #[test]
    fn one_hint_names_all_that_is_missing() {
        let all = ["tresse", "matplotlib", "pyarrow", "optuna", "scipy", "ray"];
        let some = told_of("python3", &all, &["optuna", "ray"]);
        assert_eq!(some.found, "python3 has tresse, matplotlib, pyarrow, scipy; not optuna, ray");
        assert!(some.remedy.is_some_and(|own| own.contains("its extras `tune`, `ray` (docs/python.md)")));
        let none = told_of("python3", &all, &["tresse"]).remedy;
        assert!(none.is_some_and(|own| own.contains("`plot`, `tune`, `sweep`, `ray`")), "all need it");
        assert_eq!(told_of("python3", &all, &[]).remedy, None);
    }
}
