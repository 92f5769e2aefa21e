//! Columns of the page, which JavaScript reads without a loop. Numbers are doubles, so whole numbers are exact up
//! to 2^53; text is a dictionary.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::head::{ColumnHead, TableHead};

/// A table of the page.
#[derive(Debug, Clone, Default)]
pub struct PageTable {
    columns: Vec<(ColumnHead, ArrayRef, bool)>,
    /// Rows of the run's own table.
    pub rows_of_run: usize,
    /// How rows were thinned.
    pub thinned: Option<String>,
}

/// The name, unit and meaning of a column.
pub type About<'a> = (&'a str, &'a str, &'a str);

impl PageTable {
    /// A table without columns, made from a table with this many rows.
    pub fn of(rows_of_run: usize) -> Self {
        Self { rows_of_run, ..Self::default() }
    }

    /// Numbers.
    pub fn doubles(&mut self, about: About, values: impl IntoIterator<Item = Option<f64>>) {
        self.push(about, Arc::new(values.into_iter().collect::<Float64Array>()), false);
    }

    /// Whole numbers below 2^32.
    pub fn integers(&mut self, about: About, values: impl IntoIterator<Item = u32>) {
        self.push(about, Arc::new(UInt32Array::from_iter_values(values)), false);
    }

    /// Whole numbers, as differences to the previous ones: even steps compress to almost nothing.
    pub fn deltas(&mut self, about: About, values: impl IntoIterator<Item = u64>) {
        let mut before = 0.0;
        let delta = |value: u64| value as f64 - std::mem::replace(&mut before, value as f64);
        self.push(about, Arc::new(Float64Array::from_iter_values(values.into_iter().map(delta))), true);
    }

    /// Text, as indices of words.
    pub fn words(&mut self, about: About, codes: impl IntoIterator<Item = Option<u32>>, words: &[String]) {
        let keys: UInt32Array = codes.into_iter().collect();
        let values = Arc::new(StringArray::from_iter_values(words));
        let array = DictionaryArray::<UInt32Type>::try_new(keys, values).expect("every code has a word");
        self.push(about, Arc::new(array), false);
    }

    fn push(&mut self, (name, unit, meaning): About, values: ArrayRef, delta: bool) {
        let [name, unit, meaning] = [name, unit, meaning].map(str::to_owned);
        self.columns.push((ColumnHead { name, unit, meaning }, values, delta));
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values, _)| values.len())
    }

    /// What the page says about it.
    pub fn head(&self) -> TableHead {
        TableHead {
            rows: self.rows(),
            rows_of_run: self.rows_of_run,
            thinned: self.thinned.clone(),
            columns: self.columns.iter().map(|(column, ..)| column.clone()).collect(),
        }
    }

    /// As a gzipped Arrow IPC stream.
    ///
    /// # Errors
    /// Never, unless the columns differ in length.
    pub fn packed(&self) -> Result<Vec<u8>, ArrowError> {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|(column, values, delta)| {
                let mut metadata = BTreeMap::new();
                if *delta {
                    metadata.insert("delta".to_owned(), "1".to_owned());
                }
                let field = Field::new(&column.name, values.data_type().clone(), is_nullable(values));
                field.with_metadata(metadata.into_iter().collect())
            })
            .collect();
        let arrays: Vec<ArrayRef> = self.columns.iter().map(|(_, values, _)| Arc::clone(values)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
        let mut writer = StreamWriter::try_new(GzEncoder::new(Vec::new(), Compression::new(6)), &schema)?;
        writer.write(&batch)?;
        writer.finish()?;
        Ok(writer.into_inner()?.finish()?)
    }
}

fn is_nullable(values: &ArrayRef) -> bool {
    values.null_count() > 0 || matches!(values.data_type(), DataType::Dictionary(..))
}

/// Gzips text.
pub fn packed_text(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(text.as_bytes()).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use arrow_ipc::reader::StreamReader;
    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn what_is_packed_is_read_again() {
        let mut table = PageTable::of(3);
        let times = [5_u64, 9_007_199_254_740_000, 7];
        table.deltas(("start_ps", "ps", "when"), times);
        table.doubles(("srtt_ps", "ps", "how long"), [Some(1.0), None, Some(3.0)]);
        table.words(("state", "", "which"), [Some(1), None, Some(0)], &["open".into(), "cwr".into()]);
        assert_eq!((table.rows(), table.head().columns.len()), (3, 3));
        let mut plain = Vec::new();
        GzDecoder::new(&table.packed().expect("columns of one length")[..])
            .read_to_end(&mut plain)
            .expect("gzip");
        let mut reader = StreamReader::try_new(&plain[..], None).expect("a stream");
        let batch = reader.next().expect("a batch").expect("whole");
        assert_eq!(batch.schema().field(0).metadata()["delta"], "1");
        let sums = batch.column(0).as_primitive::<Float64Type>().values().iter().scan(0.0, |sum, delta| {
            *sum += delta;
            Some(*sum as u64)
        });
        assert_eq!(sums.collect::<Vec<_>>(), times, "whole numbers stay exact");
        assert!(batch.column(1).is_null(1) && batch.column(2).is_null(1));
    }
}
