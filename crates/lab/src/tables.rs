//! The Parquet files of a run: written as the run goes, renamed when whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use tresse_controllers::State;

use crate::error::LabError;
use crate::experiment::Measure;
use crate::ports::PortSample;
use crate::resolve::Case;
use crate::sample::{Interval, Sample};
use crate::unit::{Flow, Link};

/// A column: name, type, unit, meaning.
struct Column(&'static str, Kind, &'static str, &'static str);

/// Its type, and whether a value may be missing.
struct Kind(DataType, bool);

const TEXT: Kind = Kind(DataType::Utf8, false);
const U32: Kind = Kind(DataType::UInt32, false);
const MAYBE_U32: Kind = Kind(DataType::UInt32, true);
const U64: Kind = Kind(DataType::UInt64, false);
const MAYBE_U64: Kind = Kind(DataType::UInt64, true);

const CASE: [Column; 4] = [
    Column("scheme", TEXT, "", "the scheme's name in the experiment"),
    Column(
        "subflows",
        MAYBE_U32,
        "",
        "the subflows that a connection is to have, without the first one of mmptcp; null if its path manager decides",
    ),
    Column("pattern", TEXT, "", "the workload's name in the experiment"),
    Column("seed", U64, "", "the seed of this replication"),
];

const FLOWS: [Column; 18] = [
    Column("round", U32, "", "the round of the pattern, from 0"),
    Column("from", U32, "", "the sending host"),
    Column("to", U32, "", "the receiving host"),
    Column("locality", TEXT, "", "inner-rack, inter-rack (same pod) or inter-pod"),
    Column("size_bytes", U64, "bytes", "the message"),
    Column("start_ps", U64, "ps", "when the flow started"),
    Column("end_ps", U64, "ps", "when its last byte arrived"),
    Column("goodput_bps", U64, "bit/s", "the message over the flow's whole life"),
    Column(
        "optimum_bps",
        MAYBE_U64,
        "bit/s",
        "the flow's optimal goodput among all flows of its round; null where the controller claims no utility, \
         where subflows or links are not the same throughout or switches choose the ways, after the first 16 \
         rounds, in rounds of more than 1024 subflows or cut short, and where no optimum was found",
    ),
    Column("retransmissions", U64, "packets", "segments that were sent again on the same subflow"),
    Column("timeouts", U64, "", "retransmission timeouts"),
    Column("recoveries", U64, "", "fast recoveries"),
    Column("mark_cuts", U64, "", "windows that were cut for a mark"),
    Column("marks", U64, "packets", "CE marks that the sender was told of"),
    Column("rounds", U64, "", "rounds of all subflows; one counts when its first segment is ACKed"),
    Column(
        "windows_pkts",
        U64,
        "packets",
        "the windows of these rounds, summed; over `rounds`, the mean window",
    ),
    Column("opened", U32, "", "subflows that its path manager opened"),
    Column("closed", U32, "", "those of them that it closed before the flow's end"),
];

const LINKS: [Column; 8] = [
    Column("port", U32, "", "the number of the output port"),
    Column("layer", TEXT, "", "the name of its layer, as the topology has it"),
    Column("rate_bps", U64, "bit/s", "its rate at the start"),
    Column("carried_bytes", U64, "bytes", "what it let in, headers included"),
    Column("duration_ps", U64, "ps", "the simulated time of this case and seed"),
    Column("drops", U64, "packets", "packets for which its queue had no room, or that it could not mark"),
    Column(
        "lost",
        U64,
        "packets",
        "packets that it lost by its loss probability, or with a link that failed",
    ),
    Column("marks", U64, "packets", "packets that it marked"),
];

const SAMPLES: [Column; 12] = [
    Column("round", U32, "", "the round of the pattern, from 0; intervals are counted from its start"),
    Column("start_ps", U64, "ps", "when the interval began"),
    Column("duration_ps", U64, "ps", "its length; of the last one of a flow, until the flow ended"),
    Column("from", U32, "", "the sending host"),
    Column("to", U32, "", "the receiving host"),
    Column("subflow", U32, "", "the subflow of this flow, from 0"),
    Column(
        "arrived_bytes",
        U64,
        "bytes",
        "payload that arrived on this subflow in this time; a byte that arrives on two subflows counts on both",
    ),
    Column("goodput_bps", U64, "bit/s", "these bytes over this time"),
    Column(
        "cwnd_pkts",
        U32,
        "packets",
        "the congestion window at the end of this time; 0 if the subflow was closed",
    ),
    Column(
        "srtt_ps",
        MAYBE_U64,
        "ps",
        "the smoothed RTT at the end of this time; null before its first sample, and if the subflow was closed",
    ),
    Column(
        "state",
        TEXT,
        "",
        "the sender's state at the end of this time: open, disorder, cwr, recovery or loss; closed if the subflow is",
    ),
    Column(
        "flow_optimum_bps",
        MAYBE_U64,
        "bit/s",
        "the mean, over this time, of the optimal goodput of the whole flow, all subflows together, among the \
         flows that had not ended; null where the controller claims no utility, where subflows come and go or \
         switches choose the ways, after the first 16 rounds, in rounds of more than 256 flows, and where no \
         optimum was found",
    ),
];

const QUEUES: [Column; 7] = [
    Column("round", U32, "", "the round of the pattern, from 0"),
    Column("start_ps", U64, "ps", "when the interval began, as in samples.parquet"),
    Column("duration_ps", U64, "ps", "its length; of the last one of a round, until the round ended"),
    Column("port", U32, "", "the number of the output port; one that sent and held nothing has no row"),
    Column("layer", TEXT, "", "the name of its layer, as the topology has it"),
    Column("busy_ps", U64, "ps", "how long it was sending; over the interval's length, its utilisation"),
    Column(
        "waiting_pkts",
        U64,
        "packets",
        "its queue at the end of the interval, without the packet in transmission",
    ),
];

fn schema(columns: &[Column]) -> Arc<Schema> {
    let field = |Column(name, kind, unit, meaning): &Column| {
        let metadata = [("unit", *unit), ("meaning", *meaning)];
        let metadata = metadata.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        Field::new(*name, kind.0.clone(), kind.1).with_metadata(metadata)
    };
    Arc::new(Schema::new(CASE.iter().chain(columns).map(field).collect::<Vec<_>>()))
}

/// Rows that are written together: few enough to be on the disk soon, enough for their columns.
const ROW_GROUP: usize = 512;

/// A Parquet file that has another name until it is whole.
struct Table {
    writer: ArrowWriter<File>,
    schema: Arc<Schema>,
    partial: PathBuf,
    path: PathBuf,
}

impl Table {
    fn create(dir: &Path, name: &str, columns: &[Column]) -> Result<Self, LabError> {
        let path = dir.join(name);
        let partial = dir.join(format!("{name}.partial"));
        let file = File::create(&partial).map_err(|error| LabError::Io {
            action: "cannot be created",
            path: partial.clone(),
            error,
        })?;
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let schema = schema(columns);
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|e| failed(&partial, e))?;
        Ok(Self { writer, schema, partial, path })
    }

    /// Adds a batch; what has gathered goes to the disk as a row group.
    fn append(&mut self, columns: Vec<ArrayRef>) -> Result<(), LabError> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .expect("every column is as long as the first and has its declared type");
        self.writer.write(&batch).map_err(|e| failed(&self.partial, e))?;
        if self.writer.in_progress_rows() >= ROW_GROUP {
            self.writer.flush().map_err(|e| failed(&self.partial, e))?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(), LabError> {
        self.writer.close().map_err(|e| failed(&self.partial, e))?;
        fs::rename(&self.partial, &self.path).map_err(|error| LabError::Io {
            action: "cannot be renamed",
            path: self.partial,
            error,
        })
    }
}

fn failed(path: &Path, error: ParquetError) -> LabError {
    let error = match error {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(e) => *e,
            Err(e) => io::Error::other(e),
        },
        e => io::Error::other(e),
    };
    LabError::Io { action: "cannot be written", path: path.to_owned(), error }
}

