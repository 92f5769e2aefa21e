//! Every controller by rounds beside the same by packets, on two networks: alone with its siblings on one link, and with
//! two subflows over two links.

use tempfile::TempDir;
use tresse_controllers::{Signal, all};
use tresse_experiment::Source;
use tresse_results::CaseResult;

use crate::reading::{measure, plan};

const ONE_LINK: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 4
rate = { access = "10Gbps", bottleneck = "1Gbps" }
delay = { access = "25us", bottleneck = "62.5us" }
queue = "100pkt"
mark = "20pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.own]
controller = "reno"
[workloads.w]
pattern = "flows"
duration = "300ms"
flow = [
  { from = "S1", to = "D1" }, { from = "S2", to = "D2" }, { from = "S3", to = "D3" }, { from = "S4", to = "D4" },
]
[measure]
queues = "100us"
"#;

const TWO_PATHS: &str = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = { rack = "1Gbps", spine = "1Gbps" }
delay = "20us"
queue = "100pkt"
mark = "20pkt"
host_queue = "100pkt"
host_mark = "20pkt"
routing = "shortest"
[transport]
profile = "ns3"
[schemes.own]
controller = "reno"
subflows = 2
[workloads.w]
pattern = "flows"
duration = "300ms"
flow = [{ from = 0, to = 4 }, { from = 1, to = 5 }, { from = 2, to = 6 }, { from = 3, to = 7 }]
[measure]
queues = "100us"
"#;

fn result(text: &str, controller: &str, fidelity: &str) -> CaseResult {
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let controller = format!("schemes.own.controller={controller}");
    let plan = plan(source, &[&controller, &format!("fidelity={fidelity}")]);
    let dir = TempDir::new().expect("a temporary folder");
    measure(&plan, dir.path(), 1, 1).cases.remove(0)
}

fn goodput(case: &CaseResult) -> f64 {
    case.metrics["goodput_mean_bps"].value()
}

/// Full links are full either way; what is asked is that no controller collapses or starves by rounds alone, that those
/// which answer marks lose nothing, and that the links' queues are as long.
#[test]
fn every_controller_is_as_fast_as_by_packets() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for controller in all() {
        let other = [Signal::Telemetry, Signal::NextHop];
        if controller.reports() || controller.signals().iter().any(|signal| other.contains(signal)) {
            continue;
        }
        tried += 1;
        let name = controller.name();
        let marks = controller.needs_ecn();
        for (network, text) in [("one link", ONE_LINK), ("two paths", TWO_PATHS)] {
            let [packets, rounds] = ["packets", "rounds"].map(|fidelity| result(text, name, fidelity));
            let ratio = goodput(&rounds) / goodput(&packets);
            let (within, timeouts) = (if marks { 0.08 } else { 0.25 }, rounds.metrics["timeouts"].value());
            if (ratio - 1.0).abs() > within || marks && timeouts > 0.0 {
                wrong.push(format!(
                    "{name} on {network}: {ratio:.3} of its goodput by packets, {timeouts} timeouts"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tried > 25, "only {tried} controllers");
}

const SPRAYED: &str = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 4
hosts_per_leaf = 8
rate = { rack = "10Gbps", spine = "10Gbps" }
delay = "2us"
queue = "200pkt"
mark = "20pkt"
host_queue = "200pkt"
host_mark = "20pkt"
routing = "shortest"
[transport]
profile = "spray"
[schemes.own]
controller = "dctcp"
balancer = "oblivious"
[workloads.w]
pattern = "flows"
duration = "20ms"
flow = [
  { from = 0, to = 8 }, { from = 1, to = 9 }, { from = 2, to = 10 }, { from = 3, to = 11 },
  { from = 4, to = 12 }, { from = 5, to = 13 }, { from = 6, to = 14 }, { from = 7, to = 15 },
]
[measure]
queues = "20us"
"#;

/// Eight hosts spray over four links, which carry half of what they could send, and over twelve, which carry more. Goodputs
/// are within 2 %, but for Swift's, which is 5 % larger (it answers delays, and a fluid has no fluctuations that delay), and
/// DCQCN's (8 %).
#[test]
fn sprayed_connections_are_as_fast_as_by_packets() {
    let mut wrong = Vec::new();
    for (controller, within) in
        [("dctcp", 0.02), ("xmp", 0.02), ("nscc", 0.02), ("mprdma", 0.02), ("swift", 0.06), ("dcqcn", 0.08)]
    {
        for spines in [4, 12] {
            let text = SPRAYED.replace("spines = 4", &format!("spines = {spines}"));
            let [packets, rounds] = ["packets", "rounds"].map(|fidelity| result(&text, controller, fidelity));
            let ratio = goodput(&rounds) / goodput(&packets);
            let timeouts = rounds.metrics["timeouts"].value();
            if (ratio - 1.0).abs() > within || timeouts > 0.0 {
                wrong.push(format!("{controller}, {spines} spines: {ratio:.3}, {timeouts} timeouts"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// MMPTCP's first subflow is sprayed.
#[test]
fn mmptcp_is_as_fast_as_by_packets() {
    let text = SPRAYED
        .replace("balancer = \"oblivious\"\n", "")
        .replace("\"spray\"", "\"ns3\"")
        .replace("\"shortest\"", "\"ecmp\"")
        .replace("[workloads.w]", "path_manager = \"mmptcp\"\n[workloads.w]");
    for controller in ["dctcp", "lia"] {
        let [packets, rounds] = ["packets", "rounds"].map(|fidelity| result(&text, controller, fidelity));
        let ratio = goodput(&rounds) / goodput(&packets);
        assert!((ratio - 1.0).abs() < 0.08, "{controller}: {ratio:.3} of its goodput by packets");
    }
}

const OVERFLOW: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 2
rate = { access = "1Gbps", bottleneck = "1Gbps" }
delay = { access = "25us", bottleneck = "62us" }
queue = "100pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.own]
controller = "reno"
[workloads.w]
pattern = "flows"
flow = [{ from = "S1", to = "D1", size = "2MB" }, { from = "S2", to = "D2", size = "2MB" }]
"#;

/// Two slow starts overflow a queue: half of the last window is lost, because what was sent before the first loss lets others
/// leave until it is noticed. However losses are repaired, messages take as long.
#[test]
fn a_slow_start_loses_half_of_its_last_window() {
    let recovered = |fidelity: &str, recovery: &str| {
        let text =
            OVERFLOW.replace("profile = \"ns3\"", &format!("profile = \"ns3\"\nrecovery = \"{recovery}\""));
        let case = result(&text, "reno", fidelity);
        ["drops_pkts", "fct_mean_s"].map(|name| case.metrics[name].value())
    };
    for recovery in ["newreno", "reno", "reno-once", "rack"] {
        let [packets, rounds] = ["packets", "rounds"].map(|fidelity| recovered(fidelity, recovery));
        let [drops, time] = [rounds[0] / packets[0], rounds[1] / packets[1]];
        assert!((time - 1.0).abs() < 0.15, "{recovery}: {time:.2} of the time by packets");
        // With RACK-TLP all that is lost makes room at once, where packets would follow ACKs.
        let within = if recovery == "rack" { 0.8 } else { 0.1 };
        assert!((drops - 1.0).abs() < within, "{recovery}: {drops:.2} of the drops by packets");
    }
}
