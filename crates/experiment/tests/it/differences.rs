//! What a comparison of schemes is told before it runs: each of these was silent once, and decided a result
//! (docs/fair.md).

use tresse_experiment::plan::differences;
use tresse_experiment::read::Source;
use tresse_experiment::{Profile, load, resolve};

const COMPARED: &str = r#"
title = "two schemes"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "100Gbps"
delay = "1us"
queue = "800kB"
mark = "270kB"
routing = "ecmp"
[transport]
profile = "linux"
[schemes.dctcp]
controller = "dctcp"
[schemes.other]
controller = "dctcp"
[workloads.all]
pattern = "permutation"
size = "1MB"
"#;

fn notes(settings: &[&str]) -> Result<Vec<String>, String> {
    let source = Source { name: "test.toml".into(), text: COMPARED.to_owned() };
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let loaded = load(source, Profile::Full, &settings).map_err(|e| e.to_string())?;
    let plan = resolve(&loaded, &[]).map_err(|e| e.to_string())?;
    Ok(differences::notes(&loaded, &plan))
}

#[test]
fn equal_schemes_on_hosts_that_push_back_are_told_nothing() {
    assert_eq!(notes(&[]), Ok(Vec::new()));
    assert_eq!(notes(&["fabric.host_queue=fq"]), Ok(Vec::new()));
    assert_eq!(notes(&["fabric.host_queue=unlimited", "fabric.host_mark=270kB"]), Ok(Vec::new()));
    assert_eq!(notes(&["fabric.host_queue=800kB", "fabric.host_mark=270kB"]), Ok(Vec::new()));
}

#[test]
fn a_port_of_a_host_that_nothing_controls_is_told() {
    let told = notes(&["fabric.host_queue=unlimited"]).expect("valid");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("neither mark, drop nor hold back"), "{told:?}");
    let told = notes(&["fabric.host_queue=800kB"]).expect("valid");
    assert!(told.len() == 1 && told[0].contains("set `host_mark`"), "{told:?}");
    // What a variant changes counts, and only once.
    let variants = "variants={ one = { fabric.host_queue = \"unlimited\" }, two = { fabric.host_queue = \"unlimited\" }, three = {} }";
    let told = notes(&[variants]).expect("valid");
    assert!(told.len() == 1 && told[0].contains("neither mark"), "{told:?}");
}

#[test]
fn schemes_that_listen_for_marks_where_no_port_marks_are_told() {
    let silent = ["fabric.mark=unlimited", "schemes.other.controller=lia"];
    let told = notes(&silent).expect("valid");
    assert_eq!(
        told,
        ["no port marks (`fabric.mark`, `fabric.red`), so these schemes hear of losses only: dctcp"]
    );
    // A queue that is full at K drops what would be marked.
    let told = notes(&[
        "fabric.mark=200pkt",
        "fabric.queue=100pkt",
        "fabric.host_mark=unlimited",
        "fabric.host_queue=fq",
    ]);
    let told = told.expect("valid");
    assert!(
        told.len() == 1 && told[0].contains("every queue is full before it is above `fabric.mark`"),
        "{told:?}"
    );
    // A single link that marks is enough.
    let link = "fabric.links=[{ ends = [\"leaf 0\", \"spine 0\"], mark = \"20pkt\" }]";
    assert_eq!(notes(&[silent[0], silent[1], link]), Ok(Vec::new()));
    // But not where others have a K that never marks.
    let told = notes(&["fabric.mark=200pkt", "fabric.queue=100pkt", link]).expect("valid");
    assert!(told.len() == 1 && told[0].contains("so there these schemes hear of losses only"), "{told:?}");
}

#[test]
fn keys_that_do_not_reach_a_scheme_are_told_with_their_values() {
    let spray = "schemes.other={ controller = \"nscc\", transport = { profile = \"spray\" } }";
    let told = notes(&["transport.rto_min=5ms", spray]).expect("valid");
    let profile = told
        .iter()
        .find(|note| note.contains("[transport] does not reach other (own `profile`)"))
        .expect("told");
    assert!(profile.contains("rto_min = 100us, not 5ms"), "{profile}");
    // Only what somebody has set, and what differs.
    let told = notes(&["transport.rto_min=100us", spray]).expect("valid");
    assert!(told.iter().all(|note| !note.contains("does not reach")), "{told:?}");
}

#[test]
fn transports_that_differ_are_told_and_so_is_k_in_packets() {
    let small = "schemes.other={ controller = \"dctcp\", transport = { mss = \"4086B\", header = \"64B\", ack_every = \
                 \"4pkt\" } }";
    let told = notes(&[small]).expect("valid");
    assert_eq!(told.len(), 1, "K is in bytes: {told:?}");
    for part in ["packets (1500B for dctcp; 4150B for other)", "packets per ACK (2 for dctcp; 4 for other)"] {
        assert!(told[0].contains(part), "{told:?}");
    }
    assert!(!told[0].contains("handshake") && !told[0].contains("timeout"), "they are equal: {told:?}");
    let own = "schemes.other.transport.receive_buffer=64kB";
    let told = notes(&[own]).expect("valid");
    assert!(told[0].ends_with("differ in: receive buffer (none for dctcp; 64kB for other)"), "{told:?}");
    assert_eq!(notes(&["transport.receive_buffer=64kB"]), Ok(Vec::new()), "the same for both");
    let told = notes(&[small, "fabric.mark=20pkt"]).expect("valid");
    assert!(told[1].contains("mark = \"20pkt\" is 30kB for the smallest packets and 83kB"), "{told:?}");
}

#[test]
fn a_host_needs_a_queue_unless_its_profile_has_one() {
    let message = notes(&["transport.profile=ns3"]).expect_err("ns-3's hosts have none by default");
    assert!(message.contains("`host_queue` is missing") && message.contains("\"fq\""), "{message}");
    assert!(notes(&["transport.profile=ns3", "fabric.host_queue=fq"]).is_ok());
    for key in ["host_mark", "host_flag"] {
        let message = notes(&[&format!("fabric.{key}=10pkt")]).expect_err("there is no queue to measure");
        assert!(message.contains(key) && message.contains("hosts serve their subflows in turn"), "{message}");
    }
    let message = notes(&["fabric.host_queue=fair"]).expect_err("no such queue");
    assert!(message.contains("a queue length"), "{message}");
}
