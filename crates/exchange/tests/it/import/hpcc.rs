//! The HPCC simulator's files.

use serde_json::Value;
use tresse_exchange::import::Format;

use super::{experiment, file, imported, refused, run};
use crate::import::generators::{hpcc_fat, traffic_gen};

#[test]
fn the_hpcc_simulators_fat_tree_and_flows_are_as_they_were() {
    let text = traffic_gen(320, 5000, 5050);
    let i = imported(Format::Hpcc, &[("topology.txt", &hpcc_fat()), ("flow.txt", &text)]);
    let flows = run(&i, 320);
    assert_eq!(flows.len(), 5000);
    for (flow, line) in flows.iter().zip(text.lines().skip(1)) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!([words[0], words[1]], [flow.start.from, flow.start.to].map(|h| h.to_string()));
        assert_eq!(words[4], flow.start.bytes.unwrap().to_string());
        assert_eq!(words[5].replace('.', ""), format!("{}", flow.at / 1000));
    }
    let graph: Value = serde_json::from_str(file(&i, "topology.json")).unwrap();
    let hosts = &graph["nodes"].as_array().unwrap()[..320];
    assert_eq!((hosts[319]["name"].as_str(), hosts[319]["rack"].as_u64()), (Some("host 319"), Some(19)));
    let pods: Vec<u64> = hosts.iter().map(|h| h["pod"].as_u64().unwrap()).collect();
    assert!((0..320).all(|h| pods[h] == h as u64 / 64), "{pods:?}");
    let links = graph["links"].as_array().unwrap();
    let of = |layer: &str| {
        links.iter().filter(|l| l["layer"] == layer).map(|l| l["rate"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(
        [of("rack"), of("aggregation"), of("core")],
        [vec!["100Gbps"; 320], vec!["400Gbps"; 80], vec!["400Gbps"; 80]]
    );
    assert_eq!(graph["multigraph"], false);
    let e = experiment(&i);
    assert_eq!(e["fabric"]["routing"].as_str(), Some("ecmp"));
    assert_eq!(e["transport"]["mss"].as_str(), Some("1000B"));
    // 12 links of 1 us, and 1048 + 46 bytes over two links of 100G and four of 400G: 12.26 us at 100 Gbit/s.
    assert_eq!(e["fabric"]["mark"].as_str(), Some("49pkt"));
    assert!(i.notes.is_empty(), "{:?}", i.notes);
}

#[test]
fn the_simulators_own_example_of_flows_says_fewer_than_it_has() {
    let flows = "2\n2 1 3 100 200000000 2\n3 1 3 200 200000000 2\n4 1 2 100 150000000 2\n\n\
                 First line: # of flows\nsrc0 dst0 3 dst_port0 size0 start_time0\n";
    let i = imported(Format::Hpcc, &[("t", &hpcc_fat()), ("flow.txt", flows)]);
    assert_eq!(run(&i, 320).len(), 2);
    assert!(i.notes.iter().any(|n| n.contains("3 lines after the 2 flows")), "{:?}", i.notes);
    assert!(i.notes.iter().any(|n| n.contains("dport")) && !i.notes.iter().any(|n| n.contains("`pg`")));
}

#[test]
fn an_estimates_last_digit_behind_the_number_is_no_truncation() {
    let text = traffic_gen(320, 998, 1003);
    assert!(text.starts_with("9983 \n") || text.starts_with("9983\n"), "{}", &text[..20]);
    let i = imported(Format::Hpcc, &[("t", &hpcc_fat()), ("flow.txt", &text)]);
    assert_eq!((run(&i, 320).len(), i.notes.len()), (998, 1));
    let half: Vec<&str> = text.lines().take(500).collect();
    refused(
        Format::Hpcc,
        &[("t", &hpcc_fat()), ("flow.txt", &half.join("\n"))],
        "flow.txt:500: ",
        "truncated",
    );
    // 1000 flows of which only 100 are left are not such a case.
    let text = traffic_gen(320, 1000, 1000);
    let tenth: Vec<&str> = text.lines().take(101).collect();
    refused(
        Format::Hpcc,
        &[("t", &hpcc_fat()), ("flow.txt", &tenth.join("\n"))],
        "flow.txt:101: ",
        "found 100",
    );
}

#[test]
fn switches_may_come_first_and_links_may_lose_packets() {
    let topology =
        "5 2 4\n0 1\n0 1 400Gb/s 0.001ms 0.01\n2 0 12.5GB/s 1us 0\n3 0 100Gbps 1us 0\n4 1 100Gbps 1us 0\n";
    let flows = "2\n2 4 3 100 1000 0.5\n3 4 3 100 1000 1e0\n";
    let i = imported(Format::Hpcc, &[("t", topology), ("f", flows)]);
    let csv = file(&i, "flows.csv");
    assert_eq!(csv, "from,to,size,start\nhost 2,host 4,1kB,500ms\nhost 3,host 4,1kB,1s\n");
    let graph: Value = serde_json::from_str(file(&i, "topology.json")).unwrap();
    assert_eq!(graph["nodes"][0]["name"], "host 2");
    let trunk = &graph["links"][0];
    assert_eq!((&trunk["layer"], &trunk["loss"]), (&"trunk".into(), &0.01.into()));
    assert_eq!((&trunk["rate"], &trunk["delay"]), (&"400Gbps".into(), &"1us".into()));
    assert_eq!(graph["links"][1]["rate"], "100Gbps");
    assert!(graph["links"][1]["loss"].is_null());
}

#[test]
fn a_distribution_becomes_sizes() {
    let text = "0 0\n10000 15\n20000 20\n30000 30\n1000000 100\n";
    let i = imported(Format::HpccCdf, &[("WebSearch.txt", text)]);
    let size = &experiment(&i)["workloads"]["imported"]["size"];
    assert_eq!(size["file"].as_str(), Some("x.cdf"));
    assert!(file(&i, "cdf").ends_with(text));
    let wrong =
        |text: &str, place: &str, message: &str| refused(Format::HpccCdf, &[("c", text)], place, message);
    wrong("0 0\n10 50\n", "c:2: ", "up to the one with 100 %");
    wrong("0 0\n10 50\n20 40\n", "c:3:4: ", "percentages must increase");
    wrong("0 0\n10 50\n10 100\n", "c:3:1: ", "sizes must increase");
    wrong("0 5\n10 100\n", "c:1:3: ", "the first percentage must be 0");
    wrong("0 0\n10 101\n", "c:2:4: ", "more than 100 %");
    wrong("0 0\n-10 50\n", "c:2:1: ", "not negative");
    wrong("", "c: the file is empty", "");
    wrong("Nodes 5\nTiers 3\n", "c:1:1: ", "looks like an htsim topology");
}

#[test]
fn an_error_rate_is_a_share() {
    for (rate, message) in [
        ("nan", "nan is not a probability"),
        ("inf", "inf is not a probability"),
        ("-1", "-1 is not a probability"),
        ("1.5", "1.5 is not a probability"),
        ("1", "nothing would ever arrive"),
    ] {
        let text = format!("3 1 2\n2\n0 2 100Gbps 1us {rate}\n1 2 100Gbps 1us 0\n");
        refused(Format::Hpcc, &[("topology.txt", &text)], "topology.txt:3:17: ", message);
    }
}
