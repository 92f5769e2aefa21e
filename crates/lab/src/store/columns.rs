//! The columns of every table: each has a name, a type, a unit and a sentence on its meaning.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use indexmap::IndexMap;
use tresse_experiment::plan::Case;

/// A column: name, type, unit, meaning.
pub(super) struct Column(&'static str, Kind, &'static str, &'static str);

/// Its type, and whether a value may be missing.
struct Kind(DataType, bool);

const TEXT: Kind = Kind(DataType::Utf8, false);
const BOOL: Kind = Kind(DataType::Boolean, false);
const U32: Kind = Kind(DataType::UInt32, false);
const MAYBE_U32: Kind = Kind(DataType::UInt32, true);
const U64: Kind = Kind(DataType::UInt64, false);
const MAYBE_U64: Kind = Kind(DataType::UInt64, true);

const VARIANT: &str = "variant";

/// The columns of a case and a seed; the variant is only in tables of experiments with variants. The axes
/// made by lists of values come before the seed.
const CASE: [Column; 5] = [
    Column("scheme", TEXT, "", "the scheme's name in the experiment"),
    Column(
        "subflows",
        MAYBE_U32,
        "",
        "the number of subflows of a connection, not counting mmptcp's first one; null if its path manager decides",
    ),
    Column("pattern", TEXT, "", "the workload's name in the experiment"),
    Column(VARIANT, TEXT, "", "the variant's name in the experiment; no column if there are none"),
    Column("seed", U64, "", "the seed of this replication"),
];

pub(super) const FLOWS: [Column; 25] = [
    Column(
        "group",
        TEXT,
        "",
        "the part of the workload, or the scheme of a mix, that it belongs to; empty if there is only one",
    ),
    Column("flow", U64, "", "its number in the workload, unique in its part"),
    Column("round", U32, "", "the round of the pattern, from 0"),
    Column("from", U32, "", "the sending host"),
    Column("to", U32, "", "the receiving host"),
    Column("locality", TEXT, "", "inner-rack, inter-rack (same pod) or inter-pod"),
    Column("size_bytes", MAYBE_U64, "bytes", "the size of the message; null if it has no end"),
    Column(
        "delivered_bytes",
        U64,
        "bytes",
        "payload delivered: the whole message, or the part of it that had arrived when it was stopped",
    ),
    Column("start_ps", U64, "ps", "when the flow started"),
    Column("end_ps", MAYBE_U64, "ps", "when its last byte arrived; null if it was stopped before"),
    Column("lasted_ps", U64, "ps", "how long it lasted, until it finished or was stopped"),
    Column("ideal_ps", MAYBE_U64, "ps", "its completion time on an empty network (`tresse explain results`)"),
    Column("deadline_ps", MAYBE_U64, "ps", "when it should have finished; null if it has no deadline"),
    Column("job", MAYBE_U32, "", "the number of its job in its part; null if it has none"),
    Column("goodput_bps", U64, "bit/s", "payload delivered, over the flow's whole lifetime"),
    Column(
        "optimum_bps",
        MAYBE_U64,
        "bit/s",
        "the flow's optimal goodput among all flows of its round; null if the controller claims no utility, \
         if subflows or links change or switches choose the paths, after the first 16 rounds, \
         in rounds of more than 1024 subflows or cut short, and if no optimum was found",
    ),
    Column("retransmissions", U64, "packets", "segments retransmitted on the same subflow"),
    Column("timeouts", U64, "", "retransmission timeouts"),
    Column("recoveries", U64, "", "fast recoveries"),
    Column("mark_cuts", U64, "", "windows that were cut for a mark"),
    Column("marks", U64, "packets", "CE marks that were echoed to the sender"),
    Column("rounds", U64, "", "rounds of all subflows; a round counts when its first segment is ACKed"),
    Column(
        "windows_pkts",
        U64,
        "packets",
        "the sum of the windows of these rounds; divided by `rounds`, the mean window",
    ),
    Column("opened", U32, "", "subflows that its path manager opened"),
    Column("closed", U32, "", "subflows that its path manager closed before the flow's end"),
];

pub(super) const LINKS: [Column; 11] = [
    Column(
        "port",
        U32,
        "",
        "the number of the output port: the place of its edge, from 0, in `tresse topology show EXPERIMENT --format json`",
    ),
    Column("layer", TEXT, "", "the name of its layer in the topology"),
    Column("rate_bps", U64, "bit/s", "its rate at the start"),
    Column("carried_bytes", U64, "bytes", "what it admitted, headers included"),
    Column("duration_ps", U64, "ps", "the simulated time of this case and seed"),
    Column("drops", U64, "packets", "packets for which its queue had no room, or that it could not mark"),
    Column(
        "lost",
        U64,
        "packets",
        "packets that it lost by its loss probability, or with a link that failed",
    ),
    Column("marks", U64, "packets", "packets that it marked"),
    Column("pauses", U64, "", "how often it was paused; this and the next two only with `pfc`"),
    Column("paused_ps", U64, "ps", "for how long it was paused"),
    Column(
        "headroom_drops",
        U64,
        "packets",
        "drops because the headroom of the link over which the packets came was too small",
    ),
];

/// The columns of links without flow control: the first of them.
pub(super) const UNPAUSED: usize = 8;

pub(super) const SAMPLES: [Column; 17] = [
    Column("round", U32, "", "the round of the pattern, from 0; intervals are counted from its start"),
    Column("start_ps", U64, "ps", "when the interval began"),
    Column("duration_ps", U64, "ps", "its length; the last interval of a flow ends with the flow"),
    Column("group", TEXT, "", "the group of its flow, as in flows.parquet"),
    Column("flow", U64, "", "its flow, as in flows.parquet"),
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
        "the smoothed RTT at the end of this time; null before the first sample, and if the subflow was closed",
    ),
    Column(
        "state",
        TEXT,
        "",
        "the sender's state at the end of this time: open, disorder, cwr, recovery or loss; closed if the subflow is",
    ),
    Column("marks", U64, "packets", "CE marks that were echoed to the sender in this time"),
    Column("retransmissions", U64, "packets", "segments retransmitted on this subflow in this time"),
    Column("timeouts", U64, "", "retransmission timeouts in this time"),
    Column(
        "flow_optimum_bps",
        MAYBE_U64,
        "bit/s",
        "the mean, over this time, of the optimal goodput of the whole flow, all subflows together, among the \
         flows that had not ended; null if the controller claims no utility, if subflows come and go or \
         switches choose the paths, after the first 16 rounds, in rounds of more than 256 flows, and if \
         no optimum was found",
    ),
];

