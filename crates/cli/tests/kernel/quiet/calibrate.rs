//! What packets cost the hosts of this machine.

use tempfile::TempDir;

use crate::control::{json, tresse};
use crate::probe::ready;
use crate::repeat::alone;

#[test]
fn costs_predict_transfers_that_they_were_not_fitted_to() {
    if !ready("costs_predict_transfers_that_they_were_not_fitted_to") {
        return;
    }
    let _alone = alone();
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("host.toml");
    let own = json(&["calibrate", "--out", file.to_str().expect("a name")]);
    let cost = |name: &str| {
        let all = own["costs"].as_array().expect("a list");
        let cost = all.iter().find(|cost| cost["name"] == name).expect("it is there");
        ["low_ns", "value_ns", "high_ns"].map(|key| cost[key].as_f64().expect("a number"))
    };
    let [low, packet, high] = [0, 1, 2].map(|i| cost("send.segment")[i] + cost("send.packet")[i]);
    assert!((100.0..100_000.0).contains(&packet) && low <= high, "{own:#}");
    // Half is what a busy machine may still do; docs/testbed.md has what an idle one does.
    assert!(own["error_median_ratio"].as_f64().is_some_and(|error| error < 0.5), "{own:#}");
    let text = "schemes.a.controller = \"reno\"\n[fabric]\ntopology = \"dumbbell\"\npairs = 1\nrate = \"1Gbps\"\n\
                delay = \"1us\"\nqueue = \"100pkt\"\nhost_cpu = \"host.toml\"\n[transport]\nprofile = \"linux\"\n\
                [workloads.w]\npattern = \"permutation\"\nsize = \"1MB\"\nrounds = 1\n";
    std::fs::write(folder.path().join("own.toml"), text).expect("a file");
    let run = tresse(&["check", "own.toml"]).current_dir(folder.path()).output().expect("the command starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
