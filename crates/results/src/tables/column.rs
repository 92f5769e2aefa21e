//! A column: its name, its unit, its meaning and its value.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};
use tresse_experiment::plan::Case;

/// A column of a table with rows `R`.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// Its name; it ends in the unit, except for counts.
    pub name: &'static str,
    /// Its unit, in words; empty if it has none.
    pub unit: &'static str,
    /// What it means, in one sentence.
    pub meaning: &'static str,
    /// Its value in a row.
    pub get: Get<R>,
}

/// How a column gets its value from a row; the kind determines the column's type.
#[derive(Debug)]
pub enum Get<R: 'static> {
    /// Text.
    Text(for<'r> fn(&'r InCase<'_, R>) -> Cow<'r, str>),
    /// Yes or no.
    Flag(fn(&R) -> bool),
    /// A whole number below 2^32.
    U32(fn(&R) -> u32),
    /// The same, missing in some rows.
    MaybeU32(fn(&R) -> Option<u32>),
    /// A whole number.
    U64(fn(&R) -> u64),
    /// The same, missing in some rows.
    MaybeU64(fn(&R) -> Option<u64>),
}

/// A row with its case, which has the names of what the row has by number; the row's own fields are read directly.
#[derive(Debug)]
pub struct InCase<'a, R> {
    pub case: &'a Case,
    pub row: &'a R,
}

impl<R> Deref for InCase<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.row
    }
}

impl<R> Column<R> {
    /// Its field in a schema, with unit and meaning.
    pub(super) fn field(&self) -> Field {
        let (kind, may_miss) = match self.get {
            Get::Text(_) => (DataType::Utf8, false),
            Get::Flag(_) => (DataType::Boolean, false),
            Get::U32(_) => (DataType::UInt32, false),
            Get::MaybeU32(_) => (DataType::UInt32, true),
            Get::U64(_) => (DataType::UInt64, false),
            Get::MaybeU64(_) => (DataType::UInt64, true),
        };
        field(self.name, kind, may_miss, self.unit, self.meaning)
    }

    /// Its values in these rows of a case.
    pub(crate) fn values<'r>(&self, case: &'r Case, rows: impl Iterator<Item = &'r R>) -> ArrayRef {
        match self.get {
            Get::Text(get) => {
                let mut all = StringBuilder::new();
                rows.for_each(|row| all.append_value(get(&InCase { case, row })));
                Arc::new(all.finish())
            }
            Get::Flag(get) => Arc::new(rows.map(|row| Some(get(row))).collect::<BooleanArray>()),
            Get::U32(get) => Arc::new(UInt32Array::from_iter_values(rows.map(get))),
            Get::MaybeU32(get) => Arc::new(rows.map(get).collect::<UInt32Array>()),
            Get::U64(get) => Arc::new(UInt64Array::from_iter_values(rows.map(get))),
            Get::MaybeU64(get) => Arc::new(rows.map(get).collect::<UInt64Array>()),
        }
    }

    /// Whether its values are numbers.
    pub fn is_number(&self) -> bool {
        !matches!(self.get, Get::Text(_))
    }

    /// Its number in a row, yes as 1 and no as 0; `None` if it is missing, or text.
    pub fn number(&self, row: &R) -> Option<u64> {
        match self.get {
            Get::Text(_) => None,
            Get::Flag(get) => Some(get(row).into()),
            Get::U32(get) => Some(get(row).into()),
            Get::MaybeU32(get) => get(row).map(u64::from),
            Get::U64(get) => Some(get(row)),
            Get::MaybeU64(get) => get(row),
        }
    }
}

/// A field with its unit and meaning.
pub(super) fn field(name: &str, kind: DataType, may_miss: bool, unit: &str, meaning: &str) -> Field {
    let said = [("unit", unit), ("meaning", meaning)].map(|(key, text)| (key.to_owned(), text.to_owned()));
    Field::new(name, kind, may_miss).with_metadata(said.into())
}

/// Columns as rows of a table in Markdown.
pub(super) fn explain<R>(columns: &[Column<R>]) -> String {
    let row = |own: &Column<R>| format!("| `{}` | {} | {} |\n", own.name, own.unit, own.meaning);
    columns.iter().map(row).collect()
}

/// The same text in every row; missing if `None`.
pub(super) fn repeated(text: Option<&str>, rows: usize) -> ArrayRef {
    Arc::new((0..rows).map(|_| text).collect::<StringArray>())
}
