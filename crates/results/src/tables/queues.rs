//! `queues.parquet`: ports in intervals.

use tresse_experiment::plan::Case;

use super::Get::{MaybeU32, Text, U32, U64};
use super::{Column, Row};
use crate::record::sample::PortSample;

impl Row for PortSample {
    const TABLE: &'static str = "queues";
    const REMEDY: &'static str =
        "run the experiment again with `[measure] samples = \"1ms\"` and `links = true`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "round",
            unit: "",
            meaning: "the round of the pattern, from 0",
            get: U32(|row| row.round),
        },
        Column {
            name: "start_ps",
            unit: "ps",
            meaning: "when the interval began, as in samples.parquet",
            get: U64(|row| row.start),
        },
        Column {
            name: "duration_ps",
            unit: "ps",
            meaning: "its length; the last interval of a round ends with the round",
            get: U64(|row| row.duration),
        },
        Column {
            name: "port",
            unit: "",
            meaning: "the number of the output port; one that sent and held nothing has no row, unless it has a share",
            get: U32(|row| row.port),
        },
        Column {
            name: "layer",
            unit: "",
            meaning: "the name of its layer in the topology",
            get: Text(|row| (&*row.layer).into()),
        },
        Column {
            name: "busy_ps",
            unit: "ps",
            meaning: "how long it was sending; over the interval's length, its utilisation",
            get: U64(|row| row.busy),
        },
        Column {
            name: "waiting_pkts",
            unit: "packets",
            meaning: "its queue at the end of the interval, without the packet in transmission",
            get: U64(|row| row.waiting),
        },
        Column {
            name: "drops",
            unit: "packets",
            meaning: "packets that it dropped or lost in this time",
            get: U64(|row| row.drops),
        },
        Column {
            name: "marks",
            unit: "packets",
            meaning: "packets that it marked in this time",
            get: U64(|row| row.marks),
        },
        Column {
            name: "share_ppm",
            unit: "millionths",
            meaning: "its share of its switch's traffic at the end of the interval, the mean over destinations; missing \
                      unless HOLNET's balancer gives it one",
            get: MaybeU32(|row| row.share.map(ppm)),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.samples.is_some() && case.setting.links
    }
}

/// Parts of 2^32 in millionths, rounded.
fn ppm(share: u64) -> u32 {
    ((share * 1_000_000 + (1 << 31)) >> 32) as u32
}
