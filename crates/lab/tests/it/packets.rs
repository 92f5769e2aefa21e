//! Packets of recorded hosts: what is in their table, and that recording changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use tresse_experiment::plan::Case;
use tresse_experiment::plan::packets::Packets;
use tresse_experiment::{Plan, Profile, Source, find, load, resolve};
use tresse_lab::engine::replication;
use tresse_results::record::outcome::Rows;
use tresse_results::record::packet::{Kind, Packet};
use tresse_results::record::progress::Progress;
use tresse_units::{MICROSECOND, NEVER, SECOND};

use crate::reading::{Table, measure, plan};
use crate::sample;

/// 16 hosts, whose flows meet in short queues.
const FAT_TREE: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "20pkt"
mark = "5pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = 2
echo = "two-bit"
[schemes.lia]
controller = "lia"
subflows = 2
[workloads.w]
pattern = "permutation"
size = "300kB"
"#;

/// Many into one: packets are trimmed.
const SPRAYED: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "10Gbps"
delay = "1us"
queue = "20kB"
host_queue = "100pkt"
routing = "ecmp"
trim = "64B"
[transport]
profile = "spray"
[schemes.nscc]
controller = "nscc"
balancer = "reps"
paths = 16
[workloads.w]
pattern = "incast"
servers = 8
size = "100kB"
"#;

fn planned(text: &str, settings: &[&str]) -> Plan {
    plan(Source { name: "t.toml".to_owned(), text: text.to_owned() }, settings).1
}

/// What a run of a case under seed 3 leaves, without its packets; and these.
fn outcome(case: &Case, threads: usize) -> (String, Vec<Packet>) {
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let (mut rows, mut packets) = (String::new(), Vec::new());
    let outcome = replication::run(case, 3, threads, &stop, &progress, |more| {
        match more {
            Rows::Packets(more) => packets.extend_from_slice(more),
            _ => rows += &format!("{more:?}\n"),
        }
        Ok::<_, std::convert::Infallible>(())
    });
    let Ok(mut outcome) = outcome;
    outcome.packets_end = None;
    (rows + &serde_json::to_string(&outcome).expect("it is data"), packets)
}

fn recording(case: &Case, hosts: impl IntoIterator<Item = u32>, limit: u64) -> Case {
    let packets = Packets { hosts: hosts.into_iter().collect(), from: 0, to: NEVER, limit };
    let setting =
        Arc::new(tresse_experiment::plan::Setting { packets: Some(packets), ..(*case.setting).clone() });
    Case { setting, ..case.clone() }
}

/// The first case of every experiment, or of a sample, for as long as its hosts need for some thousand packets.
#[test]
fn recording_changes_nothing_and_threads_record_the_same() {
    let (mut recorded, mut cut) = (0, 0);
    for name in tresse_experiment::read::built_in::names().into_iter().step_by(sample()) {
        let loaded = load(find(name).expect("built in"), Profile::Quick, &[]).expect("valid");
        let plan = resolve(&loaded, &[]).expect("valid");
        let hosts = plan.fabric().network.hosts as usize;
        let rate: u64 = plan.fabric().configs.iter().take(hosts).map(|config| config.rate).sum();
        let enough = (10_000 * 12_000 * u128::from(SECOND) / u128::from(rate)) as u64;
        let mut case = plan.cases.into_iter().next().expect("a case");
        case.duration = Some(case.duration.unwrap_or(enough).min(enough));
        let with = recording(&case, (0..hosts as u32).step_by(3), 3_000);
        let (off, none) = outcome(&case, 1);
        let (on, packets) = outcome(&with, 1);
        assert_eq!((off == on, none.len()), (true, 0), "{name}");
        assert!(packets.is_sorted_by_key(|packet| (packet.time, packet.host)), "{name}");
        recorded += usize::from(!packets.is_empty());
        if tresse_lab::undivided(&with, 3).is_none() {
            cut += 1;
            assert_eq!((on, packets), outcome(&with, 3), "{name}");
        }
    }
    assert!(recorded > 60 / sample() && cut > 20 / sample(), "{recorded} have packets, {cut} are cut");
}

