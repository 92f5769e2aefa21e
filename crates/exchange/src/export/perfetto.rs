//! A trace in Chrome's JSON format of events, as ui.perfetto.dev opens it: a process for each case and seed, with a track
//! for each flow and job, and counters of subflows and queues.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;

use super::case::{Case, label};
use super::flows::Sample;
use super::table::{Row, Table};
use super::{PS_PER_US, none, unwritten};
use crate::key::Key;

pub(super) fn write(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Diagnostic> {
    let flows = Table::open(run, "flows")?;
    let mut trace = Trace { out, axes: flows.axes(), processes: BTreeMap::new(), ids: 0, written: false };
    if flows.each(only, |row| trace.flow(row))? == 0 {
        return Err(none(run));
    }
    // Rows without a group are kept with every group.
    let others = |table: &Table| only.within(|axis| table.keys().iter().any(|key| key == axis));
    let mut notes = Vec::new();
    match Table::find(run, "samples")? {
        Some(table) => {
            let only = others(&table);
            let mut ends = BTreeMap::new();
            table.each(&only, |row| trace.sample(row, &mut ends))?;
            // A counter keeps its value until it gets another.
            for ((pid, name), end) in ends {
                trace.counter(pid, &format!("{name} rate"), end, "Mbit/s", json!(0))?;
            }
        }
        None => notes.push(
            "the run has no samples, so there are no windows and rates of subflows: set `[measure] samples = \"1ms\"`"
                .to_owned(),
        ),
    }
    if let Some(table) = Table::find(run, "queues")? {
        let only = others(&table);
        table.each(&only, |row| trace.queue(row))?;
    }
    if let Some(table) = Table::find(run, "jobs")? {
        let only = others(&table);
        table.each(&only, |row| trace.job(row))?;
    }
    writeln!(trace.out, "\n]}}").map_err(unwritten)?;
    Ok(notes)
}

/// A trace being written.
struct Trace<'a> {
    out: &'a mut dyn Write,
    axes: Vec<String>,
    /// By case and seed.
    processes: BTreeMap<Case, u64>,
    /// The numbers used for processes and tracks so far: a track with the number of a process would be its
    /// main one.
    ids: u64,
    /// Whether an event was written.
    written: bool,
}

impl Trace<'_> {
    fn event(&mut self, event: &Value) -> Result<(), Diagnostic> {
        let before = if self.written { ",\n" } else { "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" };
        self.written = true;
        write!(self.out, "{before}{event}").map_err(unwritten)
    }

    /// The process of a row.
    fn process(&mut self, row: &Row) -> Result<u64, Diagnostic> {
        let case = row.texts(&self.axes)?;
        if let Some(&pid) = self.processes.get(&case) {
            return Ok(pid);
        }
        self.ids += 1;
        let pid = self.ids;
        self.name("process_name", pid, 0, &label(&self.axes, &case))?;
        self.processes.insert(case, pid);
        Ok(pid)
    }

    /// Names a process or a track of it.
    fn name(&mut self, kind: &str, pid: u64, tid: u64, name: &str) -> Result<(), Diagnostic> {
        self.event(&json!({ "ph": "M", "name": kind, "pid": pid, "tid": tid, "args": { "name": name } }))
    }

    /// A track with one slice.
    fn slice(
        &mut self,
        pid: u64,
        kind: &str,
        name: &str,
        [start, end]: [u64; 2],
        args: &Value,
    ) -> Result<(), Diagnostic> {
        self.ids += 1;
        let tid = self.ids;
        self.name("thread_name", pid, tid, name)?;
        self.event(&json!({
            "ph": "X", "cat": kind, "name": name, "pid": pid, "tid": tid, "ts": us(start), "dur": us(end - start),
            "args": args,
        }))
    }

    /// The value of a counter from `at` (ps) on.
    fn counter(&mut self, pid: u64, name: &str, at: u64, unit: &str, value: Value) -> Result<(), Diagnostic> {
        self.event(&json!({ "ph": "C", "name": name, "pid": pid, "ts": us(at), "args": { unit: value } }))
    }

    fn flow(&mut self, row: &Row) -> Result<(), Diagnostic> {
        let (pid, key) = (self.process(row)?, Key::of(row)?);
        let start = row.needed("start_ps")?;
        let end = row.number("end_ps")?;
        let args = json!({
            "size_bytes": row.number("size_bytes")?,
            "delivered_bytes": row.needed("delivered_bytes")?,
            "fct_us": end.map(|end| us(end - start)),
            "goodput_bps": row.needed("goodput_bps")?,
            "retransmissions_pkts": row.needed("retransmissions")?,
            "timeouts": row.needed("timeouts")?,
            "marks_pkts": row.needed("marks")?,
        });
        self.slice(pid, "flow", &key.name(), [start, start + row.needed("lasted_ps")?], &args)
    }

    /// `ends` are the ends of the last samples so far, by process and name of the subflow.
    fn sample(&mut self, row: &Row, ends: &mut BTreeMap<(u64, String), u64>) -> Result<(), Diagnostic> {
        let pid = self.process(row)?;
        let name = format!("{} subflow {}", Key::of(row)?.name(), row.needed("subflow")?);
        let sample = Sample::of(row)?;
        let rate = row.needed("goodput_bps")? as f64 / 1e6;
        self.counter(pid, &format!("{name} rate"), sample.start, "Mbit/s", json!(rate))?;
        self.counter(pid, &format!("{name} cwnd"), sample.end, "packets", json!(sample.cwnd))?;
        let end = ends.entry((pid, name)).or_default();
        *end = sample.end.max(*end);
        Ok(())
    }

    fn queue(&mut self, row: &Row) -> Result<(), Diagnostic> {
        let pid = self.process(row)?;
        let name = format!("port {} ({}) queue", row.needed("port")?, row.text("layer")?);
        let at = row.needed("start_ps")? + row.needed("duration_ps")?;
        self.counter(pid, &name, at, "packets", json!(row.needed("waiting_pkts")?))
    }

    fn job(&mut self, row: &Row) -> Result<(), Diagnostic> {
        let pid = self.process(row)?;
        let part = row.text("part")?;
        let part = if part.is_empty() { part } else { format!("{part}: ") };
        let name = format!("{part}job {}", row.needed("job")?);
        let args = json!({
            "flows": row.needed("flows")?,
            "deadline_us": row.number("deadline_ps")?.map(us),
        });
        self.slice(pid, "job", &name, [row.needed("start_ps")?, row.needed("end_ps")?], &args)
    }
}

fn us(ps: u64) -> f64 {
    ps as f64 / PS_PER_US
}
