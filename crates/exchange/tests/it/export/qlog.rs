//! qlog: windows in bytes and RTTs in milliseconds.

use serde_json::Value;
use tresse_exchange::export::Format;

use super::{exported, rows};

#[test]
fn a_trace_for_each_flow_with_its_samples() {
    let scheme = rows("flows", "xmp")[0].text("scheme").to_owned();
    let only = format!("scheme={scheme}");
    let bytes = exported(Format::Qlog, None, &[&only]).expect("a qlog file");
    assert_eq!(Ok(&bytes), exported(Format::Qlog, None, &[&only]).as_ref());
    let file: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!((&file["qlog_version"], &file["qlog_format"]), (&"0.3".into(), &"JSON".into()));
    let traces = file["traces"].as_array().expect("traces");
    let (flows, samples) = (rows("flows", "xmp"), rows("samples", "xmp"));
    assert_eq!(traces.len(), flows.len());
    let ms = |ps: u64| ps as f64 / 1e9;
    let mut several = 0;
    for flow in flows {
        let trace = traces.iter().find(|t| t["title"] == flow.flow()).expect("a trace");
        let events = trace["events"].as_array().expect("events");
        let (first, last) = (&events[0], &events[events.len() - 1]);
        assert_eq!(first["name"], "connectivity:connection_started");
        assert_eq!(first["time"], ms(flow.number("start_ps")));
        assert_eq!(first["data"]["src_ip"], format!("host {}", flow.text("from")));
        assert_eq!(last["name"], "connectivity:connection_closed");
        assert_eq!(last["time"], ms(flow.number("end_ps")));
        assert!(events.is_sorted_by_key(|e| e["time"].as_f64().expect("a time")));

        // Each part has its own scheme, and each scheme its own segment size.
        let mss = if flow.text("group") == "jobs" { 500 } else { 1460 };
        let own = samples.iter().filter(|r| r.flow() == flow.flow() && r.number("cwnd_pkts") > 0);
        let mut own: Vec<_> = own
            .map(|r| {
                let end = r.number("start_ps") + r.number("duration_ps");
                (end, r.number("subflow"), r.number("cwnd_pkts") * mss, r.maybe("srtt_ps"))
            })
            .collect();
        own.sort_unstable();
        let metrics = &events[1..events.len() - 1];
        assert_eq!(metrics.len(), own.len());
        for (event, (end, subflow, bytes, srtt)) in metrics.iter().zip(own) {
            assert_eq!(event["name"], "recovery:metrics_updated");
            assert_eq!(event["time"], ms(end));
            assert_eq!(event["path"], subflow.to_string());
            assert_eq!(event["group_id"], event["path"]);
            assert_eq!(event["data"]["congestion_window"], bytes);
            assert_eq!(event["data"]["smoothed_rtt"].as_f64(), srtt.map(ms));
            several += subflow;
        }
    }
    assert!(several > 0, "some flows have a second subflow");
}
