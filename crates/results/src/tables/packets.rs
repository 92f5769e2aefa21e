//! `packets.parquet`: the packets of recorded hosts.

use tresse_experiment::plan::Case;

use super::Get::{Flag, MaybeU32, Text, U32, U64};
use super::{Column, OfSubflow, Row};
use crate::record::flow::Begun;
use crate::record::packet::Packet;

impl OfSubflow for Packet {
    fn flow(&self) -> &Begun {
        &self.flow
    }

    fn subflow(&self) -> u32 {
        self.subflow
    }
}

impl Row for Packet {
    const TABLE: &'static str = "packets";
    const REMEDY: &'static str = "run the experiment again with `[measure] packets = { hosts = [0] }`, or `--set measure.packets.hosts=[0]`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "time_ps",
            unit: "ps",
            meaning: "when the host handed it to its own port, in whose queue it may then wait, or when it had arrived completely",
            get: U64(|row| row.time),
        },
        Column { name: "host", unit: "", meaning: "the host that saw it", get: U32(|row| row.host) },
        Column {
            name: "direction",
            unit: "",
            meaning: "out if the host sent it, in if the host received it",
            get: Text(|row| if row.sent { "out" } else { "in" }.into()),
        },
        Column {
            name: "round",
            unit: "",
            meaning: "the round of the pattern, from 0",
            get: U32(|row| row.flow.start.round),
        },
        Column::GROUP,
        Column {
            meaning: "its flow, as in flows.parquet; for a persistent connection, its first flow",
            ..Column::FLOW
        },
        Column { meaning: "the host that sends the flow's data", ..Column::FROM },
        Column { meaning: "the host that receives the flow's data", ..Column::TO },
        Column::SUBFLOW,
        Column {
            name: "from_address",
            unit: "",
            meaning: "which of the sending host's addresses the subflow uses, from 0",
            get: U32(|row| row.addresses[0].into()),
        },
        Column {
            name: "to_address",
            unit: "",
            meaning: "which of the receiving host's addresses the subflow uses, from 0",
            get: U32(|row| row.addresses[1].into()),
        },
        Column {
            name: "kind",
            unit: "",
            meaning: "data, ack, nack (it answers a trimmed packet), syn, syn-ack, join-ack, join-answer (the third and fourth \
         packet of a subflow that joins) or datagram",
            get: Text(|row| row.kind.name().into()),
        },
        Column {
            name: "size_bytes",
            unit: "bytes",
            meaning: "its size on the wire, headers included",
            get: U32(|row| row.bytes),
        },
        Column {
            name: "payload_bytes",
            unit: "bytes",
            meaning: "the payload in it",
            get: U32(|row| row.payload),
        },
        Column {
            name: "seq",
            unit: "segments",
            meaning: "the number of its segment on its subflow, from 0; null if it is not data",
            get: MaybeU32(|row| row.data.map(|[seq, _]| seq)),
        },
        Column {
            name: "dsn",
            unit: "segments",
            meaning: "the number of its segment in the connection, from 0; null if it is not data",
            get: MaybeU32(|row| row.data.map(|[_, dsn]| dsn)),
        },
        Column {
            name: "ack",
            unit: "segments",
            meaning: "the next segment that is expected on its subflow; null if it is not an ACK",
            get: MaybeU32(|row| row.ack.map(|[seq, _]| seq)),
        },
        Column {
            name: "data_ack",
            unit: "segments",
            meaning: "the first missing segment of the connection; null if it is not an ACK",
            get: MaybeU32(|row| row.ack.map(|[_, dsn]| dsn)),
        },
        Column {
            name: "sack",
            unit: "segments",
            meaning: "the segments beyond `ack` that have arrived, such as 7-9 12-13: from the first to just before the last, \
         in the order of the ACK",
            get: Text(|row| ranges(&row.sack).into()),
        },
        Column {
            name: "answers",
            unit: "",
            meaning: "for an ACK of a sprayed connection, the segment that it answers",
            get: MaybeU32(|row| row.answers),
        },
        Column {
            name: "path",
            unit: "",
            meaning: "on a sprayed connection, the path of the packet, or of the packet that it answers",
            get: MaybeU32(|row| row.path),
        },
        Column {
            name: "ecn",
            unit: "",
            meaning: "the ECN field of its IP header: not-ect, ect or ce",
            get: Text(|row| Packet::ECN[usize::from(row.ecn)].into()),
        },
        Column {
            name: "echo",
            unit: "packets",
            meaning: "the CE marks that it echoes, 1 for a plain ECE; null if it is not an ACK",
            get: MaybeU32(|row| row.echo.map(u32::from)),
        },
        Column {
            name: "cwr",
            unit: "",
            meaning: "whether it tells the receiver that the window was reduced",
            get: Flag(|row| row.cwr),
        },
        Column {
            name: "retransmission",
            unit: "",
            meaning: "whether its segment was sent before on this subflow",
            get: Flag(|row| row.retransmission),
        },
        Column {
            name: "trimmed",
            unit: "",
            meaning: "whether a switch has cut it to its header",
            get: Flag(|row| row.trimmed),
        },
        Column {
            name: "last",
            unit: "",
            meaning: "whether it carries the last byte of a message",
            get: Flag(|row| row.last),
        },
        Column {
            name: "dropped",
            unit: "",
            meaning: "whether the host's own port dropped it at once",
            get: Flag(|row| row.dropped),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.packets.is_some()
    }
}

fn ranges(blocks: &[(u32, u32)]) -> String {
    blocks.iter().map(|(start, end)| format!("{start}-{end}")).collect::<Vec<_>>().join(" ")
}
