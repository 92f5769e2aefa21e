//! The packets of recorded hosts, as rows.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, StringArray, UInt32Array, UInt64Array};
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::plan::Case;

use super::{Tables, case_columns, groups};
use crate::record::packet::Packet;

impl Tables {
    /// Adds packets of recorded hosts.
    pub fn packets(&mut self, case: &Case, seed: u64, packets: &[Packet]) -> Result<(), Diagnostic> {
        let Some(table) = self.packets.as_mut().filter(|_| !packets.is_empty()) else { return Ok(()) };
        let u32s = |f: fn(&Packet) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(packets.iter().map(f)))
        };
        let u64s = |f: fn(&Packet) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(packets.iter().map(f)))
        };
        let maybe = |f: fn(&Packet) -> Option<u32>| -> ArrayRef {
            Arc::new(UInt32Array::from_iter(packets.iter().map(f)))
        };
        let flags = |f: fn(&Packet) -> bool| -> ArrayRef {
            Arc::new(BooleanArray::from_iter(packets.iter().map(|packet| Some(f(packet)))))
        };
        let texts = |f: fn(&Packet) -> &'static str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(packets.iter().map(f)))
        };
        let mut columns = case_columns(&self.axes, case, seed, packets.len());
        columns.extend([
            u64s(|p| p.time),
            u32s(|p| p.host),
            texts(|p| if p.sent { "out" } else { "in" }),
            u32s(|p| p.flow.start.round),
            groups(case, packets.iter().map(|p| &p.flow)),
            u64s(|p| p.flow.start.name),
            u32s(|p| p.flow.start.from),
            u32s(|p| p.flow.start.to),
            u32s(|p| p.subflow),
            u32s(|p| p.addresses[0].into()),
            u32s(|p| p.addresses[1].into()),
            texts(|p| p.kind.name()),
            u32s(|p| p.bytes),
            u32s(|p| p.payload),
            maybe(|p| p.data.map(|[seq, _]| seq)),
            maybe(|p| p.data.map(|[_, dsn]| dsn)),
            maybe(|p| p.ack.map(|[seq, _]| seq)),
            maybe(|p| p.ack.map(|[_, dsn]| dsn)),
            Arc::new(StringArray::from_iter_values(packets.iter().map(|p| ranges(&p.sack)))),
            maybe(|p| p.answers),
            maybe(|p| p.path),
            texts(|p| Packet::ECN[usize::from(p.ecn)]),
            maybe(|p| p.echo.map(u32::from)),
            flags(|p| p.cwr),
            flags(|p| p.retransmission),
            flags(|p| p.trimmed),
            flags(|p| p.last),
            flags(|p| p.dropped),
        ]);
        table.append(columns)
    }
}

fn ranges(blocks: &[(u32, u32)]) -> String {
    blocks.iter().map(|(start, end)| format!("{start}-{end}")).collect::<Vec<_>>().join(" ")
}
