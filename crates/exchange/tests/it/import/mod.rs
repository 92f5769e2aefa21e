//! Files of other simulators, as their generators write them, become experiments; all others are rejected.

mod cases;
mod generators;
mod hpcc;
mod refused;
mod topologies;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use tresse_exchange::import::{Format, Imported, Input, import};
use tresse_experiment::read::flow_file;
use tresse_experiment::schema::host_names::Hosts;
use tresse_units::NEVER;
use tresse_workload::{Action, Source, Start};

use generators::{allreduce, butterfly, incast, outcast_incast, permutation, serialn_alltoall};
use topologies::{FAT_TREE_1024, LEAF_SPINE_TINY, ZRS};

const US: u64 = 1_000_000;

#[track_caller]
fn imported(format: Format, files: &[(&str, &str)]) -> Imported {
    let inputs: Vec<_> = files.iter().map(|&(name, text)| Input { name, text }).collect();
    import(format, &inputs, Path::new("out/x.toml")).unwrap()
}

#[track_caller]
fn refused(format: Format, files: &[(&str, &str)], beginning: &str, message: &str) {
    let inputs: Vec<_> = files.iter().map(|&(name, text)| Input { name, text }).collect();
    let error = import(format, &inputs, Path::new("x.toml")).unwrap_err().to_string();
    assert!(error.starts_with(beginning) && error.contains(message), "{error}");
}

fn file<'a>(imported: &'a Imported, ending: &str) -> &'a str {
    let found = imported.files.iter().find(|(path, _)| path == Path::new(&format!("out/x.{ending}")));
    &found.unwrap_or_else(|| panic!("no x.{ending}")).1
}

fn experiment(imported: &Imported) -> toml::Table {
    file(imported, "toml").parse().unwrap()
}

/// A flow, and when it ran: each takes a microsecond.
#[derive(Debug, Clone, Copy)]
struct Ran {
    start: Start,
    at: u64,
}

/// Runs the flows of an import: their names are their places in the file.
fn run(imported: &Imported, hosts: u32) -> Vec<Ran> {
    let names: Vec<String> = (0..hosts).map(|h| format!("host {h}")).collect();
    let hosts = Hosts::new(names.iter().map(|n| &**n));
    let mut source = flow_file::read("x.flows.csv", file(imported, "flows.csv"), &hosts, u64::MAX).unwrap();
    let (mut flows, mut underway, mut now) = (Vec::new(), BTreeSet::new(), 0);
    loop {
        while let Some(action) = source.poll(now) {
            if let Action::Start(start) = action {
                flows.push(Ran { start, at: now });
                if start.bytes.is_some() {
                    underway.insert((now + US, start.name));
                }
            }
        }
        now = source.next().min(underway.first().map_or(NEVER, |f| f.0));
        if now == NEVER {
            assert!(source.is_over());
            return flows;
        }
        if source.next() > now {
            let (_, name) = underway.pop_first().unwrap();
            source.handle_finished(now, name);
        }
    }
}

/// The last flow's end, in steps of a microsecond.
fn steps(flows: &[Ran]) -> u64 {
    flows.iter().map(|f| f.at + US).max().unwrap() / US
}

#[test]
fn a_permutation_of_htsim_runs_on_its_usual_fat_tree() {
    let cm = permutation(8192, 8192, 2_000_000, 3);
    let i = imported(Format::HtsimCm, &[("perm.cm", &cm)]);
    let flows = run(&i, 8192);
    assert_eq!(flows.len(), 8192);
    assert!(flows.iter().all(|f| f.at == 3 * US && f.start.bytes == Some(2_000_000)));
    let to: BTreeSet<u32> = flows.iter().map(|f| f.start.to).collect();
    assert_eq!(to.len(), 8192);
    let e = experiment(&i);
    assert_eq!(e["fabric"]["topology"].as_str(), Some("fat-tree"));
    assert_eq!(e["fabric"]["k"].as_integer(), Some(32));
    assert_eq!(e["workloads"]["imported"]["file"].as_str(), Some("x.flows.csv"));
    assert_eq!(i.files.len(), 2);
    assert!(i.notes[0].contains("fat tree, k = 32"), "{:?}", i.notes);
    assert!(e["about"].as_str().unwrap().contains(&i.notes[0]));
}

