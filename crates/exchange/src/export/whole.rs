//! A table unchanged: CSV and Arrow.

use std::io::Write;
use std::path::Path;

use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;

use super::table::Table;
use super::{none, unwritten};

/// A header line, and a line for each row; missing values are empty.
pub(super) fn csv(run: &Path, table: &str, only: &Wanted, out: &mut dyn Write) -> Result<(), Diagnostic> {
    let table = Table::open(run, table)?;
    let schema = table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|f| &**f.name()).collect();
    writeln!(out, "{}", names.join(",")).map_err(unwritten)?;
    let kept = table.each(only, |row| {
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

/// An Arrow IPC file; columns keep their types, units and meanings.
pub(super) fn arrow(run: &Path, table: &str, only: &Wanted, out: &mut dyn Write) -> Result<(), Diagnostic> {
    let failed = |error| {
        unwritten(match error {
            ArrowError::IoError(_, error) => error,
            error => std::io::Error::other(error),
        })
    };
    let table = Table::open(run, table)?;
    let mut writer = FileWriter::try_new(out, &table.schema()).map_err(failed)?;
    let kept = table.batches(only, |_, batch| writer.write(batch).map_err(failed))?;
    writer.finish().map_err(failed)?;
    if kept == 0 { Err(none(run)) } else { Ok(()) }
}
