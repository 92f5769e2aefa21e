//! `rtts.parquet`: the round-trip times of a finished replication, as a histogram for each group.

use tresse_experiment::plan::Case;
use tresse_fabric::Histogram;

use super::Get::{Text, U64};
use super::{Column, Row};

/// A class of round-trip times.
#[derive(Debug, Clone, Copy)]
pub struct RttRow {
    /// The index of the group of flows.
    group: usize,
    /// Its two ends, ps.
    bounds: [u64; 2],
    /// ACKs in it.
    count: u64,
}

impl RttRow {
    /// The classes of all groups.
    pub(crate) fn all(groups: &[Histogram]) -> Vec<Self> {
        let classes = groups
            .iter()
            .enumerate()
            .flat_map(|(group, own)| own.buckets().map(move |(bounds, count)| Self { group, bounds, count }));
        classes.collect()
    }
}

impl Row for RttRow {
    const TABLE: &'static str = "rtts";
    const REMEDY: &'static str = "run the experiment again with `[measure] rtt = true`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "group",
            unit: "",
            meaning: "the group of the flows, as in flows.parquet",
            get: Text(|row| row.case.groups[row.group].as_str().into()),
        },
        Column {
            name: "least_ps",
            unit: "ps",
            meaning: "the lower end of this class of round-trip times",
            get: U64(|row| row.bounds[0]),
        },
        Column {
            name: "most_ps",
            unit: "ps",
            meaning: "the upper end of this class",
            get: U64(|row| row.bounds[1]),
        },
        Column {
            name: "count",
            unit: "",
            meaning: "ACKs that reported a round-trip time in this class",
            get: U64(|row| row.count),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.rtt
    }
}
