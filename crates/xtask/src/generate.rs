//! The generated files: those that are in git ([`kept`]), and the pages that are only in the site ([`pages_of_site`]).
//! A new one is one more line there.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tresse_experiment::read::built_in;
use tresse_reproduction::pages::{Stored, papers, scoreboard, times};
use tresse_workbench::catalogue::metrics;

use crate::{
    balancers_page, commands_page, contract, controllers_page, keys_page, networks_page, palette,
    topics_page, twin_page, worst_cases,
};

/// The first line of an experiment's file in `papers/PAPER/`: editors use it to find the schema.
const SCHEMA_LINE: &str = "#:schema ../../docs/reference/experiment.schema.json\n";

/// A file as it should be.
struct File {
    /// Its path from the root of the repository.
    path: String,
    text: String,
}

impl File {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Writes it below `folder`.
    fn write(&self, folder: &Path) -> Result<(), String> {
        let path = folder.join(&self.path);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        parent
            .and_then(|()| fs::write(&path, &self.text))
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))
    }
}

/// Writes the files that are not up to date.
pub fn write(root: &Path) -> Result<(), String> {
    for file in stale(kept(root)?, root) {
        file.write(root)?;
        println!("{}", file.path);
    }
    Ok(())
}

/// Writes the pages of the site that are not in git to `folder`, which then has no others: each at its path from the
/// root of the repository.
pub fn write_pages(root: &Path, folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|e| format!("{} cannot be emptied: {e}", folder.display()))?;
    }
    pages_of_site(root)?.iter().try_for_each(|page| page.write(folder))
}

/// Names the files that are not up to date.
pub fn check(root: &Path) -> Result<(), String> {
    let stale = stale(kept(root)?, root);
    if stale.is_empty() {
        return Ok(());
    }
    let names: String = stale.iter().map(|file| format!("  {}\n", file.path)).collect();
    Err(format!("not up to date:\n{names}\nhint: `cargo xtask generate` writes them"))
}

/// The `files` that are missing or out of date.
fn stale(files: Vec<File>, root: &Path) -> Vec<File> {
    let is_up_to_date =
        |file: &File| fs::read_to_string(root.join(&file.path)).is_ok_and(|text| text == file.text);
    files.into_iter().filter(|file| !is_up_to_date(file)).collect()
}

/// The generated files that are in git.
fn kept(root: &Path) -> Result<Vec<File>, String> {
    let stored = stored(root)?;
    let places = palette::built_in()?;
    let mut files = vec![
        File::new("validation/twin/README.md", twin_page::page(root)?),
        File::new(worst_cases::PAGE, worst_cases::page(root)?),
        File::new("docs/reproduction.md", scoreboard(&stored)),
        File::new("docs/reference/experiment.schema.json", tresse_workbench::schema() + "\n"),
        File::new("python/tresse/keys.py", python_keys(root)?),
        File::new("python/tresse/plot/schemes.py", palette::python(&places)),
        File::new("page/src/data/contract.ts", contract::file()),
        File::new("page/src/data/schemes.ts", palette::typescript(&places)),
        File::new("papers/results/times.toml", times(&stored)),
    ];
    for name in built_in::names() {
        files.push(experiment(root, name)?);
    }
    Ok(files)
}

/// The keys of an experiment as Python's types. What makes them is in Python, as are those who read it.
fn python_keys(root: &Path) -> Result<String, String> {
    let wrong = |e: &dyn std::fmt::Display| format!("python3 scripts/python-keys: {e}");
    let mut command = Command::new("python3");
    let command = command.arg(root.join("scripts/python-keys")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|e| wrong(&e))?;
    let mut input = child.stdin.take().expect("a pipe");
    // It reads everything before it writes.
    input.write_all(tresse_workbench::schema().as_bytes()).map_err(|e| wrong(&e))?;
    drop(input);
    let output = child.wait_with_output().map_err(|e| wrong(&e))?;
    if !output.status.success() {
        return Err(wrong(&output.status));
    }
    String::from_utf8(output.stdout).map_err(|e| wrong(&e))
}

