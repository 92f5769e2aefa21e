//! One run of an experiment under one seed, and what was seen in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use tresse_experiment::plan::link_events::{Change, LinkEvent};
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_experiment::{Loaded, Plan, Profile, Source};
use tresse_lab::{Options, Watch};
use tresse_results::store::read::{self, RunTable};
use tresse_results::{Report, Status};

use super::text::{CROSS, SAMPLES};
use crate::OWNERS;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::stall::Guard;

/// A flow, as it was seen.
#[derive(Debug)]
pub struct Flow {
    pub hosts: [u32; 2],
    pub is_cross: bool,
    pub round: u64,
    pub size: Option<u64>,
    pub start: u64,
    pub end: Option<u64>,
    /// What the links of its receiver carry, bit/s.
    pub receiver_bps: u64,
    /// Its optimal goodput, bit/s, if the controller claims one.
    pub optimum: Option<u64>,
    /// What arrived on each subflow in each interval, bytes.
    pub arrived: Vec<Vec<u64>>,
}

/// What was seen in a run.
#[derive(Debug)]
pub struct Seen {
    pub flows: Vec<Flow>,
    /// The queue of each switch's port at the end of each interval, packets.
    pub queues: Vec<Vec<u64>>,
    /// When the first and the last change of a link come, ps, if there are two.
    pub changes: Option<[u64; 2]>,
    /// How long each port of the links that change was sending in each interval, ps.
    pub changed_busy: Vec<Vec<u64>>,
    /// The length of an interval, ps.
    pub interval: u64,
    /// The part of a packet that is payload.
    pub payload: f64,
}

/// An experiment of one case that is ready to run.
#[derive(Debug)]
pub struct Trial {
    pub loaded: Loaded,
    pub plan: Plan,
}

impl Trial {
    /// Reads an experiment.
    ///
    /// # Errors
    /// What is wrong in it, or if it has several cases.
    pub fn new(name: &str, text: String) -> Result<Self, Failure> {
        let loaded = OWNERS.load(Source { name: name.to_owned(), text }, Profile::Quick, &[])?;
        let plan = OWNERS.resolve(&loaded, &[])?;
        match plan.cases.len() {
            1 => Ok(Self { loaded, plan }),
            n => Err(Failure::Input(format!("{name}: it has {n} cases; a challenge's experiment has one"))),
        }
    }

    /// Simulates it in a temporary folder.
    ///
    /// # Errors
    /// If it does not run to its end.
    pub fn run(&self, seed: u64, interrupt: &Interrupt) -> Result<Seen, Failure> {
        let folder = tempfile::tempdir().map_err(|e| Failure::Machine(format!("a temporary folder: {e}")))?;
        let out = folder.path().join("run");
        self.simulate(seed, &out, interrupt)?;
        self.seen(&out).map_err(|why| Failure::Machine(format!("a run: {why}")))
    }

    /// Simulates it; its tables are in `out`.
    ///
    /// # Errors
    /// If it does not run to its end.
    pub(super) fn simulate(&self, seed: u64, out: &Path, interrupt: &Interrupt) -> Result<Report, Failure> {
        let options = Options {
            seed,
            replications: Replications::Count(1),
            out: Some(out.to_owned()),
            ..Options::default()
        };
        let watch = Arc::new(Watch::new(&self.plan, &options)?);
        let guard = Guard::of(&watch);
        let report = tresse_reproduction::run(&self.loaded, &self.plan, &options, &watch);
        let stalled = guard.dismiss();
        let report = report?;
        if report.status == Status::Complete {
            return Ok(report);
        }
        if interrupt.asked() {
            return Err(Failure::Interrupted);
        }
        let why = if stalled { "no progress for half a minute" } else { "it was ended" };
        let errors = report.errors.join("\n");
        let why = if errors.is_empty() { why } else { &errors };
        Err(Failure::Input(format!("a run did not end: {why}")))
    }

