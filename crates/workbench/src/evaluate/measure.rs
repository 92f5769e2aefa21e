//! A part of the score: a number from 0 to 1, where 1 is a ceiling that no controller can exceed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use tresse_experiment::plan::Case;
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_experiment::{Diagnostic, Loaded, Plan, Profile, Source};
use tresse_lab::engine::ideal::Ideals;
use tresse_results::store::read;
use tresse_units::SECOND;

use super::suite::Entry;
use crate::OWNERS;

/// How a part is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// For flows that last: the geometric mean of each flow's rate over its rate where Σ log x is largest.
    Optimum,
    /// For flows that come and go: the mean of the ideal completion time over the measured one.
    Completion,
    /// For rounds of flows: the time that the busiest receiver's links need, over the time that the round took.
    Makespan,
    /// For an experiment with claims of a paper: the share of claims that hold.
    Claims,
}

/// A part under one seed.
#[derive(Debug, Clone)]
pub struct SeedScore {
    pub seed: u64,
    pub value: f64,
    /// What was furthest below its ceiling.
    pub worst: String,
}

/// How far a part may exceed its ceiling by rounding: the optimum's solver leaves KKT residuals of about 1e-9, and
/// rates and times are whole bit/s and ps.
pub const TOLERANCE: f64 = 1e-6;

/// A controller whose claim is Σ log of the flows' whole rates, with the same weight for all.
const PROPORTIONAL: &str = "wvegas";

/// A flow of the run.
struct Flow {
    seed: u64,
    round: u64,
    hosts: [u32; 2],
    size: Option<u64>,
    delivered: u64,
    start: u64,
    end: Option<u64>,
    lasted: u64,
    ideal: Option<u64>,
}

/// The part of `entry` under each of its seeds, from the flows of the run in `folder`.
///
/// # Errors
/// A message if this experiment cannot have such a part, or the part is above its ceiling.
pub fn of_run(entry: &Entry, case: &Case, folder: &Path) -> Result<Vec<SeedScore>, String> {
    let flows = flows(folder)?;
    let reference = if entry.measure == Measure::Optimum { Some(reference(entry)?) } else { None };
    let of_seed = |seed: u64| {
        let own: Vec<&Flow> = flows.iter().filter(|flow| flow.seed == seed).collect();
        if own.is_empty() {
            return Err(format!("seed {seed}: there are no flows"));
        }
        let part = match &reference {
            Some((loaded, plan)) => optimum(&own, case, loaded, plan, seed),
            None if entry.measure == Measure::Completion => completion(&own, case),
            None => makespan(&own, case),
        };
        let (value, worst) = part.map_err(|why| format!("seed {seed}: {why}"))?;
        Ok(SeedScore { seed, value, worst })
    };
    (entry.seed..entry.seed + u64::from(entry.replications)).map(of_seed).collect()
}

/// The experiment with all controllers replaced by the one whose optimum is proportional fairness.
fn reference(entry: &Entry) -> Result<(Loaded, Plan), String> {
    let read = || {
        let source = Source { name: entry.source.clone(), text: entry.with_all(PROPORTIONAL) };
        let loaded = OWNERS.load(source, Profile::Quick, &entry.set)?;
        let plan = OWNERS.resolve(&loaded, &entry.chosen())?;
        Ok((loaded, plan))
    };
    read().map_err(|error: Diagnostic| format!("its optimum: {error}"))
}

