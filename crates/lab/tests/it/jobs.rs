//! XMP's Incast in small: jobs over TCP beside large random flows.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tresse_experiment::{Loaded, Plan, Profile, Source};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::{Report, Status};

use crate::reading::{Table, measure, plan};

const INCAST: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = 2
echo = "two-bit"
[schemes.tcp]
controller = "reno"
axis = false
[workloads.incast.parts.jobs]
pattern = "jobs"
scheme = "tcp"
jobs = 2
total = 20
servers = 3
request = "2kB"
response = "8kB"
deadline = { exponential = "1ms" }
[workloads.incast.parts.large]
pattern = "random"
pairs = "inter-rack"
size = ["200kB", "2MB"]
flows = 40
"#;

fn experiment(settings: &[&str]) -> (Loaded, Plan) {
    plan(Source { name: "t.toml".to_owned(), text: INCAST.to_owned() }, settings)
}

#[test]
fn jobs_are_their_flows_and_parts_are_all() {
    let dir = TempDir::new().expect("a temporary folder");
    let case = measure(&experiment(&[]), dir.path(), 2, 2).cases.remove(0);
    let [jobs, flows] = ["jobs", "flows"].map(|t| Table::read(&dir.path().join(format!("{t}.parquet"))));
    let metric = |name: &str| case.metrics[name].value();

    // By seed and job: when its flows start and end, and how many there are.
    let mut of: BTreeMap<(u64, u64), [u64; 3]> = BTreeMap::new();
    let [seed, start, end] = ["seed", "start_ps", "end_ps"].map(|name| flows.numbers(name));
    let (job, groups, distances) = (flows.maybe("job"), flows.texts("group"), flows.texts("locality"));
    for i in 0..job.len() {
        assert_eq!(job[i].is_some(), groups[i] == "jobs");
        assert!(groups[i] == "jobs" || distances[i] != "inner-rack", "the large flows are between racks");
        if let Some(job) = job[i] {
            let [first, last, n] = of.entry((seed[i], job)).or_insert([u64::MAX, 0, 0]);
            (*first, *last, *n) = (start[i].min(*first), end[i].max(*last), *n + 1);
        }
    }
    let [seed, job, start, end, n] =
        ["seed", "job", "start_ps", "end_ps", "flows"].map(|name| jobs.numbers(name));
    assert_eq!((job.len(), of.len()), (40, 40), "20 under each seed");
    for i in 0..job.len() {
        assert_eq!(of[&(seed[i], job[i])], [start[i], end[i], n[i]], "job {}", job[i]);
        assert_eq!(n[i], 6, "a request and a response for each server");
    }
    let mut times: Vec<f64> = (0..job.len()).map(|i| (end[i] - start[i]) as f64 / 1e12).collect();
    times.sort_by(f64::total_cmp);
    assert!((metric("jct_mean_s") - times.iter().sum::<f64>() / 40.0).abs() < 1e-12);
    assert_eq!((metric("jobs"), metric("jct_p50_s"), metric("jct_max_s")), (40.0, times[19], times[39]));
    let deadlines = jobs.numbers("deadline_ps");
    let late = end.iter().zip(&deadlines).filter(|(end, deadline)| end > deadline).count();
    assert!(0 < late && late < 40, "a mean of 1 ms is met by some");
    assert_eq!(metric("job_deadline_miss_ratio"), late as f64 / 40.0);

    let counts = |division: &str| -> Vec<(&str, f64)> {
        case.by[division].iter().map(|(name, m)| (name.as_str(), m["flows"].value())).collect()
    };
    assert_eq!(counts("group"), [("jobs", 240.0), ("large", 80.0)]);
    for division in ["group", "distance"] {
        let all: f64 = counts(division).iter().map(|(_, n)| n).sum();
        assert_eq!(all, metric("flows"), "{division}");
    }
    // Four classes share the flows out; two more are what papers call short and huge.
    let sizes = counts("size");
    assert_eq!(sizes[0], ("up to 10kB", 240.0));
    let of = |names: &[&str]| -> f64 {
        sizes.iter().filter(|(name, _)| names.contains(name)).map(|(_, n)| n).sum()
    };
    assert_eq!(of(&["up to 10kB", "10kB to 100kB", "100kB to 1MB", "above 1MB"]), metric("flows"));
    assert_eq!(of(&["up to 100kB"]), of(&["up to 10kB", "10kB to 100kB"]));
}

