//! The Parquet files of a run, readable while they are written.

mod columns;
pub mod finished;
pub mod folder;
mod packets;
pub mod sums;
mod table;
mod values;

use std::iter;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, UInt32Array, UInt64Array};
use tresse_controllers::State;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::plan::{AxisValue, Case};
use tresse_fabric::Histogram;
use tresse_workload::Job;

use crate::record::convergence::Converged;
use crate::record::flow::{Begun, Flow, Link};
use crate::record::lengths::Lengths;
use crate::record::sample::{Interval, PathSample, PortSample, Sample};
use columns::{
    Axes, CONVERGENCE, FLOWS, JOBS, LENGTHS, LINKS, PACKETS, PATHS, QUEUES, RTTS, SAMPLES, UNPAUSED,
};
use sums::Sums;
use table::Table;
pub use values::Values;

/// The meaning of the columns of all tables, in Markdown.
pub fn explain() -> String {
    columns::explain()
}

/// The names of the tables that a run may have; `NAME.parquet` is the file of one.
pub fn names() -> impl Iterator<Item = &'static str> {
    columns::TABLES.iter().map(|(name, _)| *name)
}

/// The tables of a run.
pub(crate) struct Tables {
    axes: Axes,
    /// Whether some case has flow control.
    pauses: bool,
    flows: Table,
    jobs: Option<Table>,
    links: Option<Table>,
    samples: Option<Table>,
    queues: Option<Table>,
    paths: Option<Table>,
    rtts: Option<Table>,
    lengths: Option<Table>,
    convergence: Option<Table>,
    packets: Option<Table>,
}

impl Tables {
    /// In the folder `dir`, the tables that one of the cases needs.
    pub fn create(dir: &Path, cases: &[Case]) -> Result<Self, Diagnostic> {
        let axes = Axes::of(cases);
        let pauses = cases.iter().any(|case| case.setting.options.pauses());
        let links = if pauses { &LINKS[..] } else { &LINKS[..UNPAUSED] };
        let table = |name, columns| Table::create(dir, name, columns, &axes);
        let needed = |name, columns, needs: fn(&Case) -> bool| {
            cases.iter().any(needs).then(|| table(name, columns)).transpose()
        };
        Ok(Self {
            flows: table("flows", &FLOWS)?,
            jobs: needed("jobs", &JOBS, Case::has_jobs)?,
            links: needed("links", links, |c| c.setting.links)?,
            samples: needed("samples", &SAMPLES, |c| c.setting.samples.is_some())?,
            queues: needed("queues", &QUEUES, |c| c.setting.samples.is_some() && c.setting.links)?,
            paths: needed("paths", &PATHS, |c| c.setting.samples.is_some())?,
            rtts: needed("rtts", &RTTS, |c| c.setting.rtt)?,
            lengths: needed("lengths", &LENGTHS, |c| c.setting.queues.is_some())?,
            convergence: needed("convergence", &CONVERGENCE, |c| c.setting.convergence.is_some())?,
            packets: needed("packets", &PACKETS, |c| c.setting.packets.is_some())?,
            axes,
            pauses,
        })
    }

