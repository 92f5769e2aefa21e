//! From `size` to sizes that can be drawn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tresse_workload as workload;
use tresse_workload::{Distribution, Size, distributions, too_large};

use crate::diagnostic::{Place, Wrong, did_you_mean, draw};
use crate::read::Source;
use crate::read::files::{Files, unreadable};
use crate::schema::workload::{Beyond, FlowSize, SizeTable};

/// The sizes that `size` describes, of at most `most` bytes; paths of files are relative to the experiment's, and
/// files are recorded in `files`.
///
/// # Errors
/// What is wrong; for a distribution's file, with the line.
pub(crate) fn resolve(size: &FlowSize, most: u64, source: &Source, files: &Files) -> Result<Size, Wrong> {
    let size = match size {
        FlowSize::Fixed(bytes) => Size::Fixed(bytes.0),
        FlowSize::Uniform(min, max) => Size::Uniform(min.0, max.0),
        FlowSize::Drawn(table) => drawn(table, most, source, files)?,
    };
    size.check().map_err(Wrong::whole)?;
    if size.largest() > most {
        return Err(Wrong::whole(too_large(size.largest(), most)));
    }
    Ok(size)
}

fn drawn(table: &SizeTable, most: u64, source: &Source, files: &Files) -> Result<Size, Wrong> {
    let SizeTable { pareto, mean, bound, beyond, distribution, file } = table;
    let of_pareto = [("mean", mean.is_some()), ("bound", bound.is_some()), ("beyond", beyond.is_some())];
    if let (None, Some((key, _))) = (pareto, of_pareto.iter().find(|(_, said)| *said)) {
        return Err(Wrong::key(key, "this is for a Pareto distribution, whose shape is `pareto`"));
    }
    match (pareto, distribution, file) {
        (Some(shape), None, None) => {
            let needed = |key, value: &Option<tresse_units::Bytes>| {
                value.map(|b| b.0).ok_or_else(|| Wrong::whole(format!("a Pareto distribution needs `{key}`")))
            };
            Ok(Size::Pareto {
                shape: *shape,
                mean: needed("mean", mean)?,
                bound: needed("bound", bound)?,
                beyond: match beyond.unwrap_or(Beyond::Resample) {
                    Beyond::Resample => workload::Beyond::Resample,
                    Beyond::Clip => workload::Beyond::Clip,
                },
            })
        }
        (None, Some(name), None) => match distributions::find(name) {
            Some(built_in) => Ok(Size::Distribution(Arc::new(built_in.distribution()))),
            None => {
                let known = distributions::all().iter().map(|d| d.name);
                let hint = did_you_mean(name, known.clone());
                let known = known.collect::<Vec<_>>().join(", ");
                Err(Wrong::key(
                    "distribution",
                    format!("there is no distribution `{name}`{hint} (available: {known})"),
                ))
            }
        },
        (None, None, Some(file)) => {
            let path = beside(source, file);
            let text = files.read(&path).map_err(|e| Wrong::key("file", unreadable(&path, &e)))?;
            let read = Distribution::read(&text, most).map_err(|e| {
                let message = quoted(&path, (e.line, e.column), &e.message, &e.text);
                Wrong::key("file", message)
            })?;
            read.notes.iter().for_each(|note| files.note(&path, note));
            Ok(Size::Distribution(Arc::new(read.distribution)))
        }
        _ => Err(Wrong::whole(
            "one of `pareto`, `distribution` and `file`, such as { distribution = \"websearch-hpcc\" }",
        )),
    }
}

/// A file that an experiment names, relative to the experiment's own.
pub fn beside(source: &Source, file: &str) -> PathBuf {
    Path::new(&source.name).parent().unwrap_or(Path::new("")).join(file)
}

/// `file:line:column: message`, with the line.
pub(crate) fn quoted(path: &Path, (line, column): (usize, usize), message: &str, text: &str) -> String {
    draw(&path.display().to_string(), &Place { line, column, text: text.to_owned() }, message)
}
