//! Public dialects and files in which something was once misread without a word, each with its right value; and the
//! totals of imports against readers that share nothing with the importer.

use std::path::Path;

use serde_json::{Value, json};
use tresse_exchange::import::{Format, Imported, Input, import};
use tresse_units::text_file::text;
use tresse_workload::Distribution;

use super::{file, refused};
use crate::import::generators::{butterfly, hpcc_fat, incast, traffic_gen};

/// The import of files with this content, as the command reads them.
#[track_caller]
fn read(format: Format, files: &[&[u8]]) -> Imported {
    let texts: Vec<String> = files.iter().map(|bytes| text(bytes.to_vec()).unwrap()).collect();
    let names = ["f0", "f1"];
    let inputs: Vec<_> = names.iter().zip(&texts).map(|(name, text)| Input { name, text }).collect();
    import(format, &inputs, Path::new("out/x.toml")).unwrap()
}

fn summary(imported: &Imported) -> Value {
    serde_json::to_value(&imported.summary).unwrap()
}

#[track_caller]
fn has(imported: &Imported, wanted: &str) {
    assert!(imported.notes.iter().any(|note| note.contains(wanted)), "{wanted}: {:?}", imported.notes);
}

#[test]
fn a_link_listed_both_ways_is_one_link_with_the_last_lines_values() {
    let flows = include_bytes!("../cases/01-hpcc-link-listed-both-ways/flow.txt");
    let i =
        read(Format::Hpcc, &[include_bytes!("../cases/01-hpcc-link-listed-both-ways/topology.txt"), flows]);
    has(&i, "f0: 4 of 8 lines repeat a pair of nodes, first line 4, 4 and 0");
    let rates = json!([{ "rate_bps": 100_000_000_000u64, "links": 4 }]);
    assert_eq!(summary(&i)["links_by_rate"], rates);
    assert_eq!(summary(&i)["size_bytes"], 400_000_000);
    let graph: Value = serde_json::from_str(file(&i, "topology.json")).unwrap();
    assert_eq!((graph["links"].as_array().unwrap().len(), &graph["multigraph"]), (4, &json!(false)));
    let i = read(Format::Hpcc, &[b"3 1 3\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n2 0 40Gbps 2us 0\n"]);
    has(&i, "1 of 3 lines repeat a pair of nodes (1 with other values)");
    let graph: Value = serde_json::from_str(file(&i, "topology.json")).unwrap();
    assert_eq!((&graph["links"][0]["rate"], &graph["links"][0]["delay"]), (&json!("40Gbps"), &json!("2us")));
}

#[test]
fn dcqcns_flows_are_refused_with_their_dialect() {
    let topology = text(include_bytes!("../cases/05-hpcc-dcqcn-flow-misread/topology.txt").to_vec()).unwrap();
    let wrong = |flows: &str, place: &str, message: &str| {
        refused(Format::Hpcc, &[("t", &topology), ("f", flows)], place, message);
    };
    let flow = include_str!("../cases/05-hpcc-dcqcn-flow-misread/flow.txt");
    wrong(
        flow,
        "f:2:7: ",
        "10000000 is no port, which is at most 65535: is this line `src dst priority packets",
    );
    wrong(flow, "f:2:7: ", "write each as `src dst pg dport size start`");
    let group = include_str!("../cases/05-hpcc-dcqcn-flow-misread/sibling-pg.txt");
    wrong(group, "f:2:5: ", "10000000 is no priority group: a port has 8, from 0");
    wrong("1\n2 1 3 65536 1000 0\n", "f:2:7: ", "65536 is no port");
    wrong("1\n2 1 8 100 1000 0\n", "f:2:5: ", "8 is no priority group");
    // Few packets: their number could be a port, but no flow has fewer bytes than seconds.
    wrong(
        "2\n2 1 3 5000 2 9\n0 1 3 6000 2.5 9\n",
        "f:3:12: ",
        "`2.5`; is this line `src dst priority packets",
    );
    wrong("1\n2 1 3 5000 2 9\n", "f:2:1: ", "every flow has fewer bytes than seconds until its start");
    wrong("1\n2 1 3 5000 2 9 1\n", "f:2:1: ", "expected `src dst pg dport size start`, as in HPCC, or");
    let i = read(Format::Hpcc, &[topology.as_bytes(), b"2\n2 1 7 65535 1000 0\n2 1 3 100 1 2\n"]);
    assert_eq!(i.summary.flows.unwrap().flows, 2);
    // ConWeave's lines have no port.
    let i = read(Format::Hpcc, &[topology.as_bytes(), b"2\n2 1 3 1000 0.5\n2 1 3 2000 2\n"]);
    has(&i, "five columns, as in ConWeave");
    assert_eq!(file(&i, "flows.csv"), "from,to,size,start\n2,1,1kB,500ms\n2,1,2kB,2s\n");
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let topology = include_bytes!("../cases/06-byte-order-mark/topology.txt");
    let i = read(Format::Hpcc, &[topology, include_bytes!("../cases/06-byte-order-mark/flow.txt")]);
    assert_eq!((&summary(&i)["hosts"], &summary(&i)["size_bytes"]), (&json!(3), &json!(2000)));
    let i = read(Format::HtsimTopo, &[include_bytes!("../cases/06-byte-order-mark/net.topo")]);
    assert_eq!((&summary(&i)["hosts"], &summary(&i)["links"]), (&json!(4), &json!(8)));
    let i = read(Format::HpccCdf, &[include_bytes!("../cases/06-byte-order-mark/sizes.cdf")]);
    assert_eq!(summary(&i), json!({ "mean_size_bytes": 300.0, "largest_size_bytes": 1000 }));
    let matrix = "\u{feff}Nodes 16\r\nConnections 1\r\n0->13\tstart 0 size 2000000 # a comment";
    assert_eq!(summary(&read(Format::HtsimCm, &[matrix.as_bytes()]))["size_bytes"], 2_000_000);
    let script = text(include_bytes!("../cases/06-byte-order-mark/script.txt").to_vec()).unwrap();
    assert_eq!(script, "ack 10 rtt=10ms\n");
}

