//! Workloads as the engine turns them: when cases end, what runs beside what, who carries which flow.

use tempfile::TempDir;
use tresse_experiment::{Loaded, Plan, Source, load, resolve};
use tresse_results::Report;

use crate::reading::{Table, measure, plan};

/// XMP's testbed with two bottlenecks of 100 Mbit/s.
const TESTBED: &str = r#"
title = "t"
[fabric]
topology = "xmp-testbed-a"
rate = { access = "1Gbps", bottleneck = "100Mbps" }
delay = "100us"
queue = "100pkt"
mark = "15pkt"
host_queue = "1000pkt"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = [1, 2]
[schemes.tcp]
controller = "reno"
axis = false
[schemes.ecmp]
controller = "dctcp"
routing = "ecmp"
axis = false
[schemes.spray]
controller = "dctcp"
routing = "spray"
axis = false
"#;

fn experiment(workloads: &str, settings: &[&str]) -> (Loaded, Plan) {
    plan(Source { name: "t.toml".to_owned(), text: format!("{TESTBED}\n{workloads}") }, settings)
}

fn run(workloads: &str, settings: &[&str]) -> (Report, TempDir) {
    let dir = TempDir::new().expect("a temporary folder");
    let report = measure(&experiment(workloads, settings), dir.path(), 1, 1);
    (report, dir)
}

fn error(workloads: &str) -> String {
    let source = Source { name: "t.toml".to_owned(), text: format!("{TESTBED}\n{workloads}") };
    let plan = load(source, tresse_experiment::Profile::Full, &[]).and_then(|loaded| resolve(&loaded, &[]));
    plan.map(drop).expect_err("it makes no sense").to_string()
}

fn table(dir: &TempDir, name: &str) -> Table {
    Table::read(&dir.path().join(format!("{name}.parquet")))
}

const DURATION: &str = r#"
[workloads.w]
pattern = "flows"
duration = "300ms"
scheme = "tcp"
[[workloads.w.flow]]
from = "S1"
to = "D1"
[[workloads.w.flow]]
from = "S3"
to = "D3"
start = "100ms"
stop = "200ms"
name = "short"
"#;

#[test]
fn a_case_with_a_duration_lasts_until_then() {
    let (report, dir) = run(DURATION, &["measure.samples='20ms'"]);
    let [case] = &report.cases[..] else { panic!("every scheme is named, so there is one case") };
    assert_eq!((&case.case["scheme"], case.metrics["simulated_s"].value()), (&"tcp-1".into(), 0.3));
    let flows = table(&dir, "flows");
    // In the order of their starts.
    assert_eq!(
        (flows.numbers("lasted_ps"), flows.texts("group")),
        (vec![300_000_000_000, 100_000_000_000], vec![String::new(), "short".to_owned()])
    );
    assert_eq!((case.metrics["flows"].value(), case.metrics["unfinished_flows"].value()), (2.0, 2.0));
    // Every byte is in one sample.
    let (delivered, samples) = (flows.numbers("delivered_bytes"), table(&dir, "samples"));
    let arrived: u64 = samples.numbers("arrived_bytes").iter().sum();
    assert_eq!(arrived, delivered.iter().sum::<u64>());
    assert!(delivered[0] > 2_500_000 && delivered[1] > 800_000, "{delivered:?}");
}

