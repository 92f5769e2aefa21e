//! The page of one or several runs, as one HTML file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use indexmap::IndexSet;
use tresse_experiment::diagnostic::Diagnostic;

use crate::head::{PageHead, ReadRun};
use crate::run::{Run, embedded};

/// The output of the build in `page/`; the comment in it marks where the data goes.
pub(crate) const TEMPLATE: &str = include_str!("../page.html");
const HERE: &str = "<!--tresse:data-->";

/// Writes the page of the runs in `folders`, which opens from disk and needs no network.
///
/// # Errors
/// If a folder has no run, or `out` cannot be written.
pub fn write(folders: &[PathBuf], read: ReadRun, out: &mut dyn Write) -> Result<(), Diagnostic> {
    let runs: Vec<Run> = folders
        .iter()
        .zip(ids(folders))
        .map(|(folder, id)| Run::read(folder, &id, read))
        .collect::<Result<_, _>>()?;
    let unwritten = |error: io::Error| Diagnostic::io("cannot be written", "the page", error);
    let (before, after) = TEMPLATE.split_once(HERE).expect("the template has a place for the data");
    let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(unwritten);
    put(before)?;
    let heads = PageHead::new(runs.iter().map(|run| run.head.clone()).collect());
    put(&format!("<script type=\"application/json\" id=\"tresse-head\">{}</script>\n", embedded(&heads)))?;
    for (number, run) in runs.iter().enumerate() {
        for name in run.names() {
            let failed = |e: arrow_schema::ArrowError| Diagnostic::input(format!("the table {name}: {e}"));
            let Some(packed) = run.packed(&name).map_err(failed)? else { continue };
            put(&format!("<script type=\"application/gzip\" id=\"tresse-{number}-{name}\">"))?;
            put(&BASE64_STANDARD.encode(packed))?;
            put("</script>\n")?;
        }
    }
    put(after)
}

/// Names of runs: those of their folders, with parent folders where that is not enough.
fn ids(folders: &[PathBuf]) -> Vec<String> {
    let name = |folder: &Path, parts: usize| {
        let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let parts: Vec<String> = whole
            .components()
            .rev()
            .take(parts)
            .map(|c| c.as_os_str().to_string_lossy().into_owned())
            .collect();
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    };
    for parts in 1..32 {
        let names: Vec<String> = folders.iter().map(|folder| name(folder, parts)).collect();
        if names.iter().collect::<IndexSet<_>>().len() == names.len() {
            return names;
        }
    }
    (1..=folders.len()).map(|n| format!("run {n}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_one_place_for_the_data() {
        assert_eq!(TEMPLATE.matches(HERE).count(), 1);
    }

    #[test]
    fn runs_are_told_apart_by_as_much_of_their_paths_as_it_takes() {
        let ids = |paths: &[&str]| ids(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(ids(&["/a/one", "/a/two/"]), ["one", "two"]);
        assert_eq!(ids(&["/a/run", "/b/run"]), ["a/run", "b/run"]);
        assert_eq!(ids(&["/a/run", "/a/run"]), ["run 1", "run 2"]);
    }
}
