//! Virtualised hosts: mappings, the paths of packets, caps, and remapping.

use proptest::prelude::*;
use tresse_fabric::{
    Arrival, Balancing, Ecn, Fabric, FixedPaths, Header, Mapping, NonEct, Path, PortCounters, Probability,
    QueuedPortConfig, Threshold, Topology, VirtualHosts, VirtualHostsConfig, VirtualHostsError,
};
use tresse_units::{MICROSECOND, NEVER, SECOND};

const GIGABIT: u64 = 1_000_000_000;

fn config(hosts: u32, machines: u32, mapping: &[Mapping]) -> VirtualHostsConfig {
    VirtualHostsConfig {
        hosts,
        nics: 2,
        machines,
        virtual_nics: 2,
        mapping: mapping.to_vec(),
        rate: [300_000_000, 10 * GIGABIT, 40 * GIGABIT],
        receive: None,
        delay: [MICROSECOND, 2 * MICROSECOND, 3 * MICROSECOND],
        limit: [Threshold::packets(500); 3],
        mark: [Threshold::UNLIMITED; 3],
        host: (Threshold::packets(100), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
        spare: Vec::new(),
    }
}

fn build(config: VirtualHostsConfig) -> (VirtualHosts, Topology) {
    let hosts = VirtualHosts::new(config).expect("valid");
    let topology = hosts.topology();
    (hosts, topology)
}

fn fabric(topology: &Topology) -> Fabric<u32> {
    let network = topology.network.clone();
    let balancing = Balancing::Ecmp;
    Fabric::new(&topology.ports(1), 1, 1).with_forwarding(network, balancing, 1)
}

/// The names of the ports that let something in since `before`.
fn used(fabric: &Fabric<u32>, topology: &Topology, before: &[PortCounters]) -> Vec<String> {
    let counters = fabric.ports().iter().map(|p| p.counters());
    let changed = counters.zip(before).zip(0..).filter(|((now, before), _)| now.bytes > before.bytes);
    changed.map(|(_, port)| topology.end_names(port).join(" -> ")).collect()
}

/// Sends one packet and returns where it went.
fn trace(fabric: &mut Fabric<u32>, topology: &Topology, from: u32, to: u32) -> Vec<String> {
    let before: Vec<_> = fabric.ports().iter().map(|p| p.counters()).collect();
    let route = fabric.add_forwarded(from, to);
    if fabric.send(route, Header::new(1500, Ecn::NotEct), 0) {
        while fabric.advance(NEVER, &()).is_some() {}
    }
    used(fabric, topology, &before)
}

#[test]
fn packets_leave_and_enter_by_the_nics_that_virtual_ones_are_mapped_to() {
    let (_, topology) = build(config(3, 2, &[Mapping::Disjoint, Mapping::Shared, Mapping::Disjoint]));
    assert_eq!((topology.hosts(), topology.network.hosts, topology.network.nodes), (6, 12, 12 + 6 + 2));
    assert_eq!((topology.addresses(0), topology.addresses(5)), (0..2, 10..12));
    let mut fabric = fabric(&topology);
    // Machine 0.0's second virtual NIC to machine 2.1's second: both on the second physical NIC.
    assert_eq!(
        trace(&mut fabric, &topology, 1, 11),
        [
            "vnic 0.0.1 -> bridge 0.1",
            "bridge 2.1 -> vnic 2.1.1",
            "bridge 0.1 -> switch 1",
            "switch 1 -> bridge 2.1"
        ]
    );
    // Machine 1.0 has both on its host's first physical NIC, so this one comes over the trunk.
    assert_eq!(
        trace(&mut fabric, &topology, 1, 5),
        [
            "vnic 0.0.1 -> bridge 0.1",
            "bridge 1.0 -> vnic 1.0.1",
            "bridge 0.1 -> switch 1",
            "switch 0 -> bridge 1.0",
            "switch 1 -> switch 0"
        ]
    );
    // Two machines on one bridge meet there; on different ones they meet outside the host.
    assert_eq!(trace(&mut fabric, &topology, 0, 2), ["vnic 0.0.0 -> bridge 0.0", "bridge 0.0 -> vnic 0.1.0"]);
    assert_eq!(trace(&mut fabric, &topology, 0, 3).len(), 5);
}

#[test]
fn mappings_are_what_they_are_called() {
    let mappings = [Mapping::Disjoint, Mapping::Shared, Mapping::Hashed, Mapping::HalfShared];
    let (hosts, topology) = build(VirtualHostsConfig { virtual_nics: 3, ..config(4, 4000, &mappings) });
    let nics = |machine: u32| topology.addresses(machine).map(|v| hosts.bridge(v)).collect::<Vec<_>>();
    assert_eq!([nics(0), nics(3999)], [vec![0, 1, 0], vec![0, 1, 0]]);
    assert_eq!([nics(4000), nics(4001)], [vec![2; 3], vec![3; 3]]);
    // All three on one of two physical NICs: 1/4 of the machines, within four standard deviations.
    let one = (8000..12_000).filter(|&m| nics(m).windows(2).all(|w| w[0] == w[1])).count();
    assert!((one as i64 - 1000).abs() < 4 * 28, "{one} of 4000");
    assert!((8000..12_000).flat_map(nics).all(|b| b == 4 || b == 5), "on its own host");
    let half = [12_000, 12_001, 12_002, 12_003, 12_004, 12_005].map(nics);
    let [apart, zero, one] = [[6, 7, 6], [6; 3], [7; 3]];
    assert_eq!(half, [apart, zero, apart, one, apart, zero]);
    let racks: Vec<u32> = [3999, 4000, 11_999].map(|m| topology.racks[m]).to_vec();
    assert_eq!(racks, [0, 1, 2]);
}

/// A mapping may put all virtual NICs on one physical one; a host that has only one leaves it no choice.
#[test]
fn a_hosts_only_physical_nic_is_unavoidable() {
    let unavoidable = |nics| {
        let mapping = [Mapping::Shared; 2];
        let (hosts, topology) = build(VirtualHostsConfig { nics, ..config(2, 1, &mapping) });
        let Path { there, back } = FixedPaths::Virtual(hosts).unavoidable(0, 1);
        [there, back]
            .map(|ports| ports.iter().map(|&p| topology.end_names(p).join(" -> ")).collect::<Vec<_>>())
    };
    assert_eq!(unavoidable(2), [const { Vec::<String>::new() }; 2]);
    let one =
        ["0.0", "1.0"].map(|nic| [format!("bridge {nic} -> switch 0"), format!("switch 0 -> bridge {nic}")]);
    let [[up, _], [_, down]] = one.clone();
    let [[_, down_back], [up_back, _]] = one;
    assert_eq!(unavoidable(1), [vec![up, down], vec![up_back, down_back]]);
}

#[test]
fn a_cap_holds_whatever_else_is_idle_and_has_its_own_buffer() {
    let (_, topology) = build(config(2, 1, &[Mapping::Disjoint; 2]));
    let mut fabric = fabric(&topology);
    let route = fabric.add_forwarded(0, 2);
    let sent = (0..150).filter(|&i| fabric.send(route, Header::new(1500, Ecn::NotEct), i)).count();
    assert_eq!(sent, 101, "one in transmission, 100 behind the cap");
    let mut last = 0;
    while let Some(Arrival::Delivered(_)) = fabric.advance(NEVER, &()) {
        last = fabric.now();
    }
    // 101 packets at the cap, then three hops of 10 Gbit/s, then the delays.
    let expected = 101 * 1500 * 8 * SECOND / 300_000_000 + 3 * 1500 * 8 * SECOND / (10 * GIGABIT);
    // A port's pace is exact to 1 ps a packet.
    assert!(last.abs_diff(expected + 6 * MICROSECOND) <= 104, "{last}");
    let receive = VirtualHostsConfig { receive: Some(100_000_000), ..config(2, 1, &[Mapping::Shared; 2]) };
    let (_, topology) = build(receive);
    let rates: Vec<u64> = [0, 4, 8].map(|port| topology.rate(port)).to_vec();
    assert_eq!(rates, [300_000_000, 100_000_000, 10 * GIGABIT]);
}

#[test]
fn a_remapped_virtual_nic_is_found_at_its_new_place() {
    // Machine 0.0's first virtual NIC: to the other physical NIC, then with its machine to host 1.
    let spare = vec![[0, 1], [0, 2]];
    let (hosts, topology) = build(VirtualHostsConfig { spare, ..config(3, 1, &[Mapping::Disjoint; 3]) });
    let bridges = [0, 1, 2].map(|bridge| hosts.link(0, bridge).expect("a link"));
    for (ports, bridge) in bridges.iter().zip(["bridge 0.0", "bridge 0.1", "bridge 1.0"]) {
        assert_eq!(topology.end_names(ports[0]), ["vnic 0.0.0", bridge]);
        assert_eq!(topology.end_names(ports[1]), [bridge, "vnic 0.0.0"]);
    }
    assert_eq!(hosts.link(0, 3), None);
    assert_eq!(hosts.down().collect::<Vec<_>>(), [bridges[1], bridges[2]].concat());
    let queued = |&port: &u32| (port, QueuedPortConfig::plain(&topology.configs[port as usize]));
    let queued_ports: Vec<_> = bridges.iter().flatten().map(queued).collect();
    let mut fabric = fabric(&topology).with_queued_ports(&queued_ports, &[]);
    for port in hosts.down() {
        fabric.set_link(port, false);
    }
    fabric.reroute();
    let before = trace(&mut fabric, &topology, 4, 0);
    assert!(before.contains(&"bridge 0.0 -> vnic 0.0.0".to_owned()), "{before:?}");
    for (place, name) in [(1, "bridge 0.1"), (2, "bridge 1.0")] {
        for port in bridges[place - 1] {
            fabric.set_link(port, false);
        }
        for port in bridges[place] {
            fabric.set_link(port, true);
        }
        // The others do not know yet.
        let lost = trace(&mut fabric, &topology, 4, 0);
        assert!(!lost.iter().any(|hop| hop.ends_with("vnic 0.0.0")), "{lost:?}");
        fabric.reroute();
        let there = trace(&mut fabric, &topology, 4, 0);
        assert!(there.contains(&format!("{name} -> vnic 0.0.0")), "{there:?}");
        let back = trace(&mut fabric, &topology, 0, 4);
        assert!(back.contains(&format!("vnic 0.0.0 -> {name}")), "{back:?}");
        // No virtual NIC passes on packets for another one.
        let other = trace(&mut fabric, &topology, 4, 3);
        assert!(other.iter().all(|hop| !hop.contains("vnic 0.0.0")), "{other:?}");
    }
}

#[test]
fn what_cannot_be_built_is_refused() {
    let base = config(2, 1, &[Mapping::Disjoint; 2]);
    let error = |config| VirtualHosts::new(config).map(drop);
    assert_eq!(error(VirtualHostsConfig { nics: 0, ..base.clone() }), Err(VirtualHostsError::Size(4, 0)));
    let many = VirtualHostsConfig { machines: u32::MAX, ..base.clone() };
    assert_eq!(error(many), Err(VirtualHostsError::Size(4 * u64::from(u32::MAX), 4)));
    // Trunks grow as the square of the NICs: 2896 of them make 2896 x 2895, and 2 (4 + 5792) other ports.
    let trunks = |nics| VirtualHostsConfig { nics, ..base.clone() };
    assert_eq!(error(trunks(2896)), Err(VirtualHostsError::Ports { ports: 8_395_512, nics: 2896 }));
    assert_eq!(error(trunks(2894)), Ok(()));
    let ports = 2 * (4 + 2 * 2894 + 2400) + 2894 * 2893;
    let spare = (0..2400).map(|i| [0, 2894 + i]).collect();
    let remapped = VirtualHostsConfig { spare, ..trunks(2894) };
    assert_eq!(error(remapped), Err(VirtualHostsError::Ports { ports, nics: 2894 }));
    let one = VirtualHostsConfig { mapping: vec![Mapping::Shared], ..base.clone() };
    assert_eq!(error(one), Err(VirtualHostsError::Mappings(1, 2)));
    for spare in [vec![[0, 0]], vec![[4, 0]], vec![[0, 4]], vec![[0, 1], [0, 1]]] {
        let [v, b] = spare[spare.len() - 1];
        let config = VirtualHostsConfig { spare, ..base.clone() };
        assert_eq!(error(config), Err(VirtualHostsError::Spare(v, b)));
    }
}

proptest! {
    /// Every virtual NIC reaches every other by the NICs of their mappings, whatever the sizes are.
    #[test]
    fn every_virtual_nic_reaches_every_other(
        (hosts, machines, nics, virtual_nics) in (1..4u32, 1..4u32, 1..4u32, 1..4u32),
        mapping in prop::collection::vec(
            prop::sample::select(vec![Mapping::Disjoint, Mapping::Shared, Mapping::HalfShared, Mapping::Hashed]), 3),
    ) {
        let mapping = &mapping[..hosts as usize];
        let config = VirtualHostsConfig { nics, virtual_nics, ..config(hosts, machines, mapping) };
        let (hosts, topology) = build(config);
        let mut fabric = fabric(&topology);
        let bridges = topology.network.hosts;
        for from in 0..bridges {
            for to in (0..bridges).filter(|&to| to != from) {
                let hops = trace(&mut fabric, &topology, from, to);
                let name = |node: u32| &topology.node_names[node as usize];
                let first = format!("{} -> {}", name(from), name(bridges + hosts.bridge(from)));
                let last = format!("{} -> {}", name(bridges + hosts.bridge(to)), name(to));
                prop_assert!(hops.contains(&first) && hops.contains(&last), "{hops:?}");
                let direct = hosts.bridge(from) == hosts.bridge(to);
                let across = hosts.bridge(from) % nics != hosts.bridge(to) % nics;
                prop_assert_eq!(hops.len(), if direct { 2 } else { 4 + usize::from(across) });
            }
        }
        // The fixed routes are the same as the nodes', and cover every pair of addresses once.
        let routes = FixedPaths::Virtual(hosts);
        let others = (0..topology.hosts()).flat_map(|a| (0..topology.hosts()).map(move |b| [a, b]));
        for [a, b] in others.filter(|[a, b]| a != b) {
            let drawn = routes.draw(a, b, routes.most(), |_| 0);
            let mut pairs: Vec<_> = drawn.iter().map(|route| ends(&topology, route)).collect();
            for (route, &[from, to]) in drawn.iter().zip(&pairs) {
                for (ports, [from, to]) in [(&route.there, [from, to]), (&route.back, [to, from])] {
                    let name = |&port: &u32| topology.end_names(port).join(" -> ");
                    let mut names: Vec<_> = ports.iter().map(name).collect();
                    let mut found = trace(&mut fabric, &topology, from, to);
                    names.sort();
                    found.sort();
                    prop_assert_eq!(names, found);
                    prop_assert!(ports.len() <= routes.longest());
                }
            }
            let disjoint = pairs[..virtual_nics as usize].iter();
            prop_assert!(disjoint.clone().all(|[x, y]| x % virtual_nics == y % virtual_nics));
            pairs.sort();
            let expected = topology.addresses(a).flat_map(|x| topology.addresses(b).map(move |y| [x, y]));
            prop_assert_eq!(pairs, expected.collect::<Vec<_>>());
        }
    }
}

/// The virtual NICs at the two ends of a route.
fn ends(topology: &Topology, route: &Path) -> [u32; 2] {
    let end = |port: Option<&u32>, end: usize| topology.network.ends[*port.expect("a port") as usize][end];
    [end(route.there.first(), 0), end(route.there.last(), 1)]
}
