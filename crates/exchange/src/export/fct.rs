//! `fct.txt` of the HPCC simulator: `sip dip sport dport size start_ns fct_ns standalone_fct_ns`, a line a flow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::keys::wanted::Wanted;
use tresse_experiment::plan::{Plan, resolve};
use tresse_experiment::{Profile, Source, load};
use tresse_fabric::Topology;

use super::standalone::{incoming, ways};
use super::{Flows, none, unwritten};

/// The simulator's first source port of a host, and the destination port of ordinary flows.
const FIRST_PORT: u64 = 10_000;
const DESTINATION_PORT: u64 = 100;

/// Hosts that have an IP address there.
const MOST_HOSTS: u64 = 1 << 16;

#[derive(Debug, Clone, Copy)]
struct Flow {
    from: u64,
    to: u64,
    bytes: u64,
    start: u64,
    end: u64,
}

/// What `run.json` says of the experiment.
#[derive(Deserialize)]
struct Run {
    experiment: String,
    resolved: toml::Table,
}

/// Its values in the columns of its axes and its seed.
type Case = Vec<String>;

pub(super) fn write(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Diagnostic> {
    let (mut flows, mut cases, mut unfinished) = (Vec::new(), BTreeSet::<Case>::new(), 0u64);
    let all = Flows::open(run)?;
    let axes = all.axes();
    let kept = all.each(only, |row| {
        cases.insert(axes.iter().map(|axis| row.text(axis)).collect::<Result<_, _>>()?);
        match (row.number("end_ps")?, row.number("size_bytes")?) {
            (Some(end), Some(bytes)) => flows.push(Flow {
                from: row.needed("from")?,
                to: row.needed("to")?,
                bytes,
                start: row.needed("start_ps")?,
                end,
            }),
            _ => unfinished += 1,
        }
        Ok(())
    })?;
    let case = match (kept, cases.len()) {
        (0, _) => return Err(none(run)),
        (_, 1) => cases.pop_first().expect("there is one"),
        _ => return Err(several(run, &axes, &cases)),
    };
    let plan = plan(run)?;
    let own = plan.cases.iter().find(|c| {
        let own = c.axes();
        axes.iter()
            .zip(&case)
            .all(|(axis, value)| axis == "seed" || own.get(&**axis).map_or("", String::as_str) == value)
    });
    let Some((fabric, bound_scheme)) = own.and_then(|c| Some((&c.setting.fabric, c.bound_schemes.first()?)))
    else {
        let message = format!("run.json knows no case {}", case.join(" "));
        return Err(Diagnostic::input(message).of(run.display().to_string()));
    };
    let (mss, header) = (u64::from(bound_scheme.transport.mss), u64::from(bound_scheme.transport.header));
    let hosts = u64::from(fabric.hosts());
    if let Some(flow) = flows.iter().find(|f| f.from.max(f.to) >= hosts.min(MOST_HOSTS)) {
        let host = flow.from.max(flow.to);
        let message =
            format!("host {host} has no address there: the fabric has {hosts} hosts, the format 65536");
        return Err(Diagnostic::input(message).of(run.display().to_string()));
    }
    let alone = alone(fabric, &flows, mss, header)?;
    let ports = ports(&flows);
    // The simulator writes a flow when it ends.
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|&i| (flows[i].end, flows[i].from, flows[i].to));
    for i in order {
        let Flow { from, to, bytes, start, end } = flows[i];
        let address = |host: u64| 0x0b00_0001 + ((host / 256) << 16) + ((host % 256) << 8);
        let (from, to, port, start_ns) = (address(from), address(to), ports[i], start / 1000);
        let (fct, alone) = ((end - start) / 1000, alone[i]);
        writeln!(out, "{from:08x} {to:08x} {port} {DESTINATION_PORT} {bytes} {start_ns} {fct} {alone}")
            .map_err(unwritten)?;
    }
    let mut notes =
        vec!["a flow ends here when its last byte has arrived, there when its last ACK has".to_owned()];
    if unfinished > 0 {
        notes.push(format!("{unfinished} flows that had not ended are left out"));
    }
    Ok(notes)
}

fn several(run: &Path, axes: &[String], cases: &BTreeSet<Case>) -> Diagnostic {
    let shown = cases.iter().map(|case| {
        let values = axes.iter().zip(case).filter(|(_, value)| !value.is_empty());
        let only: Vec<String> = values.map(|(axis, value)| format!(" --only {axis}={value}")).collect();
        format!(" {}", only.concat())
    });
    let shown: Vec<String> = shown.collect();
    Diagnostic::input(format!(
        "{}: fct.txt has room for one case and seed, and there are {}; choose one:\n{}",
        run.display(),
        cases.len(),
        shown.join("\n")
    ))
}

/// The experiment as it was run.
fn plan(run: &Path) -> Result<Plan, Diagnostic> {
    let path = run.join("run.json");
    let text = fs::read_to_string(&path).map_err(|error| Diagnostic::io("cannot be read", &path, error))?;
    let bad = |e: &dyn std::fmt::Display| Diagnostic::input(e.to_string()).of(path.display().to_string());
    let Run { experiment, resolved } = serde_json::from_str(&text).map_err(|e| bad(&e))?;
    let text = toml::to_string(&resolved).map_err(|e| bad(&e))?;
    // What a profile cuts was cut when it ran.
    resolve(&load(Source { name: experiment, text }, Profile::Full, &[])?, &[])
}

/// By flow: how long it takes alone, ns.
fn alone(fabric: &Topology, flows: &[Flow], mss: u64, header: u64) -> Result<Vec<u64>, Diagnostic> {
    let incoming = incoming(fabric);
    let mut by_receiver = BTreeMap::<u64, Vec<usize>>::new();
    for (i, flow) in flows.iter().enumerate() {
        by_receiver.entry(flow.to).or_default().push(i);
    }
    let mut alone = vec![0; flows.len()];
    for (to, own) in by_receiver {
        let ways = ways(fabric, &incoming, to as u32, mss);
        for i in own {
            let way = fabric.addresses(flows[i].from as u32).find_map(|address| ways[address as usize]);
            let Some(way) = way else {
                let message = format!("no path leads from host {} to host {to}", flows[i].from);
                return Err(Diagnostic::input(message));
            };
            alone[i] = way.alone(flows[i].bytes, mss, header);
        }
    }
    Ok(alone)
}

/// By flow: its source port, the next one of its host.
fn ports(flows: &[Flow]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|&i| flows[i].start);
    let mut used = BTreeMap::<u64, u64>::new();
    let mut ports = vec![0; flows.len()];
    for i in order {
        let next = used.entry(flows[i].from).or_insert(FIRST_PORT);
        ports[i] = *next;
        // There it is a number of 16 bits that begins anew.
        *next = (*next + 1) % (1 << 16);
    }
    ports
}