#[test]
fn what_is_endless_lasts_as_long_as_something_else() {
    let parts = r#"
[workloads.w.parts.background]
pattern = "on-off"
senders = "B1"
receivers = "C1"
on = "10ms"
off = "10ms"
datagrams = "50Mbps"
scheme = "tcp"
[workloads.w.parts.message]
pattern = "flows"
flow = [{ from = "S1", to = "D1", size = "1MB" }]
"#;
    let (report, dir) = run(parts, &["measure.samples='5ms'", "schemes.xmp.subflows=1"]);
    let case = &report.cases[0];
    let by = |name: &str| &case.by["group"][name];
    assert_eq!(by("message")["flows"].value(), 1.0);
    let ended = by("message")["fct_max_s"].value();
    assert_eq!(case.metrics["simulated_s"].value(), ended);
    // Half the time 50 of 100 Mbit/s are gone: 1 MB takes a third longer than alone, and a little.
    assert!((0.1..0.16).contains(&ended), "{ended}");
    // What is sent arrives, but for what the full queue drops, and the samples tell of it.
    let (flows, samples) = (table(&dir, "flows"), table(&dir, "samples"));
    let sum = |table: &Table, bytes: &str| -> u64 {
        let groups = table.texts("group");
        let of_background = groups.iter().zip(table.numbers(bytes)).filter(|(g, _)| *g == "background");
        of_background.map(|(_, bytes)| bytes).sum()
    };
    let datagrams = sum(&flows, "delivered_bytes");
    assert_eq!(sum(&samples, "arrived_bytes"), datagrams);
    let on = (ended / 0.02).floor() * 0.01;
    let bits = datagrams as f64 * 8.0;
    assert!(bits > 0.5 * on * 50e6 && bits < (on + 0.011) * 50e6, "{bits} in {ended} s");
}

/// Whatever the scheme: the same work, that of the time in which the others arrive.
#[test]
fn what_arrives_without_an_end_does_so_until_the_last_of_the_others_has_arrived() {
    let web = r#"
[workloads.w.parts.web]
pattern = "poisson"
size = "500kB"
load = 0.6
flows = 30
[workloads.w.parts.more]
"#;
    for (more, keys) in [
        ("incast", "receivers = 'D1'\nservers = 2\nsize = '20kB'\nevery = '3ms'"),
        ("jobs", "servers = 2\nrequest = '2kB'\nresponse = '20kB'\nevery = '3ms'"),
        ("jobs", "jobs = 2\nservers = 2\nrequest = '2kB'\nresponse = '20kB'"),
    ] {
        let (report, dir) = run(&format!("{web}pattern = '{more}'\n{keys}\n"), &[]);
        let flows = table(&dir, "flows");
        let (groups, subflows) = (flows.texts("group"), flows.numbers("subflows"));
        let starts = flows.numbers("start_ps");
        let last = |group: &str, own: u64| {
            let rows = (0..starts.len()).filter(|&row| groups[row] == group && subflows[row] == own);
            rows.map(|row| starts[row]).max().expect("flows")
        };
        // A response begins when its request has arrived.
        let (web, others) = (last("web", 1), [1, 2].map(|own| last("more", own)));
        assert_eq!(web, last("web", 2), "the same arrivals under both schemes");
        assert!(others.iter().all(|&own| own < web + 10_000_000_000), "{more}: {others:?} after {web}");
        let group = |case: usize| &report.cases[case].by["group"]["more"];
        assert_eq!([0, 1].map(|case| group(case)["unfinished_flows"].value()), [0.0; 2], "{more}");
        if keys.contains("every") {
            assert_eq!(group(0)["flows"], group(1)["flows"], "{more}");
        }
        assert!(report.cases[0].metrics["simulated_s"].value() * 1e12 > web as f64, "{more}");
    }
}

/// XMP §4: the second subflow is opened 50 ms later, over the other bottleneck.
#[test]
fn subflows_take_the_paths_that_are_named_when_they_are_to() {
    let flows = r#"
[workloads.w]
pattern = "flows"
duration = "100ms"
[[workloads.w.flow]]
from = "S2"
to = "D2"
via = [["DN2 in"], ["DN1 in"]]
subflow_starts = ["0s", "50ms"]
"#;
    let (_, dir) = run(flows, &["measure.samples='10ms'", "schemes.xmp.subflows=2"]);
    let samples = table(&dir, "samples");
    let rows = samples.numbers("subflow").into_iter().zip(samples.numbers("start_ps"));
    let rows: Vec<_> = rows.zip(samples.numbers("arrived_bytes")).filter(|(_, bytes)| *bytes > 0).collect();
    let first = |subflow| rows.iter().filter(|((s, _), _)| *s == subflow).map(|((_, t), _)| *t).min();
    assert_eq!((first(0), first(1)), (Some(0), Some(50_000_000_000)));
    let (queues, (_, plan)) = (table(&dir, "queues"), experiment(flows, &["schemes.xmp.subflows=2"]));
    let used = |name: &str, until: u64| {
        let port = plan.fabric().ports_between(
            plan.fabric().node(&format!("{name} in")).expect("a node"),
            plan.fabric().node(&format!("{name} out")).expect("a node"),
        )[0];
        let rows = queues.numbers("port").into_iter().zip(queues.numbers("start_ps"));
        rows.into_iter().any(|(p, start)| p == u64::from(port) && start < until)
    };
    assert!(used("DN2", 10_000_000_000) && !used("DN1", 50_000_000_000) && used("DN1", u64::MAX));
}

