//! `links.parquet`: every port of a finished replication.

use tresse_experiment::plan::Case;
use tresse_units::Time;

use super::Get::{Text, U32, U64};
use super::{Column, Row};
use crate::record::flow::Link;

/// A port, and how long it was there.
#[derive(Debug, Clone)]
pub struct LinkRow {
    pub link: Link,
    /// The simulated time of its replication, ps.
    pub duration: Time,
}

impl Row for LinkRow {
    const TABLE: &'static str = "links";
    const REMEDY: &'static str = "run the experiment again with `[measure] links = true`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "port",
            unit: "",
            meaning: "the number of the output port: the place of its edge, from 0, in `tresse topology show EXPERIMENT --format json`",
            get: U32(|row| row.link.port),
        },
        Column {
            name: "layer",
            unit: "",
            meaning: "the name of its layer in the topology",
            get: Text(|row| (&*row.link.layer).into()),
        },
        Column {
            name: "rate_bps",
            unit: "bit/s",
            meaning: "its rate at the start",
            get: U64(|row| row.link.rate),
        },
        Column {
            name: "carried_bytes",
            unit: "bytes",
            meaning: "what it admitted, headers included",
            get: U64(|row| row.link.bytes),
        },
        Column {
            name: "duration_ps",
            unit: "ps",
            meaning: "the simulated time of this case and seed",
            get: U64(|row| row.duration),
        },
        Column {
            name: "drops",
            unit: "packets",
            meaning: "packets for which its queue had no room, or that it could not mark",
            get: U64(|row| row.link.drops),
        },
        Column {
            name: "lost",
            unit: "packets",
            meaning: "packets that it lost by its loss probability, or with a link that failed",
            get: U64(|row| row.link.lost),
        },
        Column {
            name: "marks",
            unit: "packets",
            meaning: "packets that it marked",
            get: U64(|row| row.link.marks),
        },
    ];
    const WITH_FLOW_CONTROL: &'static [Column<Self>] = &[
        Column {
            name: "pauses",
            unit: "",
            meaning: "how often it was paused; this and the next two only with `pfc`",
            get: U64(|row| row.link.pfc.pauses),
        },
        Column {
            name: "paused_ps",
            unit: "ps",
            meaning: "for how long it was paused",
            get: U64(|row| row.link.pfc.paused),
        },
        Column {
            name: "headroom_drops",
            unit: "packets",
            meaning: "drops because the headroom of the link over which the packets came was too small",
            get: U64(|row| row.link.pfc.overflows),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.links
    }
}
