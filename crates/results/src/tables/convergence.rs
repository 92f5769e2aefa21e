//! `convergence.parquet`: how long subflows took to converge.

use tresse_experiment::plan::Case;

use super::Get::{MaybeU64, U64};
use super::{Column, OfSubflow, Row};
use crate::record::convergence::Converged;
use crate::record::flow::Begun;

impl OfSubflow for Converged {
    fn flow(&self) -> &Begun {
        &self.flow
    }

    fn subflow(&self) -> u32 {
        self.subflow
    }
}

impl Row for Converged {
    const TABLE: &'static str = "convergence";
    const REMEDY: &'static str =
        "run the experiment again with `[measure] samples = \"1ms\"` and `convergence = {}`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::GROUP,
        Column::FLOW,
        Column::FROM,
        Column::TO,
        Column::SUBFLOW,
        Column {
            name: "after_ps",
            unit: "ps",
            meaning: "the event: its own start, the start or end of another flow, or a change of a link",
            get: U64(|row| row.after),
        },
        Column {
            name: "converged_ps",
            unit: "ps",
            meaning: "how long after the event its goodput began to stay near its final mean; null if it did not before the next event",
            get: MaybeU64(|row| row.convergence.time),
        },
        Column {
            name: "mean_bps",
            unit: "bit/s",
            meaning: "the final mean, over the last samples before the next event",
            get: U64(|row| row.convergence.mean),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.convergence.is_some()
    }
}
