//! Other formats, files that end early, and files that contradict themselves.

use std::path::Path;

use tresse_exchange::import::{Format, Input, import};

use crate::import::generators::{allreduce, hpcc_fat, permutation, traffic_gen};
use crate::import::topologies::{FAT_TREE_1024, LEAF_SPINE_TINY};
use crate::import::{imported, refused};

#[test]
fn another_format_is_named() {
    let files = [
        ("x.cm", permutation(16, 16, 5, 0), "an htsim connection matrix"),
        ("x.topo", FAT_TREE_1024.to_owned(), "an htsim topology"),
        ("topology.txt", hpcc_fat(), "a topology of the HPCC simulator"),
        ("flow.txt", traffic_gen(320, 10, 10), "flows of the HPCC simulator"),
        (
            "fct.txt",
            "0b000101 0b000201 10000 100 5000 2000000000 9000 8000\n".to_owned(),
            "results of the HPCC",
        ),
        ("a.cdf", "0 0\n10 100\n".to_owned(), "a flow-size distribution"),
        ("x.goal", "num_ranks 2\nrank 0 {\n}\n".to_owned(), "a GOAL trace"),
        ("x.csv", "from,to,size,start\n0,1,5kB,0s\n".to_owned(), "a flow file"),
        ("x.json", "{\"nodes\": []}\n".to_owned(), "JSON"),
        ("x.graphml", "<?xml version=\"1.0\"?>\n".to_owned(), "XML"),
    ];
    for format in Format::ALL {
        for (name, text, what) in &files {
            let inputs = [Input { name, text }];
            let Err(error) = import(format, &inputs, Path::new("x.toml")) else {
                let own = [
                    ("x.cm", Format::HtsimCm),
                    ("x.topo", Format::HtsimTopo),
                    ("topology.txt", Format::Hpcc),
                    ("a.cdf", Format::HpccCdf),
                ];
                assert!(own.contains(&(name, format)), "{name} as {}", format.name());
                continue;
            };
            let error = error.to_string();
            assert!(
                error.starts_with(&format!("{name}:")) && error.contains(what),
                "{}: {error}",
                format.name()
            );
        }
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let ring = allreduce(16, 4, 4, 1000);
    let whole = ring.trim_end().len();
    let but_the_last_line = whole - "\ntrigger id 24 oneshot".len();
    for end in 0..whole {
        let cut = import(Format::HtsimCm, &[Input { name: "r.cm", text: &ring[..end] }], Path::new("x.toml"));
        // Without its last line it is like the output of `gen_allreduce_butterfly.py`, and a note says so.
        let told =
            cut.is_ok_and(|i| i.notes.iter().any(|n| n.contains("trigger 24 is used but not declared")));
        assert_eq!(told, [0, 1].contains(&end.wrapping_sub(but_the_last_line)), "{end} of {whole}");
    }
    let fat = hpcc_fat();
    let last = fat.trim_end().len();
    for end in (0..last).step_by(7) {
        let cut = import(Format::Hpcc, &[Input { name: "t", text: &fat[..end] }], Path::new("x.toml"));
        // Digits of the last error rate may be missing: it is still 0.
        assert!(cut.is_err() || end > last - 8, "{end} of {last}");
    }
    for end in (0..FAT_TREE_1024.len() - 9).step_by(3) {
        let cut = import(
            Format::HtsimTopo,
            &[Input { name: "t", text: &FAT_TREE_1024[..end] }],
            Path::new("x.toml"),
        );
        // Text after the last required key may be left out, and numbers truncated.
        let needed =
            FAT_TREE_1024.find("Radix_Down 16").unwrap() + "Radix_Down 16\nDownlink_Latency_ns 1".len();
        assert!(cut.is_err() || end >= needed, "{end}: {:?}", &FAT_TREE_1024[..end]);
    }
}

#[test]
fn what_contradicts_itself_is_told_with_its_line() {
    let cm = |lines: &str| {
        format!(
            "Nodes 16\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 5 send_done_trigger 1\n{lines}\n"
        )
    };
    let wrong = |lines: &str, place: &str, message: &str| {
        refused(Format::HtsimCm, &[("c.cm", &cm(lines))], &format!("c.cm:{place}: "), message);
    };
    let trigger = "\ntrigger id 1 oneshot";
    wrong(&format!("1->2 id 2 trigger 2 size 5{trigger}"), "5:19", "trigger 2 is not declared");
    wrong(&format!("1->2 id 2 trigger 1 start 0 size 5{trigger}"), "5:19", "a `start` and a `trigger`");
    wrong(&format!("1->2 id 2 size 5{trigger}"), "5:1", "neither");
    wrong(&format!("1->2 id 2 start 0{trigger}"), "5:1", "no `size`");
    wrong(&format!("1->1 id 2 start 0 size 5{trigger}"), "5:1", "sends to itself");
    wrong(&format!("1->16 id 2 start 0 size 5{trigger}"), "5:1", "there is no host 16");
    wrong(&format!("1->2 id 2 start -5 size 5{trigger}"), "5:17", "picoseconds");
    wrong(&format!("1->2 id 2 start 0 size 5 color red{trigger}"), "5:26", "no `color`");
    wrong(&format!("1->2 id 2 trigger 1 size 5{trigger}\ntrigger id 1 oneshot"), "7:1", "declared twice");
    wrong("1->2 id 2 trigger 1 size 5\ntrigger id 1 barrier count 3", "5:19", "never starts");
    wrong("1->2 id 2 trigger 1 size 5\ntrigger id 1 barrier", "6:14", "a count");
    refused(Format::HtsimCm, &[("c.cm", "Nodes 16\nConnections 1000000000\n")], "c.cm:2:13: ", "10^8");
    let cm = permutation(17, 17, 5, 0);
    refused(
        Format::HtsimCm,
        &[("c.cm", &cm)],
        "c.cm: no fat tree has 17 hosts",
        "tresse import htsim-cm c.cm FILE.topo",
    );
    refused(
        Format::HtsimCm,
        &[("c.cm", &cm), ("t.topo", LEAF_SPINE_TINY)],
        "c.cm: Nodes 17",
        "t.topo has 32 hosts",
    );

    let topo = |from: &str, to: &str, place: &str, message: &str| {
        let text = LEAF_SPINE_TINY.replacen(from, to, 1);
        assert_ne!(text, LEAF_SPINE_TINY);
        refused(Format::HtsimTopo, &[("t.topo", &text)], &format!("t.topo:{place}"), message);
    };
    topo("Oversubscribed 4", "Oversubscribed 2", "11:16: ", "tier 0 has 800 Gbit/s below and 200 above");
    topo("Radix_Down 4", "Radix_Down 5", "15:12: ", "4 switches of tier 0 below, 1 links each, make 4");
    topo("Podsize 32", "Podsize 16", "3:9: ", "one pod");
    topo("Radix_Up 2", "Radix_Up two", "8:10: ", "whole number");
    topo("Radix_Up 2", "Radix_Upp 2", "8:1: ", "did you mean `radix_up`?");
    topo("Nodes 32", "Nodes 0", "1:7: ", "Nodes is 0");
    topo("Tier 1", "Tier 0", "13:6: ", "each once");

    let flows = |text: &str, place: &str, message: &str| {
        refused(
            Format::Hpcc,
            &[("t", &hpcc_fat()), ("flow.txt", text)],
            &format!("flow.txt:{place}: "),
            message,
        );
    };
    flows("2\n0 1 3 100 5 2.5\n0 1 3 100 5 2.4\n", "3:13", "sort the lines");
    flows("1\n0 320 3 100 5 2\n", "2:3", "node 320 is a switch");
    flows("1\n0 999 3 100 5 2\n", "2:3", "there is no node 999");
    flows("1\n7 7 3 100 5 2\n", "2:3", "itself");
    flows("1\n0 1 3 100 0 2\n", "2:11", "0 bytes");
    flows("1\n0 1 3 100 5\n", "2:1", "expected `src dst pg dport size start`");
    flows("1000000000\n0 1 3 100 5 2\n", "1:1", "10^8");
    let topology = |text: &str, beginning: &str, message: &str| {
        refused(Format::Hpcc, &[("t", text)], beginning, message)
    };
    topology("3 1 2\n2\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "t:4:3: ", "there is no node 3");
    topology("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbqs 1us 0\n", "t:4:5: ", "expected a rate");
    topology("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 1.0\n", "t:4:15: ", "nothing would ever arrive");
    topology("3 1 1\n2\n0 2 1Gbps 1us 0\n", "t: host 1 has no link", "");
    topology("4 2 2\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n", "t: no path leads from host 0 to host 1", "");
}

#[test]
fn a_flow_of_2_to_the_32_segments_is_refused() {
    let message = "is too large: at most";
    let most = 4_294_967_295u64 * 1460;
    let cm = |bytes: u64| format!("Nodes 16\nConnections 1\n0->1 id 1 start 0 size {bytes}\n");
    imported(Format::HtsimCm, &[("x.cm", &cm(most))]);
    refused(Format::HtsimCm, &[("x.cm", &cm(most + 1))], "x.cm:3:24: ", message);
    let cdf = |bytes: u64| format!("0 0\n{bytes} 100\n");
    imported(Format::HpccCdf, &[("x.cdf", &cdf(most))]);
    refused(Format::HpccCdf, &[("x.cdf", &cdf(most + 1))], "x.cdf:2:1: ", message);
    let topology = "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n";
    let flows = |bytes: u64| format!("1\n0 1 3 100 {bytes} 2\n");
    imported(Format::Hpcc, &[("t", topology), ("f", &flows(4_294_967_295_000))]);
    refused(Format::Hpcc, &[("t", topology), ("f", &flows(4_294_967_295_001))], "f:2:11: ", message);
}
