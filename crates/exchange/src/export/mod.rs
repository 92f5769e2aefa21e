//! The flows of a finished run in the formats of others: `tresse export`.

mod fct;
pub mod graph;
mod standalone;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use arrow::array::RecordBatchReader;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use tresse_experiment::diagnostic::{Diagnostic, did_you_mean};
use tresse_experiment::keys::wanted::Wanted;

/// A format of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Every column of `flows.parquet`, with a line of names; what is missing is empty.
    Csv,
    /// `fct.txt` of the HPCC simulator, which its own scripts analyse; of one case and seed.
    HpccFct,
}

/// Which flows are wanted, by their columns: `KEY=VALUE[,VALUE]…` for each of `settings`.
///
/// # Errors
/// If one has another form.
pub fn wanted(settings: &[String]) -> Result<Wanted, Diagnostic> {
    settings.iter().try_fold(Wanted::default(), |wanted, setting| {
        let bad =
            || Diagnostic::input("expected KEY=VALUE, such as scheme=xmp").of(format!("--only {setting}"));
        Ok(wanted.and(Wanted::parse(setting).ok_or_else(bad)?))
    })
}

/// `flows.parquet` of a run.
struct Flows {
    path: String,
    reader: ParquetRecordBatchReader,
}

/// A row of it.
struct Row<'a> {
    path: &'a str,
    /// The columns of the rows that were read together.
    columns: &'a [(String, ArrayFormatter<'a>)],
    row: usize,
}

impl Row<'_> {
    /// The value of a column, as text; empty if it is missing.
    fn text(&self, column: &str) -> Result<String, Diagnostic> {
        let values = self.column(column)?;
        Ok(values.map_or_else(String::new, |values| values.value(self.row).to_string()))
    }

    /// A column; none if it may be missing.
    fn column(&self, column: &str) -> Result<Option<&ArrayFormatter<'_>>, Diagnostic> {
        match self.columns.iter().find(|(name, _)| name == column) {
            Some((_, values)) => Ok(Some(values)),
            None if column == "variant" => Ok(None), // the experiment has none
            None => {
                let message =
                    format!("there is no column `{column}`: did another version of this program write it?");
                Err(damaged(self.path, &message))
            }
        }
    }

    /// The number in a column; none if it is missing.
    fn number(&self, column: &str) -> Result<Option<u64>, Diagnostic> {
        match &*self.text(column)? {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|e| damaged(self.path, &format!("{column}: {text}: {e}"))),
        }
    }

    /// The number in a column that every flow has.
    fn needed(&self, column: &str) -> Result<u64, Diagnostic> {
        self.number(column)?.ok_or_else(|| damaged(self.path, &format!("a flow without `{column}`")))
    }
}

fn damaged(path: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::input(format!("cannot be read: {error}")).of(path)
}

impl Flows {
    fn open(run: &Path) -> Result<Self, Diagnostic> {
        let path = run.join("flows.parquet");
        let shown = path.display().to_string();
        let file = File::open(&path).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound && run.join("run.json").exists() {
                return Diagnostic::input(format!("{shown} is not there: the run has not ended"));
            }
            if error.kind() == io::ErrorKind::NotFound {
                let hint = "expected the folder of a run, such as runs/xmp-table1-1";
                return Diagnostic::input(format!("no run is here; {hint}")).of(run.display().to_string());
            }
            Diagnostic::io("cannot be read", &path, error)
        })?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| damaged(&shown, &e))?;
        let reader = builder.build().map_err(|e| damaged(&shown, &e))?;
        Ok(Self { path: shown, reader })
    }

    /// The columns that say of which case and seed a flow is: the first ones.
    fn axes(&self) -> Vec<String> {
        let schema = self.reader.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| &**field.name()).collect();
        let end = names.iter().position(|name| *name == "seed").map_or(0, |seed| seed + 1);
        names[..end].iter().map(|&name| name.to_owned()).collect()
    }

    /// Shows every row that `only` keeps.
    fn each(
        self,
        only: &Wanted,
        mut show: impl FnMut(&Row) -> Result<(), Diagnostic>,
    ) -> Result<u64, Diagnostic> {
        let mut known = self.axes();
        known.push("group".to_owned());
        if let Some((key, _)) = only.axes().find(|(key, _)| !known.iter().any(|known| known == key)) {
            let hint = did_you_mean(key, known.iter().map(String::as_str));
            let message = format!("there is no key `{key}`{hint} (there are: {})", known.join(", "));
            return Err(Diagnostic::input(message).of(format!("--only {key}=…")));
        }
        let mut kept = 0;
        let options = FormatOptions::default();
        for batch in self.reader {
            let batch = batch.map_err(|e| damaged(&self.path, &e))?;
            let columns = batch.schema_ref().fields().iter().zip(batch.columns()).map(|(field, values)| {
                let values =
                    ArrayFormatter::try_new(values, &options).map_err(|e| damaged(&self.path, &e))?;
                Ok((field.name().clone(), values))
            });
            let columns = columns.collect::<Result<Vec<_>, Diagnostic>>()?;
            for row in 0..batch.num_rows() {
                let row = Row { path: &self.path, columns: &columns, row };
                if only.matches(|column| row.text(column).ok()) {
                    show(&row)?;
                    kept += 1;
                }
            }
        }
        Ok(kept)
    }
}

/// Writes the flows of the run in folder `run` that `only` keeps to `out`; returns what was left out.
///
/// # Errors
/// If the run has no such flows or has not ended, if it cannot be read, if `out` cannot be written, or if the format
/// has room for one case only and there are several.
pub fn export(
    run: &Path,
    format: Format,
    only: &Wanted,
    out: &mut dyn Write,
) -> Result<Vec<String>, Diagnostic> {
    match format {
        Format::Csv => csv(run, only, out).map(|()| Vec::new()),
        Format::HpccFct => fct::write(run, only, out),
    }
}

fn unwritten(error: io::Error) -> Diagnostic {
    Diagnostic::io("cannot be written", "the export", error)
}

fn none(run: &Path) -> Diagnostic {
    Diagnostic::input("no flow is left: `--only` keeps none, or none was measured")
        .of(run.display().to_string())
}

fn csv(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<(), Diagnostic> {
    let flows = Flows::open(run)?;
    let schema = flows.reader.schema();
    let names: Vec<&str> = schema.fields().iter().map(|f| &**f.name()).collect();
    writeln!(out, "{}", names.join(",")).map_err(unwritten)?;
    let kept = flows.each(only, |row| {
        let mut line = String::new();
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                line.push(',');
            }
            let value = row.text(name)?;
            if value.contains([',', '"', '\n']) {
                line.extend(["\"", &value.replace('"', "\"\""), "\""]);
            } else {
                line.push_str(&value);
            }
        }
        writeln!(out, "{line}").map_err(unwritten)
    })?;
    if kept == 0 { Err(none(run)) } else { Ok(()) }
}
