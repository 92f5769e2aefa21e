//! The results of a finished run in the formats of other tools: `tresse export`.

mod case;
mod fct;
mod flent;
mod flows;
pub mod graph;
mod packets;
mod pcapng;
mod perfetto;
mod qlog;
mod standalone;
mod table;
mod whole;

use std::io::{self, Write};
use std::path::Path;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Every column of a table, with a header line; missing values are empty.
    Csv,
    /// The same table as an Arrow IPC file, also known as Feather, version 2.
    Arrow,
    /// A trace of events in JSON, which ui.perfetto.dev opens: flows and jobs as slices, samples as counters.
    Perfetto,
    /// qlog 0.3: windows and RTTs of every flow of one case and seed.
    Qlog,
    /// A data file of Flent, gzipped: rates, RTTs and windows of every flow of one case and seed.
    Flent,
    /// A capture that Wireshark reads: the recorded packets of one case and seed.
    Pcapng,
    /// `fct.txt` of the HPCC simulator, which its own scripts analyse; of one case and seed.
    HpccFct,
}

impl Format {
    /// Whether it is a binary format.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Flent | Self::Pcapng)
    }
}

/// The requested rows, by their columns: `KEY=VALUE[,VALUE]…` for each of `settings`.
///
/// # Errors
/// If one has another form, or is two in one.
pub fn wanted(settings: &[String]) -> Result<Wanted, Diagnostic> {
    settings.iter().try_fold(Wanted::default(), |wanted, setting| {
        let bad = |message: String| Diagnostic::input(message).of(format!("--only {setting}"));
        let own = Wanted::parse(setting)
            .ok_or_else(|| bad("expected KEY=VALUE[,VALUE]…, such as scheme=xmp,dctcp".to_owned()))?;
        match own.joined() {
            Some(wrong) => Err(bad(wrong)),
            None => Ok(wanted.and(own)),
        }
    })
}

/// Writes the rows of the run in folder `run` that `only` selects to `out`; returns what was left out.
/// `table` is the table for [`Format::Csv`] and [`Format::Arrow`], by default `flows`; other formats have
/// fixed tables.
///
/// # Errors
/// If the run has no such rows, or none with one of the values; if it has not ended, does not have a table that the
/// format needs, or cannot be read; if `out` cannot be written; if the format can hold only one case and there are
/// several; or if it takes no table.
pub fn export(
    run: &Path,
    format: Format,
    table: Option<&str>,
    only: &Wanted,
    out: &mut dyn Write,
) -> Result<Vec<String>, Diagnostic> {
    let one = table.unwrap_or("flows");
    match format {
        Format::Csv => whole::csv(run, one, only, out).map(|()| Vec::new()),
        Format::Arrow => whole::arrow(run, one, only, out).map(|()| Vec::new()),
        _ if table.is_some() => {
            let message =
                "only `csv` and `arrow` have one table; other formats take the tables that they need";
            Err(Diagnostic::input(message).of(format!("--table {one}")))
        }
        Format::Perfetto => perfetto::write(run, only, out),
        Format::Qlog => qlog::write(run, only, out),
        Format::Flent => flent::write(run, only, out),
        Format::Pcapng => pcapng::write(run, only, out),
        Format::HpccFct => fct::write(run, only, out),
    }
}

fn unwritten(error: io::Error) -> Diagnostic {
    Diagnostic::io("cannot be written", "the export", error)
}

fn none(run: &Path) -> Diagnostic {
    Diagnostic::input("no row is left: `--only` keeps none, or none was measured")
        .of(run.display().to_string())
}

/// Picoseconds in a microsecond, millisecond and second, the units of the formats.
const PS_PER_US: f64 = 1e6;
const PS_PER_MS: f64 = 1e9;
const PS_PER_S: f64 = 1e12;