/// Runs until there are so many parts of a table, and then stops: how it ended, the column `end_ps` of these parts, and
/// that of the table that is left.
#[expect(clippy::disallowed_methods, reason = "it waits for a run as its user does")]
fn read_and_stop(settings: &[&str], table: &str, parts: usize) -> (Report, Vec<u64>, Vec<u64>) {
    let dir = TempDir::new().expect("a temporary folder");
    let (loaded, plan) = experiment(settings);
    let out = dir.path().join("out");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads: 1,
        out: Some(out.clone()),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there is one seed");
    let numbers = |path: String| Table::read(&out.join(path)).numbers("end_ps");
    let part = |n: usize| format!("{table}.partial/{n:06}.parquet");
    let (report, seen) = thread::scope(|scope| {
        let run = scope
            .spawn(|| run(&loaded, &plan, &options, &watch, &NotJudged).expect("the folder can be written"));
        while !out.join(part(parts)).exists() {
            assert!(!run.is_finished(), "it lasts for longer than this test");
            thread::sleep(Duration::from_millis(20));
        }
        let seen: Vec<u64> = (1..=parts).flat_map(|n| numbers(part(n))).collect();
        watch.stop.store(true, Ordering::Relaxed);
        (run.join().expect("it ends"), seen)
    });
    (report, seen, numbers(format!("{table}.parquet")))
}

/// The rows of what is whole are the first ones of the table that the run leaves.
#[test]
fn jobs_can_be_read_while_a_run_goes_on() {
    let (report, seen, all) = read_and_stop(&["workloads.incast.parts.jobs.total=10000000"], "jobs", 2);
    assert_eq!(report.status, Status::Partial);
    assert!(!seen.is_empty() && seen.len() <= all.len(), "{} of {}", seen.len(), all.len());
    assert_eq!(seen, all[..seen.len()]);
    assert_eq!(report.cases[0].metrics["jobs"].value(), all.len() as f64);
}

/// Also if they are large and few.
#[test]
fn flows_can_be_read_while_a_run_goes_on() {
    let large = r#"workloads.incast={ pattern = "random", size = ["100kB", "400MB"], flows = 2000 }"#;
    let (report, seen, all) = read_and_stop(&[large], "flows", 1);
    assert_eq!(report.status, Status::Partial);
    assert!(!seen.is_empty() && seen.len() < 2000, "{}", seen.len());
    assert_eq!(seen, all[..seen.len()]);
}

/// When flows are handed on decides about their order, and so about the digest.
#[test]
fn who_looks_when_changes_no_result() {
    let report = |settings: &[&str]| {
        let more = ["workloads.incast.parts.large.flows=700", "workloads.incast.parts.jobs.total=400"];
        let dir = TempDir::new().expect("a temporary folder");
        measure(&experiment(&[&more, settings].concat()), dir.path(), 1, 1)
    };
    let without = report(&[]);
    assert!(without.packet_hops > 1 << 22, "handed on twice at the least: {}", without.packet_hops);
    let with = report(&["measure.samples=777us", "measure.queues=131us", "measure.rtt=true"]);
    assert_eq!(with.digest, without.digest);
}

/// Arrivals without an end go on as long as something else does, and the load is that of all parts.
#[test]
fn incasts_without_an_end_last_as_long_as_the_flows_beside_them() {
    let open = r#"
[workloads.open.parts.web]
pattern = "poisson"
size = "100kB"
load = 0.3
load_on = "access"
flows = 50
[workloads.open.parts.incast]
pattern = "incast"
servers = 4
size = "10kB"
load = 0.05
"#;
    let text = INCAST[..INCAST.find("[workloads").expect("there are some")].to_owned() + open;
    let plan = plan(Source { name: "t.toml".to_owned(), text }, &[]);
    let dir = TempDir::new().expect("a temporary folder");
    let case = measure(&plan, dir.path(), 1, 1).cases.remove(0);
    let flows = Table::read(&dir.path().join("flows.parquet"));
    let (groups, ends) = (flows.texts("group"), flows.maybe("end_ps"));
    let last =
        |group: &str| groups.iter().zip(&ends).filter(|(g, _)| *g == group).filter_map(|(_, end)| *end).max();
    assert!(last("incast") <= last("web"), "{:?} {:?}", last("incast"), last("web"));
    assert_eq!(groups.iter().filter(|g| *g == "web").count(), 50);
    let loads = case.metrics["offered_access_ratio"].value();
    assert!((loads - 0.35).abs() < 0.01, "{loads}");
}
