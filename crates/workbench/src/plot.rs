//! The figures that a run's experiment declares, for whoever draws them.

use std::path::Path;

use indexmap::IndexSet;
use serde::Serialize;
use tresse_experiment::diagnostic::known;
use tresse_report::figures::Figure;
use tresse_report::head::PublishedHead;
use tresse_results::Finished;
use tresse_sweep::{is_sweep, rows};

use crate::failure::Failure;
use crate::{OWNERS, page};

/// What figures draw in addition to the results.
#[derive(Debug, Serialize)]
pub struct Declared {
    /// The figures; for a built-in experiment the current ones.
    pub figures: Vec<Figure>,
    /// The published values, which the results do not have for windows of time.
    pub published: Vec<PublishedHead>,
}

/// The figures of the run in `folder`, and what was published about it.
///
/// # Errors
/// If it is no run, or damaged.
pub fn declared(folder: &Path) -> Result<Declared, Failure> {
    let (run, published) = page::read(folder)?;
    // A run that was changed is not judged by what was published.
    let published = if run.report.judged { published.numbers } else { Vec::new() };
    Ok(Declared { figures: tresse_report::run::figures(&run)?, published })
}

/// Checks that the run in `folder` has a figure of this name, or the sweep a metric.
///
/// # Errors
/// If it has none, with those that it has.
pub fn figure(folder: &Path, name: &str) -> Result<(), Failure> {
    if is_sweep(folder) {
        let rows = rows(folder)?;
        let metrics: IndexSet<&String> = rows.iter().flat_map(|row| row.metrics.keys()).collect();
        return known("metric", name, metrics)
            .map_err(|wrong| Failure::Input(format!("{}: {wrong}", folder.display())));
    }
    let run = Finished::read(folder, OWNERS)?;
    let figures = tresse_report::run::figures(&run)?;
    if figures.is_empty() {
        let message = format!("{}: its experiment declares no figures", folder.display());
        return Err(Failure::Input(format!("{message}\n\nhint: `tresse explain figures` says how it can")));
    }
    let names = figures.iter().map(|figure| &figure.id);
    known("figure", name, names).map_err(|wrong| Failure::Input(format!("{}: {wrong}", folder.display())))
}
