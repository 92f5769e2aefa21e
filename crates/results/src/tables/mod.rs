//! The tables of a run: the columns of each in a file of its own, where a column is one declaration of its name, its
//! unit, its meaning and its value. The files, `tresse explain columns`, the page and exports follow from it.

pub mod convergence;
pub mod flows;
pub mod jobs;
pub mod lengths;
pub mod links;
pub mod packets;
pub mod paths;
pub mod queues;
pub mod rtts;
pub mod samples;

mod axes;
mod column;
mod of_subflow;

use std::sync::Arc;

use arrow_schema::Schema;
use tresse_experiment::plan::Case;

pub(crate) use axes::Axes;
pub use column::{Column, Get, InCase};
pub use of_subflow::OfSubflow;

/// A row of a table.
pub trait Row: Sized + 'static {
    /// The table's name; `NAME.parquet` is its file.
    const TABLE: &'static str;
    /// How a run gets the table; empty if every run has it.
    const REMEDY: &'static str;
    /// Its columns, after those of the case and the seed.
    const COLUMNS: &'static [Column<Self>];
    /// Further columns, if some case of the run has flow control.
    const WITH_FLOW_CONTROL: &'static [Column<Self>] = &[];

    /// Whether the table has rows of this case.
    fn is_needed(case: &Case) -> bool;
}

/// The columns of a table of a run whose cases have these axes.
pub(crate) fn columns<R: Row>(axes: &Axes) -> impl Iterator<Item = &'static Column<R>> {
    R::COLUMNS.iter().chain(R::WITH_FLOW_CONTROL.iter().filter(|_| axes.pauses))
}

/// What is known of a table before a run.
#[derive(Debug, Clone, Copy)]
pub struct TableInfo {
    pub name: &'static str,
    /// How a run gets it; empty if every run has it.
    pub remedy: &'static str,
    pub(crate) is_needed: fn(&Case) -> bool,
    pub(crate) schema: fn(&Axes) -> Arc<Schema>,
    explain: fn() -> String,
}

impl TableInfo {
    const fn of<R: Row>() -> Self {
        Self {
            name: R::TABLE,
            remedy: R::REMEDY,
            is_needed: R::is_needed,
            schema: axes::schema::<R>,
            explain: || column::explain(R::COLUMNS) + &column::explain(R::WITH_FLOW_CONTROL),
        }
    }
}

/// Every table that a run may have.
pub const TABLES: [TableInfo; 10] = [
    TableInfo::of::<flows::FlowRow>(),
    TableInfo::of::<jobs::JobRow>(),
    TableInfo::of::<links::LinkRow>(),
    TableInfo::of::<crate::record::sample::Sample>(),
    TableInfo::of::<crate::record::sample::PortSample>(),
    TableInfo::of::<crate::record::sample::PathSample>(),
    TableInfo::of::<rtts::RttRow>(),
    TableInfo::of::<lengths::LengthRow>(),
    TableInfo::of::<crate::record::convergence::Converged>(),
    TableInfo::of::<crate::record::packet::Packet>(),
];

/// The names of the tables that a run may have; `NAME.parquet` is the file of one.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.name)
}

/// The meaning of every column, in Markdown: the page of `tresse explain columns`.
pub fn explain() -> String {
    let head = "| column | unit | meaning |\n|---|---|---|\n";
    let own =
        TABLES.iter().map(|table| format!("\n## {}.parquet\n\n{head}{}", table.name, (table.explain)()));
    let every =
        format!("# Columns of the tables\n\nIn every table:\n\n{head}{}", column::explain(&axes::CASE));
    every + &own.collect::<String>()
}
