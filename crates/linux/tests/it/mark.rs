//! The marker in the kernel: real packets over a veth pair between two network namespaces of the test. Needs
//! root, `ip` and `tc`; if it cannot run, it says so in one line and passes.

use tresse_linux::Error;
use tresse_linux::mark::{Class, Length, Marker, Match, Settings, add, del, show};

use crate::packets::{self, Pair, ce_counted};

/// One packet takes about 10 ms: everything that a test sends at once is in the virtual queue.
const SLOW: u64 = 1_000_000;

fn settings(classes: Vec<Class>) -> Settings {
    Settings { rate_bps: SLOW, threshold: Length::Packets(20), classes }
}

fn class(name: &str, weight: u32, rule: Match, threshold: Option<Length>) -> Class {
    Class { name: name.into(), weight, rule, threshold }
}

fn only(markers: Vec<Marker>) -> Marker {
    let [marker] = <[Marker; 1]>::try_from(markers).expect("one device has a marker");
    marker
}

/// Classic BPF with one instruction: continue with the next filter.
const PASS: &str = "1,6 0 0 4294967295,";

const NOT_ECT: u8 = 0;
const ECT1: u8 = 1;
const ECT0: u8 = 2;
const CE: u8 = 3;

#[test]
fn ecn_capable_packets_above_k_are_marked_and_no_others() {
    let Some(pair) = Pair::new("ce") else { return };
    let netns = Some(&*pair.near);
    let added = add("va", &settings(Vec::new()), netns).expect("it can be added");
    assert_eq!((added.rate_bps, added.threshold_bytes), (SLOW, 20 * 1514));
    // 1200 bytes of payload are 1242 on the wire: the 26th finds 25 there, more than 30,280 bytes.
    let (ect, not_ect, ipv6) = (pair.send_v4(100, ECT0), pair.send_v4(50, NOT_ECT), pair.send_v6(100, ECT1));
    let marker = only(show(Some("va"), netns).expect("it can be shown"));
    let class = &marker.classes[0];
    assert_eq!((&*class.name, class.weight, marker.classes.len()), ("default", 1, 1));
    assert!(not_ect.iter().all(|tos| *tos == NOT_ECT));
    // A few packets more or less: the kernel sends some itself (MLD), and a busy machine sends slowly. The
    // exactness of virtual_queue.h is tested without a clock.
    let first = ect.iter().position(|tos| *tos == ECT0 | CE);
    assert!(matches!(first, Some(20..=40)), "{ect:?}");
    assert!(ce_counted(&ect) >= 40, "{ect:?}");
    assert!(ce_counted(&ipv6) >= 50, "the queue is still long: {ipv6:?}");
    assert_eq!(class.marked_pkts as usize, ce_counted(&ect) + ce_counted(&ipv6));
    assert!((25..=70).contains(&class.not_ect_pkts), "{class:?}");
    // Neighbour discovery may add a few.
    assert!((250..270).contains(&class.packets) && class.bytes >= 250 * 1242, "{class:?}");
    assert!((1..=60 * 1514).contains(&class.backlog_bytes), "{class:?}");
    del("va", netns).expect("it can be deleted");
    assert_eq!(ce_counted(&pair.send_v4(100, ECT0)), 0);
}

