//! A table that can be read while it is written: small complete Parquet files, which become one file at the end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
use parquet::file::writer::SerializedFileWriter;
use tresse_experiment::diagnostic::Diagnostic;

use super::parquet::writer;
use super::sums::SummedFile;
use crate::clock::clock;

/// Rows of a part, which is a row group: enough for columns to pay off, and few enough to wait in memory. In a
/// large table it is a hundredth of the existing rows: a Parquet file has at most 2^15 row groups.
const ROWS: u64 = 100_000;
/// The maximum age of a row that waits for the end of its part; in a long run, a hundredth of the time so far.
const AGE: Duration = Duration::from_secs(1);

/// A table. Its rows are in `NAME.partial/000001.parquet`, `000002.parquet`, …, until [`Table::finish`] turns them
/// into `NAME.parquet`.
pub(super) struct Table {
    schema: Arc<Schema>,
    /// `NAME.partial`.
    folder: PathBuf,
    /// `NAME.parquet`.
    path: PathBuf,
    /// Complete parts.
    parts: u32,
    /// Rows in them.
    rows: u64,
    /// The part that is being written, and its rows.
    open: Option<(ArrowWriter<File>, u64)>,
    created: Instant,
    /// When the last part was completed.
    written: Instant,
}

impl Table {
    /// A table without rows, in the folder `dir`.
    pub fn create(dir: &Path, name: &str, schema: Arc<Schema>) -> Result<Self, Diagnostic> {
        let folder = dir.join(format!("{name}.partial"));
        fs::create_dir(&folder).map_err(|error| Diagnostic::io("cannot be created", &folder, error))?;
        let now = clock();
        Ok(Self {
            schema,
            path: dir.join(format!("{name}.parquet")),
            folder,
            parts: 0,
            rows: 0,
            open: None,
            created: now,
            written: now,
        })
    }

    /// Adds a batch of rows.
    pub fn append(&mut self, columns: Vec<ArrayRef>) -> Result<(), Diagnostic> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .expect("every column is as long as the first and has its declared type");
        let unfinished = self.unfinished();
        let (writer, rows) = match &mut self.open {
            Some(open) => open,
            open => {
                let file = File::create(&unfinished);
                let file = file.map_err(|error| Diagnostic::io("cannot be created", &unfinished, error))?;
                open.insert((writer(file, &self.schema).map_err(|e| failed(&unfinished, e))?, 0))
            }
        };
        writer.write(&batch).map_err(|e| failed(&unfinished, e))?;
        *rows += batch.num_rows() as u64;
        self.refresh()
    }

    /// Completes the part that is being written if it has waited long enough, so that it can be read.
    pub fn refresh(&mut self) -> Result<(), Diagnostic> {
        let now = clock();
        let waiting = self.open.as_ref().map_or(0, |(_, rows)| *rows);
        if is_due(waiting, self.rows, now - self.written, now - self.created) {
            self.end_part()
        } else {
            Ok(())
        }
    }

    fn end_part(&mut self) -> Result<(), Diagnostic> {
        let unfinished = self.unfinished();
        if let Some((writer, rows)) = self.open.take() {
            writer.close().map_err(|e| failed(&unfinished, e))?;
            rename(&unfinished, &self.part(self.parts + 1))?;
            self.parts += 1;
            self.rows += rows;
        }
        self.written = clock();
        Ok(())
    }

    /// Makes one file of the parts, and returns its SHA-256. If that fails, the parts stay.
    pub fn finish(mut self) -> Result<String, Diagnostic> {
        self.end_part()?;
        let io = |error| Diagnostic::io("cannot be written", &self.path, error);
        let wrong = |error| failed(&self.path, error);
        let merged = SummedFile::create(&self.path).map_err(io)?;
        // The schema with its units and meanings is in the file's own metadata: this writer puts it there.
        let writer = writer(merged, &self.schema).map_err(wrong)?;
        let (mut writer, _) = writer.into_serialized_writer().map_err(wrong)?;
        for n in 1..=self.parts {
            let part = self.part(n);
            copy(&part, &mut writer).map_err(|e| failed(&part, e))?;
        }
        let sum = writer.into_inner().map_err(wrong)?.finish().map_err(io)?;
        fs::remove_dir_all(&self.folder)
            .map_err(|error| Diagnostic::io("cannot be removed", self.folder, error))?;
        Ok(sum)
    }

    fn part(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number:06}.parquet"))
    }

    /// The part that is being written: not a `*.parquet`, because it cannot be read yet.
    fn unfinished(&self) -> PathBuf {
        self.folder.join("unfinished")
    }
}