#[test]
fn a_mix_divides_the_senders_among_its_schemes() {
    let text = r#"
[workloads.w]
pattern = "random"
size = "50kB"
flows = 200
at_most = 10
mix = ["tcp"]
"#;
    let (report, dir) = run(text, &["schemes.xmp.subflows=1"]);
    let names: Vec<&str> = report.cases[0].by["group"].keys().map(String::as_str).collect();
    assert_eq!((names, &report.cases[0].case["scheme"]), (vec!["xmp-1", "tcp-1"], &"xmp".into()));
    let flows = table(&dir, "flows");
    let mut groups = vec![None; 10];
    for (from, group) in flows.numbers("from").into_iter().zip(flows.texts("group")) {
        let before = groups[from as usize].get_or_insert_with(|| group.clone());
        assert_eq!(*before, group, "a host has one scheme");
    }
    let xmp = groups.iter().filter(|g| g.as_deref() == Some("xmp-1")).count();
    assert_eq!((xmp, groups.iter().flatten().count()), (5, 10));
}

#[test]
fn an_application_limits_its_flow() {
    let text = r#"
[workloads.w]
pattern = "flows"
duration = "500ms"
application = { rate = "8Mbps" }
scheme = "tcp"
flow = [{ from = "S1", to = "D1" }, { from = "S3", to = "D3", size = "100kB" }]
"#;
    let (report, dir) = run(text, &[]);
    let flows = table(&dir, "flows");
    // 100 kB at 1 MB/s; the last segment waits for the one after which it is written.
    let lasted = flows.numbers("lasted_ps");
    assert!(lasted[1].abs_diff(100_000_000_000) < 3_000_000_000, "{lasted:?}");
    let goodput = flows.numbers("goodput_bps");
    assert!(goodput.iter().all(|g| g.abs_diff(8_000_000) < 200_000), "{goodput:?}");
    let case = &report.cases[0];
    let optimum = case.optimum.get("goodput_mean_bps").copied().unwrap_or(0.0);
    assert!(
        (optimum - 8e6).abs() < 2e5,
        "{optimum} bit/s, {:?}: no more than the applications write",
        case.no_optimum
    );
}