fn optimum(
    flows: &[&Flow],
    case: &Case,
    loaded: &Loaded,
    plan: &Plan,
    seed: u64,
) -> Result<(f64, String), String> {
    let report = tresse_lab::optimum(loaded, plan, Profile::Quick, seed, 1, &|| ());
    let [own] = &report.cases[..] else {
        return Err("its links change, so there is no single optimum".to_owned());
    };
    let Some(solved) = &own.optimum else {
        let why = own.no_optimum.as_deref().unwrap_or("no reason is known");
        return Err(format!("there is no optimum: {why}"));
    };
    if solved.kkt_residual > TOLERANCE {
        return Err(format!("its optimum was not found: the residual is {:.1e}", solved.kkt_residual));
    }
    let [mss, header] = packet(case)?;
    let on_wire = f64::from(mss + header) / f64::from(mss);
    // What comes later, such as single packets that stand for the noise of hosts, takes room and has no part.
    let mut lasting: BTreeMap<[u32; 2], f64> = BTreeMap::new();
    let mut lasted = None;
    for flow in flows.iter().filter(|flow| flow.start == 0) {
        if flow.end.is_some() || *lasted.get_or_insert(flow.lasted) != flow.lasted {
            return Err(
                "a flow ends on its own: `optimum` needs flows that last as long as the case".to_owned()
            );
        }
        let rate = flow.delivered as f64 * 8.0 / (flow.lasted as f64 / SECOND as f64) * on_wire;
        if lasting.insert(flow.hosts, rate).is_some() {
            return Err("two flows have the same hosts: `optimum` cannot tell them apart".to_owned());
        }
    }
    if lasting.len() != solved.rates.len() {
        return Err(format!("{} flows last, and {} have an optimum", lasting.len(), solved.rates.len()));
    }
    let mut shares = Vec::new();
    for rates in &solved.rates {
        let best: f64 = rates.optimum_bps.iter().sum();
        let rate = lasting.get(&[rates.from, rates.to]).ok_or("a flow of the optimum did not run")?;
        shares.push((rate / best, [rates.from, rates.to], *rate, best));
    }
    let count = shares.len() as f64;
    // The condition of optimality for Σ log x: whatever the links can carry has a sum of x/x* of at most the number of
    // flows. So the arithmetic mean is at most 1, and the geometric mean below it.
    let mean = shares.iter().map(|share| share.0).sum::<f64>() / count;
    under_ceiling(mean, case, "the mean share of the optimum")?;
    let value = (shares.iter().map(|share| share.0.ln()).sum::<f64>() / count).exp().min(1.0);
    let worst = shares.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, [from, to], rate, best)| {
        format!(
            "host {from} to host {to} got {:.1} Mbit/s on the wire; the optimum is {:.1}",
            rate / 1e6,
            best / 1e6
        )
    });
    Ok((value, worst.unwrap_or_default()))
}

fn completion(flows: &[&Flow], case: &Case) -> Result<(f64, String), String> {
    let [mss, header] = packet(case)?;
    let mut ideals = Ideals::new(&case.setting.fabric, mss, header);
    let (mut sum, mut worst) = (0.0, (f64::INFINITY, String::new()));
    for flow in flows {
        let [from, to] = flow.hosts;
        let ideal = flow.ideal.ok_or("a flow has no ideal completion time: `completion` needs messages")?;
        let value = match flow.end {
            Some(end) => {
                // Several paths may beat the ideal by a packet at every hop: what a full packet takes more than a byte.
                let time = |ideals: &mut Ideals, bytes| ideals.time(from, to, bytes).unwrap_or(0);
                let hops = time(&mut ideals, mss.into()) - time(&mut ideals, 1);
                let took = end - flow.start;
                let share = ideal.saturating_sub(hops) as f64 / took as f64;
                under_ceiling(share, case, "1/slowdown of a flow")?;
                ideal as f64 / took.max(ideal) as f64
            }
            None => 0.0, // it was stopped: it did not complete
        };
        sum += value;
        if value < worst.0 {
            let took = flow
                .end
                .map_or_else(|| "did not end".to_owned(), |end| format!("took {}", ms(end - flow.start)));
            let size = flow.size.unwrap_or(0);
            worst = (value, format!("{size} B from host {from} to host {to} {took}, ideally {}", ms(ideal)));
        }
    }
    Ok((sum / flows.len() as f64, worst.1))
}

