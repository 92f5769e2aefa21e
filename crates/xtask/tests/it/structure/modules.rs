//! The modules of a crate, and which of them each one needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::tokens::Source;

/// A module that is a file.
#[derive(Debug)]
struct Module {
    /// From `src` on.
    file: PathBuf,
    source: Source,
}

/// The modules of a crate by their paths; the root's is empty.
#[derive(Debug)]
pub struct Modules(BTreeMap<Vec<String>, Module>);

impl Modules {
    /// Reads `crates/NAME/src`.
    pub fn read(src: &Path) -> Self {
        let mut modules = BTreeMap::new();
        for file in files(src) {
            let own = file.strip_prefix(src).expect("it is in there").to_owned();
            let mut path: Vec<String> =
                own.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
            match path.last().map(String::as_str) {
                Some("main") => continue,
                Some("lib" | "mod") => _ = path.pop(),
                _ => {}
            }
            let text = fs::read_to_string(&file).expect("it can be read");
            modules.insert(path, Module { file: own, source: Source::read(&text) });
        }
        let of_tests: Vec<Vec<String>> = modules
            .iter()
            .flat_map(|(path, m)| m.source.test_modules.iter().map(|name| child(path, name)))
            .collect();
        modules.retain(|path, _| !of_tests.iter().any(|test| path.starts_with(test)));
        Self(modules)
    }

    /// The arrows: which modules a module needs.
    pub fn arrows(&self) -> BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> {
        let targets = |path| self.needed(path).into_iter().filter(|other| *other != path).collect();
        self.0.keys().map(|path| (path, targets(path))).collect()
    }

    pub fn file(&self, path: &[String]) -> String {
        self.0[path].file.display().to_string()
    }

    /// The folder that a module belongs to. `a.rs` is the head of the folder `a`, as `a/mod.rs` is.
    pub fn folder<'a>(&self, path: &'a [String]) -> &'a [String] {
        let is_head = self.0.keys().any(|other| other.len() > path.len() && other.starts_with(path));
        if is_head { path } else { &path[..path.len().saturating_sub(1)] }
    }

    fn needed(&self, own: &Vec<String>) -> Vec<&Vec<String>> {
        let source = &self.0[own].source;
        let mut needed = Vec::new();
        for used in &source.uses {
            // An item that is only re-exported here is not needed here.
            if used.exported && !source.words.contains(&used.name) {
                continue;
            }
            let Some(path) = self.absolute(own, &used.path) else { continue };
            match used.name == "*" {
                true => needed.extend(self.0.get_key_value(&path).map(|(path, _)| path)),
                false => needed.extend(self.home(&path, 0)),
            }
        }
        for path in &source.paths {
            let imported = source.uses.iter().find(|used| used.name == path[0]);
            let path = match imported {
                Some(used) => self.absolute(own, &[&used.path, &path[1..]].concat()),
                None => self.absolute(own, path),
            };
            needed.extend(path.and_then(|path| self.home(&path, 0)));
        }
        needed
    }

    /// `path`, written in the module `own`, as a path from the crate's root; `None` if it leads out of the
    /// crate.
    fn absolute(&self, own: &[String], path: &[String]) -> Option<Vec<String>> {
        let mut at = own.to_vec();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("crate") => (at, rest) = (Vec::new(), &rest[1..]),
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|word| word == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            Some(first) if self.0.contains_key(&child(own, first)) => {}
            _ => return None,
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    /// The module with the item `path`, through re-exports of others; `None` if it is a module.
    fn home(&self, path: &[String], depth: usize) -> Option<&Vec<String>> {
        let length = (0..=path.len()).rev().find(|&n| self.0.contains_key(&path[..n]))?;
        let (home, module) = self.0.get_key_value(&path[..length])?;
        let name = path.get(length)?;
        let exported = module.source.uses.iter().find(|used| used.name == *name && depth < 8);
        let further = exported.and_then(|used| self.absolute(home, &used.path));
        match further {
            Some(further) => self.home(&[&further, &path[length + 1..]].concat(), depth + 1),
            None => Some(home),
        }
    }
}

fn child(path: &[String], name: &str) -> Vec<String> {
    [path, &[name.to_owned()]].concat()
}

/// Every `*.rs` below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("it can be read").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            false => {}
        }
    }
    found
}
