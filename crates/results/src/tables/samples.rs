//! `samples.parquet`: subflows in intervals.

use tresse_controllers::State;
use tresse_experiment::plan::Case;

use super::Get::{MaybeU64, Text, U32, U64};
use super::{Column, OfSubflow, Row};
use crate::record::flow::Begun;
use crate::record::sample::Sample;

impl OfSubflow for Sample {
    fn flow(&self) -> &Begun {
        &self.flow
    }

    fn subflow(&self) -> u32 {
        self.subflow
    }
}

impl Row for Sample {
    const TABLE: &'static str = "samples";
    const REMEDY: &'static str =
        "run the experiment again with `[measure] samples = \"1ms\"`, or `--set measure.samples=1ms`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "round",
            unit: "",
            meaning: "the round of the pattern, from 0; intervals are counted from its start",
            get: U32(|row| row.flow.start.round),
        },
        Column {
            name: "start_ps",
            unit: "ps",
            meaning: "when the interval began",
            get: U64(|row| row.start),
        },
        Column {
            name: "duration_ps",
            unit: "ps",
            meaning: "its length; the last interval of a flow ends with the flow",
            get: U64(|row| row.duration),
        },
        Column::GROUP,
        Column::FLOW,
        Column::FROM,
        Column::TO,
        Column::SUBFLOW,
        Column {
            name: "arrived_bytes",
            unit: "bytes",
            meaning: "payload that arrived on this subflow in this time; a byte that arrives on two subflows counts on both",
            get: U64(|row| row.bytes),
        },
        Column {
            name: "goodput_bps",
            unit: "bit/s",
            meaning: "these bytes over this time",
            get: U64(|row| row.goodput()),
        },
        Column {
            name: "cwnd_pkts",
            unit: "packets",
            meaning: "the congestion window at the end of this time; 0 if the subflow was closed",
            get: U32(|row| row.cwnd),
        },
        Column {
            name: "srtt_ps",
            unit: "ps",
            meaning: "the smoothed RTT at the end of this time; null before the first sample, and if the subflow was closed",
            get: MaybeU64(|row| row.srtt),
        },
        Column {
            name: "state",
            unit: "",
            meaning: "the sender's state at the end of this time: open, disorder, cwr, recovery or loss; closed if the subflow is",
            get: Text(|row| row.state.map_or("closed", State::name).into()),
        },
        Column {
            name: "marks",
            unit: "packets",
            meaning: "CE marks that were echoed to the sender in this time",
            get: U64(|row| row.marks),
        },
        Column {
            name: "retransmissions",
            unit: "packets",
            meaning: "segments retransmitted on this subflow in this time",
            get: U64(|row| row.retransmissions),
        },
        Column {
            name: "timeouts",
            unit: "",
            meaning: "retransmission timeouts in this time",
            get: U64(|row| row.timeouts),
        },
        Column {
            name: "flow_optimum_bps",
            unit: "bit/s",
            meaning: "the mean, over this time, of the optimal goodput of the whole flow, all subflows together, among the \
         flows that had not ended; null if the controller claims no utility, if subflows come and go or \
         switches hash flows to paths, after the first 16 rounds, in rounds of more than 256 flows, and if \
         no optimum was found",
            get: MaybeU64(|row| row.optimum),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.samples.is_some()
    }
}