fn makespan(flows: &[&Flow], case: &Case) -> Result<(f64, String), String> {
    let [mss, header] = packet(case)?.map(u64::from);
    let fabric = &case.setting.fabric;
    let mut rounds: BTreeMap<u64, Vec<&Flow>> = BTreeMap::new();
    for flow in flows {
        rounds.entry(flow.round).or_default().push(flow);
    }
    let (mut sum, mut worst) = (0.0, (f64::INFINITY, String::new()));
    for (round, flows) in &rounds {
        let mut received: BTreeMap<u32, u64> = BTreeMap::new();
        for flow in flows {
            let size = flow.size.ok_or("a flow has no size: `makespan` needs messages")?;
            *received.entry(flow.hosts[1]).or_default() += size + size.div_ceil(mss) * header;
        }
        let needs = received.iter().map(|(&host, &bytes)| {
            let addresses = fabric.addresses(host);
            let ports = (0..).zip(&fabric.network.ends).filter(|(_, [_, to])| addresses.contains(to));
            let rate: u64 = ports.map(|(port, _)| fabric.rate(port)).sum();
            bytes as f64 * 8.0 * SECOND as f64 / rate as f64
        });
        let ideal = needs.fold(0.0, f64::max);
        let start = flows.iter().map(|flow| flow.start).min().unwrap_or(0);
        let end = flows.iter().map(|flow| flow.end).collect::<Option<Vec<u64>>>();
        let took = end.and_then(|ends| ends.into_iter().max()).map(|end| end - start);
        let value = took.map_or(0.0, |took| ideal / took as f64);
        under_ceiling(value, case, "the busiest link's time over that of the round")?;
        sum += value.min(1.0);
        if value < worst.0 {
            let took = took.map_or_else(|| "did not end".to_owned(), |took| format!("took {}", ms(took)));
            worst = (value, format!("round {round} {took}; its busiest link needs {}", ms(ideal as u64)));
        }
    }
    Ok((sum / rounds.len() as f64, worst.1))
}

/// A part above its ceiling must be an error: nothing can exceed it, but for what rounds leave out, such as the time
/// that a packet takes from link to link.
fn under_ceiling(value: f64, case: &Case, what: &str) -> Result<(), String> {
    if value <= 1.0 + TOLERANCE || case.setting.fidelity == Fidelity::Rounds {
        return Ok(());
    }
    Err(format!("{what} is {value}, above the ceiling of 1: an error in the suite or the program"))
}

/// Payload and header of a full packet of all flows.
fn packet(case: &Case) -> Result<[u32; 2], String> {
    let mut all = case.bound_schemes.iter().map(|scheme| [scheme.transport.mss, scheme.transport.header]);
    let first = all.next().unwrap_or_default();
    if all.any(|other| other != first) {
        return Err("its schemes use different packet sizes".to_owned());
    }
    Ok(first)
}

fn ms(time: u64) -> String {
    format!("{:.3} ms", tresse_units::seconds(time) * 1e3)
}

/// The flows of the run in `folder`.
fn flows(folder: &Path) -> Result<Vec<Flow>, String> {
    let Some(table) = read::read(folder, "flows")? else { return Ok(Vec::new()) };
    let maybe =
        |name: &str| -> Result<Vec<Option<u64>>, String> { Ok(table.numbers(name)?.iter().collect()) };
    let [seed, round, from, to] =
        [table.values("seed")?, table.values("round")?, table.values("from")?, table.values("to")?];
    let [size, end, ideal] = [maybe("size_bytes")?, maybe("end_ps")?, maybe("ideal_ps")?];
    let [delivered, start, lasted] =
        [table.values("delivered_bytes")?, table.values("start_ps")?, table.values("lasted_ps")?];
    let flow = |row: usize| Flow {
        seed: seed[row],
        round: round[row],
        hosts: [from[row] as u32, to[row] as u32],
        size: size[row],
        delivered: delivered[row],
        start: start[row],
        end: end[row],
        lasted: lasted[row],
        ideal: ideal[row],
    };
    Ok((0..seed.len()).map(flow).collect())
}