/// The same through the reader of files that `size` names, whose mean is compared.
#[test]
fn distributions_are_read_in_all_their_forms() {
    let cases: [(&[u8], f64, &str); 4] = [
        (include_bytes!("../cases/09-cdf-message/fractions.txt"), 224_250.0, "the shares end at 1"),
        (include_bytes!("../cases/09-cdf-message/mean-first.txt"), 3845.0, "the number 4512.5 alone"),
        (include_bytes!("../cases/09-cdf-message/commas.csv"), 4035.0, "the shares end at 1"),
        (
            include_bytes!("../cases/09-cdf-message/three-columns.txt"),
            43.6,
            "three columns are read as ns-2's",
        ),
    ];
    for (bytes, mean, note) in cases {
        let i = read(Format::HpccCdf, &[bytes]);
        has(&i, note);
        let read = summary(&i)["mean_size_bytes"].as_f64().unwrap();
        assert!((read - mean).abs() < 1e-9 * mean, "{read} for {mean}");
        let written = Distribution::parse(file(&i, "cdf"), u64::MAX).unwrap();
        let direct = Distribution::parse(&text(bytes.to_vec()).unwrap(), u64::MAX).unwrap();
        assert_eq!(written, direct);
    }
    let heading = read(Format::HpccCdf, &[b"size,share\n0,0\n100,100\n"]);
    has(&heading, "the first line, `size,share`, is taken as a heading");
    let wrong =
        |text: &str, place: &str, message: &str| refused(Format::HpccCdf, &[("c", text)], place, message);
    wrong("size_kB,share\n0,0\n100,1\n", "c:1:1: ", "the heading names another unit, `kb`");
    wrong("0 0 0\n10 0.5 1\n20 1 1 1\n", "c:3:1: ", "4 columns, but the first line has three");
    wrong("0 0 1\n10 0.5 1\n20 1 1\n", "c:1:5: ", "of three columns the last is the share");
    wrong("0 0\n10 0.98\n", "c:2:4: ", "it does not reach 1: it ends at 0.98");
}

#[test]
fn headers_of_powertcp_and_simai_and_bare_rates_are_read() {
    let of = |bytes: &[u8]| {
        let i = read(Format::Hpcc, &[bytes]);
        let rates =
            |r: &Value| (r["rate_bps"].as_u64().unwrap() / 1_000_000_000, r["links"].as_u64().unwrap());
        let s = summary(&i);
        let by_rate: Vec<_> = s["links_by_rate"].as_array().unwrap().iter().map(rates).collect();
        (s["hosts"].as_u64().unwrap(), s["switches"].as_u64().unwrap(), by_rate, i)
    };
    let (hosts, switches, rates, i) = of(include_bytes!("../cases/10-hpcc-dialects/powertcp.txt"));
    assert_eq!((hosts, switches, rates), (3, 1, vec![(100, 3)]));
    has(&i, "the header is PowerTCP's: its number of ToRs, 1");
    let (hosts, switches, rates, i) = of(include_bytes!("../cases/10-hpcc-dialects/simai.txt"));
    assert_eq!((hosts, switches, rates), (4, 3, vec![(100, 5), (1600, 2)]));
    has(&i, "its 1 NVSwitches are switches like the others");
    let (hosts, switches, rates, i) = of(include_bytes!("../cases/10-hpcc-dialects/bare-rate.txt"));
    assert_eq!((hosts, switches, rates, i.notes.len()), (3, 1, vec![(100, 3)], 0));
    let graph: Value = serde_json::from_str(file(&i, "topology.json")).unwrap();
    assert_eq!(graph["links"][1]["delay"], "1us");
    let wrong = |text: &str, message: &str| refused(Format::Hpcc, &[("t", text)], "t:", message);
    wrong(
        "4 1\n3\n",
        "expected three numbers in the first line: nodes, switches, links (PowerTCP's four and SimAI's",
    );
    wrong("3 1 2\n2\n0 2 100 1us 0\n1 2 100Gbps 1us 0\n", "100bps: a link's rate is 1kbps to 100Tbps");
    wrong("3 1 2\n2\n0 2 100Gbps 1us 0 7\n1 2 100Gbps 1us 0\n", "line 3 has 6");
}