#[test]
fn an_incast_keeps_its_starts_and_an_outcast_its_pairs() {
    let i = imported(Format::HtsimCm, &[("incast.cm", &incast(1024, 1000, 64_000, 10))]);
    let flows = run(&i, 1024);
    assert!(flows.iter().all(|f| f.start.to == 0 && f.at <= 10 * US));
    assert_eq!(flows.iter().map(|f| f.start.from).collect::<BTreeSet<_>>().len(), 1000);
    assert!(flows.iter().map(|f| f.at).collect::<BTreeSet<_>>().len() > 990);
    let i = imported(Format::HtsimCm, &[("oi.cm", &outcast_incast(128, 20, 5, 1000))]);
    assert_eq!(run(&i, 128).len(), 20 + 19 * 4);
}

#[test]
fn rings_of_htsim_go_round_link_by_link() {
    let cm = allreduce(128, 128, 16, 1000);
    let i = imported(Format::HtsimCm, &[("ring.cm", &cm)]);
    let flows = run(&i, 128);
    assert_eq!((flows.len(), steps(&flows)), (128 * 31, 31));
    // Each host passes on what it received in the previous step.
    let got: BTreeSet<_> = flows.iter().map(|f| (f.start.to, f.at / US)).collect();
    assert!(flows.iter().all(|f| f.at == 0 || got.contains(&(f.start.from, f.at / US - 1))));
    assert!(file(&i, "flows.csv").starts_with("from,to,size,start,id,after\n"));
    assert!(i.notes.iter().any(|n| n.contains("send_done_trigger")));
}

#[test]
fn a_butterfly_of_htsim_takes_the_bits_of_its_group() {
    let cm = butterfly(128, 2, 64, 1000);
    let i = imported(Format::HtsimCm, &[("butterfly.cm", &cm)]);
    let flows = run(&i, 128);
    assert_eq!((flows.len(), steps(&flows)), (2 * 64 * 6, 6));
    assert!(flows.iter().all(|f| f.start.from ^ f.start.to == 1 << (f.at / US)));
    assert!(i.notes.iter().any(|n| n.contains("not declared")), "{:?}", i.notes);
}

#[test]
fn an_all_to_all_of_htsim_has_no_more_under_way_than_it_says() {
    for (conns, group, parallel, prio) in [(64, 64, 8, false), (64, 16, 4, true), (54, 54, 5, false)] {
        let cm = serialn_alltoall(128, conns, group, parallel, 1000, prio);
        let i = imported(Format::HtsimCm, &[("a2a.cm", &cm)]);
        let flows = run(&i, 128);
        assert_eq!(flows.len() as u64, conns * (group - 1));
        let mut underway = BTreeMap::<_, u64>::new();
        flows.iter().for_each(|f| *underway.entry((f.start.from, f.at)).or_default() += 1);
        assert_eq!(underway.values().max(), Some(&parallel));
        assert_eq!(steps(&flows), (group - 1).div_ceil(parallel));
        assert_eq!(i.notes.iter().any(|n| n.contains("prio")), prio);
        assert_eq!(i.notes.iter().any(|n| n.contains("the header says")), conns != group);
    }
}