/// Whether a part of `waiting` rows should be completed, after `rows` in earlier parts: the last one was completed
/// `age` ago, and the table was created `life` ago.
fn is_due(waiting: u64, rows: u64, age: Duration, life: Duration) -> bool {
    waiting > 0 && (waiting >= ROWS.max(rows / 100) || age >= AGE.max(life / 100))
}

/// Adds the row groups of `part`, column by column and unchanged: nothing is decoded.
fn copy(part: &Path, writer: &mut SerializedFileWriter<SummedFile>) -> Result<(), ParquetError> {
    let file = File::open(part)?;
    let metadata = ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .parse_and_finish(&file)?;
    let (pages, offsets) = (metadata.column_index(), metadata.offset_index());
    for (i, row_group) in metadata.row_groups().iter().enumerate() {
        let mut copied = writer.next_row_group()?;
        for (j, column) in row_group.columns().iter().enumerate() {
            copied.append_column(
                &file,
                ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: row_group.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: pages.map(|pages| pages[i][j].clone()),
                    offset_index: offsets.map(|offsets| offsets[i][j].clone()),
                },
            )?;
        }
        copied.close()?;
    }
    Ok(())
}

fn rename(from: &Path, to: &Path) -> Result<(), Diagnostic> {
    fs::rename(from, to).map_err(|error| Diagnostic::io("cannot be renamed", from, error))
}

