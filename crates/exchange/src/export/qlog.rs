//! qlog 0.3 (draft-ietf-quic-qlog-main-schema-02 and draft-ietf-quic-qlog-quic-events-01): a trace for each flow.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::schema::wanted::Wanted;

use super::case::{label, plan, planned};
use super::flows::{Flow, read};
use super::{PS_PER_MS, unwritten};

pub(super) fn write(run: &Path, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Diagnostic> {
    let measured = read(run, only, "a qlog file")?;
    let plan = plan(run)?;
    let case = planned(run, &plan, &measured.axes, &measured.case)?;
    let title = Value::from(label(&measured.axes, &measured.case));
    write!(out, "{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON\",\"title\":{title},\"traces\":[")
        .map_err(unwritten)?;
    for (i, flow) in measured.flows.iter().enumerate() {
        let Some(bound_scheme) = case.bound_scheme_of(&flow.key.group) else {
            let message = format!("run.json has no group `{}`", flow.key.group);
            return Err(Diagnostic::input(message).of(run.display().to_string()));
        };
        let before = if i == 0 { "\n" } else { ",\n" };
        let trace = trace(flow, u64::from(bound_scheme.transport.mss));
        write!(out, "{before}{trace}").map_err(unwritten)?;
    }
    writeln!(out, "\n]}}").map_err(unwritten)?;
    Ok(measured.notes)
}

/// A flow whose packets carry `mss` bytes. All traces count time from the start of the run.
fn trace(flow: &Flow, mss: u64) -> Value {
    let [from, to] = [flow.key.from, flow.key.to].map(|host| format!("host {host}"));
    let event = |at: u64, name: &str, data: Value| json!({ "time": ms(at), "name": name, "data": data });
    let started = json!({ "src_ip": from, "dst_ip": to });
    let closed = match flow.finished {
        true => json!({ "trigger": "clean", "reason": "its last byte has arrived" }),
        false => json!({ "trigger": "application", "reason": "it was stopped" }),
    };
    let mut samples: Vec<_> = flow
        .subflows
        .iter()
        .flat_map(|(subflow, samples)| samples.iter().map(move |sample| (sample.end, *subflow, sample)))
        // A closed subflow has no window any more.
        .filter(|(.., sample)| sample.cwnd > 0)
        .collect();
    samples.sort_by_key(|&(end, subflow, _)| (end, subflow));
    let metrics = samples.into_iter().map(|(end, subflow, sample)| {
        let mut data = json!({ "congestion_window": sample.cwnd * mss });
        if let Some(srtt) = sample.srtt {
            data["smoothed_rtt"] = ms(srtt).into();
        }
        let mut event = event(end, "recovery:metrics_updated", data);
        // `group_id` distinguishes paths in 0.3; `path` came later.
        let path = subflow.to_string();
        event["group_id"] = path.clone().into();
        event["path"] = path.into();
        event
    });
    let started = event(flow.start, "connectivity:connection_started", started);
    let closed = event(flow.end, "connectivity:connection_closed", closed);
    let events: Vec<Value> = [started].into_iter().chain(metrics).chain([closed]).collect();
    json!({
        "title": flow.key.name(),
        "vantage_point": { "name": from, "type": "client" },
        "common_fields": { "time_format": "relative", "reference_time": 0, "protocol_type": ["MPTCP"] },
        "events": events,
    })
}

fn ms(ps: u64) -> f64 {
    ps as f64 / PS_PER_MS
}
