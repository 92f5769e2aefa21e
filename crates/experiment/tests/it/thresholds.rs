//! Thresholds as multiples of the bandwidth-delay product.

use std::collections::BTreeSet;
use std::fs;

use tempfile::TempDir;
use tresse_experiment::{Case, Profile, Source, load, resolve};
use tresse_fabric::Threshold;

const TRANSPORT: &str = r#"
[transport]
profile = "ns3"
mss = "1460B"
header = "40B"
ack = "40B"
[schemes.xmp]
controller = "xmp"
[workloads.w]
pattern = "permutation"
size = "1MB"
"#;

const DUMBBELL: &str = r#"title = "t"
[fabric]
topology = "dumbbell"
pairs = 2
rate = { access = "1Gbps", bottleneck = "100Mbps" }
delay = "500us"
queue = "2MB"
mark = "0.17BDP"
host_queue = "unlimited"
"#;

const FAT_TREE: &str = r#"title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "10Gbps"
delay = "1us"
queue = "1MB"
mark = "0.2BDP"
host_queue = "1MB"
"#;

fn cases_of(name: &str, fabric: &str, settings: &[&str]) -> Result<Vec<Case>, String> {
    let source = Source { name: name.to_owned(), text: format!("{fabric}{TRANSPORT}") };
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    let loaded = load(source, Profile::Full, &settings).map_err(|e| e.to_string())?;
    resolve(&loaded, &[]).map(|plan| plan.cases).map_err(|e| e.to_string())
}

fn cases(fabric: &str, settings: &[&str]) -> Result<Vec<Case>, String> {
    cases_of("t.toml", fabric, settings)
}

/// The thresholds of the ports from switches, and of those from hosts, bytes.
fn marks(case: &Case) -> [BTreeSet<Option<u64>>; 2] {
    let fabric = &case.setting.fabric;
    let mut marks = [BTreeSet::new(), BTreeSet::new()];
    for ([from, _], config) in fabric.network.ends.iter().zip(&fabric.configs) {
        let bytes = (config.mark != Threshold::UNLIMITED).then(|| {
            assert!(config.mark.is_bytes());
            config.mark.value()
        });
        marks[usize::from(*from < fabric.network.hosts)].insert(bytes);
    }
    marks
}

fn of_switches(fabric: &str, settings: &[&str]) -> Vec<u64> {
    let [switches, _] = marks(&cases(fabric, settings).expect("valid")[0]);
    switches.into_iter().flatten().collect()
}

#[test]
fn a_multiple_of_the_bdp_is_a_length_in_bytes() {
    // Three links of 500 us there and back; a packet of 1500 bytes there and an ACK of 40 back take 12 and 0.32 us on
    // each of two links, ten times as long on the bottleneck: 3147.84 us. At the hosts' 1 Gbit/s these are 393480 bytes.
    assert_eq!(of_switches(DUMBBELL, &[]), [66_892], "0.17 of it are 66891.6");
    assert_eq!(of_switches(DUMBBELL, &["fabric.mark=1BDP"]), [393_480]);
    // Six links of 1 us; 1540 bytes take 1.232 us on each: 19.392 us, at 10 Gbit/s 24240 bytes.
    assert_eq!(of_switches(FAT_TREE, &[]), [4848]);
    assert_eq!(of_switches(FAT_TREE, &["fabric.mark=0.01BDP"]), [1500], "at least a packet");
    assert_eq!(of_switches(FAT_TREE, &["fabric.mark=0.333333333333333333BDP"]), [8080]);
}

#[test]
fn it_follows_the_network() {
    // At 100 Gbit/s the six links take 12 us + 6 * 123.2 ns: 12.7392 us, 159240 bytes.
    assert_eq!(of_switches(FAT_TREE, &["fabric.rate=100Gbps"]), [31_848]);
    assert_eq!(of_switches(FAT_TREE, &["fabric.delay=0s"]), [1848], "9240 bytes");
    // The slowest host's link counts, and the longest path.
    let slow = "fabric.links=[{ ends = [\"host 0\", \"edge 0\"], rate = \"1Gbps\" }]";
    // 19.392 us and nine times 1.232 us more on that link: 30.48 us, 3810 bytes.
    assert_eq!(of_switches(FAT_TREE, &[slow, "fabric.mark=1BDP"]), [3810]);
}