#[test]
fn classes_are_chosen_by_dscp_and_mark_and_have_their_own_queues() {
    let Some(pair) = Pair::new("dscp") else { return };
    let netns = Some(&*pair.near);
    let mut classes: Vec<_> =
        (1..=5).map(|i| class(&format!("idle{i}"), 1000, Match::Dscp(i), None)).collect();
    classes.push(class("bulk", 3, Match::Dscp(10), None));
    classes.push(class("fixed", 1, Match::Dscp(46), Some(Length::Bytes(12_420))));
    classes.push(class("socket", 1, Match::Mark(0x7e), None));
    add("va", &settings(classes), netns).expect("eight classes pass the verifier");

    // K is 10 packets of this size: the 11th finds 10, which is not more.
    let fixed = pair.send_v4(20, 46 << 2 | ECT0);
    let first = fixed.iter().position(|tos| tos & 3 == 3);
    assert!(matches!(first, Some(11..=18)), "{fixed:?}");
    let bulk = pair.send_v6(40, 10 << 2 | ECT0);
    // Both classes wait: K is 20 x 3 / 4 packets, or 17.9 of this size; 14.4 while MLD changes it to 3 / 5.
    let first = bulk.iter().position(|tos| tos & 3 == 3);
    assert!(matches!(first, Some(15..=24)), "{bulk:?}");
    assert!(bulk.iter().all(|tos| tos >> 2 == 10), "the DSCP stays");
    let marked = pair.send_marked(10, ECT0, 0x7e);
    assert!((1..=6).contains(&ce_counted(&marked)), "K is 20 / 5 packets, 4.9 of this size: {marked:?}");

    let marker = only(show(None, netns).expect("it can be shown"));
    let count = |name: &str| {
        let c = marker.classes.iter().find(|c| c.name == name).expect("it was added");
        (c.packets, c.marked_pkts as usize, c.rule)
    };
    assert_eq!(count("fixed"), (20, ce_counted(&fixed), Some(Match::Dscp(46))));
    assert_eq!(count("bulk"), (40, ce_counted(&bulk), Some(Match::Dscp(10))));
    assert_eq!(count("socket"), (10, ce_counted(&marked), Some(Match::Mark(0x7e))));
    assert_eq!(count("idle1"), (0, 0, Some(Match::Dscp(1))));
    assert_eq!(marker.classes.len(), 9);
}

#[test]
fn deleting_leaves_nothing_and_touches_nothing_else() {
    let Some(pair) = Pair::new("del") else { return };
    let netns = Some(&*pair.near);
    let added = add("va", &settings(Vec::new()), netns).expect("it can be added");
    let again = add("va", &settings(Vec::new()), netns);
    assert!(matches!(&again, Err(Error::Input(m)) if m.contains("tresse mark del va")), "{again:?}");
    let maps = packets::maps_of(added.program_id);
    assert_eq!(maps.len(), 2);
    assert!(pair.tc(&["qdisc", "show", "dev", "va"]).contains("clsact"));
    del("va", netns).expect("it can be deleted");
    assert!(!pair.tc(&["qdisc", "show", "dev", "va"]).contains("clsact"));
    assert_eq!(show(None, netns).expect("there is none"), []);
    packets::wait_until("the maps go", || maps.iter().all(|id| !packets::map_lives(*id)));

    let gone = del("va", netns);
    assert!(matches!(&gone, Err(Error::Input(m)) if m.contains("no marker")), "{gone:?}");
    let unknown = add("vz", &settings(Vec::new()), netns);
    assert!(matches!(&unknown, Err(Error::Input(m)) if m.contains("no network device `vz`")), "{unknown:?}");

    // Another program's filter stays, and keeps clsact.
    pair.tc(&["qdisc", "add", "dev", "va", "clsact"]);
    pair.tc(&["filter", "add", "dev", "va", "ingress", "bpf", "da", "bytecode", PASS]);
    let before = pair.tc(&["filter", "show", "dev", "va", "ingress"]);
    assert!(before.contains("bytecode"), "{before}");
    add("va", &settings(Vec::new()), netns).expect("it can be added beside");
    del("va", netns).expect("it can be deleted");
    assert_eq!(pair.tc(&["filter", "show", "dev", "va", "ingress"]), before);
    assert_eq!(pair.tc(&["filter", "show", "dev", "va", "egress"]), "");
    // A filter at the marker's place is not mistaken for it.
    let place = ["filter", "add", "dev", "va", "egress", "prio", "50000", "handle", "0x7472"];
    pair.tc(&[&place[..], &["bpf", "da", "bytecode", PASS]].concat());
    let foreign = add("va", &settings(Vec::new()), netns);
    assert!(matches!(&foreign, Err(Error::Input(m)) if m.contains("foreign filter")), "{foreign:?}");
    assert!(del("va", netns).is_err());
    assert!(pair.tc(&["filter", "show", "dev", "va", "egress"]).contains("0x7472"));
    // The other qdisc for that place has no egress.
    pair.tc(&["qdisc", "del", "dev", "va", "clsact"]);
    pair.tc(&["qdisc", "add", "dev", "va", "ingress"]);
    let ingress = add("va", &settings(Vec::new()), netns);
    assert!(matches!(&ingress, Err(Error::Input(m)) if m.contains("qdisc `ingress`")), "{ingress:?}");
    assert!(pair.tc(&["qdisc", "show", "dev", "va"]).contains("ingress"));
}
