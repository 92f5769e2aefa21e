//! From rack to rack: senders and receivers, and their randomness.

use std::collections::BTreeMap;

use tresse_workload::{RackToRack, Size};

const OPN: RackToRack = RackToRack { rack: 50, size: Size::Fixed(800 * 1460), seed: 1 };

#[test]
fn every_host_of_a_rack_sends_one_flow_and_every_host_of_the_other_receives_one() {
    for round in 0..20 {
        let transfers = OPN.round(round);
        assert!(transfers.iter().map(|t| t.from).eq(0..50));
        let mut to: Vec<u32> = transfers.iter().map(|t| t.to).collect();
        to.sort_unstable();
        assert!(to.into_iter().eq(50..100));
        assert!(transfers.iter().all(|t| t.bytes == 800 * 1460));
    }
}

#[test]
fn rounds_and_seeds_are_drawn_anew_and_repeat() {
    assert_eq!(OPN.round(3), OPN.round(3));
    assert_ne!(OPN.round(3), OPN.round(4));
    assert_ne!(OPN.round(3), RackToRack { seed: 2, ..OPN }.round(3));
}

#[test]
fn every_assignment_of_three_is_equally_likely() {
    // There are 6; 6000 draws give 1000 each, with a standard deviation of 29.
    let mut seen = BTreeMap::<Vec<u32>, u32>::new();
    for seed in 0..6000 {
        let pattern = RackToRack { rack: 3, size: Size::Fixed(1), seed };
        *seen.entry(pattern.round(0).iter().map(|t| t.to).collect()).or_default() += 1;
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
}
