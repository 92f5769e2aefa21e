//! XMP's pattern Random.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tresse_units::Time;
use tresse_workload::{RandomConfig, RandomPattern, Size, Source};

use crate::common::{Seen, drive, random};

const XMP: RandomConfig = RandomConfig {
    hosts: 128,
    racks: None,
    size: Size::Uniform(64_000_000, 768_000_000),
    per_host: 1,
    at_most: 4,
    flows: None,
    seed: 1,
};

fn run(config: &RandomConfig, salt: u64, most: usize) -> Seen {
    drive(&mut RandomPattern::new(config.clone()), random(salt), most)
}

/// Replays the record in order, and calls `look` after every step with the flows that each host sends and
/// receives.
fn replay(config: &RandomConfig, seen: &Seen, mut look: impl FnMut(Time, &[u32], &[u32])) {
    let (mut sends, mut receives) = (vec![0u32; config.hosts as usize], vec![0u32; config.hosts as usize]);
    let flows = seen.by_name();
    let mut finishes = seen.finishes.iter().peekable();
    let mut starts = seen.starts.iter().peekable();
    loop {
        let finish = finishes.peek().map_or(Time::MAX, |f| f.0);
        match starts.next_if(|&&(time, _)| time < finish) {
            Some((_, start)) => {
                sends[start.from as usize] += 1;
                receives[start.to as usize] += 1;
            }
            None => {
                let Some(&(_, name)) = finishes.next() else { return };
                let flow = flows[&name];
                sends[flow.from as usize] -= 1;
                receives[flow.to as usize] -= 1;
                // The flow that follows it starts at the same time.
                while let Some((_, start)) = starts.next_if(|&&(time, _)| time == finish) {
                    sends[start.from as usize] += 1;
                    receives[start.to as usize] += 1;
                }
            }
        }
        look(finish, &sends, &receives);
    }
}

#[test]
fn every_host_always_sends_and_none_receives_more_than_four() {
    let seen = run(&XMP, 1, 5000);
    assert_eq!(seen.starts.len(), 5000);
    assert!(seen.starts[..128].iter().all(|&(time, _)| time == 0));
    let mut most = 0;
    let mut steps = 0;
    replay(&XMP, &seen, |_, sends, receives| {
        steps += 1;
        most = most.max(*receives.iter().max().expect("hosts"));
        assert!(receives.iter().all(|&n| n <= 4));
        // The first 128 steps only fill it.
        assert!(steps <= 128 || sends.iter().all(|&n| n == 1), "step {steps}: {sends:?}");
    });
    assert_eq!(most, 4);
}

#[test]
fn destinations_are_uniform() {
    let config = RandomConfig { hosts: 10, at_most: 100, ..XMP };
    let mut seen = BTreeMap::<(u32, u32), u32>::new();
    for (_, start) in run(&config, 1, 45_000).starts {
        *seen.entry((start.from, start.to)).or_default() += 1;
    }
    // 90 pairs with about 500 each; senders differ in how many they had.
    let chi: f64 = seen.values().map(|&n| (f64::from(n) - 500.0).powi(2) / 500.0).sum();
    assert!(seen.len() == 90 && chi < 89.0 + 5.0 * (2.0f64 * 89.0).sqrt(), "{chi}");
}

#[test]
fn flows_may_be_held_to_leave_their_rack() {
    let racks: Vec<u32> = (0..128).map(|host| host / 4).collect();
    let config = RandomConfig { racks: Some(racks), ..XMP };
    assert!(run(&config, 1, 3000).starts.iter().all(|(_, start)| start.from / 4 != start.to / 4));
}

#[test]
fn a_host_waits_until_another_is_free() {
    // Two hosts, each of which may receive one flow: of three flows per host, two wait.
    let config = RandomConfig { hosts: 2, per_host: 3, at_most: 1, flows: Some(60), ..XMP };
    let seen = run(&config, 1, usize::MAX);
    assert!(seen.is_over);
    assert_eq!((seen.starts.len(), seen.finishes.len()), (60, 60));
    replay(&config, &seen, |_, sends, _| assert!(sends.iter().all(|&n| n <= 1)));
    // The one that waited longest is first: all lanes take turns.
    let lanes = |host: u32| -> Vec<u64> {
        let starts = seen.starts.iter().filter(|(_, s)| s.from == host);
        starts.take(9).map(|(_, s)| s.name >> 24 & 0xff).collect()
    };
    assert_eq!(lanes(0), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(lanes(1), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn more_flows_a_host_change_no_size() {
    let one = run(&XMP, 1, 1000).by_name();
    let two = run(&RandomConfig { per_host: 2, ..XMP }, 1, 3000).by_name();
    let mut both = 0;
    for (name, flow) in &one {
        if let Some(other) = two.get(name) {
            assert_eq!((flow.from, flow.bytes), (other.from, other.bytes));
            both += 1;
        }
    }
    assert!(both > 500, "{both}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn it_ends_keeps_its_limits_and_its_draws(
        hosts in 2u32..20, per_host in 1u32..4, at_most in 1u32..5, flows in 0u64..300,
        seed in 0u64..100, salts in any::<[u64; 2]>(), is_apart in any::<bool>(),
    ) {
        let racks = is_apart.then(|| (0..hosts).map(|host| host % 2).collect());
        let config = RandomConfig { hosts, racks, per_host, at_most, flows: Some(flows), seed, ..XMP };
        let [a, b] = salts.map(|salt| run(&config, salt, usize::MAX));
        prop_assert!(a.is_over && a.starts.len() as u64 == flows);
        prop_assert_eq!(RandomPattern::new(config.clone()).expected_bytes(), 416_000_000 * flows);
        for seen in [&a, &b] {
            replay(&config, seen, |_, sends, receives| {
                assert!(sends.iter().all(|&n| n <= per_host) && receives.iter().all(|&n| n <= at_most));
            });
        }
        let others = b.by_name();
        for (name, flow) in a.by_name() {
            if let Some(other) = others.get(&name) {
                prop_assert_eq!((flow.from, flow.bytes), (other.from, other.bytes));
            }
        }
        prop_assert_eq!(a, run(&config, salts[0], usize::MAX));
    }
}
