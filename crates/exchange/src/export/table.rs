//! A table of a finished run: the rows that `--only` selects.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use tresse_experiment::Owners;
use tresse_experiment::diagnostic::{Diagnostic, did_you_mean};
use tresse_experiment::schema::wanted::Wanted;
use tresse_results::store::Values;
use tresse_results::store::parquet::{ParquetRecordBatchReader, reader};
use tresse_results::store::sums::check_table;
use tresse_results::tables::{self, TABLES};
use tresse_results::{Finished, State};
use tresse_units::input_file;

/// Rows that are read together.
const ROWS: usize = 1024;

/// `NAME.parquet` of a run.
pub(super) struct Table {
    path: String,
    reader: ParquetRecordBatchReader,
}

/// A row of a table.
pub(super) struct Row<'a> {
    path: &'a str,
    /// The columns of the rows in the same batch.
    columns: &'a [(String, Values<'a>)],
    row: usize,
}

impl Row<'_> {
    /// The value of a column, as text; empty if it is missing.
    pub fn text(&self, column: &str) -> Result<String, Diagnostic> {
        let values = self.columns.iter().find(|(name, _)| name == column);
        let (_, values) = values.ok_or_else(|| {
            let message =
                format!("there is no column `{column}`: did another version of this program write it?");
            damaged(self.path, &message)
        })?;
        Ok(values.text(self.row).unwrap_or_default().into_owned())
    }

    /// The number in a column; `None` if it is missing.
    pub fn number(&self, column: &str) -> Result<Option<u64>, Diagnostic> {
        match &*self.text(column)? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|e| damaged(self.path, &format!("{column}: {text}: {e}"))),
        }
    }

    /// The number in a column that every row has.
    pub fn needed(&self, column: &str) -> Result<u64, Diagnostic> {
        self.number(column)?.ok_or_else(|| damaged(self.path, &format!("a row without `{column}`")))
    }

    /// The values of these columns, as text.
    pub fn texts(&self, columns: &[String]) -> Result<Vec<String>, Diagnostic> {
        columns.iter().map(|column| self.text(column)).collect()
    }
}

impl Table {
    /// A table that the run must have.
    pub fn open(run: &Path, name: &str) -> Result<Self, Diagnostic> {
        let Some(info) = TABLES.iter().find(|table| table.name == name) else {
            let known: Vec<&str> = tables::names().collect();
            let hint = did_you_mean(name, known.iter().copied());
            let message = format!("there is no table `{name}`{hint} (available: {})", known.join(", "));
            return Err(Diagnostic::input(message).of(format!("--table {name}")));
        };
        Self::find(run, name)?.ok_or_else(|| {
            let missing = Diagnostic::input(format!("the run has no {name}.parquet"));
            let missing = missing.of(run.display().to_string());
            if info.remedy.is_empty() { missing } else { missing.hint(info.remedy) }
        })
    }

