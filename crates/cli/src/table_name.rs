//! The tables of a run by their names, to choose some of them.

use clap::ValueEnum;
use tresse_workbench::Failure;

use crate::table::Table;

/// A table of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableName {
    /// A row for each case: goodput, or what `[measure] table` names
    Cases,
    /// Completion times by size, of cases whose flows arrive one by one
    Sizes,
    /// Timeouts, drops and marks of these cases
    Losses,
    /// The groups of each case: parts of its workload, or schemes of a mix
    Groups,
    /// The slices of `[measure.slices]`
    Slices,
    /// Jobs: their number, and how long they took
    Jobs,
}

impl TableName {
    /// Its name in the command.
    fn name(self) -> String {
        self.to_possible_value().expect("none is skipped").get_name().to_owned()
    }
}

/// Those of a run's tables that are `named`, in that order; all of them if none is.
///
/// # Errors
/// If the run has no such table.
pub fn chosen(
    mut tables: Vec<(TableName, Table)>,
    named: &[TableName],
    run: &str,
) -> Result<Vec<Table>, Failure> {
    if named.is_empty() {
        return Ok(tables.into_iter().map(|(_, table)| table).collect());
    }
    let has = tables.iter().map(|(name, _)| name.name()).collect::<Vec<_>>().join(", ");
    let find = |name: &TableName| {
        let place = tables.iter().position(|(own, _)| own == name);
        let missing = || format!("{run} has no table `{}`\n\nhint: it has {has}", name.name());
        place.map(|place| tables.remove(place).1).ok_or_else(|| Failure::Input(missing()))
    };
    named.iter().map(find).collect()
}
