//! A data file of Flent (format 4), as its test `tcp_nup` writes it: a TCP upload for each flow.

use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};
use tresse_experiment::Owners;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;
use tresse_results::Finished;

use super::case::{label, plan, planned};
use super::flows::{Flow, read};
use super::{PS_PER_MS, PS_PER_S, unwritten};

/// The origin of the times in `raw_values`: 0 s of the run.
const EPOCH: &str = "1970-01-01T00:00:00.000000Z";

/// The most steps of a file, over all flows: each takes about a hundred bytes of JSON, which Flent reads all
/// at once.
const MOST: u64 = 2_000_000;

/// The steps of a file: each series has a value, or none, for each step.
struct Steps {
    /// When the first one begins, ps.
    first: u64,
    /// How long one is, ps.
    length: u64,
    count: usize,
}

/// A flow, step by step; `None` when it did not exist.
struct Series {
    /// Mbit/s.
    rate: Vec<Option<f64>>,
    /// The mean of its subflows, ms.
    rtt: Vec<Option<f64>>,
    /// The sum of its subflows, packets.
    cwnd: Vec<Option<u64>>,
}

pub(super) fn write(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Diagnostic> {
    let measured = read(run, only, "a Flent file")?;
    let (plan, finished) = (plan(run)?, Finished::read(run, Owners::some(&[]))?);
    let case = planned(run, &plan, &measured.axes, &measured.case)?;
    let shown = run.display().to_string();
    let Some(length) = case.setting.samples else {
        return Err(Diagnostic::input("run.json has no samples of this case").of(shown));
    };
    let flows: Vec<&Flow> = measured.flows.iter().filter(|flow| !flow.subflows.is_empty()).collect();
    let Some(steps) = Steps::new(&flows, length) else { return Err(super::none(run)) };
    if steps.count as u64 * flows.len() as u64 > MOST {
        let message = format!(
            "{} flows in {} intervals are more than the limit of {MOST} values for Flent: keep fewer flows with \
             `--only group=…`, or run the experiment again with longer intervals in `[measure] samples`",
            flows.len(),
            steps.count
        );
        return Err(Diagnostic::input(message).of(shown));
    }
    let title = label(&measured.axes, &measured.case);
    let (mut results, mut raw, mut about) = (Map::new(), Map::new(), Map::new());
    for (name, flow) in (1..).map(|n: usize| format!("TCP upload::{n}")).zip(&flows) {
        let series = steps.series(flow);
        let (rtt, cwnd) = (format!("{name}::tcp_rtt"), format!("{name}::tcp_cwnd"));
        about.insert(name.clone(), json!({ "UNITS": "Mbits/s", "FLOW": flow.key.name() }));
        about.insert(rtt.clone(), json!({ "UNITS": "ms" }));
        about.insert(cwnd.clone(), json!({ "UNITS": "packets" }));
        raw.insert(name.clone(), steps.raw(&series));
        results.insert(name, series.rate.into());
        results.insert(rtt, series.rtt.into());
        results.insert(cwnd, series.cwnd.into());
    }
    let total = steps.at(steps.count) - steps.at(0);
    let metadata = json!({
        "NAME": "tcp_nup",
        "TITLE": title,
        "NOTE": "simulated; TCP upload::N is a flow, its tcp_rtt the mean over and its tcp_cwnd the sum over its subflows",
        "TIME": time(&finished.host.started),
        "T0": EPOCH,
        "LENGTH": total,
        "TOTAL_LENGTH": total,
        "STEP_SIZE": steps.length as f64 / PS_PER_S,
        "HOST": "simulated",
        "HOSTS": ["simulated"],
        "LOCAL_HOST": "simulated",
        "IP_VERSION": 4,
        "TEST_PARAMETERS": { "upload_streams": flows.len().to_string() },
        "DATA_FILENAME": "tcp_nup.flent.gz",
        "SERIES_META": about,
    });
    let x_values: Vec<f64> = (0..steps.count).map(|step| steps.at(step)).collect();
    let file = json!({
        "metadata": metadata, "version": 4, "x_values": x_values, "results": results, "raw_values": raw,
    });
    // Without a date in the header, the same run gives the same file.
    let mut gzip = BufWriter::new(GzBuilder::new().mtime(0).write(out, Compression::default()));
    serde_json::to_writer(&mut gzip, &file).map_err(|e| unwritten(e.into()))?;
    let gzip = gzip.into_inner().map_err(|e| unwritten(e.into_error()))?;
    gzip.finish().map_err(unwritten)?;
    Ok(measured.notes)
}

/// A date of RFC 3339 in UTC as Flent reads it: with a fraction. Earlier versions did not record when a run
/// began.
fn time(started: &str) -> String {
    match started.strip_suffix('Z') {
        Some(seconds) if !seconds.contains('.') => format!("{seconds}.000000Z"),
        _ => EPOCH.to_owned(),
    }
}

impl Steps {
    /// The steps that cover all samples, in intervals of `length` ps; `None` without samples.
    fn new(flows: &[&Flow], length: u64) -> Option<Self> {
        let samples = || flows.iter().flat_map(|flow| flow.subflows.values().flatten());
        let first = samples().map(|sample| sample.start).min()? / length * length;
        let last = samples().map(|sample| sample.end).max()?;
        Some(Self { first, length, count: (last - first).div_ceil(length) as usize })
    }

    /// When a step begins, s.
    fn at(&self, step: usize) -> f64 {
        (self.first + step as u64 * self.length) as f64 / PS_PER_S
    }

    /// The start, ps, and the number of each step that overlaps the time from `start` to `end`.
    fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, usize)> {
        let [first, last] = [start, end].map(|t| t - self.first);
        let steps = first / self.length..last.div_ceil(self.length);
        steps.map(move |step| (self.first + step * self.length, step as usize))
    }

    /// A flow in all steps. The samples of a later round need not begin with a step: their bytes are spread.
    fn series(&self, flow: &Flow) -> Series {
        let n = self.count;
        let mut series = Series { rate: vec![None; n], rtt: vec![None; n], cwnd: vec![None; n] };
        let mut rtts = vec![0u32; n];
        for samples in flow.subflows.values() {
            // By step: the values of the last sample that ends in it.
            let mut last = vec![None; n];
            for sample in samples.iter().filter(|sample| sample.end > sample.start) {
                let Some((_, end)) = self.within(sample.end - 1, sample.end).next() else { continue };
                last[end] = Some((sample.srtt, sample.cwnd));
                let bits = sample.bytes as f64 * 8.0 / (sample.end - sample.start) as f64;
                for (begin, step) in self.within(sample.start, sample.end) {
                    let there = sample.end.min(begin + self.length) - sample.start.max(begin);
                    // The bits of this step over its length, as Mbit/s.
                    let rate = bits * there as f64 / self.length as f64 * PS_PER_S / 1e6;
                    *series.rate[step].get_or_insert(0.0) += rate;
                }
            }
            for (step, (srtt, cwnd)) in last.into_iter().enumerate().filter_map(|(i, v)| Some((i, v?))) {
                *series.cwnd[step].get_or_insert(0) += cwnd;
                if let Some(srtt) = srtt {
                    *series.rtt[step].get_or_insert(0.0) += srtt as f64 / PS_PER_MS;
                    rtts[step] += 1;
                }
            }
        }
        for (rtt, count) in series.rtt.iter_mut().zip(rtts) {
            *rtt = rtt.map(|sum| sum / f64::from(count));
        }
        series
    }

    /// The same for the plots that Flent draws of raw values.
    fn raw(&self, series: &Series) -> Value {
        let values = series.rate.iter().enumerate().filter_map(|(step, rate)| {
            let mut value = json!({
                "t": self.at(step), "dur": self.length as f64 / PS_PER_S, "val": (*rate)?,
            });
            if let Some(rtt) = series.rtt[step] {
                value["tcp_rtt"] = rtt.into();
            }
            if let Some(cwnd) = series.cwnd[step] {
                value["tcp_cwnd"] = cwnd.into();
            }
            Some(value)
        });
        values.collect()
    }
}
