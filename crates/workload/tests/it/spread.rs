//! Flows spread over a window.

use proptest::prelude::*;
use tresse_units::{NEVER, Time};
use tresse_workload::{Pairs, Size, Source, Spread, SpreadConfig};

use crate::common::{drive, random};

const MS: Time = 1_000_000_000;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn spread_flows_start_in_their_window(
        flows in 0u32..300, window in prop::sample::select(vec![0, 1, 10 * MS]), seed in 0u64..100,
        salts in any::<[u64; 2]>(),
    ) {
        let config = SpreadConfig { pairs: Pairs::any(9), size: Size::Uniform(1, 99), flows, window, seed };
        let [a, b] = salts.map(|salt| drive(&mut Spread::new(config.clone()), random(salt), usize::MAX));
        prop_assert!(a.is_over && a.starts.len() as u32 == flows);
        prop_assert!(a.starts.iter().all(|&(time, _)| time < window.max(1)));
        prop_assert_eq!(&a.starts, &b.starts);
        // One more flow shifts none.
        let more = SpreadConfig { flows: flows + 1, ..config };
        let more = drive(&mut Spread::new(more), random(0), usize::MAX);
        let (mut more, one) = (more.starts, u64::from(flows));
        more.retain(|(_, start)| start.name != one);
        prop_assert_eq!(&a.starts, &more);
    }
}

#[test]
fn starts_are_uniform_over_the_window() {
    // OPN: 1000 flows over 10 ms; here more, for the statistics.
    let size = Size::Fixed(292_000);
    let config = SpreadConfig { pairs: Pairs::any(2000), size, flows: 20_000, window: 10 * MS, seed: 1 };
    let mut source = Spread::new(config);
    assert_eq!(source.expected_bytes(), 20_000 * 292_000);
    let mut tenths = [0u32; 10];
    while source.next() < NEVER {
        let now = source.next();
        tenths[(now / MS) as usize] += 1;
        assert!(source.poll(now).is_some());
    }
    // 2000 each, with a standard deviation of 42.
    assert!(tenths.iter().all(|n| (1830..2170).contains(n)), "{tenths:?}");
}
