//! What a host learns of a path holds for those of its connections that share its memory.

use tempfile::TempDir;
use tresse_experiment::Source;

use crate::reading::{Table, measure, plan};

/// Three of leaf 0's four uplinks carry a packet in 120 ms. Host 0 sends to one host, and later to two more.
const SLOW: &str = r#"title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 4
hosts_per_leaf = 4
rate = "1Gbps"
delay = "12.5us"
queue = "256pkt"
host_queue = "unlimited"
routing = "ecmp"
links = [{ ends = ["leaf 0", "spine 0..3"], rate = "100kbps" }]
[transport]
profile = "ns3"
[schemes.host]
controller = "lia"
path_manager = "opn"
[schemes.pair]
controller = "lia"
path_manager = { name = "opn", memory = "pair" }
[workloads.three]
pattern = "flows"
duration = "150ms"
flow = [
  { from = 0, to = 4, size = "300kB" },
  { from = 0, to = 5, size = "300kB", start = "100ms" },
  { from = 1, to = 5, size = "300kB", start = "100ms" },
]
"#;

#[test]
fn a_slow_path_is_the_senders_affair_whoever_receives() {
    let dir = TempDir::new().expect("a temporary folder");
    let source = Source { name: "t.toml".to_owned(), text: SLOW.to_owned() };
    measure(&plan(source, &[]), dir.path(), 4, 2);
    let flows = Table::read(&dir.path().join("flows.parquet"));
    let [from, to, opened] = ["from", "to", "opened"].map(|name| flows.numbers(name));
    let schemes = flows.texts("scheme");
    let mean = |scheme: &str, ends: [u64; 2]| {
        let own = (0..schemes.len()).filter(|&i| schemes[i] == scheme && [from[i], to[i]] == ends);
        let opened: Vec<_> = own.map(|i| opened[i] as f64).collect();
        assert_eq!(opened.len(), 4, "{scheme} {ends:?}: one under each seed");
        opened.iter().sum::<f64>() / 4.0
    };
    for scheme in ["host", "pair"] {
        assert_eq!(
            [mean(scheme, [0, 4]), mean(scheme, [1, 5])],
            [4.0; 2],
            "a host that has sent nothing yet"
        );
    }
    // Four source ports hash to three slow spines and a fast one: most subflows were silent.
    assert!(mean("host", [0, 5]) <= 2.0, "{}", mean("host", [0, 5]));
    assert_eq!(mean("pair", [0, 5]), 4.0);
}