#[test]
fn a_barrier_waits_for_all_and_a_multishot_starts_one_each_time() {
    let cm = "Nodes 16\nConnections 7\nTriggers 2\n\
        0->1 id 10 start 0 size 1000 recv_done_trigger 1\n\
        2->3 id 11 start 5000000.5 size 1000 recv_done_trigger 1 send_done_trigger 2\n\
        4->5 id 12 start 1000000 size 1000 recv_done_trigger 2\n\
        6->7 id 13 trigger 1 size 1000\n\
        8->9 id 14 trigger 2 size 1000\n\
        8->10 id 15 trigger 2 size 1000\n\
        8->11 id 16 start 0 size 0\n\
        trigger id 1 barrier count 2\ntrigger id 2 multishot\n";
    let i = imported(Format::HtsimCm, &[("t.cm", cm)]);
    let at: BTreeMap<u64, u64> = run(&i, 16).iter().map(|f| (f.start.name, f.at / US)).collect();
    assert_eq!(at.into_values().collect::<Vec<_>>(), [0, 5, 1, 6, 2, 6, 0]);
    let csv = file(&i, "flows.csv");
    assert!(csv.contains("\n8,9,1kB,0ps,14,1 of 11 12\n") && csv.contains("\n8,11,,0ps,16,\n"), "{csv}");
}

#[test]
fn htsims_own_topologies_are_ours_where_they_can_be() {
    let i = imported(Format::HtsimTopo, &[("fat_tree_1024.topo", FAT_TREE_1024)]);
    let fabric = &experiment(&i)["fabric"];
    assert_eq!((fabric["k"].as_integer(), i.files.len()), (Some(16), 1));
    assert_eq!(fabric["rate"].as_str(), Some("100Gbps"));

    let i = imported(Format::HtsimTopo, &[("leaf_spine_tiny.topo", LEAF_SPINE_TINY)]);
    let fabric = &experiment(&i)["fabric"];
    let keys = ["leaves", "spines", "hosts_per_leaf"].map(|key| fabric[key].as_integer().unwrap());
    assert_eq!(keys, [4, 2, 8]);

    // Half of a switch's latency is on each side; queues are in bytes.
    let slow = LEAF_SPINE_TINY.replacen("Switch_Latency_ns 0", "Switch_Latency_ns 300\nQueue_Down 64000", 1);
    let slow = slow.replacen("Switch_Latency_ns 0", "Switch_Latency_ns 500\nQueue_Down 80000", 1);
    let fabric = &experiment(&imported(Format::HtsimTopo, &[("slow.topo", &slow)]))["fabric"];
    let of = |key: &str| ["rack", "spine"].map(|layer| fabric[key][layer].as_str().unwrap().to_owned());
    assert_eq!(
        (of("delay"), of("queue")),
        (["1150ns", "1400ns"].map(String::from), ["64kB", "80kB"].map(String::from))
    );
}

#[test]
fn a_clos_that_is_neither_becomes_a_file_of_nodes_and_links() {
    let i = imported(Format::HtsimTopo, &[("zrs.topo", ZRS)]);
    let e = experiment(&i);
    assert_eq!(e["fabric"]["topology"].as_str(), Some("file"));
    assert_eq!(e["fabric"]["file"].as_str(), Some("x.topology.json"));
    let graph: Value = serde_json::from_str(file(&i, "topology.json")).unwrap();
    let (nodes, links) = (graph["nodes"].as_array().unwrap(), graph["links"].as_array().unwrap());
    let hosts: Vec<_> = nodes.iter().filter(|n| n["kind"] == "host").collect();
    assert_eq!((hosts.len(), nodes.len()), (432, 432 + 72 + 72 + 12));
    assert_eq!((hosts[431]["rack"].as_u64(), hosts[431]["pod"].as_u64()), (Some(71), Some(11)));
    assert_eq!(hosts[36]["pod"], 1);
    let of = |layer: &str| links.iter().filter(|l| l["layer"] == layer).count();
    assert_eq!([of("rack"), of("aggregation"), of("core")], [432, 432, 432]);
    assert_eq!(graph["multigraph"], true);
    let first = links.iter().filter(|l| l["layer"] == "core").take(3).map(|l| &l["key"]);
    assert_eq!(first.collect::<Vec<_>>(), [0, 1, 2]);
    // Every core switch has three links to each pod.
    let mut degrees = BTreeMap::<_, u32>::new();
    links
        .iter()
        .filter(|l| l["layer"] == "core")
        .for_each(|l| *degrees.entry(l["target"].as_u64()).or_default() += 1);
    assert!(degrees.len() == 12 && degrees.values().all(|&d| d == 36));
    assert_eq!(links[431 + 432 + 1]["delay"], "600us");
}

