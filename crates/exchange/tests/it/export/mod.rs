//! A run, with everything that can be measured, in the formats of other tools: they agree with its tables.

mod flent;
mod perfetto;
mod qlog;
mod whole;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::OnceLock;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_select::concat::concat_batches;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;
use tresse_exchange::export::{self, Format};
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_experiment::{Profile, Source, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::{Options, Watch, runner::run};

/// Jobs over TCP, in small segments, along with large flows over two subflows: two cases.
const INCAST: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = 2
echo = "two-bit"
[schemes.lia]
controller = "lia"
subflows = 2
[schemes.tcp]
controller = "reno"
axis = false
transport = { mss = "500B" }
[workloads.incast.parts.jobs]
pattern = "jobs"
scheme = "tcp"
jobs = 2
total = 6
servers = 3
request = "2kB"
response = "8kB"
deadline = { exponential = "1ms" }
[workloads.incast.parts.large]
pattern = "random"
pairs = "inter-rack"
size = ["200kB", "2MB"]
flows = 20
[measure]
samples = "1ms"
queues = "100us"
rtt = true
packets = { hosts = [0, 1] }
convergence = { for = "2ms" }
"#;

/// The folder of its run, which all tests read.
fn ran() -> &'static Path {
    static RAN: OnceLock<TempDir> = OnceLock::new();
    let dir = RAN.get_or_init(|| {
        let dir = TempDir::new().expect("a temporary folder");
        let source = Source { name: "t.toml".to_owned(), text: INCAST.to_owned() };
        let loaded = load(source, Profile::Full, &[]).unwrap_or_else(|e| panic!("{e}"));
        let plan = resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
        let options = Options {
            profile: Profile::Full,
            seed: 1,
            replications: Replications::from(1),
            parallel: 1,
            threads: 1,
            out: Some(dir.path().to_owned()),
            judge: false,
            figure: None,
        };
        let watch = Watch::new(&plan, &options).expect("there is a seed");
        run(&loaded, &plan, &options, &watch, &NotJudged).expect("the folder can be written");
        dir
    });
    dir.path()
}

/// The same run without one of its tables.
fn without(table: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    for entry in fs::read_dir(ran()).expect("the folder") {
        let entry = entry.expect("an entry");
        if entry.file_name() != *format!("{table}.parquet") {
            fs::copy(entry.path(), dir.path().join(entry.file_name())).expect("it can be copied");
        }
    }
    dir
}

fn exported(format: Format, table: Option<&str>, only: &[&str]) -> Result<Vec<u8>, String> {
    exported_from(ran(), format, table, only)
}

fn exported_from(run: &Path, format: Format, table: Option<&str>, only: &[&str]) -> Result<Vec<u8>, String> {
    let only: Vec<String> = only.iter().map(|&s| s.to_owned()).collect();
    let only = export::wanted(&only).map_err(|e| e.to_string())?;
    let mut out = Vec::new();
    export::export(run, format, table, &only, &mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

/// A table of the run, unchanged.
fn batch(name: &str) -> RecordBatch {
    let file = File::open(ran().join(format!("{name}.parquet"))).expect("the table is there");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
    let schema = builder.schema().clone();
    let batches: Vec<_> =
        builder.build().expect("a reader").collect::<Result<_, _>>().expect("whole batches");
    concat_batches(&schema, &batches).expect("one schema")
}

/// A row: the value in each column, as text; empty if it is missing.
struct Row(BTreeMap<String, String>);

impl Row {
    fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    fn maybe(&self, column: &str) -> Option<u64> {
        let text = self.text(column);
        (!text.is_empty()).then(|| text.parse().expect("a whole number"))
    }

    fn number(&self, column: &str) -> u64 {
        self.maybe(column).unwrap_or_else(|| panic!("{column} is missing"))
    }

    /// The name of a flow in a run with one round, as in the formats.
    fn flow(&self) -> String {
        let [group, flow, from, to] = ["group", "flow", "from", "to"].map(|column| self.text(column));
        format!("{group}: flow {flow}, host {from} to {to}")
    }
}

/// A value as text; empty if it is missing.
fn text(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        String::new()
    } else if let Some(text) = column.as_string_opt::<i32>() {
        text.value(row).to_owned()
    } else if let Some(flags) = column.as_boolean_opt() {
        flags.value(row).to_string()
    } else if let Some(numbers) = column.as_primitive_opt::<UInt32Type>() {
        numbers.value(row).to_string()
    } else {
        column.as_primitive::<UInt64Type>().value(row).to_string()
    }
}

/// The rows of a table for this scheme's case.
fn rows(name: &str, scheme: &str) -> Vec<Row> {
    let batch = batch(name);
    let names: Vec<String> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    let row = |row| Row(names.iter().cloned().zip(batch.columns().iter().map(|c| text(c, row))).collect());
    (0..batch.num_rows()).map(row).filter(|row| row.text("scheme").contains(scheme)).collect()
}