    /// A table that is optional for a finished run.
    pub fn find(run: &Path, name: &str) -> Result<Option<Self>, Diagnostic> {
        let path = run.join(format!("{name}.parquet"));
        let shown = path.display().to_string();
        let file = match input_file::open(&path) {
            Ok(file) => {
                check_table(run, name)?;
                file
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Diagnostic::io("cannot be read", &path, error));
            }
            Err(_) if !run.join("run.json").exists() => {
                let hint = "expected the folder of a run, such as runs/xmp-table1-1";
                return Err(
                    Diagnostic::input(format!("there is no run here; {hint}")).of(run.display().to_string())
                );
            }
            // The table that every finished run has.
            Err(_) if !run.join("flows.parquet").exists() => {
                return Err(unfinished(run, &shown));
            }
            Err(_) => return Ok(None),
        };
        let reader = reader(file, ROWS).map_err(|e| damaged(&shown, &e))?;
        Ok(Some(Self { path: shown, reader }))
    }

    /// Its columns.
    pub fn schema(&self) -> SchemaRef {
        self.reader.schema()
    }

    /// The columns that identify the case and seed of a row: the first ones.
    pub fn axes(&self) -> Vec<String> {
        let schema = self.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| &**field.name()).collect();
        let end = names.iter().position(|name| *name == "seed").map_or(0, |seed| seed + 1);
        names[..end].iter().map(|&name| name.to_owned()).collect()
    }

    /// The columns that `--only` may name: those of the case, and the group and the recorded host if they
    /// exist.
    pub fn keys(&self) -> Vec<String> {
        let schema = self.schema();
        let own = ["group", "host"].into_iter().filter(|name| schema.column_with_name(name).is_some());
        self.axes().into_iter().chain(own.map(str::to_owned)).collect()
    }

    /// Shows every row that `only` selects. Returns their number.
    pub fn each(
        self,
        only: &Wanted,
        mut show: impl FnMut(&Row) -> Result<(), Diagnostic>,
    ) -> Result<u64, Diagnostic> {
        self.batches(only, |path, batch| {
            let columns = named(path, batch)?;
            (0..batch.num_rows()).try_for_each(|row| show(&Row { path, columns: &columns, row }))
        })
    }

    /// Shows the rows that `only` selects, many at a time. Returns their number.
    ///
    /// # Errors
    /// Those of `show`; if `only` has a value that neither this table nor the run's flows have.
    pub fn batches(
        self,
        only: &Wanted,
        mut show: impl FnMut(&str, &RecordBatch) -> Result<(), Diagnostic>,
    ) -> Result<u64, Diagnostic> {
        let known = self.keys();
        if let Some((key, _)) = only.axes().find(|(key, _)| !known.iter().any(|known| known == key)) {
            let hint = did_you_mean(key, known.iter().map(String::as_str));
            let message = format!("there is no key `{key}`{hint} (available: {})", known.join(", "));
            return Err(Diagnostic::input(message).of(format!("--only {key}=…")));
        }
        let path = &*self.path;
        let mut kept = 0;
        // What a typing error is not to hide: values that no row has.
        let mut unseen: Vec<(&str, &String)> =
            only.axes().flat_map(|(axis, values)| values.iter().map(move |value| (axis, value))).collect();
        for batch in self.reader {
            let batch = batch.map_err(|e| damaged(path, &e))?;
            let columns = named(path, &batch)?;
            let value = |column: &str, row| Row { path, columns: &columns, row }.text(column).ok();
            unseen.retain(|(axis, wanted)| {
                (0..batch.num_rows()).all(|row| value(axis, row).as_ref() != Some(*wanted))
            });
            let is_kept = |row| only.matches(|column| value(column, row));
            let mask: BooleanArray = (0..batch.num_rows()).map(|row| Some(is_kept(row))).collect();
            let batch = filter_record_batch(&batch, &mask).map_err(|e| damaged(path, &e))?;
            if batch.num_rows() > 0 {
                show(path, &batch)?;
                kept += batch.num_rows() as u64;
            }
        }
        unseen.into_iter().try_for_each(|(axis, value)| exists(path, axis, value))?;
        Ok(kept)
    }

    /// The values of a column; none if there is no such column.
    fn values(self, column: &str) -> Result<BTreeSet<String>, Diagnostic> {
        let mut values = BTreeSet::new();
        if self.schema().column_with_name(column).is_some() {
            self.each(&Wanted::default(), |row| {
                values.insert(row.text(column)?);
                Ok(())
            })?;
        }
        values.remove("");
        Ok(values)
    }
}

/// Checks a value that no row of the table at `path` has: it may be that of a case without rows there.
fn exists(path: &str, axis: &str, value: &str) -> Result<(), Diagnostic> {
    let path = Path::new(path);
    let (run, own) = (path.parent().unwrap_or(path), path.file_stem().unwrap_or_default().to_string_lossy());
    let mut known = BTreeSet::new();
    for name in [&*own, "flows"] {
        if let Some(table) = Table::find(run, name)? {
            known.extend(table.values(axis)?);
        }
    }
    if known.is_empty() || known.contains(value) {
        return Ok(());
    }
    let hint =
        did_you_mean(value, known.iter().map(String::as_str).filter(|own| own.parse::<u64>().is_err()));
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let message = format!("no row has {axis} = {value}{hint} (available: {})", known.join(", "));
    Err(Diagnostic::input(message).of(format!("--only {axis}=…")))
}

/// The error for a run without flows.
fn unfinished(run: &Path, table: &str) -> Diagnostic {
    let shown = run.display();
    let state = match Finished::read(run, Owners::some(&[])) {
        Ok(finished) => finished.state,
        Err(error) => return error,
    };
    let known = format!("`tresse show {shown}` prints what is known");
    match state {
        State::UnderWay => Diagnostic::input("the run is in progress, and its tables come at its end")
            .hint(format!("wait until it has ended; {known} so far")),
        State::Killed => {
            let message = "the run was killed, so it has no tables";
            Diagnostic::input(message).hint(format!("run the experiment again; {known}"))
        }
        _ => return Diagnostic::input("does not exist").of(table).hint("run the experiment again"),
    }
    .of(shown.to_string())
}

/// The columns of a batch by their names.
fn named<'a>(path: &str, batch: &'a RecordBatch) -> Result<Vec<(String, Values<'a>)>, Diagnostic> {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns()).map(|(field, values)| {
        let name = field.name();
        let values = Values::of(values).map_err(|e| damaged(path, &format!("the column `{name}`: {e}")))?;
        Ok((name.clone(), values))
    });
    columns.collect()
}

pub(super) fn damaged(path: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::input(format!("cannot be read: {error}")).of(path)
}
