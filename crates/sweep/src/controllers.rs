//! Users' own controllers, which are sent to a worker as source text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tresse_controllers::{Controller, LoadError, find, included};
use tresse_experiment::read::files::sha256;

/// A controller's file, and the headers next to it that it includes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredController {
    /// The name of the file.
    file: PathBuf,
    text: String,
    /// The texts by name, relative to the file.
    headers: Vec<(PathBuf, String)>,
    /// What it declares.
    names: Vec<String>,
}

impl StoredController {
    fn of(path: &Path, controllers: &[Controller]) -> Self {
        let beside = path.parent().unwrap_or(Path::new(""));
        let headers = included(path).into_iter();
        Self {
            file: path.file_name().map(PathBuf::from).unwrap_or_default(),
            text: controllers.first().map(|own| own.text().to_owned()).unwrap_or_default(),
            headers: headers
                .map(|(path, text)| (path.strip_prefix(beside).unwrap_or(&path).to_owned(), text))
                .collect(),
            names: controllers.iter().map(|own| own.name().to_owned()).collect(),
        }
    }

    /// Its content address: equal for equal texts.
    pub fn address(&self) -> String {
        let texts = self.headers.iter().map(|(_, text)| text).chain([&self.text]);
        sha256(texts.map(sha256).collect::<Vec<_>>().join("\n"))
    }
}

/// Compiles and loads a file.
pub(crate) fn load(path: &Path) -> Result<StoredController, LoadError> {
    Ok(StoredController::of(path, &tresse_controllers::load(path)?))
}

/// What this process has loaded for others: folder and address, by the names of the controllers.
static LOADED: Mutex<BTreeMap<String, (TempDir, String)>> = Mutex::new(BTreeMap::new());

/// Makes sure that this process has a controller; a worker computes many points.
pub(crate) fn have(own: &StoredController) -> Result<(), LoadError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let (names, address) = (own.names.join(" "), own.address());
    let is_ours = || {
        let known: Option<Vec<Controller>> = own.names.iter().map(|name| find(name)).collect();
        let known = known?;
        let path = known.first()?.file()?;
        (StoredController::of(path, &known).address() == address).then_some(())
    };
    if loaded.get(&names).is_some_and(|(_, known)| *known == address) || is_ours().is_some() {
        return Ok(());
    }
    let machine = |what| move |error| LoadError::Machine { what, error };
    // In the folder of its former self it takes that one's place.
    let dir = match loaded.remove(&names) {
        Some((dir, _)) => dir,
        None => tempfile::tempdir().map_err(machine("a temporary folder"))?,
    };
    let is_below = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    let headers = own.headers.iter().filter(|(path, _)| is_below(path)).map(|(path, text)| (&**path, text));
    for (path, text) in headers.chain([(&*own.file, &own.text)]) {
        let path = dir.path().join(path);
        let above = path.parent().unwrap_or(dir.path());
        fs::create_dir_all(above).map_err(machine("a temporary folder"))?;
        fs::write(&path, text).map_err(machine("a temporary file"))?;
    }
    let done = tresse_controllers::load(&dir.path().join(&own.file));
    loaded.insert(names, (dir, if done.is_ok() { address } else { String::new() }));
    done.map(drop)
}
