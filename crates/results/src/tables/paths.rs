//! `paths.parquet`: the paths of subflows.

use tresse_experiment::plan::Case;

use super::Get::{Text, U32, U64};
use super::{Column, Row};
use crate::record::sample::PathSample;

impl Row for PathSample {
    const TABLE: &'static str = "paths";
    const REMEDY: &'static str = "run the experiment again with `[measure] samples = \"1ms\"`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "round",
            unit: "",
            meaning: "the round of the pattern, from 0",
            get: U32(|row| row.flow.start.round),
        },
        Column {
            name: "group",
            unit: "",
            meaning: "the group of its flow, as in flows.parquet",
            get: Text(|row| row.flow.group(row.case).into()),
        },
        Column {
            name: "flow",
            unit: "",
            meaning: "its flow, as in flows.parquet",
            get: U64(|row| row.flow.start.name),
        },
        Column { name: "from", unit: "", meaning: "the sending host", get: U32(|row| row.flow.start.from) },
        Column { name: "to", unit: "", meaning: "the receiving host", get: U32(|row| row.flow.start.to) },
        Column {
            name: "subflow",
            unit: "",
            meaning: "the subflow of this flow, from 0",
            get: U32(|row| row.subflow),
        },
        Column {
            name: "seen_ps",
            unit: "ps",
            meaning: "the end of the interval in which the path was first seen",
            get: U64(|row| row.seen),
        },
        Column {
            name: "path",
            unit: "",
            meaning: "the numbers of the output ports on the path of its data, from the sender on; no row if switches \
         decide packet by packet",
            get: Text(|row| numbers(&row.ports).into()),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.samples.is_some()
    }
}

fn numbers(ports: &[u32]) -> String {
    ports.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}
