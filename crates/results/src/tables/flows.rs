//! `flows.parquet`: flows that finished or were stopped.

use tresse_experiment::plan::Case;

use super::Get::{MaybeU32, MaybeU64, Text, U32, U64};
use super::{Column, Row};
use crate::record::flow::Flow;

/// A flow, and its optimal goodput.
#[derive(Debug, Clone, Copy)]
pub struct FlowRow {
    pub flow: Flow,
    /// Its optimal goodput, bit/s.
    pub optimum: Option<u64>,
}

impl Row for FlowRow {
    const TABLE: &'static str = "flows";
    const REMEDY: &'static str = "";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "group",
            unit: "",
            meaning: "the part of the workload, or the scheme of a mix, that it belongs to; empty if there is only one",
            get: Text(|row| row.flow.begun.group(row.case).into()),
        },
        Column {
            name: "flow",
            unit: "",
            meaning: "its number in the workload, unique in its part",
            get: U64(|row| row.flow.begun.start.name),
        },
        Column {
            name: "round",
            unit: "",
            meaning: "the round of the pattern, from 0",
            get: U32(|row| row.flow.begun.start.round),
        },
        Column {
            name: "from",
            unit: "",
            meaning: "the sending host",
            get: U32(|row| row.flow.begun.start.from),
        },
        Column {
            name: "to",
            unit: "",
            meaning: "the receiving host",
            get: U32(|row| row.flow.begun.start.to),
        },
        Column {
            name: "locality",
            unit: "",
            meaning: "inner-rack, inter-rack (same pod) or inter-pod",
            get: Text(|row| row.flow.locality.name().into()),
        },
        Column {
            name: "size_bytes",
            unit: "bytes",
            meaning: "the size of the message; null if it has no end",
            get: MaybeU64(|row| row.flow.begun.start.bytes),
        },
        Column {
            name: "delivered_bytes",
            unit: "bytes",
            meaning: "payload delivered: the whole message, or the part of it that had arrived when it was stopped",
            get: U64(|row| row.flow.record.bytes),
        },
        Column {
            name: "start_ps",
            unit: "ps",
            meaning: "when the flow started",
            get: U64(|row| row.flow.record.start),
        },
        Column {
            name: "end_ps",
            unit: "ps",
            meaning: "when its last byte arrived; null if it was stopped before",
            get: MaybeU64(|row| row.flow.record.complete.then_some(row.flow.record.end)),
        },
        Column {
            name: "lasted_ps",
            unit: "ps",
            meaning: "how long it lasted, until it finished or was stopped",
            get: U64(|row| row.flow.record.end - row.flow.record.start),
        },
        Column {
            name: "ideal_ps",
            unit: "ps",
            meaning: "its completion time on an empty network (`tresse explain measurement`)",
            get: MaybeU64(|row| row.flow.ideal),
        },
        Column {
            name: "deadline_ps",
            unit: "ps",
            meaning: "when it should have finished; null if it has no deadline",
            get: MaybeU64(|row| row.flow.begun.start.deadline),
        },
        Column {
            name: "job",
            unit: "",
            meaning: "the number of its job in its part; null if it has none",
            get: MaybeU32(|row| row.flow.begun.start.job),
        },
        Column {
            name: "goodput_bps",
            unit: "bit/s",
            meaning: "payload delivered, over the flow's whole lifetime",
            get: U64(|row| row.flow.record.goodput()),
        },
        Column {
            name: "optimum_bps",
            unit: "bit/s",
            meaning: "the flow's optimal goodput among all flows of its round; null if the controller claims no utility, \
         if subflows or links change or switches hash flows to paths, after the first 16 rounds, \
         in rounds of more than 1024 subflows or cut short, and if no optimum was found",
            get: MaybeU64(|row| row.optimum),
        },
        Column {
            name: "retransmissions",
            unit: "packets",
            meaning: "segments retransmitted on the same subflow",
            get: U64(|row| row.flow.record.counters.retransmissions),
        },
        Column {
            name: "timeouts",
            unit: "",
            meaning: "retransmission timeouts",
            get: U64(|row| row.flow.record.counters.timeouts),
        },
        Column {
            name: "handshake_timeouts",
            unit: "",
            meaning: "packets of handshakes that were lost and sent again: the first SYN after `rto_initial`",
            get: U64(|row| row.flow.record.counters.handshake_timeouts),
        },
        Column {
            name: "recoveries",
            unit: "",
            meaning: "fast recoveries",
            get: U64(|row| row.flow.record.counters.recoveries),
        },
        Column {
            name: "mark_cuts",
            unit: "",
            meaning: "windows that were cut for a mark",
            get: U64(|row| row.flow.record.counters.mark_cuts),
        },
        Column {
            name: "marks",
            unit: "packets",
            meaning: "CE marks that were echoed to the sender",
            get: U64(|row| row.flow.record.counters.marks),
        },
        Column {
            name: "rounds",
            unit: "",
            meaning: "rounds of all subflows; a round counts when its first segment is ACKed",
            get: U64(|row| row.flow.record.counters.rounds),
        },
        Column {
            name: "windows_pkts",
            unit: "packets",
            meaning: "the sum of the windows of these rounds; divided by `rounds`, the mean window",
            get: U64(|row| row.flow.record.counters.windows),
        },
        Column {
            name: "opened",
            unit: "",
            meaning: "subflows that its path manager opened",
            get: U32(|row| row.flow.record.opened),
        },
        Column {
            name: "closed",
            unit: "",
            meaning: "subflows that its path manager closed before the flow's end",
            get: U32(|row| row.flow.record.closed.count_ones()),
        },
    ];

    fn is_needed(_: &Case) -> bool {
        true
    }
}
