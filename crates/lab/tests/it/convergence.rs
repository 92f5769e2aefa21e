//! Convergence times, of flows that come and go and of a link that changes.

use tempfile::TempDir;
use tresse_experiment::{Loaded, Plan, Profile, Source, load, resolve};

use crate::reading::{Table, measure, plan};

const DUMBBELL: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 2
rate = { access = "1Gbps", bottleneck = "100Mbps" }
delay = "500us"
queue = "100pkt"
mark = "20pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
echo = "two-bit"
[workloads.w]
pattern = "flows"
duration = "7s"
flow = [
    { id = "long", name = "long", from = "S1", to = "D1" },
    { id = "short", name = "short", from = "S2", to = "D2", start = "2s", stop = "4s" },
]
[[changes]]
at = "5503ms"
link = ["left", "right"]
rate = "50Mbps"
"#;

fn experiment(settings: &[&str]) -> (Loaded, Plan) {
    plan(Source { name: "t.toml".to_owned(), text: DUMBBELL.to_owned() }, settings)
}

#[test]
fn flows_converge_anew_after_every_event() {
    let dir = TempDir::new().expect("a temporary folder");
    let settings = ["measure.samples=100ms", "measure.convergence={}"];
    let case = measure(&experiment(&settings), dir.path(), 1, 1).cases.remove(0);
    let table = Table::read(&dir.path().join("convergence.parquet"));
    let [after, mean] = ["after_ps", "mean_bps"].map(|name| table.numbers(name));
    let names = table.texts("group");
    let ms = 1_000_000_000;
    let rows: Vec<_> =
        names.iter().map(String::as_str).zip(&after).map(|(name, at)| (name, at / ms)).collect();
    assert_eq!(rows, [("long", 0), ("long", 2000), ("long", 4000), ("long", 5503), ("short", 2000)]);
    let payload = 1460.0 / 1500.0;
    for (mean, rate) in [(mean[0], 100e6), (mean[1] + mean[4], 100e6), (mean[2], 100e6), (mean[3], 50e6)] {
        assert!((mean as f64 / (rate * payload) - 1.0).abs() < 0.01, "{mean} of {rate}");
    }
    let converged = table.maybe("converged_ps");
    // Half a window and the queue at K are there within some round trips, of which each takes 3 to 6 ms.
    assert!(converged.iter().all(|time| time.is_some_and(|time| time < 500 * ms)), "{converged:?}");
    assert_eq!(converged[3].map(|time| time % (100 * ms)), Some(97 * ms), "in the interval after the change");
    let times: Vec<u64> = converged.into_iter().flatten().collect();
    let value = |name: &str| case.metrics[name].value();
    assert!((value("convergence_mean_s") - times.iter().sum::<u64>() as f64 / 5e12).abs() < 1e-12);
    assert_eq!(value("convergence_max_s"), *times.iter().max().expect("five") as f64 / 1e12);
    assert_eq!((value("unconverged"), value("convergences"), case.no_convergence), (0.0, 5.0, None));
}

#[test]
fn of_many_flows_or_short_ones_there_is_no_convergence() {
    let why = |settings: &[&str]| {
        let dir = TempDir::new().expect("a temporary folder");
        let settings = [&["measure.samples=100ms", "measure.convergence={}"], settings].concat();
        let case = measure(&experiment(&settings), dir.path(), 1, 1).cases.remove(0);
        assert!(!case.metrics.contains_key("unconverged"));
        assert!(Table::read(&dir.path().join("convergence.parquet")).numbers("flow").is_empty());
        case.no_convergence.expect("a reason")
    };
    let many = r#"workloads.w.flow=[{ from = 0, to = 2, size = "1kB", count = 65 }]"#;
    assert!(why(&[many]).contains("65 flows; convergence times are limited to 64"));
    assert!(why(&["measure.convergence.for=5s"]).contains("was without events for long enough"));
}

#[test]
fn what_convergence_means_is_checked() {
    let refused = |settings: &[&str]| {
        let text = DUMBBELL.replace("[workloads.w]", "[measure]\nsamples = \"10ms\"\n[workloads.w]");
        let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        let loaded =
            load(Source { name: "t.toml".to_owned(), text }, Profile::Full, &settings).expect("valid");
        resolve(&loaded, &[]).expect_err("it is not").to_string()
    };
    for (settings, message) in [
        (&["measure.convergence={ within = 1.0 }"][..], "a share above 0 and below 1, such as 0.1"),
        (&["measure.convergence={ for = \"1001s\" }"], "a time of 1us to 1000s"),
        (&["measure.queues=1001s"], "an interval of 1us to 1000s"),
    ] {
        assert!(refused(settings).ends_with(message), "{}", refused(settings));
    }
    let text = format!("{DUMBBELL}\n[measure]\nconvergence = {{}}");
    let loaded = load(Source { name: "t.toml".to_owned(), text }, Profile::Full, &[]).expect("valid");
    let error = resolve(&loaded, &[]).expect_err("no samples").to_string();
    assert!(error.starts_with("t.toml:") && error.contains("rates come from samples"), "{error}");
}
