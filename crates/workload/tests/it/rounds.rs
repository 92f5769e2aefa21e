//! Patterns in rounds.

use proptest::prelude::*;
use tresse_units::{NEVER, Stream};
use tresse_workload::{Action, Pairing, Permutation, RackToRack, Rounds, RoundsConfig, Size, Source};

use crate::common::{drive, random};

fn rounds(pairing: Pairing, connections: u32, rounds: u32, seed: u64) -> RoundsConfig {
    RoundsConfig { pairing, size: Some(Size::Uniform(1, 1_000_000)), connections, rounds, seed }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn rounds_are_those_of_the_pattern(
        hosts in 2u32..40, connections in 1u32..4, count in 1u32..5, seed in 0u64..100, salt in any::<u64>(),
        is_rack in any::<bool>(),
    ) {
        let size = Size::Uniform(1, 1_000_000);
        let pairing = if is_rack { Pairing::RackToRack(hosts) } else { Pairing::Permutation(hosts) };
        let config = rounds(pairing, connections, count, seed);
        let seen = drive(&mut Rounds::new(config.clone()), random(salt), usize::MAX);
        prop_assert!(seen.is_over);
        prop_assert_eq!(Rounds::new(config).expected_bytes(), 500_000 * u64::from(hosts * connections * count));
        let mut flows = seen.starts.iter();
        for round in 0..count {
            let transfers = if is_rack {
                RackToRack { rack: hosts, size: size.clone(), seed }.round(round)
            } else {
                Permutation { hosts, size: size.clone(), seed }.round(round)
            };
            let last = seen.finishes.iter().filter(|f| f.1 >> 32 < u64::from(round)).map(|f| f.0).max();
            let mut place = 0;
            for transfer in transfers {
                for number in 0..connections {
                    let &(time, flow) = flows.next().expect("one more");
                    let of = u64::from(round) << 32;
                    let bytes = match number {
                        0 => transfer.bytes,
                        n => {
                            let purpose = format!("flow size of connection {n}");
                            size.draw(&mut Stream::new(seed, &purpose, of | u64::from(transfer.from)))
                        }
                    };
                    prop_assert_eq!((flow.name, flow.round), (of | place, round));
                    prop_assert_eq!((flow.from, flow.to, flow.bytes), (transfer.from, transfer.to, Some(bytes)));
                    prop_assert_eq!(time, last.unwrap_or(0));
                    place += 1;
                }
            }
        }
        prop_assert!(flows.next().is_none());
    }
}

#[test]
fn listed_flows_start_at_once_and_each_has_its_own_size() {
    let pairs = vec![(5, 1), (5, 1), (2, 3)];
    let seen = drive(&mut Rounds::new(rounds(Pairing::Listed(pairs), 1, 1, 1)), random(1), usize::MAX);
    assert!(seen.is_over && seen.starts.iter().all(|&(time, _)| time == 0));
    let sizes: Vec<_> = seen.starts.iter().map(|(_, s)| s.bytes).collect();
    assert!(sizes[0] != sizes[1] && sizes[1] != sizes[2], "{sizes:?}");
}

#[test]
fn flows_without_an_end_are_one_round() {
    let config = RoundsConfig { size: None, ..rounds(Pairing::Permutation(8), 1, 5, 1) };
    let mut source = Rounds::new(config);
    let starts: Vec<_> = std::iter::from_fn(|| source.poll(0)).collect();
    assert_eq!(starts.len(), 8);
    assert!(starts.iter().all(|a| matches!(a, Action::Start(s) if s.bytes.is_none())));
    assert!(source.is_endless() && !source.is_over() && source.next() == NEVER);
    assert_eq!(source.expected_bytes(), 0);
}
