//! `jobs.parquet`: jobs that ended.

use tresse_experiment::plan::Case;
use tresse_workload::Job;

use super::Get::{MaybeU64, Text, U32, U64};
use super::{Column, Row};

/// A job that ended.
#[derive(Debug, Clone, Copy)]
pub struct JobRow {
    /// The part of its case that it belongs to.
    pub part: usize,
    pub job: Job,
}

impl Row for JobRow {
    const TABLE: &'static str = "jobs";
    const REMEDY: &'static str = "only workloads with jobs have one (`tresse explain jobs`)";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "part",
            unit: "",
            meaning: "the part of the workload; empty if there is only one",
            get: Text(|row| row.case.parts[row.part].name.as_str().into()),
        },
        Column {
            name: "job",
            unit: "",
            meaning: "its number, in the order of the starts",
            get: U32(|row| row.job.number),
        },
        Column {
            name: "start_ps",
            unit: "ps",
            meaning: "when its first flow started",
            get: U64(|row| row.job.start),
        },
        Column {
            name: "end_ps",
            unit: "ps",
            meaning: "when everything that it waits for was done",
            get: U64(|row| row.job.end),
        },
        Column { name: "flows", unit: "", meaning: "its number of flows", get: U32(|row| row.job.flows) },
        Column {
            name: "deadline_ps",
            unit: "ps",
            meaning: "when it should have ended; null if it has no deadline",
            get: MaybeU64(|row| row.job.deadline),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.has_jobs()
    }
}