#[test]
fn nothing_of_htsims_files_is_dropped_in_silence() {
    let cm =
        |text: &str, place: &str, message: &str| refused(Format::HtsimCm, &[("m", text)], place, message);
    let matrix = "Nodes 16\nConnections 1\n0->13 id 1 start 0 size 2000000\n";
    cm(&matrix.replace("Nodes 16", "Nodes 16 32"), "m:1:10: ", "`32` after the value");
    cm(&matrix.replace("Nodes 16", "Nodes 16\nNodes 32"), "m:2:1: ", "`Nodes` appears twice");
    cm(&matrix.replace("start 0", "start 0 start 5"), "m:3:20: ", "the connection has `start` twice");
    let topo = text(include_bytes!("../cases/06-byte-order-mark/net.topo").to_vec()).unwrap();
    let third =
        format!("{topo}\r\nTier 2\r\nDownlink_speed_Gbps 400\r\nRadix_Down 1\r\nDownlink_Latency_ns 1\r\n");
    refused(Format::HtsimTopo, &[("t", &third)], "t:2:7: ", "the file describes a `Tier 2`");
    let top = format!("{topo}\r\nRadix_Up 2\r\nQueue_Up 9000\r\n");
    let i = read(Format::HtsimTopo, &[top.as_bytes()]);
    has(&i, "`Radix_Up` of tier 1 is left out");
    has(&i, "`Queue_Up` of tier 1 is left out");
}

/// Totals of flow.txt and topology.txt, by nothing but splitting words.
#[test]
fn totals_of_the_hpcc_simulators_files_are_those_of_an_independent_reader() {
    let (topology, flows) = (hpcc_fat(), traffic_gen(320, 5000, 5050));
    let s = summary(&read(Format::Hpcc, &[topology.as_bytes(), flows.as_bytes()]));
    let numbers =
        |line: &str| line.split(' ').map(|w| w.parse::<f64>().unwrap_or(f64::NAN)).collect::<Vec<_>>();
    let rows: Vec<Vec<f64>> = flows.lines().skip(1).map(numbers).collect();
    let bytes: f64 = rows.iter().map(|row| row[4]).sum();
    assert_eq!((s["flows"].as_u64(), s["size_bytes"].as_f64()), (Some(rows.len() as u64), Some(bytes)));
    let (first, last) = (rows[0][5] * 1e9, rows[rows.len() - 1][5] * 1e9);
    assert!((s["first_start_ns"].as_f64().unwrap() - first).abs() < 1.0);
    assert!((s["span_ns"].as_f64().unwrap() - (last - first)).abs() < 1.0);
    // 320 hosts with a link of 100 Gbit/s each.
    let load = bytes * 8.0 / ((last - first) / 1e9) / (320.0 * 100e9);
    assert!((s["load"].as_f64().unwrap() / load - 1.0).abs() < 1e-6, "{} for {load}", s["load"]);
    let links: Vec<&str> = topology.lines().skip(2).filter(|line| line.split(' ').count() >= 5).collect();
    let of = |rate: &str| links.iter().filter(|line| line.split(' ').nth(2) == Some(rate)).count();
    let rates = json!([
        { "rate_bps": 100_000_000_000u64, "links": of("100Gbps") },
        { "rate_bps": 400_000_000_000u64, "links": of("400Gbps") },
    ]);
    let head = numbers(topology.lines().next().unwrap());
    assert_eq!((s["links"].as_u64(), s["links_by_rate"].clone()), (Some(links.len() as u64), rates));
    assert_eq!(s["hosts"].as_f64(), Some(head[0] - head[1]));
}

/// The same of connection matrices.
#[test]
fn totals_of_htsims_matrices_are_those_of_an_independent_reader() {
    for matrix in [incast(128, 32, 2_000_000, 0), butterfly(128, 8, 16, 100_000)] {
        let i = read(Format::HtsimCm, &[matrix.as_bytes()]);
        let after = |line: &str, key: &str| {
            let mut words = line.split_whitespace().skip_while(|word| *word != key);
            words.nth(1).map(|word| word.parse::<u64>().unwrap())
        };
        let rows: Vec<&str> = matrix.lines().filter(|line| line.contains("->")).collect();
        let bytes: u64 = rows.iter().filter_map(|line| after(line, "size")).sum();
        let waiting = rows.iter().filter(|line| after(line, "trigger").is_some()).count();
        let flows = i.summary.flows.unwrap();
        assert_eq!((flows.flows, flows.size_bytes, flows.waiting_flows), (rows.len(), bytes, waiting));
    }
}
