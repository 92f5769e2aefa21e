//! Priority flow control in experiments: nothing is lost with the headroom that follows from the links, a ring of
//! ports that wait for each other is told, and what cannot be combined is refused.

use std::fs;

use tempfile::TempDir;
use tresse_experiment::{Profile, find, load, resolve};
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch, undivided};
use tresse_results::{Report, Status};

/// A leaf-spine under DCQCN: 12 hosts of three leaves send to one at once.
const INCAST: &str = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 4
rate = "100Gbps"
delay = "1us"
queue = "100kB"
host_queue = "unlimited"
red = { min = "100kB", max = "400kB", probability = 0.2, weight = 0 }
routing = "ecmp"
pfc = { xoff = "60kB", xon = "50kB" }
[measure]
links = true
[transport]
profile = "spray"
[schemes.dcqcn]
controller = "dcqcn"
balancer = "oblivious"
paths = 1
[workloads.incast]
pattern = "incast"
size = "500kB"
senders = ["4..16"]
"#;

/// Five switches in a ring, each with a host that sends to the next but one.
fn ring(dir: &TempDir) -> String {
    let link = |from: String, to: String| format!(r#"{{"source": "{from}", "target": "{to}"}}"#);
    let hosts = (0..5).map(|i| link(format!("h{i}"), format!("s{i}")));
    let between = (0..5).map(|i| link(format!("s{i}"), format!("s{}", (i + 1) % 5)));
    let node = |name: String| format!(r#"{{"id": "{name}"}}"#);
    let nodes = (0..5).flat_map(|i| [node(format!("h{i}")), node(format!("s{i}"))]);
    let nodes = nodes.collect::<Vec<_>>().join(",");
    let links = hosts.chain(between).collect::<Vec<_>>().join(",");
    let json =
        format!(r#"{{"directed": false, "multigraph": false, "nodes": [{nodes}], "links": [{links}]}}"#);
    fs::write(dir.path().join("ring.json"), json).expect("written");
    let flows: String = (0..5)
        .map(|i| {
            let to = (i + 2) % 5;
            format!(
                "[[workloads.ring.flow]]\nfrom = \"h{i}\"\nto = \"h{to}\"\nsize = \"50MB\"\nstart = \"0s\"\n"
            )
        })
        .collect();
    let fabric = INCAST.split_once("[fabric]").expect("it is there").1;
    let fabric = fabric.split_once("[workloads").expect("it is there").0;
    let own = "[fabric]\ntopology = \"file\"\nfile = \"ring.json\"\n";
    let shape = "\ntopology = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n";
    format!("title = \"t\"\n{own}{}[workloads.ring]\npattern = \"flows\"\n{flows}", fabric.replace(shape, ""))
}

fn report(dir: &TempDir, text: &str, settings: &[&str], threads: usize) -> Result<Report, String> {
    let file = dir.path().join("t.toml");
    fs::write(&file, text).expect("written");
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let source = find(file.to_str().expect("a path")).map_err(|e| e.to_string())?;
    let loaded = load(source, Profile::Full, &settings).map_err(|e| e.to_string())?;
    let plan = resolve(&loaded, &[]).map_err(|e| e.to_string())?;
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads,
        out: Some(dir.path().join(format!("out{threads}-{}", settings.len()))),
        judge: false,
        figure: None,
    };
    assert!(plan.cases.iter().all(|case| undivided(case, threads).is_none_or(|_| threads == 1)), "it is cut");
    let watch = Watch::new(&plan, &options).expect("there is one seed");
    Ok(run(&loaded, &plan, &options, &watch, &NotJudged).expect("the folder can be written"))
}

fn metric(report: &Report, name: &str) -> f64 {
    report.cases[0].metrics.get(name).map_or(0.0, |metric| metric.value())
}

#[test]
fn dcqcn_loses_nothing_in_an_incast_and_half_the_headroom_does() {
    let dir = TempDir::new().expect("a temporary folder");
    let whole = report(&dir, INCAST, &[], 1).expect("valid");
    assert_eq!(whole.status, Status::Complete);
    assert_eq!((metric(&whole, "drops_pkts"), metric(&whole, "retransmissions_pkts")), (0.0, 0.0));
    assert!(metric(&whole, "pauses") > 10.0 && metric(&whole, "paused_s") > 0.0);
    // 100 Gbit/s over 2 us and two packets of 4150 bytes, and more: some 38 kB.
    let dir = TempDir::new().expect("a temporary folder");
    let half = report(&dir, INCAST, &["fabric.pfc.headroom='16kB'"], 1).expect("valid");
    assert!(metric(&half, "headroom_drops_pkts") > 0.0);
    assert_eq!(metric(&half, "headroom_drops_pkts"), metric(&half, "drops_pkts"));
    let lossy = INCAST.replace("pfc = { xoff = \"60kB\", xon = \"50kB\" }\n", "");
    let dir = TempDir::new().expect("a temporary folder");
    let lossy = report(&dir, &lossy, &[], 1).expect("valid");
    assert!(metric(&lossy, "drops_pkts") > 0.0 && !lossy.cases[0].metrics.contains_key("pauses"));
}

#[test]
fn two_threads_pause_as_one_does() {
    let dir = TempDir::new().expect("a temporary folder");
    let digests = [1, 2, 4].map(|threads| report(&dir, INCAST, &[], threads).expect("valid").digest);
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn a_ring_of_ports_that_wait_for_each_other_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = ring(&dir).replace("red = ", "# red = ");
    let told = [1, 2].map(|threads| {
        let report = report(&dir, &text, &["schemes.dcqcn.controller='nscc'"], threads).expect("valid");
        assert_eq!(report.status, Status::Partial);
        report.errors.join("\n")
    });
    assert_eq!(told[0], told[1]);
    let ring = "PFC deadlock: s0 -> s1, s1 -> s2, s2 -> s3, s3 -> s4, s4 -> s0 wait for each other since ";
    assert!(told[0].contains(ring) && told[0].contains("and 5 more ports wait for them"), "{}", told[0]);
    // With marks DCQCN keeps the queues short enough.
    let dir = TempDir::new().expect("a temporary folder");
    let text = self::ring(&dir).replace("min = \"100kB\", max = \"400kB\"", "min = \"5kB\", max = \"20kB\"");
    let report = report(&dir, &text, &["fabric.pfc.xoff='1MB'"], 1).expect("valid");
    assert_eq!(report.status, Status::Complete, "{:?}", report.errors);
}

#[test]
fn what_makes_no_sense_with_flow_control_is_refused() {
    let dir = TempDir::new().expect("a temporary folder");
    for (setting, message) in [
        ("fabric.pfc.xon='70kB'", "`xoff`, 60kB"),
        ("fabric.pfc.reaction='2000s'", "at most 1000s"),
        ("fabric.trim='64B'", "leave out `trim` or `pfc`"),
        ("fabric.classes=[{quantum='9kB'}]", "leave out `classes`"),
        ("fabric.buffer={size='4MB', alpha=1}", "leave out `buffer`"),
        ("fabric.drop_until='50kB'", "leave out this key"),
        ("fabric.host_queue='1MB'", "host_queue = \"fq\" or \"unlimited\""),
        ("fabric.flags={percent=80}", "without `flags`"),
        ("fabric.routing='holnet-rate'", "than HOLNET's"),
    ] {
        let error = report(&dir, INCAST, &[setting], 1).expect_err(setting);
        assert!(error.contains(message), "{setting}: {error}");
    }
    let missing = INCAST.replace(", xon = \"50kB\"", "");
    assert!(report(&dir, &missing, &[], 1).is_err_and(|error| error.contains("xon")), "xon");
}