    pub(super) fn seen(&self, out: &Path) -> Result<Seen, String> {
        let case = &self.plan.cases[0];
        let interval = case.setting.samples.ok_or("it has no samples")?;
        let transport = &case.bound_schemes[0].transport;
        let mut flows = flows(out)?;
        if let Some(samples) = read::read(out, "samples")? {
            add_samples(&mut flows, &samples, interval)?;
        }
        let fabric = &case.setting.fabric;
        let ports = || (0..).zip(&fabric.network.ends);
        for flow in flows.values_mut() {
            let addresses = fabric.addresses(flow.hosts[1]);
            let own = ports().filter(|(_, [_, to])| addresses.contains(to));
            flow.receiver_bps = own.map(|(port, _)| fabric.rate(port)).sum();
        }
        let is_host = |node: &u32| (0..fabric.hosts()).any(|host| fabric.addresses(host).contains(node));
        let is_switch: Vec<bool> = ports().map(|(_, [from, _])| !is_host(from)).collect();
        let of = |change: &Change| match &change.what {
            LinkEvent::Rate(ports, _) | LinkEvent::Up(ports, _) => ports.clone(),
            LinkEvent::Reroute => Vec::new(),
        };
        let events = &case.setting.changes;
        let changing: BTreeSet<u32> = events.iter().flat_map(of).collect();
        let changes = match &events[..] {
            [first, .., last] => Some([first.at, last.at]),
            _ => None,
        };
        let (mut queues, mut changed_busy) = (Vec::new(), Vec::new());
        if let Some(table) = read::read(out, "queues")? {
            queues = ports_in(&table, "waiting_pkts", interval, |port| is_switch[port as usize])?;
            changed_busy = ports_in(&table, "busy_ps", interval, |port| changing.contains(&port))?;
        }
        let payload = f64::from(transport.mss) / f64::from(transport.mss + transport.header);
        Ok(Seen { flows: flows.into_values().collect(), queues, changes, changed_busy, interval, payload })
    }
}

/// A flow's identity: round, from, to.
type Key = [u64; 3];

fn flows(out: &Path) -> Result<BTreeMap<Key, Flow>, String> {
    let table = read::read(out, "flows")?.ok_or("there are no flows")?;
    let maybe =
        |name: &str| -> Result<Vec<Option<u64>>, String> { Ok(table.numbers(name)?.iter().collect()) };
    let (groups, words) = table.words("group")?;
    let [round, from, to, start] =
        [table.values("round")?, table.values("from")?, table.values("to")?, table.values("start_ps")?];
    let [size, end, optimum] = [maybe("size_bytes")?, maybe("end_ps")?, maybe("optimum_bps")?];
    let flow = |row: usize| {
        let flow = Flow {
            hosts: [from[row] as u32, to[row] as u32],
            is_cross: words[groups[row] as usize] == CROSS,
            round: round[row],
            size: size[row],
            start: start[row],
            end: end[row],
            receiver_bps: 0,
            optimum: optimum[row],
            arrived: Vec::new(),
        };
        ([round[row], from[row], to[row]], flow)
    };
    Ok((0..round.len()).map(flow).collect())
}

fn add_samples(flows: &mut BTreeMap<Key, Flow>, table: &RunTable, interval: u64) -> Result<(), String> {
    let column = |name: &str| table.values(name);
    let [round, from, to, subflow] = [column("round")?, column("from")?, column("to")?, column("subflow")?];
    let [start, bytes] = [column("start_ps")?, column("arrived_bytes")?];
    for row in 0..round.len() {
        let flow = flows.get_mut(&[round[row], from[row], to[row]]).ok_or("a sample is of no flow")?;
        let (subflow, at) = (subflow[row] as usize, (start[row] / interval) as usize);
        if flow.arrived.len() <= subflow {
            flow.arrived.resize(subflow + 1, Vec::new());
        }
        let own = &mut flow.arrived[subflow];
        if own.len() <= at {
            own.resize(at + 1, 0);
        }
        own[at] += bytes[row];
    }
    Ok(())
}

/// A column of the ports that `is_wanted`, by interval; one without a row had 0.
fn ports_in(
    table: &RunTable,
    name: &str,
    interval: u64,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<Vec<Vec<u64>>, String> {
    let column = |name: &str| table.values(name);
    let [port, start, values] = [column("port")?, column("start_ps")?, column(name)?];
    let mut ports: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for row in (0..port.len()).filter(|&row| is_wanted(port[row] as u32)) {
        let own = ports.entry(port[row]).or_insert_with(|| vec![0; SAMPLES as usize]);
        let at = (start[row] / interval) as usize;
        if own.len() <= at {
            own.resize(at + 1, 0);
        }
        own[at] = values[row];
    }
    Ok(ports.into_values().collect())
}
