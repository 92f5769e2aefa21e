//! The rows of `packets.parquet`.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;
use tresse_results::record::packet::{Kind, Packet as Recorded};

use super::table::{Table, damaged};
use crate::capture::Packet;
use crate::key::Key;

/// The recorded packets of a run, which can be read several times.
pub(super) struct Rows<'a> {
    pub run: &'a Path,
    pub only: &'a Wanted,
}

impl Rows<'_> {
    /// Shows every row, in the order of time.
    pub fn each(&self, mut show: impl FnMut(&Packet) -> Result<(), Diagnostic>) -> Result<u64, Diagnostic> {
        Table::open(self.run, "packets")?.batches(self.only, |path, batch| {
            let columns = Columns { path, batch };
            (0..batch.num_rows()).try_for_each(|row| show(&columns.row(row)?))
        })
    }
}

struct Columns<'a> {
    path: &'a str,
    batch: &'a RecordBatch,
}

impl<'a> Columns<'a> {
    fn row(&self, row: usize) -> Result<Packet, Diagnostic> {
        let kind = self.text("kind", row)?;
        let ecn = self.text("ecn", row)?;
        let pair = |first: &str, second: &str| -> Result<Option<[u32; 2]>, Diagnostic> {
            Ok(self.maybe(first, row)?.zip(self.maybe(second, row)?).map(|(a, b)| [a, b]))
        };
        Ok(Packet {
            time: self.u64("time_ps", row)?,
            host: self.u32("host", row)?,
            key: Key {
                round: self.u32("round", row)?.into(),
                group: self.text("group", row)?.to_owned(),
                flow: self.u64("flow", row)?,
                from: self.u32("from", row)?.into(),
                to: self.u32("to", row)?.into(),
            },
            subflow: self.u32("subflow", row)?,
            addresses: [self.u32("from_address", row)?, self.u32("to_address", row)?],
            kind: Kind::named(kind).ok_or_else(|| self.unknown("kind", kind))?,
            payload: self.u32("payload_bytes", row)?,
            data: pair("seq", "dsn")?,
            ack: pair("ack", "data_ack")?,
            sack: self.blocks(self.text("sack", row)?)?,
            answers: self.maybe("answers", row)?,
            path: self.maybe("path", row)?,
            ecn: match Recorded::ECN.iter().position(|name| *name == ecn) {
                Some(place) => place as u8,
                None => return Err(self.unknown("ecn", ecn)),
            },
            echo: self.maybe("echo", row)?.unwrap_or(0),
            cwr: self.flag("cwr", row)?,
            retransmission: self.flag("retransmission", row)?,
            trimmed: self.flag("trimmed", row)?,
            last: self.flag("last", row)?,
            dropped: self.flag("dropped", row)?,
        })
    }

    fn blocks(&self, text: &str) -> Result<Vec<[u32; 2]>, Diagnostic> {
        let block = |block: &str| {
            let (start, end) = block.split_once('-')?;
            Some([start.parse().ok()?, end.parse().ok()?])
        };
        let blocks = text.split(' ').filter(|text| !text.is_empty());
        blocks.map(|text| block(text).ok_or_else(|| self.unknown("sack", text))).collect()
    }

    fn column<T: ?Sized>(
        &self,
        name: &str,
        typed: impl FnOnce(&'a dyn Array) -> Option<&'a T>,
    ) -> Result<&'a T, Diagnostic> {
        let column = self.batch.column_by_name(name).and_then(|column| typed(column.as_ref()));
        column.ok_or_else(|| {
            let message =
                format!("there is no such column `{name}`: did another version of this program write it?");
            damaged(self.path, &message)
        })
    }

    fn text(&self, name: &str, row: usize) -> Result<&'a str, Diagnostic> {
        Ok(self.column(name, |own| own.as_string_opt::<i32>())?.value(row))
    }

    fn u64(&self, name: &str, row: usize) -> Result<u64, Diagnostic> {
        Ok(self.column(name, |own| own.as_primitive_opt::<UInt64Type>())?.value(row))
    }

    fn u32(&self, name: &str, row: usize) -> Result<u32, Diagnostic> {
        Ok(self.column(name, |own| own.as_primitive_opt::<UInt32Type>())?.value(row))
    }

    fn maybe(&self, name: &str, row: usize) -> Result<Option<u32>, Diagnostic> {
        let column = self.column(name, |own| own.as_primitive_opt::<UInt32Type>())?;
        Ok(column.is_valid(row).then(|| column.value(row)))
    }

    fn flag(&self, name: &str, row: usize) -> Result<bool, Diagnostic> {
        Ok(self.column(name, |own| own.as_boolean_opt())?.value(row))
    }

    fn unknown(&self, column: &str, value: &str) -> Diagnostic {
        damaged(self.path, &format!("`{column}` is `{value}`"))
    }
}
