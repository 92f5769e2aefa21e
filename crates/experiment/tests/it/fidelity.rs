//! What a simulation by rounds refuses, by name and with its place.

use tresse_experiment::read::Source;
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_experiment::{Profile, load, resolve};

const PLAIN: &str = r#"
title = "plain"
fidelity = "rounds"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "10Gbps"
delay = "1us"
queue = "100pkt"
host_queue = "unlimited"
routing = "ecmp"
[transport]
profile = "ns3"
[schemes.dctcp]
controller = "dctcp"
[workloads.all]
pattern = "permutation"
size = "1MB"
"#;

fn wrong(settings: &[&str]) -> Option<String> {
    let source = Source { name: "test.toml".into(), text: PLAIN.to_owned() };
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let plan = load(source, Profile::Full, &settings).and_then(|loaded| resolve(&loaded, &[]));
    plan.err().map(|e| e.to_string())
}

#[test]
fn rounds_refuse_what_they_cannot_simulate() {
    assert_eq!(wrong(&[]), None);
    assert_eq!(wrong(&["measure.rtt=true"]), None);
    let sprayed = ["transport={ profile = \"spray\" }", "schemes.dctcp.balancer=oblivious"];
    assert_eq!(wrong(&[&sprayed[..], &["fabric.routing=spray"]].concat()), None);
    assert_eq!(wrong(&sprayed), None);
    assert_eq!(wrong(&["fabric.host_queue=fq"]), None);
    assert_eq!(wrong(&["fabric.red={ min = \"5pkt\", max = \"15pkt\", probability = 0.1 }"]), None);
    for manager in ["opn", "opn-tuning", "opn-shifting", "path-sharing", "mmptcp"] {
        assert_eq!(wrong(&[&format!("schemes.dctcp.path_manager={manager}")]), None);
    }
    let failure = "changes=[{ at = \"1ms\", link = [\"spine 0\", \"leaf 1\"], failed = true }]";
    assert_eq!(wrong(&[failure]), None);
    for (setting, named) in [
        ("fabric.routing=spray", "TCP over switches that spray"),
        ("fabric.routing=drill", "packet by packet by more than chance (scheme `dctcp`)"),
        ("transport={ profile = \"spray\" }", "the balancer `reps`"),
        ("transport.plb=on", "`plb`"),
        ("fabric.buffer={ size = \"1MB\", alpha = 1 }", "a shared `buffer`"),
        ("fabric.host_processing=1us", "`host_processing`"),
        ("fabric.host_cpu={ send = { packet = \"1us\" } }", "`host_cpu`"),
        ("transport.receive_buffer=linux", "a receive buffer that grows (scheme `dctcp`)"),
        ("measure.packets={ hosts = [0] }", "`[measure] packets`"),
    ] {
        let message = wrong(&[setting]).unwrap_or_else(|| panic!("{setting} is accepted"));
        assert!(
            message.contains("\"rounds\" cannot simulate") && message.contains(named),
            "{setting}: {message}"
        );
        assert_eq!(wrong(&[setting, "fidelity=packets"]), None, "{setting}");
    }
    // What is left out may be beyond rounds.
    let text = PLAIN.to_owned() + "[schemes.other]\ncontroller = \"dctcp\"\ntransport = { plb = \"on\" }\n";
    let loaded = load(Source { name: "test.toml".into(), text }, Profile::Full, &[]).expect("valid");
    assert!(resolve(&loaded, &[]).is_err_and(|e| e.to_string().contains("`plb`")));
    assert!(resolve(&loaded, &["scheme=dctcp".to_owned()]).is_ok());
    let unknown = wrong(&["fidelity=fluid"]).expect("there is no such fidelity");
    assert!(unknown.contains("packets") && unknown.contains("rounds"), "{unknown}");
}

/// A variant may set it, so that both stand in one table.
#[test]
fn it_is_an_axis() {
    let text = PLAIN.replace("fidelity = \"rounds\"\n", "")
        + "[variants.packets]\n[variants.rounds]\nfidelity = \"rounds\"\n";
    let loaded = load(Source { name: "test.toml".into(), text }, Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let each: Vec<_> = plan.cases.iter().map(|case| case.setting.fidelity).collect();
    assert_eq!(each, [Fidelity::Packets, Fidelity::Rounds]);
}

/// The profile has been applied when `--set` is read.
#[test]
fn a_profile_is_not_set() {
    let told = wrong(&["profile.quick.workloads.all.size=2MB"]).expect("it is refused");
    assert!(told.contains("the profile is applied before `--set`"), "{told}");
}
