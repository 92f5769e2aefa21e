//! The columns of a subflow, which several tables have.

use super::Get::{Text, U32, U64};
use super::column::Column;
use crate::record::flow::Begun;

/// A row that is about a subflow.
pub trait OfSubflow {
    fn flow(&self) -> &Begun;

    /// Its number in the connection, from 0.
    fn subflow(&self) -> u32;
}

impl<R: OfSubflow + 'static> Column<R> {
    pub(super) const GROUP: Self = Self {
        name: "group",
        unit: "",
        meaning: "the group of its flow, as in flows.parquet",
        get: Text(|row| row.flow().group(row.case).into()),
    };
    pub(super) const FLOW: Self = Self {
        name: "flow",
        unit: "",
        meaning: "its flow, as in flows.parquet",
        get: U64(|row| row.flow().start.name),
    };
    pub(super) const FROM: Self =
        Self { name: "from", unit: "", meaning: "the sending host", get: U32(|row| row.flow().start.from) };
    pub(super) const TO: Self =
        Self { name: "to", unit: "", meaning: "the receiving host", get: U32(|row| row.flow().start.to) };
    pub(super) const SUBFLOW: Self = Self {
        name: "subflow",
        unit: "",
        meaning: "the subflow of this flow, from 0",
        get: U32(OfSubflow::subflow),
    };
}