    /// Adds the flows of a round; `optimum` has the optimal goodput of each, bit/s.
    pub fn flows(
        &mut self,
        case: &Case,
        seed: u64,
        flows: &[Flow],
        optimum: Option<&[f64]>,
    ) -> Result<(), Diagnostic> {
        if flows.is_empty() {
            return Ok(());
        }
        let u32s = |f: fn(&Flow) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(flows.iter().map(f)))
        };
        let u64s = |f: fn(&Flow) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(flows.iter().map(f)))
        };
        let mut columns = case_columns(&self.axes, case, seed, flows.len());
        let maybe = |f: fn(&Flow) -> Option<u64>| -> ArrayRef {
            Arc::new(UInt64Array::from_iter(flows.iter().map(f)))
        };
        columns.extend([
            groups(case, flows.iter().map(|f| &f.begun)),
            u64s(|f| f.begun.start.name),
            u32s(|f| f.begun.start.round),
            u32s(|f| f.begun.start.from),
            u32s(|f| f.begun.start.to),
            Arc::new(StringArray::from_iter_values(flows.iter().map(|f| f.locality.name()))) as ArrayRef,
            maybe(|f| f.begun.start.bytes),
            u64s(|f| f.record.bytes),
            u64s(|f| f.record.start),
            maybe(|f| f.record.complete.then_some(f.record.end)),
            u64s(|f| f.record.end - f.record.start),
            maybe(|f| f.ideal),
            maybe(|f| f.begun.start.deadline),
            Arc::new(UInt32Array::from_iter(flows.iter().map(|f| f.begun.start.job))),
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

    /// Adds jobs that have ended, each with its part.
    pub fn jobs(&mut self, case: &Case, seed: u64, jobs: &[(usize, Job)]) -> Result<(), Diagnostic> {
        let Some(table) = self.jobs.as_mut().filter(|_| !jobs.is_empty()) else { return Ok(()) };
        let u64s = |f: fn(&Job) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(jobs.iter().map(|(_, j)| f(j))))
        };
        let u32s = |f: fn(&Job) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(jobs.iter().map(|(_, j)| f(j))))
        };
        let mut columns = case_columns(&self.axes, case, seed, jobs.len());
        columns.extend([
            Arc::new(StringArray::from_iter_values(jobs.iter().map(|(part, _)| &case.parts[*part].name)))
                as ArrayRef,
            u32s(|j| j.number),
            u64s(|j| j.start),
            u64s(|j| j.end),
            u32s(|j| j.flows),
            Arc::new(UInt64Array::from_iter(jobs.iter().map(|(_, j)| j.deadline))),
        ]);
        table.append(columns)
    }

    /// Adds the ports of a finished replication.
    pub fn links(&mut self, case: &Case, seed: u64, duration: u64, links: &[Link]) -> Result<(), Diagnostic> {
        let is_asked = case.setting.links && !links.is_empty();
        let Some(table) = self.links.as_mut().filter(|_| is_asked) else { return Ok(()) };
        let u64s = |f: fn(&Link) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(links.iter().map(f)))
        };
        let mut columns = case_columns(&self.axes, case, seed, links.len());
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
        if self.pauses {
            columns.extend([u64s(|l| l.pfc.pauses), u64s(|l| l.pfc.paused), u64s(|l| l.pfc.overflows)]);
        }
        table.append(columns)
    }

    /// Adds the samples of an interval.
    pub fn samples(&mut self, case: &Case, seed: u64, interval: &Interval) -> Result<(), Diagnostic> {
        self.subflows(case, seed, &interval.subflows)?;
        self.queues(case, seed, &interval.ports)?;
        self.paths(case, seed, &interval.paths)
    }

    fn queues(&mut self, case: &Case, seed: u64, ports: &[PortSample]) -> Result<(), Diagnostic> {
        let is_asked = case.setting.links && !ports.is_empty();
        let Some(table) = self.queues.as_mut().filter(|_| is_asked) else { return Ok(()) };
        let u32s = |f: fn(&PortSample) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(ports.iter().map(f)))
        };
        let u64s = |f: fn(&PortSample) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(ports.iter().map(f)))
        };
        let mut columns = case_columns(&self.axes, case, seed, ports.len());
        columns.extend([
            u32s(|p| p.round),
            u64s(|p| p.start),
            u64s(|p| p.duration),
            u32s(|p| p.port),
            Arc::new(StringArray::from_iter_values(ports.iter().map(|p| &p.layer))) as ArrayRef,
            u64s(|p| p.busy),
            u64s(|p| p.waiting),
            u64s(|p| p.drops),
            u64s(|p| p.marks),
        ]);
        table.append(columns)
    }

    fn paths(&mut self, case: &Case, seed: u64, paths: &[PathSample]) -> Result<(), Diagnostic> {
        let Some(table) = self.paths.as_mut().filter(|_| !paths.is_empty()) else { return Ok(()) };
        let u32s = |f: fn(&PathSample) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(paths.iter().map(f)))
        };
        let u64s = |f: fn(&PathSample) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(paths.iter().map(f)))
        };
        let text = |ports: &[u32]| ports.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let mut columns = case_columns(&self.axes, case, seed, paths.len());
        columns.extend([
            u32s(|p| p.flow.start.round),
            groups(case, paths.iter().map(|p| &p.flow)),
            u64s(|p| p.flow.start.name),
            u32s(|p| p.flow.start.from),
            u32s(|p| p.flow.start.to),
            u32s(|p| p.subflow),
            u64s(|p| p.seen),
            Arc::new(StringArray::from_iter_values(paths.iter().map(|p| text(&p.ports)))) as ArrayRef,
        ]);
        table.append(columns)
    }

    /// Adds the round-trip times of a finished replication, by group.
    pub fn rtts(&mut self, case: &Case, seed: u64, rtts: &[Histogram]) -> Result<(), Diagnostic> {
        let Some(table) = &mut self.rtts else { return Ok(()) };
        let of_group = |(group, own): (usize, &Histogram)| {
            own.buckets().map(|(bounds, count)| (group, bounds, count)).collect::<Vec<_>>()
        };
        let rows: Vec<(usize, [u64; 2], u64)> = rtts.iter().enumerate().flat_map(of_group).collect();
        let mut columns = case_columns(&self.axes, case, seed, rows.len());
        columns.extend([
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &case.groups[row.0]))) as ArrayRef,
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.1[0]))),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.1[1]))),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.2))),
        ]);
        table.append(columns)
    }

    /// Adds the queue lengths of a finished replication, by layer.
    pub fn lengths(
        &mut self,
        case: &Case,
        seed: u64,
        queues: &[(Arc<str>, Lengths)],
    ) -> Result<(), Diagnostic> {
        let Some(table) = &mut self.lengths else { return Ok(()) };
        let of_layer = |(layer, own): &(Arc<str>, Lengths)| {
            own.counts().map(|(length, count)| (Arc::clone(layer), length, count)).collect::<Vec<_>>()
        };
        let rows: Vec<(Arc<str>, u64, u64)> = queues.iter().flat_map(of_layer).collect();
        let mut columns = case_columns(&self.axes, case, seed, rows.len());
        columns.extend([
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.0))) as ArrayRef,
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.1))),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.2))),
        ]);
        table.append(columns)
    }

    fn subflows(&mut self, case: &Case, seed: u64, samples: &[Sample]) -> Result<(), Diagnostic> {
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
        let mut columns = case_columns(&self.axes, case, seed, samples.len());
        columns.extend([
            u32s(|s| s.flow.start.round),
            u64s(|s| s.start),
            u64s(|s| s.duration),
            groups(case, samples.iter().map(|s| &s.flow)),
            u64s(|s| s.flow.start.name),
            u32s(|s| s.flow.start.from),
            u32s(|s| s.flow.start.to),
            u32s(|s| s.subflow),
            u64s(|s| s.bytes),
            u64s(Sample::goodput),
            u32s(|s| s.cwnd),
            maybe(|s| s.srtt),
            Arc::new(StringArray::from_iter_values(
                samples.iter().map(|s| s.state.map_or("closed", State::name)),
            )) as ArrayRef,
            u64s(|s| s.marks),
            u64s(|s| s.retransmissions),
            u64s(|s| s.timeouts),
            maybe(|s| s.optimum),
        ]);
        table.append(columns)
    }

    /// Adds the convergence times of a finished replication.
    pub fn converged(&mut self, case: &Case, seed: u64, rows: &[Converged]) -> Result<(), Diagnostic> {
        let Some(table) = &mut self.convergence else { return Ok(()) };
        let u32s = |f: fn(&Converged) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(f)))
        };
        let u64s = |f: fn(&Converged) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(f)))
        };
        let mut columns = case_columns(&self.axes, case, seed, rows.len());
        columns.extend([
            groups(case, rows.iter().map(|c| &c.flow)),
            u64s(|c| c.flow.start.name),
            u32s(|c| c.flow.start.from),
            u32s(|c| c.flow.start.to),
            u32s(|c| c.subflow),
            u64s(|c| c.after),
            Arc::new(UInt64Array::from_iter(rows.iter().map(|c| c.convergence.time))),
            u64s(|c| c.convergence.mean),
        ]);
        table.append(columns)
    }

    /// Makes added rows readable if they have waited long enough. To be called every second or so, because rows may
    /// be far apart.
    pub fn refresh(&mut self) -> Result<(), Diagnostic> {
        self.flows.refresh()?;
        self.others().into_iter().flatten().try_for_each(Table::refresh)
    }

    /// Makes each table one file, and returns their sums.
    pub fn finish(mut self) -> Result<Sums, Diagnostic> {
        let others: Vec<Table> = self.others().into_iter().filter_map(Option::take).collect();
        iter::once(self.flows).chain(others).map(|table| Ok((table.name(), table.finish()?))).collect()
    }

    /// The optional tables of a run. All fields are named, so that none is forgotten.
    fn others(&mut self) -> [&mut Option<Table>; 9] {
        let Self {
            axes: _,
            pauses: _,
            flows: _,
            jobs,
            links,
            samples,
            queues,
            paths,
            rtts,
            lengths,
            convergence,
            packets,
        } = self;
        [jobs, links, samples, queues, paths, rtts, lengths, convergence, packets]
    }
}

fn groups<'a>(case: &Case, flows: impl Iterator<Item = &'a Begun>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(flows.map(|f| &case.groups[f.member.group])))
}

fn case_columns(axes: &Axes, case: &Case, seed: u64, rows: usize) -> Vec<ArrayRef> {
    let text = |v: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values((0..rows).map(|_| v))) };
    let subflows = Arc::new(UInt32Array::from_iter((0..rows).map(|_| case.subflows)));
    let mut columns = vec![text(&case.scheme), subflows, text(&case.pattern)];
    columns.extend(case.variant.as_deref().map(text));
    columns.extend(axes.lists.keys().map(|name| -> ArrayRef {
        let value = case.at.iter().find(|at| at.name == *name).map(AxisValue::text);
        Arc::new(StringArray::from_iter((0..rows).map(|_| value.as_deref())))
    }));
    columns.push(Arc::new(UInt64Array::from_value(seed, rows)));
    columns
}
