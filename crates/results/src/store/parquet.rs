//! How Parquet files are written and read: one way for every table.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

pub use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
pub use parquet::errors::ParquetError;

/// A writer of rows with these columns.
///
/// # Errors
/// If `file` cannot be written.
pub fn writer<W: Write + Send>(file: W, schema: &Arc<Schema>) -> Result<ArrowWriter<W>, ParquetError> {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    ArrowWriter::try_new(file, Arc::clone(schema), Some(properties))
}

/// The rows of `file`, so many at a time.
///
/// # Errors
/// If it is not a whole Parquet file.
pub fn reader(file: File, rows: usize) -> Result<ParquetRecordBatchReader, ParquetError> {
    ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(rows).build()
}