pub(super) const JOBS: [Column; 6] = [
    Column("part", TEXT, "", "the part of the workload; empty if there is only one"),
    Column("job", U32, "", "its number, in the order of the starts"),
    Column("start_ps", U64, "ps", "when its first flow started"),
    Column("end_ps", U64, "ps", "when everything that it waits for was done"),
    Column("flows", U32, "", "its number of flows"),
    Column("deadline_ps", MAYBE_U64, "ps", "when it should have ended; null if it has no deadline"),
];

pub(super) const CONVERGENCE: [Column; 8] = [
    Column("group", TEXT, "", "the group of its flow, as in flows.parquet"),
    Column("flow", U64, "", "its flow, as in flows.parquet"),
    Column("from", U32, "", "the sending host"),
    Column("to", U32, "", "the receiving host"),
    Column("subflow", U32, "", "the subflow of this flow, from 0"),
    Column(
        "after_ps",
        U64,
        "ps",
        "the event: its own start, the start or end of another flow, or a change of a link",
    ),
    Column(
        "converged_ps",
        MAYBE_U64,
        "ps",
        "how long after the event its goodput began to stay near its final mean; null if it did not before the next event",
    ),
    Column("mean_bps", U64, "bit/s", "the final mean, over the last samples before the next event"),
];