#[test]
fn it_may_stand_wherever_a_threshold_does() {
    let layers = "fabric.mark={ rack = \"0.2BDP\", aggregation = \"9kB\", core = \"1BDP\" }";
    assert_eq!(of_switches(FAT_TREE, &[layers]), [4848, 9000, 24_240]);
    let all = cases(FAT_TREE, &["fabric.mark=9kB", "fabric.host_mark=0.5BDP"]).expect("valid");
    assert_eq!(marks(&all[0]), [BTreeSet::from([Some(9000)]), BTreeSet::from([Some(12_120)])]);
    let link = "fabric.links=[{ ends = [\"core 0\", \"aggregation 0\"], mark = \"0.5BDP\" }]";
    assert_eq!(of_switches(FAT_TREE, &[link]), [4848, 12_120]);
    let lists = cases(FAT_TREE, &["fabric.mark=[0.1BDP, 0.2BDP]"]).expect("valid");
    let lists: Vec<_> = lists.iter().map(|case| (case.label(), marks(case)[0].clone())).collect();
    let expected = [("xmp-1 w mark=0.1BDP", 2424), ("xmp-1 w mark=0.2BDP", 4848)];
    assert_eq!(lists, expected.map(|(label, mark)| (label.to_owned(), BTreeSet::from([Some(mark)]))));
}

/// Links of a file that say nothing themselves have what `[fabric]` says.
#[test]
fn the_links_of_a_file_have_it_too() {
    let dir = TempDir::new().expect("a temporary folder");
    let net = r#"{ "nodes": [{ "id": "a" }, { "id": "b" }, { "id": "s" }, { "id": "t" }],
        "links": [{ "source": "a", "target": "s" }, { "source": "s", "target": "t", "mark": "7kB" },
                  { "source": "t", "target": "b" }] }"#;
    fs::write(dir.path().join("net.json"), net).expect("the folder can be written");
    let fabric = DUMBBELL
        .replace("\"dumbbell\"\npairs = 2", "\"file\"\nfile = \"net.json\"")
        .replace("{ access = \"1Gbps\", bottleneck = \"100Mbps\" }", "\"1Gbps\"");
    let name = dir.path().join("t.toml");
    fs::write(&name, &fabric).expect("the folder can be written");
    let cases = cases_of(&name.display().to_string(), &fabric, &[]).expect("valid");
    // 3 ms and three times 12.32 us: 379620 bytes.
    assert_eq!(marks(&cases[0])[0], BTreeSet::from([Some(7000), Some(64_535)]));
}

#[test]
fn nonsense_is_refused() {
    for (mark, message) in [
        (
            "-1BDP",
            "\"-1BDP\" is negative; expected a queue length such as \"100pkt\" (units: pkt, B, kB, MB, GB, TB, KiB, MiB, GiB, BDP)",
        ),
        ("BDP", "\"BDP\" has no number"),
        ("0BDP", "\"0BDP\" is no threshold: expected more than 0, such as \"0.17BDP\""),
        ("0.0000000001BDP", "is no threshold"),
        ("1.2.3BDP", "\"1.2.3\" is not a number"),
        ("99999999999999999999BDP", "too large"),
        ("0.2bdp", "did you mean \"0.2BDP\"?"),
        ("0.2", "has no unit"),
    ] {
        for key in ["mark", "host_mark"] {
            let error = cases(FAT_TREE, &[&format!("fabric.{key}='{mark}'")]).expect_err(mark);
            assert!(error.contains(message), "{mark}: {error}");
        }
    }
    let error = cases(FAT_TREE, &["fabric.host_queue=fw"]).expect_err("no queue");
    assert!(error.contains("\"unlimited\", or \"fq\": a queue for each subflow"), "{error}");
    let error = cases(FAT_TREE, &["fabric.queue=2BDP"]).expect_err("a limit is a length");
    assert!(error.contains("\"BDP\" is not a unit of a queue length"), "{error}");
}
