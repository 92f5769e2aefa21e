//! `lengths.parquet`: the queue lengths of a finished replication, by layer.

use std::sync::Arc;

use tresse_experiment::plan::Case;

use super::Get::{Text, U64};
use super::{Column, Row};
use crate::record::lengths::Lengths;

/// How often queues had a length.
#[derive(Debug, Clone)]
pub struct LengthRow {
    /// The name of the layer.
    layer: Arc<str>,
    /// The length, packets.
    length: u64,
    /// Observations.
    count: u64,
}

impl LengthRow {
    /// The lengths of all layers.
    pub(crate) fn all(layers: &[(Arc<str>, Lengths)]) -> Vec<Self> {
        let of_layer = |(layer, own): &(Arc<str>, Lengths)| {
            let row = |(length, count)| Self { layer: Arc::clone(layer), length, count };
            own.counts().map(row).collect::<Vec<_>>()
        };
        layers.iter().flat_map(of_layer).collect()
    }
}

impl Row for LengthRow {
    const TABLE: &'static str = "lengths";
    const REMEDY: &'static str = "run the experiment again with `[measure] queues = \"100us\"`";
    const COLUMNS: &'static [Column<Self>] = &[
        Column {
            name: "layer",
            unit: "",
            meaning: "the name of the ports' layer; `hosts` for ports of hosts",
            get: Text(|row| (&*row.layer).into()),
        },
        Column {
            name: "waiting_pkts",
            unit: "packets",
            meaning: "the length of a queue, without the packet in transmission",
            get: U64(|row| row.length),
        },
        Column {
            name: "count",
            unit: "",
            meaning: "how often a port of this layer was observed with this length",
            get: U64(|row| row.count),
        },
    ];

    fn is_needed(case: &Case) -> bool {
        case.setting.queues.is_some()
    }
}
