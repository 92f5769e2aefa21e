//! A table of a run as it is in its folder: one Parquet file, or the parts of it while the run is in progress.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::Schema;
use arrow_select::concat::concat_batches;
use indexmap::IndexSet;
use tresse_units::input_file;

use super::Values;
use super::parquet::reader;

/// A table that was read completely.
#[derive(Debug, Clone)]
pub struct RunTable {
    pub rows: RecordBatch,
}

/// Reads the table `name` of the run in `folder`: `None` if it has none, or no rows.
///
/// # Errors
/// A sentence that names the file and the error.
pub fn read(folder: &Path, name: &str) -> Result<Option<RunTable>, String> {
    // The run may end between a look at its parts and the attempt to read them: then they have become one file.
    let first = files(folder, name).and_then(|files| batches(&files));
    let batches = match first {
        Ok(batches) => batches,
        Err(Unread::Gone) => match files(folder, name).and_then(|files| batches(&files)) {
            Ok(batches) => batches,
            Err(Unread::Gone) => return Ok(None),
            Err(Unread::Damaged(why)) => return Err(why),
        },
        Err(Unread::Damaged(why)) => return Err(why),
    };
    let Some(schema) = batches.first().map(RecordBatch::schema) else { return Ok(None) };
    let rows =
        concat_batches(&schema, &batches).map_err(|e| format!("{name}.parquet cannot be read: {e}"))?;
    Ok((rows.num_rows() > 0).then_some(RunTable { rows }))
}

/// The names of the tables of the run in `folder`, in the order of the alphabet.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "parquet")
            || (path.is_dir() && path.extension().is_some_and(|e| e == "partial"))
    };
    let names =
        entries.filter(is_table).filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Why a table was not read.
enum Unread {
    /// A file no longer exists.
    Gone,
    /// It cannot be read.
    Damaged(String),
}

/// The files that currently make up a table.
fn files(folder: &Path, name: &str) -> Result<Vec<PathBuf>, Unread> {
    let whole = folder.join(format!("{name}.parquet"));
    if whole.exists() {
        return Ok(vec![whole]);
    }
    let partial = folder.join(format!("{name}.partial"));
    let entries = match fs::read_dir(&partial) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Unread::Damaged(format!("{}: {error}", partial.display()))),
    };
    let mut parts: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "parquet"))
        .collect();
    parts.sort();
    Ok(parts)
}

fn batches(files: &[PathBuf]) -> Result<Vec<RecordBatch>, Unread> {
    let mut all = Vec::new();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let damaged = |e: &dyn std::fmt::Display| Unread::Damaged(format!("{name} cannot be read: {e}"));
        let file = input_file::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Unread::Gone,
            _ => damaged(&e),
        })?;
        for batch in reader(file, 1 << 16).map_err(|e| damaged(&e))? {
            all.push(batch.map_err(|e| damaged(&e))?);
        }
    }
    Ok(all)
}

impl RunTable {
    /// Its columns.
    pub fn schema(&self) -> Arc<Schema> {
        self.rows.schema()
    }

    /// A column of whole numbers, as u64.
    ///
    /// # Errors
    /// If there is none, or it is text.
    pub fn numbers(&self, name: &str) -> Result<UInt64Array, String> {
        let values = Values::of(self.column(name)?).map_err(|e| format!("the column `{name}`: {e}"))?;
        values.numbers().ok_or_else(|| format!("the column `{name}` is text"))
    }

    /// A column of numbers without gaps.
    ///
    /// # Errors
    /// If there is none, or it is text.
    pub fn values(&self, name: &str) -> Result<Vec<u64>, String> {
        Ok(self.numbers(name)?.values().to_vec())
    }

    /// A column.
    ///
    /// # Errors
    /// If there is none.
    pub fn column(&self, name: &str) -> Result<&ArrayRef, String> {
        let other = "did another version of this program write it?";
        self.rows.column_by_name(name).ok_or_else(|| format!("there is no column `{name}`: {other}"))
    }

    /// A column of text, as indices of words and the words.
    ///
    /// # Errors
    /// If there is none.
    pub fn words(&self, name: &str) -> Result<(Vec<u32>, Vec<String>), String> {
        let column = self.column(name)?;
        let text = column.as_string_opt::<i32>().ok_or_else(|| format!("the column `{name}` is not text"))?;
        let (mut codes, mut words) = (Vec::with_capacity(text.len()), IndexSet::new());
        // Words that follow each other are often the same.
        let (mut last, mut code) = (None, 0);
        for word in text {
            let word = word.unwrap_or_default();
            if last != Some(word) {
                (last, code) = (Some(word), words.insert_full(word).0);
            }
            codes.push(code as u32);
        }
        Ok((codes, words.into_iter().map(str::to_owned).collect()))
    }
}