#[test]
fn what_makes_no_sense_is_told_with_its_line() {
    let flow = |more: &str| format!("[workloads.w]\npattern = \"flows\"\n[[workloads.w.flow]]\n{more}\n");
    for (text, expected) in [
        ("[workloads.w]\n".to_owned(), "t.toml:27:1: it needs a `pattern`"),
        ("[workloads.w]\npattern = \"permutation\"\n".to_owned(), "t.toml:27:1: it never ends: set `duration`"),
        ("[workloads.w]\npattern = \"permutation\"\nload = 0.5\n".to_owned(), "t.toml:29:8: the pattern permutation has no `load`"),
        ("[workloads.w]\npattern = \"poisson\"\nsize = \"1kB\"\nload = 1.5\n".to_owned(), "t.toml:30:8: 1.5: must be above 0 and at most 1"),
        ("[workloads.w]\npattern = \"jobs\"\nservers = 2\nrequest = \"2kB\"\nresponse = \"64kB\"\nload = 0.1\njobs = 3\n".to_owned(), "jobs that arrive wait for no other"),
        ("[workloads.w]\npattern = \"jobs\"\nservers = 2\nrequest = \"2kB\"\nresponse = \"64kB\"\nload = 0.1\nevery = \"1ms\"\n".to_owned(), "`every` sets it too"),
        ("[workloads.w]\npattern = \"jobs\"\nservers = 2\nrequest = \"2kB\"\nresponse = \"64kB\"\nload = 2\n".to_owned(), "2: above 0 and at most 1, the share of all hosts' links"),
        ("[workloads.w]\npattern = \"jobs\"\nservers = 2\nrequest = \"2kB\"\nresponse = \"64kB\"\narrivals = \"periodic\"\n".to_owned(), "jobs arrive with `every` or `load`"),
        ("[workloads.w]\npattern = \"poisson\"\nsize = \"1kB\"\n".to_owned(), "needs `load`, such as load = 0.5"),
        ("[workloads.w]\npattern = \"spread\"\nsize = \"1kB\"\nflows = 1000000000\n".to_owned(), "would take 124 GB of memory"),
        ("[workloads.w.parts.a.parts.b]\npattern = \"permutation\"\n".to_owned(), "a part cannot have parts"),
        ("[workloads.w]\nsize = \"1kB\"\n[workloads.w.parts.a]\npattern = \"permutation\"\n".to_owned(), "it has `parts`"),
        ("[workloads.w]\npattern = \"permutation\"\nsize = \"1kB\"\nscheme = \"tpc\"\n".to_owned(), "there is no scheme `tpc`; did you mean `tcp`?"),
        ("[workloads.w]\npattern = \"permutation\"\nsize = \"1kB\"\nscheme = \"ecmp\"\nmix = [\"spray\"]\n".to_owned(), "need different load balancing in the switches"),
        ("[workloads.w]\npattern = \"incast\"\nsize = \"1kB\"\nservers = 10\n".to_owned(), "10 servers: this fabric has 10 hosts, so at most 9"),
        ("[workloads.w]\npattern = \"jobs\"\nservers = 10\nrequest = \"1kB\"\nresponse = \"1kB\"\n".to_owned(), "10 servers and a client of 10 hosts"),
        ("[workloads.w]\npattern = \"permutation\"\nsize = \"1kB\"\ndatagrams = \"1Gbps\"\n".to_owned(), "datagrams have a rate above 0"),
        ("[workloads.w]\npattern = \"permutation\"\nsize = { pareto = 0.9, mean = \"1MB\", bound = \"2MB\" }\n".to_owned(), "has a mean only if its shape is above 1"),
        ("[workloads.w]\npattern = \"permutation\"\nsize = { distribution = \"websearch-hpc\" }\n".to_owned(), "did you mean `websearch-hpcc`?"),
        ("[workloads.w]\npattern = \"on-off\"\nsenders = [\"S1\", \"S2\"]\nreceivers = \"D1\"\non = \"1s\"\noff = \"1s\"\nduration = \"1s\"\n".to_owned(), "2 senders and 1 receivers"),
        ("[workloads.w]\npattern = \"spread\"\nsize = \"1kB\"\nflows = 3\nsenders = \"rack 77\"\n".to_owned(), "there is no rack 77"),
        ("[workloads.w]\npattern = \"spread\"\nsize = \"1kB\"\nflows = 3\nsenders = \"5..99\"\n".to_owned(), "up to 10"),
        (flow("from = \"S9\"\nto = \"D1\"\nsize = \"1kB\""), "t.toml:30:8: there is no host `S9`"),
        (flow("from = \"S2\"\nto = \"D2\"\nsize = \"1kB\"\nvia = [[\"DN3\"]]"), "there is no node `DN3`"),
        (flow("from = \"S1\"\nto = \"D1\"\nsize = \"1kB\"\nvia = [[\"DN2 in\"]]"), "no shortest path from S1 to D1 passes DN2 in"),
        (flow("from = \"S1\"\nto = \"D1\"\nsize = \"1kB\"\nsubflow_starts = [\"1s\"]"), "the first subflow is opened with the flow"),
        (flow("from = \"S1\"\nto = \"D1\"\nsize = \"1kB\"\napplication = { rate = \"0bps\" }"), "a rate above 0"),
    ] {
        let message = error(&text);
        assert!(message.contains(expected), "{text}\n{message}");
    }
}