fn failed(path: &Path, error: ParquetError) -> Diagnostic {
    let error = match error {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(e) => *e,
            Err(e) => io::Error::other(e),
        },
        e => io::Error::other(e),
    };
    Diagnostic::io("cannot be written", path, error)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::UInt64Type;
    use arrow_array::{RecordBatchReader, StringArray, UInt32Array, UInt64Array};
    use arrow_select::concat::concat_batches;
    use tempfile::TempDir;

    use super::super::parquet::reader;
    use super::*;
    use crate::tables::{Axes, TABLES};

    /// Rows of `queues.parquet`; `first` and those after it are their `start_ps`.
    fn rows(first: u64, count: u64) -> Vec<ArrayRef> {
        let n = count as usize;
        let text = |v: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values((0..n).map(|_| v))) };
        let u64s = |v: u64| -> ArrayRef { Arc::new(UInt64Array::from_value(v, n)) };
        let u32s = |v: u32| -> ArrayRef { Arc::new(UInt32Array::from_value(v, n)) };
        let subflows = Arc::new(UInt32Array::from_iter((0..n).map(|i| (i % 2 == 0).then_some(2))));
        let start = Arc::new(UInt64Array::from_iter_values(first..first + count));
        let case: [ArrayRef; 4] = [text("xmp"), subflows, text("permutation"), u64s(1)];
        let own = [
            u32s(0),
            start,
            u64s(7),
            u32s(first as u32),
            text("core"),
            u64s(5),
            u64s(first),
            u64s(0),
            u64s(0),
            u32s(500_000),
        ];
        case.into_iter().chain(own).collect()
    }

    fn read(path: &Path) -> RecordBatch {
        let file = File::open(path).expect("the table is there");
        let reader = reader(file, 1024).expect("a whole Parquet file");
        let schema = reader.schema();
        let batches: Vec<_> = reader.collect::<Result<_, _>>().expect("whole batches");
        concat_batches(&schema, &batches).expect("one schema")
    }

    fn starts(batch: &RecordBatch) -> Vec<u64> {
        let column = batch.column_by_name("start_ps").expect("the column");
        column.as_primitive::<UInt64Type>().values().to_vec()
    }

    /// What `NAME.partial/*.parquet` matches, in the order of names.
    fn parts(dir: &TempDir) -> Vec<PathBuf> {
        let folder = fs::read_dir(dir.path().join("queues.partial")).expect("the folder");
        let paths = folder.map(|entry| entry.expect("an entry").path());
        let mut parts: Vec<_> = paths.filter(|p| p.extension().is_some_and(|e| e == "parquet")).collect();
        parts.sort();
        parts
    }

    fn table(dir: &TempDir) -> Table {
        let queues = TABLES.iter().find(|table| table.name == "queues").expect("a table");
        let schema = (queues.schema)(&Axes::of(&[]));
        Table::create(dir.path(), "queues", schema).expect("the folder can be written")
    }

    #[test]
    fn a_part_is_due_by_its_rows_or_its_age() {
        let s = Duration::from_secs;
        for (waiting, rows, age, life, due) in [
            (0, 0, s(9), s(9), false),
            (1, 0, s(0), s(0), false),
            (1, 0, s(1), s(1), true),
            (99_999, 0, s(0), s(0), false),
            (100_000, 0, s(0), s(0), true),
            // A hundredth of the rows, or of the time, that there were.
            (100_000, 20_000_000, s(0), s(0), false),
            (200_000, 20_000_000, s(0), s(0), true),
            (1, 0, s(9), s(1000), false),
            (1, 0, s(10), s(1000), true),
        ] {
            assert_eq!(is_due(waiting, rows, age, life), due, "{waiting} {rows} {age:?} {life:?}");
        }
    }

    #[test]
    fn parts_are_readable_while_the_table_is_written() {
        let dir = TempDir::new().expect("a temporary folder");
        let mut table = table(&dir);
        table.append(rows(0, 3)).expect("written");
        assert_eq!(parts(&dir).len(), 0, "not due yet");
        table.end_part().expect("written");
        table.append(rows(3, 2)).expect("written");
        let [one] = &parts(&dir)[..] else { panic!("{:?}", parts(&dir)) };
        assert_eq!(starts(&read(one)), [0, 1, 2]);
        // As if the process were killed here: what is whole stays, and nothing else matches `*.parquet`.
        drop(table);
        assert_eq!(parts(&dir).len(), 1);
        assert!(!dir.path().join("queues.parquet").exists());
    }

    #[test]
    fn a_full_part_ends_at_once() {
        let dir = TempDir::new().expect("a temporary folder");
        let mut table = table(&dir);
        table.append(rows(0, ROWS)).expect("written");
        assert_eq!(read(&parts(&dir)[0]).num_rows() as u64, ROWS);
    }

    #[test]
    fn the_whole_table_is_its_parts() {
        let dir = TempDir::new().expect("a temporary folder");
        let mut table = table(&dir);
        let counts = [5, 1, 70_000, 2];
        let mut first = 0;
        for count in counts {
            table.append(rows(first, count)).expect("written");
            table.end_part().expect("written");
            first += count;
        }
        let schema = Arc::clone(&table.schema);
        let before: Vec<RecordBatch> = parts(&dir).iter().map(|p| read(p)).collect();
        // What waits when the run ends belongs to it too.
        table.append(rows(first, 4)).expect("written");
        table.finish().expect("merged");

        let merged = read(&dir.path().join("queues.parquet"));
        let before = concat_batches(&before[0].schema(), &before).expect("one schema");
        assert_eq!(merged.slice(0, first as usize), before);
        assert_eq!(starts(&merged), (0..first + 4).collect::<Vec<_>>());
        // Names, types, nulls, units and meanings.
        assert_eq!(merged.schema().fields(), schema.fields());
        assert!(merged.schema().field(9).metadata()["meaning"].contains("was sending"));
        assert!(!dir.path().join("queues.partial").exists());
    }

    #[test]
    fn pages_can_still_be_skipped_in_the_whole_table() {
        let dir = TempDir::new().expect("a temporary folder");
        let mut table = table(&dir);
        for first in [0, 50] {
            table.append(rows(first, 50)).expect("written");
            table.end_part().expect("written");
        }
        table.finish().expect("merged");
        let file = File::open(dir.path().join("queues.parquet")).expect("the table is there");
        let metadata = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Required)
            .parse_and_finish(&file)
            .expect("with an index of pages");
        let groups = metadata.row_groups();
        assert_eq!(groups.iter().map(|g| g.num_rows()).collect::<Vec<_>>(), [50, 50]);
        let least = |group: usize| {
            let statistics = groups[group].column(5).statistics().expect("statistics");
            u64::from_le_bytes(statistics.min_bytes_opt().expect("a minimum").try_into().expect("8 bytes"))
        };
        assert_eq!([least(0), least(1)], [0, 50]);
        let offsets = metadata.offset_index().expect("the index");
        let page = |group: usize| offsets[group][5].page_locations()[0].offset;
        assert!(page(1) > page(0), "pages are where they are in this file");
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let dir = TempDir::new().expect("a temporary folder");
        table(&dir).finish().expect("merged");
        let merged = read(&dir.path().join("queues.parquet"));
        assert_eq!((merged.num_rows(), merged.num_columns()), (0, 14));
        assert!(merged.schema().field(9).metadata().contains_key("unit"));
    }
}
