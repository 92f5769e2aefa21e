//! The page of a run, as a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;
use tresse_experiment::Diagnostic;
use tresse_report::head::{Published, PublishedHead};
use tresse_report::twin;
use tresse_report::view::Viewer;
use tresse_reproduction::Publication;
use tresse_reproduction::schema::claims::PublishedValue;
use tresse_results::Finished;
use tresse_units::output_file::OutputFile;

use crate::OWNERS;
use crate::compare::folders;
use crate::failure::Failure;

/// The name of a page in the folder of its run.
const NAME: &str = "report.html";

/// A page: runs on top of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The folders of the runs.
    pub runs: Vec<PathBuf>,
    /// The file; `-` for a page that goes elsewhere.
    pub out: PathBuf,
}

/// The pages for these folders of runs, of runs of a paper, and of twins, and where they go without `out`: into the
/// folder of the run or twin; several runs make one page in the current folder.
///
/// # Errors
/// If one of them is no run.
pub fn pages(folders_of: &[PathBuf], out: Option<&Path>) -> Result<Vec<Page>, Failure> {
    let mut all = Vec::new();
    for run in folders_of {
        match twin::sides(run) {
            Some(sides) => all.extend(sides),
            None => all.extend(folders(run)?),
        }
    }
    Ok(match (out, folders_of) {
        (Some(out), _) => vec![Page { runs: all, out: out.to_owned() }],
        (None, [run]) if twin::sides(run).is_some() => vec![Page { runs: all, out: run.join(NAME) }],
        (None, [_]) => all.into_iter().map(|run| Page { out: run.join(NAME), runs: vec![run] }).collect(),
        (None, _) => vec![Page { runs: all, out: PathBuf::from(NAME) }],
    })
}

impl Page {
    /// Writes it to `out`.
    ///
    /// # Errors
    /// If one of the runs cannot be read, or the page cannot be written.
    pub fn write_to(&self, out: &mut dyn Write) -> Result<(), Failure> {
        Ok(tresse_report::page::write(&self.runs, read, out)?)
    }

    /// Writes its file, completely or not at all.
    ///
    /// # Errors
    /// As [`Page::write_to`].
    pub fn write(&self) -> Result<(), Failure> {
        let out = &self.out;
        let unwritten =
            |error: io::Error| Failure::Input(format!("{}: cannot be written: {error}", out.display()));
        let mut file = OutputFile::create(out).map_err(unwritten)?;
        self.write_to(&mut file)?;
        file.finish().map_err(unwritten)
    }
}

/// Writes the page of the run in the folder `run` into it, and returns its path.
///
/// # Errors
/// If it is not a run, or the page cannot be written.
pub fn of(run: &Path) -> Result<PathBuf, Failure> {
    let page = Page { runs: vec![run.to_owned()], out: run.join(NAME) };
    page.write()?;
    Ok(page.out)
}

/// The viewer of the runs in the folder `dir`, on `port`, or on any free port if it is 0.
///
/// # Errors
/// If `dir` is not a folder, or the port is taken.
pub fn viewer(dir: &Path, port: u16) -> io::Result<Viewer> {
    Viewer::new(dir, port, read)
}

/// The run in a folder, and what was published of its experiment.
pub(crate) fn read(folder: &Path) -> Result<(Finished, Published), Diagnostic> {
    let run = Finished::read(folder, OWNERS)?;
    let publication = Publication::of_run(&run)?;
    let is_any = !publication.is_empty();
    let numbers = publication.published.values.iter().map(head).collect();
    Ok((run, Published { source: publication.published.source, is_any, numbers }))
}

/// A published value as the page shows it.
fn head(value: &PublishedValue) -> PublishedHead {
    let text = |text: &Option<String>| text.as_deref().map(Value::from);
    let number = |number: Option<u32>| number.map(Value::from);
    let said = |pairs: Vec<(&'static str, Option<Value>)>| -> IndexMap<&'static str, Value> {
        pairs.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    };
    PublishedHead {
        case: said(vec![
            ("scheme", Some(Value::from(&*value.scheme))),
            ("subflows", number(value.subflows)),
            ("pattern", Some(Value::from(&*value.pattern))),
            ("variant", text(&value.variant)),
        ]),
        part: said(vec![
            ("group", text(&value.group)),
            ("distance", text(&value.distance)),
            ("size", text(&value.size)),
            ("layer", text(&value.layer)),
            ("window", text(&value.window)),
            ("subflow", number(value.subflow)),
        ]),
        metrics: value.numbers().map(|(metric, number)| (metric.to_owned(), number)).collect(),
    }
}
