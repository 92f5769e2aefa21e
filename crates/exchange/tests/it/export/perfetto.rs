//! The trace that ui.perfetto.dev opens.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tresse_exchange::export::Format;

use super::{exported, exported_from, rows, without};

fn events(bytes: &[u8]) -> Vec<Value> {
    let trace: Value = serde_json::from_slice(bytes).expect("JSON");
    trace["traceEvents"].as_array().expect("events").clone()
}

/// The events of a phase in a process whose names have this ending.
fn of<'a>(events: &'a [Value], pid: &Value, phase: &str, end: &str) -> Vec<&'a Value> {
    let is_it = |e: &&Value| {
        e["pid"] == *pid && e["ph"] == phase && e["name"].as_str().is_some_and(|n| n.ends_with(end))
    };
    events.iter().filter(is_it).collect()
}

fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

#[test]
fn flows_jobs_and_counters_are_those_of_the_tables() {
    let bytes = exported(Format::Perfetto, None, &[]).expect("a trace");
    assert_eq!(Ok(&bytes), exported(Format::Perfetto, None, &[]).as_ref());
    let events = events(&bytes);

    let processes: BTreeMap<&str, &Value> = events
        .iter()
        .filter(|e| e["name"] == "process_name")
        .map(|e| (e["args"]["name"].as_str().expect("a name"), &e["pid"]))
        .collect();
    assert_eq!(processes.len(), 2, "{processes:?}");
    for scheme in ["xmp", "lia"] {
        let (name, pid) = processes.iter().find(|(name, _)| name.contains(scheme)).expect("a process");
        assert!(name.contains("pattern=incast") && name.ends_with("seed=1"), "{name}");

        let slices = of(&events, pid, "X", "");
        let (flows, jobs) = (rows("flows", scheme), rows("jobs", scheme));
        assert_eq!(slices.len(), flows.len() + jobs.len());
        for flow in flows {
            let [one] = of(&events, pid, "X", &flow.flow())[..] else { panic!("{}", flow.flow()) };
            assert_eq!(
                (&one["ts"], &one["dur"]),
                (&us(flow.number("start_ps")).into(), &us(flow.number("lasted_ps")).into())
            );
            let args = &one["args"];
            assert_eq!(args["size_bytes"], flow.number("size_bytes"));
            assert_eq!(args["fct_us"], us(flow.number("end_ps") - flow.number("start_ps")));
            assert_eq!(args["retransmissions_pkts"], flow.number("retransmissions"));
            assert_eq!(args["marks_pkts"], flow.number("marks"));
        }
        for job in jobs {
            let name = format!("{}: job {}", job.text("part"), job.text("job"));
            let [one] = of(&events, pid, "X", &name)[..] else { panic!("{name}") };
            let [start, end] = ["start_ps", "end_ps"].map(|column| job.number(column));
            assert_eq!((&one["ts"], &one["dur"]), (&us(start).into(), &us(end - start).into()));
        }

        let counted = |end: &str, unit: &str| -> Vec<(String, String)> {
            let counters = of(&events, pid, "C", end).into_iter();
            counters.map(|e| (format!("{} {}", e["name"], e["ts"]), e["args"][unit].to_string())).collect()
        };
        let at = |name: String, ps: u64| format!("{} {}", Value::from(name), Value::from(us(ps)));
        let end = |row: &super::Row| row.number("start_ps") + row.number("duration_ps");
        let samples = rows("samples", scheme);
        let subflow = |row: &super::Row| format!("{} subflow {}", row.flow(), row.text("subflow"));
        let cwnd = samples.iter().map(|r| (at(subflow(r) + " cwnd", end(r)), r.text("cwnd_pkts").to_owned()));
        assert_eq!(counted(" cwnd", "packets"), cwnd.collect::<Vec<_>>());
        let rate = |r: &super::Row| Value::from(r.number("goodput_bps") as f64 / 1e6).to_string();
        let rates: Vec<_> =
            samples.iter().map(|r| (at(subflow(r) + " rate", r.number("start_ps")), rate(r))).collect();
        let said = counted(" rate", "Mbit/s");
        assert_eq!(said[..rates.len()], rates);
        // And at the end of each subflow it falls to 0.
        let subflows: BTreeSet<_> = samples.iter().map(subflow).collect();
        assert_eq!(said.len(), rates.len() + subflows.len());
        assert!(said[rates.len()..].iter().all(|(_, rate)| rate == "0"));

        let port = |r: &super::Row| format!("port {} ({}) queue", r.text("port"), r.text("layer"));
        let queues = rows("queues", scheme);
        let queues = queues.iter().map(|r| (at(port(r), end(r)), r.text("waiting_pkts").to_owned()));
        assert_eq!(counted(" queue", "packets"), queues.collect::<Vec<_>>());
    }
}

#[test]
fn each_slice_has_a_track_of_its_own() {
    let events = events(&exported(Format::Perfetto, None, &[]).expect("a trace"));
    let ids = |phase: &str, name: &str, id: &str| -> Vec<u64> {
        let own = events.iter().filter(|e| e["ph"] == phase && (name.is_empty() || e["name"] == name));
        own.map(|e| e[id].as_u64().expect("a number")).collect()
    };
    let (slices, named) = (ids("X", "", "tid"), ids("M", "thread_name", "tid"));
    assert_eq!(slices, named);
    let all: BTreeSet<u64> = slices.iter().copied().chain(ids("M", "process_name", "pid")).collect();
    assert_eq!(all.len(), slices.len() + 2, "no track has the number of another or of a process");
}

#[test]
fn a_run_without_samples_has_its_flows() {
    let dir = without("samples");
    let events =
        events(&exported_from(dir.path(), Format::Perfetto, None, &["group=large"]).expect("a trace"));
    let large = |scheme| rows("flows", scheme).iter().filter(|r| r.text("group") == "large").count();
    let flows = events.iter().filter(|e| e["cat"] == "flow").count();
    assert_eq!(flows, large("xmp") + large("lia"));
    assert!(events.iter().any(|e| e["cat"] == "job"), "jobs are of no group");
    assert!(!events.iter().any(|e| e["name"].as_str().is_some_and(|n| n.ends_with("cwnd"))));
}