/// The pages that are only in the site.
fn pages_of_site(root: &Path) -> Result<Vec<File>, String> {
    let papers = papers(&stored(root)?, &drawn(root)?).map_err(|e| e.to_string())?;
    let reference = [
        vec![
            ("balancers.md".to_owned(), balancers_page::page(&tresse_balancers::built_in())),
            ("topics.md".to_owned(), topics_page::page(root)),
            ("controllers.md".to_owned(), controllers_page::page(&tresse_controllers::built_in())),
            ("commands.md".to_owned(), commands_page::page(&tresse::help())),
        ],
        keys_page::pages(tresse_workbench::OWNERS.schema().as_value()),
    ];
    let reference = reference.into_iter().flatten().map(|(path, text)| (format!("reference/{path}"), text));
    let explained = [("columns.md", tresse_results::tables::explain()), ("metrics.md", metrics::page())];
    let explained = explained.map(|(file, text)| (file.to_owned(), text)).into_iter();
    let explained =
        explained.chain(networks_page::pages()).map(|(file, text)| (format!("explain/{file}"), text));
    let pages = papers.into_iter().chain(reference).chain(explained);
    Ok(pages.map(|(path, text)| File::new(format!("docs/{path}"), text)).collect())
}

/// The results in `papers/results/`.
fn stored(root: &Path) -> Result<Vec<Stored>, String> {
    Stored::all(&root.join("papers/results")).map_err(|e| e.to_string())
}

/// The names of the existing figures: a page shows those.
fn drawn(root: &Path) -> Result<BTreeSet<String>, String> {
    let folder = root.join("docs/reproduction/figures");
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries = fs::read_dir(&folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|e| format!("{} cannot be read: {e}", folder.display()))?;
    Ok(entries.into_iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

/// The file of a built-in experiment, with its first line.
fn experiment(root: &Path, name: &str) -> Result<File, String> {
    let path = format!("papers/{name}.toml");
    let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path} cannot be read: {e}"))?;
    Ok(match text.starts_with(SCHEMA_LINE) {
        true => File::new(path, text),
        false => File::new(path, format!("{SCHEMA_LINE}{text}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_or_old_is_stale() {
        let dir = tempfile::TempDir::new().expect("a temporary folder");
        for (name, text) in [("old", "1"), ("new", "2")] {
            fs::write(dir.path().join(name), text).expect("it can be written");
        }
        let files = ["old", "new", "missing"].map(|name| File::new(name, "2")).into();
        let stale = stale(files, dir.path());
        assert_eq!(stale.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["old", "missing"]);
    }

    #[test]
    fn a_folder_of_pages_keeps_no_others() {
        let dir = tempfile::TempDir::new().expect("a temporary folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let pages = dir.path().join("pages");
        fs::create_dir_all(&pages).expect("it can be made");
        fs::write(pages.join("old.md"), "").expect("it can be written");
        write_pages(&root, &pages).expect("they can be written");
        assert!(!pages.join("old.md").exists());
        for page in ["reference/controllers.md", "reference/commands.md", "reproduction/xmp.md"] {
            assert!(pages.join("docs").join(page).exists(), "{page}");
        }
    }

    #[test]
    fn drawn_figures_are_those_that_are_there() {
        let dir = tempfile::TempDir::new().expect("a temporary folder");
        assert!(drawn(dir.path()).expect("there are none").is_empty());
        let figures = dir.path().join("docs/reproduction/figures");
        fs::create_dir_all(&figures).expect("it can be made");
        fs::write(figures.join("xmp-fig8.svg"), "<svg/>").expect("it can be written");
        assert_eq!(drawn(dir.path()), Ok(["xmp-fig8.svg".to_owned()].into()));
    }

    #[test]
    fn an_experiment_begins_with_its_schema() {
        let dir = tempfile::TempDir::new().expect("a temporary folder");
        fs::create_dir_all(dir.path().join("papers/xmp")).expect("it can be made");
        for text in ["title = 1\n".to_owned(), format!("{SCHEMA_LINE}title = 1\n")] {
            fs::write(dir.path().join("papers/xmp/a.toml"), text).expect("it can be written");
            let file = experiment(dir.path(), "xmp/a").expect("it is there");
            assert_eq!(file.text, format!("{SCHEMA_LINE}title = 1\n"));
        }
    }
}
