//! Runs experiments, and reads the tables that they leave.

// Each test file is a crate of its own and uses a part of this one.
#![allow(dead_code)]

use std::fs::File;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_experiment::{Loaded, Plan, Profile, Source, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::{Options, Watch, runner::run};
use tresse_results::Report;

/// An experiment of this text, with these settings.
pub fn plan(source: Source, settings: &[&str]) -> (Loaded, Plan) {
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let loaded = load(source, Profile::Full, &settings).unwrap_or_else(|e| panic!("{e}"));
    let plan = resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
    (loaded, plan)
}

/// Runs it under so many seeds on so many threads, into the folder `out`.
pub fn measure(
    (loaded, plan): &(Loaded, Plan),
    out: &Path,
    replications: impl Into<Replications>,
    parallel: usize,
) -> Report {
    let replications = replications.into();
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications,
        parallel,
        threads: 1,
        out: Some(out.to_owned()),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(plan, &options).expect("there are as many seeds");
    run(loaded, plan, &options, &watch, &NotJudged).expect("the folder can be written")
}

/// A table, by its columns.
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// The table of a file.
    pub fn read(path: &Path) -> Self {
        let file = File::open(path).expect("the table is there");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a whole Parquet file");
        let schema = reader.schema().clone();
        let reader = reader.build().expect("a reader");
        Self { schema, batches: reader.collect::<Result<_, _>>().expect("whole batches") }
    }

    /// The columns: name, unit and meaning.
    pub fn columns(&self) -> Vec<(String, String, String)> {
        let column = |f: &std::sync::Arc<arrow_schema::Field>| {
            let [unit, meaning] = ["unit", "meaning"].map(|key| f.metadata()[key].clone());
            (f.name().clone(), unit, meaning)
        };
        self.schema.fields().iter().map(column).collect()
    }

    /// A column of whole numbers, `None` where there is none.
    pub fn maybe(&self, name: &str) -> Vec<Option<u64>> {
        let column = |batch: &RecordBatch| -> Vec<Option<u64>> {
            let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
            match column.as_primitive_opt::<UInt32Type>() {
                Some(column) => column.iter().map(|v| v.map(u64::from)).collect(),
                None => column.as_primitive::<UInt64Type>().iter().collect(),
            }
        };
        self.batches.iter().flat_map(column).collect()
    }

    /// A column of whole numbers, of which none is missing.
    pub fn numbers(&self, name: &str) -> Vec<u64> {
        self.maybe(name).into_iter().map(|v| v.unwrap_or_else(|| panic!("{name} is null"))).collect()
    }

    /// A column of text.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let column = |batch: &RecordBatch| -> Vec<String> {
            let column = batch.column_by_name(name).unwrap_or_else(|| panic!("no column {name}"));
            column.as_string::<i32>().iter().map(|v| v.expect("no null").to_owned()).collect()
        };
        self.batches.iter().flat_map(column).collect()
    }
}