/// Every host is recorded: what arrives was sent, and what flows count is there.
#[test]
fn the_table_has_what_flows_count() {
    for scheme in ["xmp", "lia"] {
        let plan = planned(FAT_TREE, &[]);
        let case = plan.cases.iter().find(|case| case.scheme == scheme).expect("a scheme");
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let (mut packets, mut resent) = (Vec::new(), BTreeMap::new());
        let with = recording(case, 0..16, 1_000_000);
        let Ok(outcome) = replication::run(&with, 1, 1, &stop, &progress, |more| {
            if let Rows::Packets(more) = more {
                packets.extend_from_slice(more);
            }
            Ok::<_, std::convert::Infallible>(())
        });
        let sent = |p: &&Packet| p.sent && p.kind == Kind::Data;
        for packet in packets.iter().filter(sent) {
            let name = packet.flow.start.name;
            *resent.entry(name).or_insert(0) += u64::from(packet.retransmission);
        }
        for flow in &outcome.flows {
            assert_eq!(resent[&flow.begun.start.name], flow.record.counters.retransmissions, "{scheme}");
        }
        assert!(resent.values().sum::<u64>() > 0, "{scheme}");

        let name = |p: &Packet| (p.flow.start.name, p.subflow, p.kind.name(), p.data, p.ack);
        let sent: BTreeSet<_> = packets.iter().filter(|p| p.sent).map(name).collect();
        assert!(packets.iter().filter(|p| !p.sent).all(|p| sent.contains(&name(p))), "{scheme}");
        // Nothing was under way any more but the ACKs of last segments, which nobody sends.
        let drops: u64 = outcome.links.iter().map(|link| link.drops).sum();
        let [out, arrived] = [true, false].map(|out| packets.iter().filter(|p| p.sent == out).count() as u64);
        assert!(out - arrived >= drops && drops > 0, "{scheme}: {out} {arrived} {drops}");
        let marked = packets.iter().filter(|p| p.ecn == 2).count();
        assert_eq!(marked > 0, scheme == "xmp");
        let echoed = packets.iter().filter(|p| p.sent).filter_map(|p| p.echo).map(usize::from).sum::<usize>();
        assert!(echoed <= marked && (echoed > 0) == (marked > 0), "{echoed} of {marked}");
    }
}

#[test]
fn a_limit_keeps_the_first_packets_and_says_so() {
    let dir = TempDir::new().expect("a temporary folder");
    let run = |settings: &[&str], name: &str| {
        let source = Source { name: "t.toml".to_owned(), text: FAT_TREE.to_owned() };
        let out = dir.path().join(name);
        let report = measure(&plan(source, settings), &out, 2, 2);
        (report, Table::read(&out.join("packets.parquet")))
    };
    let all = "measure.packets={ hosts = [0, \"host 3\"] }";
    let (whole, table) = run(&[all], "all");
    let of_limit = |report: &tresse_results::Report| {
        let notes = report.notes.iter().filter(|note| note.contains("packets.parquet"));
        notes.cloned().collect::<Vec<_>>()
    };
    assert_eq!(of_limit(&whole), <[String; 0]>::default());
    let (cut, first) = run(&[all, "measure.packets.limit=100"], "first");
    let notes = of_limit(&cut);
    assert_eq!((notes.len(), &cut.digest), (4, &whole.digest), "two cases and seeds");
    assert!(notes[0].starts_with("xmp-2 w seed 1: packets.parquet has only the first 100 packets, up to "));
    let times = |table: &Table, scheme: &str, seed: u64| -> Vec<(u64, u64)> {
        let (schemes, seeds) = (table.texts("scheme"), table.numbers("seed"));
        let rows = table.numbers("time_ps").into_iter().zip(table.numbers("host"));
        let own = schemes.iter().zip(seeds).map(|(own, of)| own == scheme && of == seed);
        rows.zip(own).filter(|(_, own)| *own).map(|(row, _)| row).collect()
    };
    for (scheme, seed) in [("xmp", 1), ("xmp", 2), ("lia", 1), ("lia", 2)] {
        assert_eq!(times(&first, scheme, seed), times(&table, scheme, seed)[..100], "{scheme} {seed}");
    }

    let (_, later) = run(&[all, "measure.packets.from=\"1ms\"", "measure.packets.to=\"2ms\""], "later");
    let is_within = |time: &u64| (1000 * MICROSECOND..2000 * MICROSECOND).contains(time);
    assert!(later.numbers("time_ps").iter().all(is_within));
    let there = table.numbers("time_ps").iter().filter(|time| is_within(time)).count();
    assert_eq!(later.numbers("time_ps").len(), there);
}