pub(super) const QUEUES: [Column; 9] = [
    Column("round", U32, "", "the round of the pattern, from 0"),
    Column("start_ps", U64, "ps", "when the interval began, as in samples.parquet"),
    Column("duration_ps", U64, "ps", "its length; the last interval of a round ends with the round"),
    Column("port", U32, "", "the number of the output port; one that sent and held nothing has no row"),
    Column("layer", TEXT, "", "the name of its layer in the topology"),
    Column("busy_ps", U64, "ps", "how long it was sending; over the interval's length, its utilisation"),
    Column(
        "waiting_pkts",
        U64,
        "packets",
        "its queue at the end of the interval, without the packet in transmission",
    ),
    Column("drops", U64, "packets", "packets that it dropped or lost in this time"),
    Column("marks", U64, "packets", "packets that it marked in this time"),
];

pub(super) const PATHS: [Column; 8] = [
    Column("round", U32, "", "the round of the pattern, from 0"),
    Column("group", TEXT, "", "the group of its flow, as in flows.parquet"),
    Column("flow", U64, "", "its flow, as in flows.parquet"),
    Column("from", U32, "", "the sending host"),
    Column("to", U32, "", "the receiving host"),
    Column("subflow", U32, "", "the subflow of this flow, from 0"),
    Column("seen_ps", U64, "ps", "the end of the interval in which the path was first seen"),
    Column(
        "path",
        TEXT,
        "",
        "the numbers of the output ports on the path of its data, from the sender on; no row if switches \
         decide packet by packet",
    ),
];

pub(super) const RTTS: [Column; 4] = [
    Column("group", TEXT, "", "the group of the flows, as in flows.parquet"),
    Column("least_ps", U64, "ps", "the lower end of this class of round-trip times"),
    Column("most_ps", U64, "ps", "the upper end of this class"),
    Column("count", U64, "", "ACKs that reported a round-trip time in this class"),
];

pub(super) const LENGTHS: [Column; 3] = [
    Column("layer", TEXT, "", "the name of the ports' layer; `hosts` for ports of hosts"),
    Column("waiting_pkts", U64, "packets", "the length of a queue, without the packet in transmission"),
    Column("count", U64, "", "how often a port of this layer was observed with this length"),
];

pub(super) const PACKETS: [Column; 28] = [
    Column(
        "time_ps",
        U64,
        "ps",
        "when the host handed it to its own port, in whose queue it may then wait, or when it had arrived completely",
    ),
    Column("host", U32, "", "the host that saw it"),
    Column("direction", TEXT, "", "out if the host sent it, in if the host received it"),
    Column("round", U32, "", "the round of the pattern, from 0"),
    Column("group", TEXT, "", "the group of its flow, as in flows.parquet"),
    Column("flow", U64, "", "its flow, as in flows.parquet; for a persistent connection, its first flow"),
    Column("from", U32, "", "the host that sends the flow's data"),
    Column("to", U32, "", "the host that receives the flow's data"),
    Column("subflow", U32, "", "the subflow of this flow, from 0"),
    Column("from_address", U32, "", "which of the sending host's addresses the subflow uses, from 0"),
    Column("to_address", U32, "", "which of the receiving host's addresses the subflow uses, from 0"),
    Column(
        "kind",
        TEXT,
        "",
        "data, ack, nack (it answers a trimmed packet), syn, syn-ack, join-ack, join-answer (the third and fourth \
         packet of a subflow that joins) or datagram",
    ),
    Column("size_bytes", U32, "bytes", "its size on the wire, headers included"),
    Column("payload_bytes", U32, "bytes", "the payload in it"),
    Column(
        "seq",
        MAYBE_U32,
        "segments",
        "the number of its segment on its subflow, from 0; null if it is not data",
    ),
    Column(
        "dsn",
        MAYBE_U32,
        "segments",
        "the number of its segment in the connection, from 0; null if it is not data",
    ),
    Column(
        "ack",
        MAYBE_U32,
        "segments",
        "the next segment that is expected on its subflow; null if it is not an ACK",
    ),
    Column(
        "data_ack",
        MAYBE_U32,
        "segments",
        "the first missing segment of the connection; null if it is not an ACK",
    ),
    Column(
        "sack",
        TEXT,
        "segments",
        "the segments beyond `ack` that have arrived, such as 7-9 12-13: from the first to just before the last, \
         in the order of the ACK",
    ),
    Column("answers", MAYBE_U32, "", "for an ACK of a sprayed connection, the segment that it answers"),
    Column(
        "path",
        MAYBE_U32,
        "",
        "on a sprayed connection, the path of the packet, or of the packet that it answers",
    ),
    Column("ecn", TEXT, "", "the ECN field of its IP header: not-ect, ect or ce"),
    Column(
        "echo",
        MAYBE_U32,
        "packets",
        "the CE marks that it echoes, 1 for a plain ECE; null if it is not an ACK",
    ),
    Column("cwr", BOOL, "", "whether it tells the receiver that the window was reduced"),
    Column("retransmission", BOOL, "", "whether its segment was sent before on this subflow"),
    Column("trimmed", BOOL, "", "whether a switch has cut it to its header"),
    Column("last", BOOL, "", "whether it carries the last byte of a message"),
    Column("dropped", BOOL, "", "whether the host's own port dropped it at once"),
];

