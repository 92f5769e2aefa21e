//! The columns of a case and a seed, which every table begins with.

use std::iter;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Schema};
use indexmap::IndexMap;
use tresse_experiment::plan::{AxisValue, Case};

use super::column::{Column, Get, field, repeated};
use super::{Row, columns};

/// What the columns of a case need, in addition to the case.
#[derive(Debug)]
pub(super) struct CaseRow {
    subflows: Option<u32>,
    seed: u64,
}

/// The columns of a case and its seed; the variant is only in tables of experiments with variants. The axes made by
/// lists of values come before the seed.
pub(super) const CASE: [Column<CaseRow>; 5] = [
    Column {
        name: "scheme",
        unit: "",
        meaning: "the scheme's name in the experiment",
        get: Get::Text(|row| row.case.scheme.as_str().into()),
    },
    Column {
        name: "subflows",
        unit: "",
        meaning: "the number of subflows of a connection, not counting mmptcp's first one; null if its path manager decides",
        get: Get::MaybeU32(|row| row.subflows),
    },
    Column {
        name: "pattern",
        unit: "",
        meaning: "the workload's name in the experiment",
        get: Get::Text(|row| row.case.pattern.as_str().into()),
    },
    Column {
        name: VARIANT,
        unit: "",
        meaning: "the variant's name in the experiment; no column if there are none",
        get: Get::Text(|row| row.case.variant.as_deref().unwrap_or_default().into()),
    },
    Column { name: "seed", unit: "", meaning: "the seed of this replication", get: Get::U64(|row| row.seed) },
];

const VARIANT: &str = "variant";

/// What not every run has: axes, and flow control.
pub(crate) struct Axes {
    variants: bool,
    /// The axes made by lists of values: their names and paths.
    lists: IndexMap<Arc<str>, Arc<str>>,
    /// Whether some case has flow control.
    pub pauses: bool,
}

impl Axes {
    /// The axes of these cases.
    pub fn of(cases: &[Case]) -> Self {
        let values = cases.iter().flat_map(|case| &case.at);
        Self {
            variants: cases.iter().any(|case| case.variant.is_some()),
            lists: values.map(|at| (Arc::clone(&at.name), Arc::clone(&at.path))).collect(),
            pauses: cases.iter().any(|case| case.setting.options.pauses()),
        }
    }

    /// The columns before the lists of values, and the seed after them.
    fn split(&self) -> (impl Iterator<Item = &'static Column<CaseRow>>, &'static Column<CaseRow>) {
        let (seed, case) = CASE.split_last().expect("a case has columns");
        let variants = self.variants;
        (case.iter().filter(move |column| variants || column.name != VARIANT), seed)
    }

    /// The values of a case and a seed, in so many rows.
    pub fn values(&self, case: &Case, seed: u64, rows: usize) -> Vec<ArrayRef> {
        let (first, last) = self.split();
        let row = CaseRow { subflows: case.subflows, seed };
        let own = |column: &Column<CaseRow>| column.values(case, iter::repeat_n(&row, rows));
        let list = |name: &Arc<str>| {
            let value = case.at.iter().find(|at| at.name == *name).map(AxisValue::text);
            repeated(value.as_deref(), rows)
        };
        first.map(own).chain(self.lists.keys().map(list)).chain([own(last)]).collect()
    }
}

/// The schema of a table: the case, with the existing axes, and the seed of a row, then its own columns.
pub(super) fn schema<R: Row>(axes: &Axes) -> Arc<Schema> {
    let list = |(name, path): (&Arc<str>, &Arc<str>)| {
        let meaning = format!("the value of {path}; null if it does not affect the case");
        field(name, DataType::Utf8, true, "", &meaning)
    };
    let (first, last) = axes.split();
    let case = first.map(Column::field).chain(axes.lists.iter().map(list)).chain([last.field()]);
    Arc::new(Schema::new(case.chain(columns::<R>(axes).map(Column::field)).collect::<Vec<_>>()))
}