/// The tables of a run.
pub(crate) struct Tables {
    flows: Table,
    links: Option<Table>,
    samples: Option<Table>,
    queues: Option<Table>,
}

impl Tables {
    pub fn create(dir: &Path, measure: &Measure) -> Result<Self, LabError> {
        let Measure { links, samples, .. } = measure;
        let queues = samples.filter(|_| *links);
        Ok(Self {
            flows: Table::create(dir, "flows.parquet", &FLOWS)?,
            links: links.then(|| Table::create(dir, "links.parquet", &LINKS)).transpose()?,
            samples: samples.map(|_| Table::create(dir, "samples.parquet", &SAMPLES)).transpose()?,
            queues: queues.map(|_| Table::create(dir, "queues.parquet", &QUEUES)).transpose()?,
        })
    }

    /// Adds the flows of a round; `optimum` has the optimal goodput of each, bit/s.
    pub fn flows(
        &mut self,
        case: &Case,
        seed: u64,
        flows: &[Flow],
        optimum: Option<&[f64]>,
    ) -> Result<(), LabError> {
        if flows.is_empty() {
            return Ok(());
        }
        let u32s = |f: fn(&Flow) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(flows.iter().map(f)))
        };
        let u64s = |f: fn(&Flow) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(flows.iter().map(f)))
        };
        let mut columns = case_columns(case, seed, flows.len());
        columns.extend([
            u32s(|f| f.round),
            u32s(|f| f.from),
            u32s(|f| f.to),
            Arc::new(StringArray::from_iter_values(flows.iter().map(|f| f.locality.name()))) as ArrayRef,
            u64s(|f| f.record.bytes),
            u64s(|f| f.record.start),
            u64s(|f| f.record.end),
            u64s(|f| f.record.goodput()),
            Arc::new(UInt64Array::from_iter(
                (0..flows.len()).map(|i| optimum.map(|rates| rates[i].round() as u64)),
            )),
            u64s(|f| f.record.counters.retransmissions),
            u64s(|f| f.record.counters.timeouts),
            u64s(|f| f.record.counters.recoveries),
            u64s(|f| f.record.counters.mark_cuts),
            u64s(|f| f.record.counters.marks),
            u64s(|f| f.record.counters.rounds),
            u64s(|f| f.record.counters.windows),
            u32s(|f| f.record.opened),
            u32s(|f| f.record.closed.count_ones()),
        ]);
        self.flows.append(columns)
    }

    /// Adds the ports of a finished unit.
    pub fn links(&mut self, case: &Case, seed: u64, duration: u64, links: &[Link]) -> Result<(), LabError> {
        let Some(table) = &mut self.links else { return Ok(()) };
        let u64s = |f: fn(&Link) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(links.iter().map(f)))
        };
        let mut columns = case_columns(case, seed, links.len());
        columns.extend([
            Arc::new(UInt32Array::from_iter_values(links.iter().map(|l| l.port))) as ArrayRef,
            Arc::new(StringArray::from_iter_values(links.iter().map(|l| &l.layer))),
            u64s(|l| l.rate),
            u64s(|l| l.bytes),
            Arc::new(UInt64Array::from_value(duration, links.len())),
            u64s(|l| l.drops),
            u64s(|l| l.lost),
            u64s(|l| l.marks),
        ]);
        table.append(columns)
    }

    /// Adds the samples of an interval.
    pub fn samples(&mut self, case: &Case, seed: u64, interval: &Interval) -> Result<(), LabError> {
        self.subflows(case, seed, &interval.subflows)?;
        self.queues(case, seed, &interval.ports)
    }

    fn queues(&mut self, case: &Case, seed: u64, ports: &[PortSample]) -> Result<(), LabError> {
        let Some(table) = self.queues.as_mut().filter(|_| !ports.is_empty()) else { return Ok(()) };
        let u32s = |f: fn(&PortSample) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(ports.iter().map(f)))
        };
        let u64s = |f: fn(&PortSample) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(ports.iter().map(f)))
        };
        let mut columns = case_columns(case, seed, ports.len());
        columns.extend([
            u32s(|p| p.round),
            u64s(|p| p.start),
            u64s(|p| p.duration),
            u32s(|p| p.port),
            Arc::new(StringArray::from_iter_values(ports.iter().map(|p| &p.layer))) as ArrayRef,
            u64s(|p| p.busy),
            u64s(|p| p.waiting),
        ]);
        table.append(columns)
    }

    fn subflows(&mut self, case: &Case, seed: u64, samples: &[Sample]) -> Result<(), LabError> {
        let Some(table) = self.samples.as_mut().filter(|_| !samples.is_empty()) else { return Ok(()) };
        let u32s = |f: fn(&Sample) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(samples.iter().map(f)))
        };
        let u64s = |f: fn(&Sample) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(samples.iter().map(f)))
        };
        let maybe = |f: fn(&Sample) -> Option<u64>| -> ArrayRef {
            Arc::new(UInt64Array::from_iter(samples.iter().map(f)))
        };
        let mut columns = case_columns(case, seed, samples.len());
        columns.extend([
            u32s(|s| s.round),
            u64s(|s| s.start),
            u64s(|s| s.duration),
            u32s(|s| s.from),
            u32s(|s| s.to),
            u32s(|s| s.subflow),
            u64s(|s| s.bytes),
            u64s(Sample::goodput),
            u32s(|s| s.cwnd),
            maybe(|s| s.srtt),
            Arc::new(StringArray::from_iter_values(
                samples.iter().map(|s| s.state.map_or("closed", State::name)),
            )) as ArrayRef,
            maybe(|s| s.optimum),
        ]);
        table.append(columns)
    }

    /// Ends the files and gives them their names.
    pub fn finish(self) -> Result<(), LabError> {
        self.flows.finish()?;
        [self.links, self.samples, self.queues].into_iter().flatten().try_for_each(Table::finish)
    }
}

fn case_columns(case: &Case, seed: u64, rows: usize) -> Vec<ArrayRef> {
    let text = |v: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values((0..rows).map(|_| v))) };
    vec![
        text(&case.scheme),
        Arc::new(UInt32Array::from_iter((0..rows).map(|_| case.subflows))),
        text(&case.pattern),
        Arc::new(UInt64Array::from_value(seed, rows)),
    ]
}