/// Every table by its name, with its own columns.
pub(super) const TABLES: [(&str, &[Column]); 10] = [
    ("flows", &FLOWS),
    ("jobs", &JOBS),
    ("links", &LINKS),
    ("samples", &SAMPLES),
    ("queues", &QUEUES),
    ("paths", &PATHS),
    ("rtts", &RTTS),
    ("lengths", &LENGTHS),
    ("convergence", &CONVERGENCE),
    ("packets", &PACKETS),
];

/// The meaning of every column: the page of `tresse explain columns`.
pub(super) fn explain() -> String {
    let rows = |columns: &[Column]| -> String {
        let row = |Column(name, _, unit, meaning): &Column| format!("| `{name}` | {unit} | {meaning} |\n");
        columns.iter().map(row).collect()
    };
    let head = "| column | unit | meaning |\n|---|---|---|\n";
    let own = TABLES.iter().map(|(name, columns)| format!("\n## {name}.parquet\n\n{head}{}", rows(columns)));
    let every = format!("# Columns of the tables\n\nIn every table:\n\n{head}{}", rows(&CASE));
    every + &own.collect::<String>()
}

/// The axes that not every experiment has.
pub(super) struct Axes {
    pub variants: bool,
    /// The axes made by lists of values: their names and paths.
    pub lists: IndexMap<Arc<str>, Arc<str>>,
}

impl Axes {
    /// The axes of these cases.
    pub fn of(cases: &[Case]) -> Self {
        let values = cases.iter().flat_map(|case| &case.at);
        let lists = values.map(|at| (Arc::clone(&at.name), Arc::clone(&at.path))).collect();
        Self { variants: cases.iter().any(|case| case.variant.is_some()), lists }
    }
}

/// The schema of a table: the case, with the existing axes, and the seed of a row, then its own columns.
pub(super) fn schema(columns: &[Column], axes: &Axes) -> Arc<Schema> {
    let with = |field: Field, unit: &str, meaning: &str| {
        let metadata = [("unit", unit), ("meaning", meaning)];
        field.with_metadata(metadata.map(|(k, v)| (k.to_owned(), v.to_owned())).into())
    };
    let field = |Column(name, kind, unit, meaning): &Column| {
        with(Field::new(*name, kind.0.clone(), kind.1), unit, meaning)
    };
    let list = |(name, path): (&Arc<str>, &Arc<str>)| {
        let meaning = format!("the value of {path}; null if it does not affect the case");
        with(Field::new(&**name, DataType::Utf8, true), "", &meaning)
    };
    let (seed, case) = CASE.split_last().expect("a case has columns");
    let case = case.iter().filter(|Column(name, ..)| axes.variants || *name != VARIANT);
    let fields = case.map(field).chain(axes.lists.iter().map(list));
    Arc::new(Schema::new(fields.chain([seed].into_iter().chain(columns).map(field)).collect::<Vec<_>>()))
}
