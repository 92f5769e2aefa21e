//! What a network carries of flows between random pairs, against arithmetic.

use tresse_fabric::{AllowedPairs, Capacity, Topology, capacity_between};

use crate::tier::{GIGABIT, fat_tree, leaf_spine};

fn all(topology: &Topology, inter_rack: bool) -> Capacity {
    let hosts: Vec<u32> = (0..topology.hosts()).collect();
    capacity_between(topology, &AllowedPairs { from: &hosts, to: &hosts, inter_rack }).expect("pairs")
}

#[test]
fn a_full_bisection_is_as_wide_as_the_hosts() {
    let tree = fat_tree(4, [GIGABIT; 3]);
    // Between pods 12 of 15: the core carries a little more than the hosts send.
    assert_eq!(all(&tree, false), Capacity { bisection: 16e9, access: 16e9 });
}

/// OPN §Performance evaluation: 50 hosts on 20 uplinks of the same rate, 2.5 to 1.
#[test]
fn an_oversubscribed_leaf_is_narrow_at_its_uplinks() {
    let leaf_spine = leaf_spine(4, 20, 50, [GIGABIT; 2]);
    assert_eq!(all(&leaf_spine, true), Capacity { bisection: 80e9, access: 200e9 });
    // Of any pair, 150 of 199 leave the rack.
    let any = all(&leaf_spine, false);
    assert!((any.bisection / 80e9 - 199.0 / 150.0).abs() < 1e-6, "{any:?}");
    // Only the first rack sends: its own uplinks.
    let (rack, others): (Vec<u32>, Vec<u32>) = (0..200).partition(|h| *h < 50);
    let one = AllowedPairs { from: &rack, to: &others, inter_rack: false };
    assert_eq!(capacity_between(&leaf_spine, &one), Some(Capacity { bisection: 20e9, access: 50e9 }));
    let none = AllowedPairs { from: &[0], to: &[0], inter_rack: false };
    assert_eq!(capacity_between(&leaf_spine, &none), None);
}
