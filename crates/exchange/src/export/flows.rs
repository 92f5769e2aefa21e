//! The flows of one case and seed, with the samples of their subflows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;

use super::case::{Case, the_only};
use super::table::{Row, Table};
use crate::key::Key;

impl Key {
    /// From a row of a table of flows or of their samples.
    pub(super) fn of(row: &Row) -> Result<Self, Diagnostic> {
        Ok(Self {
            round: row.needed("round")?,
            group: row.text("group")?,
            flow: row.needed("flow")?,
            from: row.needed("from")?,
            to: row.needed("to")?,
        })
    }
}

/// A flow that finished or was stopped.
pub(super) struct Flow {
    pub key: Key,
    /// ps.
    pub start: u64,
    /// When it finished or was stopped, ps.
    pub end: u64,
    pub finished: bool,
    /// By number.
    pub subflows: BTreeMap<u64, Vec<Sample>>,
}

/// A subflow in an interval.
pub(super) struct Sample {
    /// When the interval began and ended, ps.
    pub start: u64,
    pub end: u64,
    /// The payload that arrived in it, bytes.
    pub bytes: u64,
    /// At its end: the window, packets, 0 if the subflow was closed; and the smoothed RTT, ps.
    pub cwnd: u64,
    pub srtt: Option<u64>,
}

impl Sample {
    /// From a row of `samples.parquet`.
    pub fn of(row: &Row) -> Result<Self, Diagnostic> {
        let start = row.needed("start_ps")?;
        Ok(Self {
            start,
            end: start + row.needed("duration_ps")?,
            bytes: row.needed("arrived_bytes")?,
            cwnd: row.needed("cwnd_pkts")?,
            srtt: row.number("srtt_ps")?,
        })
    }
}

/// The measurements of one case and seed.
pub(super) struct Measured {
    /// The columns that name a case and seed, and their values.
    pub axes: Vec<String>,
    pub case: Case,
    /// In the order of their starts.
    pub flows: Vec<Flow>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// Reads the flows that `only` selects and their samples; `format` is the format that can hold only one case
/// and seed.
///
/// # Errors
/// If the run has no samples, with how to get them; if there are several cases or seeds, or none.
pub(super) fn read(run: &Path, only: &Wanted, format: &str) -> Result<Measured, Diagnostic> {
    // The samples first: without them, there is no point in asking for a case.
    let samples = Table::open(run, "samples")?;
    let table = Table::open(run, "flows")?;
    let axes = table.axes();
    let (mut flows, mut cases) = (BTreeMap::new(), BTreeSet::<Case>::new());
    table.each(only, |row| {
        cases.insert(row.texts(&axes)?);
        let (key, start) = (Key::of(row)?, row.needed("start_ps")?);
        let flow = Flow {
            key: key.clone(),
            start,
            end: start + row.needed("lasted_ps")?,
            finished: row.number("end_ps")?.is_some(),
            subflows: BTreeMap::new(),
        };
        flows.insert(key, flow);
        Ok(())
    })?;
    let case = the_only(run, format, &axes, cases)?;
    let mut unknown = BTreeSet::new();
    samples.each(only, |row| {
        let key = Key::of(row)?;
        match flows.get_mut(&key) {
            Some(flow) => {
                let subflow = row.needed("subflow")?;
                flow.subflows.entry(subflow).or_default().push(Sample::of(row)?);
            }
            None => {
                unknown.insert(key);
            }
        }
        Ok(())
    })?;
    let notes = match unknown.len() {
        0 => Vec::new(),
        n => vec![format!("{n} flows that had not ended when the run was stopped are left out")],
    };
    let mut flows: Vec<Flow> = flows.into_values().collect();
    flows.sort_by_key(|flow| flow.start);
    Ok(Measured { axes, case, flows, notes })
}
