//! What the samples of a run say about a case: windows, RTTs, queues, shares of subflows.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tresse_results::CaseResult;
use tresse_results::store::Values;
use tresse_results::store::read::{self, RunTable};

use crate::failure::Failure;

/// Sums of samples, by seed.
#[derive(Debug, Default)]
pub(super) struct Sums(BTreeMap<u64, (f64, f64)>);

impl Sums {
    fn add(&mut self, seed: u64, value: f64) {
        let own = self.0.entry(seed).or_default();
        own.0 += value;
        own.1 += 1.0;
    }

    /// The mean under each seed.
    pub fn means(&self) -> Vec<f64> {
        self.0.values().map(|(sum, count)| sum / count).collect()
    }

    /// The sum under each seed.
    pub fn sums(&self) -> Vec<f64> {
        self.0.values().map(|(sum, _)| *sum).collect()
    }
}

/// No real window is this large, in packets: a hook that the kernel skipped leaves such numbers until the next ACK
/// (`bpf/cut.h`).
const NO_WINDOW: f64 = 1048576.0;

/// Sums over the subflows of one group with the same number.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    /// Windows, packets.
    pub cwnd: Sums,
    /// Smoothed RTTs, s.
    pub srtt: Sums,
    /// Payload, bytes.
    pub bytes: Sums,
}

/// Sums over a case.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// By group and subflow.
    pub subflows: BTreeMap<(String, u64), Sampled>,
    /// By port: waiting packets, and the share of the time in which it sends.
    pub ports: BTreeMap<u64, (Sums, Sums)>,
}

/// The samples of `case` in the run in this folder; empty if it took none.
pub(super) fn samples(folder: &Path, case: &CaseResult) -> Result<Samples, Failure> {
    let mut own = Samples::default();
    if let Some(table) = read::read(folder, "samples").map_err(Failure::Input)? {
        let wanted = wanted(&table, case)?;
        let seeds = column(&table, "seed")?;
        let (groups, words) = table.words("group").map_err(Failure::Input)?;
        let [subflows, bytes, cwnd, srtt] =
            ["subflow", "arrived_bytes", "cwnd_pkts", "srtt_ps"].map(|name| column(&table, name));
        let (subflows, bytes, cwnd, srtt) = (subflows?, bytes?, cwnd?, srtt?);
        for row in wanted {
            let (Some(seed), Some(subflow)) = (seeds[row], subflows[row]) else { continue };
            let name = (words[groups[row] as usize].clone(), subflow as u64);
            let sampled = own.subflows.entry(name).or_default();
            let seed = seed as u64;
            bytes[row].inspect(|value| sampled.bytes.add(seed, *value));
            cwnd[row].filter(|value| *value < NO_WINDOW).inspect(|value| sampled.cwnd.add(seed, *value));
            srtt[row].inspect(|value| sampled.srtt.add(seed, *value / 1e12));
        }
    }
    if let Some(table) = read::read(folder, "queues").map_err(Failure::Input)? {
        let wanted = wanted(&table, case)?;
        let [seeds, ports, waiting, busy, duration] =
            ["seed", "port", "waiting_pkts", "busy_ps", "duration_ps"].map(|name| column(&table, name));
        let (seeds, ports, waiting, busy, duration) = (seeds?, ports?, waiting?, busy?, duration?);
        for row in wanted {
            let (Some(seed), Some(port)) = (seeds[row], ports[row]) else { continue };
            let (queue, used) = own.ports.entry(port as u64).or_default();
            let seed = seed as u64;
            waiting[row].inspect(|value| queue.add(seed, *value));
            busy[row].zip(duration[row]).inspect(|(busy, all)| used.add(seed, busy / all.max(1.0)));
        }
    }
    Ok(own)
}

/// The rows of a case.
fn wanted(table: &RunTable, case: &CaseResult) -> Result<Vec<usize>, Failure> {
    let mut rows: Vec<usize> = (0..table.rows.num_rows()).collect();
    for (axis, value) in &case.case {
        let Ok(own) = table.column(axis) else { continue };
        let own = Values::of(own).map_err(|e| Failure::Input(format!("the column `{axis}`: {e}")))?;
        let value = match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        rows.retain(|&row| own.text(row).as_deref() == value.as_deref());
    }
    Ok(rows)
}

fn column(table: &RunTable, name: &str) -> Result<Vec<Option<f64>>, Failure> {
    let own = table.numbers(name).map_err(Failure::Input)?;
    Ok(own.iter().map(|value| value.map(|value| value as f64)).collect())
}
