//! `fct.txt` of the HPCC simulator: `sip dip sport dport size start_ns fct_ns standalone_fct_ns`, one line
//! per flow.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;
use tresse_fabric::Topology;

use super::case::{Case, plan, planned, the_only};
use super::standalone::{incoming, ways};
use super::table::Table;
use super::unwritten;

/// The simulator's first source port of a host, and the destination port of ordinary flows.
const FIRST_PORT: u64 = 10_000;
const DESTINATION_PORT: u64 = 100;

/// The most hosts that can have an IP address there.
const MOST_HOSTS: u64 = 1 << 16;

#[derive(Debug, Clone, Copy)]
struct Flow {
    from: u64,
    to: u64,
    bytes: u64,
    start: u64,
    end: u64,
}

pub(super) fn write(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Diagnostic> {
    let (mut flows, mut cases, mut unfinished) = (Vec::new(), BTreeSet::<Case>::new(), 0u64);
    let all = Table::open(run, "flows")?;
    let axes = all.axes();
    all.each(only, |row| {
        cases.insert(row.texts(&axes)?);
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
    let case = the_only(run, "fct.txt", &axes, cases)?;
    let plan = plan(run)?;
    let own = planned(run, &plan, &axes, &case)?;
    let (fabric, bound_scheme) = (&own.setting.fabric, &own.bound_schemes[0]);
    let (mss, header) = (u64::from(bound_scheme.transport.mss), u64::from(bound_scheme.transport.header));
    let hosts = u64::from(fabric.hosts());
    if let Some(flow) = flows.iter().find(|f| f.from.max(f.to) >= hosts.min(MOST_HOSTS)) {
        let host = flow.from.max(flow.to);
        let message = format!(
            "host {host} has no address in this format: the fabric has {hosts} hosts, but the format \
            allows 65536"
        );
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
    let mut notes = vec![
        "here a flow ends when its last byte arrives; in the HPCC simulator, when its last ACK does"
            .to_owned(),
    ];
    if unfinished > 0 {
        let flows = if unfinished == 1 { "flow" } else { "flows" };
        notes.push(format!("{unfinished} {flows} that had not ended: left out"));
    }
    Ok(notes)
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
        // There it is a 16-bit number that wraps around.
        *next = (*next + 1) % (1 << 16);
    }
    ports
}