#[test]
fn sprayed_packets_have_paths_and_may_be_trimmed() {
    let case = planned(SPRAYED, &[]).cases.remove(0);
    let (_, packets) = outcome(&recording(&case, 0..16, 1_000_000), 1);
    let count = |is: fn(&Packet) -> bool| packets.iter().filter(|p| is(p)).count();
    assert!(packets.iter().all(|p| p.path.is_some() && p.subflow == 0));
    let trimmed = count(|p| p.trimmed);
    assert!(trimmed > 0 && count(|p| p.trimmed && (p.sent || p.payload > 0)) == 0);
    assert_eq!(count(|p| p.kind == Kind::Nack && p.sent), trimmed, "each is answered");
    assert!(count(|p| p.retransmission && p.sent) >= count(|p| p.kind == Kind::Nack && !p.sent));
    assert!(count(|p| !p.sack.is_empty()) > 0);
    let ranges = packets.iter().flat_map(|p| p.sack.iter().map(move |range| (p.ack, *range)));
    assert!(
        ranges.into_iter().all(|(ack, (start, end))| ack.is_some_and(|[ack, _]| ack <= start) && start < end)
    );
}

#[test]
fn a_connection_that_stays_counts_on() {
    // Two hosts, each of which sends to the other.
    let workload = "persistent = true\npattern = \"permutation\"\nsize = \"2000B\"\nrounds = 3";
    let text = FAT_TREE.replace("k = 4", "k = 2").replace("subflows = 2", "subflows = 1");
    let text = text.replace("pattern = \"permutation\"\nsize = \"300kB\"", workload);
    let case = planned(&text, &[]).cases.remove(0);
    let (_, packets) = outcome(&recording(&case, [0], 1_000_000), 1);
    let data: Vec<_> = packets.iter().filter(|p| p.sent && p.kind == Kind::Data).collect();
    assert!(data.iter().all(|p| p.flow.start.from == 0));
    assert_eq!(data.iter().map(|p| p.payload).collect::<Vec<_>>(), [1460, 540, 1460, 540, 1460, 540]);
    assert_eq!(
        data.iter().filter_map(|p| p.data).map(|[_, dsn]| dsn).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    assert!(data.iter().all(|p| p.flow == data[0].flow && p.last == (p.payload == 540)));
}

#[test]
fn what_is_to_be_recorded_is_checked() {
    let refused = |setting: &str| {
        let source = Source { name: "t.toml".to_owned(), text: FAT_TREE.to_owned() };
        let loaded = load(source, Profile::Full, &[format!("measure.packets={setting}")]).expect("valid");
        resolve(&loaded, &[]).expect_err("it is not").to_string()
    };
    for (setting, message) in [
        ("{ hosts = [16] }", "there is no host 16: hosts are 0 to 15"),
        ("{ hosts = [] }", "at least one host, such as [0]"),
        ("{ hosts = [0], from = \"2ms\", to = \"1ms\" }", "a time after `from`"),
        ("{ hosts = [0], limit = 0 }", "1 to 100000000 packets"),
    ] {
        assert!(refused(setting).ends_with(message), "{}", refused(setting));
    }
}
