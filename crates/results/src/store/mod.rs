//! The folder of a run: its Parquet files, readable while they are written, and reading them back.

pub mod finished;
pub mod folder;
pub mod parquet;
pub mod read;
pub mod sums;
mod table;
mod values;

use std::path::Path;

use indexmap::IndexMap;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::plan::Case;
use tresse_units::Time;
use tresse_workload::Job;

use crate::record::flow::{Flow, Link};
use crate::record::outcome::{Outcome, Rows};
use crate::record::sample::Interval;
use crate::tables::flows::FlowRow;
use crate::tables::jobs::JobRow;
use crate::tables::lengths::LengthRow;
use crate::tables::links::LinkRow;
use crate::tables::rtts::RttRow;
use crate::tables::{Axes, Row, TABLES, columns};
use sums::Sums;
use table::Table;
pub use values::Values;

/// The tables of a run.
pub struct Tables {
    axes: Axes,
    /// Those that one of its cases needs, by name.
    open: IndexMap<&'static str, Table>,
}

impl Tables {
    /// In the folder `dir`, the tables that one of the cases needs.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn create(dir: &Path, cases: &[Case]) -> Result<Self, Diagnostic> {
        let axes = Axes::of(cases);
        let needed = TABLES.iter().filter(|table| cases.iter().any(table.is_needed));
        let open = needed.map(|own| Ok((own.name, Table::create(dir, own.name, (own.schema)(&axes))?)));
        Ok(Self { open: open.collect::<Result<_, Diagnostic>>()?, axes })
    }

    /// Adds what a replication measured while it ran.
    ///
    /// # Errors
    /// If a table cannot be written.
    pub fn add(&mut self, case: &Case, seed: u64, rows: Rows<'_>) -> Result<(), Diagnostic> {
        match rows {
            Rows::Flows(flows, optimum) => self.append(case, seed, &flow_rows(flows, optimum)),
            Rows::Jobs(jobs) => self.append(case, seed, &job_rows(jobs)),
            Rows::Samples(Interval { subflows, ports, paths }) => {
                self.append(case, seed, subflows)?;
                self.append(case, seed, ports)?;
                self.append(case, seed, paths)
            }
            Rows::Converged(rows) => self.append(case, seed, rows),
            Rows::Packets(packets) => self.append(case, seed, packets),
        }
    }

    /// Adds what is known when a replication has ended.
    ///
    /// # Errors
    /// If a table cannot be written.
    pub fn end(&mut self, case: &Case, seed: u64, outcome: &Outcome) -> Result<(), Diagnostic> {
        self.append(case, seed, &link_rows(&outcome.links, outcome.simulated))?;
        self.append(case, seed, &RttRow::all(&outcome.rtts))?;
        self.append(case, seed, &LengthRow::all(&outcome.queues))
    }

    fn append<R: Row>(&mut self, case: &Case, seed: u64, rows: &[R]) -> Result<(), Diagnostic> {
        let is_asked = R::is_needed(case) && !rows.is_empty();
        let Some(table) = self.open.get_mut(R::TABLE).filter(|_| is_asked) else { return Ok(()) };
        let mut values = self.axes.values(case, seed, rows.len());
        values.extend(columns::<R>(&self.axes).map(|column| column.values(case, rows.iter())));
        table.append(values)
    }

    /// Makes added rows readable if they have waited long enough. To be called every second or so, because rows may
    /// be far apart.
    ///
    /// # Errors
    /// If a table cannot be written.
    pub fn refresh(&mut self) -> Result<(), Diagnostic> {
        self.open.values_mut().try_for_each(Table::refresh)
    }

    /// Makes each table one file, and returns their sums.
    ///
    /// # Errors
    /// If a table cannot be written.
    pub fn finish(self) -> Result<Sums, Diagnostic> {
        self.open.into_iter().map(|(name, table)| Ok((name.to_owned(), table.finish()?))).collect()
    }
}

fn flow_rows(flows: &[Flow], optimum: Option<&[f64]>) -> Vec<FlowRow> {
    let optimum = |place: usize| optimum.map(|rates| rates[place].round() as u64);
    flows.iter().enumerate().map(|(place, &flow)| FlowRow { flow, optimum: optimum(place) }).collect()
}

fn job_rows(jobs: &[(usize, Job)]) -> Vec<JobRow> {
    jobs.iter().map(|&(part, job)| JobRow { part, job }).collect()
}

fn link_rows(links: &[Link], duration: Time) -> Vec<LinkRow> {
    links.iter().map(|link| LinkRow { link: link.clone(), duration }).collect()
}
