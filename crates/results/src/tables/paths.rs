//! `paths.parquet`: the paths of subflows.

use tresse_experiment::plan::Case;

use super::Get::{Text, U32, U64};
use super::{Column, OfSubflow, Row};
use crate::record::flow::Begun;
use crate::record::sample::PathSample;

impl OfSubflow for PathSample {
    fn flow(&self) -> &Begun {
        &self.flow
    }

    fn subflow(&self) -> u32 {
        self.subflow
    }
}

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
        Column::GROUP,
        Column::FLOW,
        Column::FROM,
        Column::TO,
        Column::SUBFLOW,
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