#[test]
fn failed_links_of_htsim_are_those_of_our_fabric() {
    let cm = "Nodes 16\nConnections 1\nFailures 2\n0->13 start 0 size 5\n\
              failure switch_type AGG switch_id 3 link_id 0\nfailure switch_type AGG switch_id 0 link_id 1\n";
    let e = experiment(&imported(Format::HtsimCm, &[("f.cm", cm)]));
    let links: Vec<_> =
        e["fabric"]["links"].as_array().unwrap().iter().map(|l| l["ends"].to_string()).collect();
    assert_eq!(links, [r#"["aggregation 3", "core 2"]"#, r#"["aggregation 0", "core 1"]"#]);
    let far = cm.replace("link_id 1", "link_id 2");
    refused(Format::HtsimCm, &[("f.cm", &far)], "f.cm:6:1: ", "there is no such link");
}

#[test]
fn what_is_written_is_an_experiment_that_loads() {
    let failures = permutation(16, 16, 1000, 0) + "failure switch_type AGG switch_id 3 link_id 0\n";
    let failures = failures.replace("Connections 16", "Connections 16\nFailures 1");
    let endless = permutation(16, 16, 0, 0);
    let (fat, flows) = (generators::hpcc_fat(), generators::traffic_gen(320, 1000, 1000));
    let cdf = "0 0\n10000 15\n1000000 100\n";
    type Files<'a> = Vec<(&'a str, &'a str)>;
    let imports: [(Format, Files, usize); 8] = [
        (Format::HtsimTopo, vec![("odd \"name\".topo", FAT_TREE_1024)], 1024),
        (Format::HtsimTopo, vec![("t", LEAF_SPINE_TINY)], 32),
        (Format::HtsimTopo, vec![("t", ZRS)], 432),
        (Format::HtsimCm, vec![("c", &failures)], 16),
        (Format::HtsimCm, vec![("c", &endless)], 16),
        (Format::Hpcc, vec![("t", &fat)], 320),
        (Format::Hpcc, vec![("t", &fat), ("f", &flows)], 320),
        (Format::HpccCdf, vec![("c", cdf)], 16),
    ];
    for (format, files, hosts) in imports {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.toml");
        let inputs: Vec<_> = files.iter().map(|&(name, text)| Input { name, text }).collect();
        import(format, &inputs, &path).unwrap().write(false).unwrap();
        for profile in [tresse_experiment::Profile::Quick, tresse_experiment::Profile::Full] {
            let source = tresse_experiment::find(path.to_str().unwrap()).unwrap();
            let loaded = tresse_experiment::load(source, profile, &[]).unwrap();
            let plan = tresse_experiment::resolve(&loaded, &[]).unwrap();
            assert_eq!((plan.fabric().hosts() as usize, plan.cases.len()), (hosts, 2), "{}", format.name());
        }
    }
}

#[test]
fn files_are_written_together_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = [Input { name: "z.topo", text: ZRS }];
    let i = import(Format::HtsimTopo, &inputs, &dir.path().join("z.toml")).unwrap();
    let names = || {
        let entries = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name());
        entries.map(|n| n.into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    std::fs::write(dir.path().join("z.topology.json"), "mine").unwrap();
    let error = i.write(false).unwrap_err().to_string();
    assert!(error.contains("z.topology.json already exists") && error.contains("--force"), "{error}");
    assert_eq!(names(), ["z.topology.json".to_owned()].into());
    i.write(true).unwrap();
    assert_eq!(names(), ["z.toml".to_owned(), "z.topology.json".to_owned()].into());
    assert!(std::fs::read_to_string(dir.path().join("z.topology.json")).unwrap().starts_with('{'));
    let nowhere = import(Format::HtsimTopo, &inputs, &dir.path().join("no/z.toml")).unwrap();
    assert!(nowhere.write(false).unwrap_err().to_string().contains("cannot be written"));
    assert_eq!(names().len(), 2);
}
