//! BOS is XMP on a single path, and halving is BOS with beta = 2: to the last bit.

use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::{Ack, Cause, ConfiguredController, Group, SRTT_LIMIT, find};

use super::group;
use crate::host::{calls, config, events, make};

fn bos(beta: u64) -> Group {
    let controller = find("bos").expect("it is built in");
    let scheme = ConfiguredController::new(controller, [("beta", beta)]).expect("in its range");
    Group::new(Arc::new(scheme), 1, 10)
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn xmp_with_one_subflow_is_bos(events in events(400)) {
        let (mut xmp, mut bos) = (group("xmp", 1, 10), bos(4));
        for call in calls(1, &events) {
            prop_assert_eq!(make(&mut xmp, &call), make(&mut bos, &call), "{:?}", call);
            prop_assert_eq!(xmp[0].cwnd, bos[0].cwnd, "{:?}", call);
        }
    }

    #[test]
    fn halving_is_bos_with_beta_2(events in events(400)) {
        let (mut halving, mut bos) = (group("halving", 1, 10), bos(2));
        for call in calls(1, &events) {
            prop_assert_eq!(make(&mut halving, &call), make(&mut bos, &call), "{:?}", call);
            prop_assert_eq!(halving[0].cwnd, bos[0].cwnd, "{:?}", call);
        }
    }
}

/// Eq. (9) with a rate of 14 bits would add a packet too many in some 10^4 rounds.
#[test]
fn xmp_with_one_subflow_is_bos_in_the_long_run() {
    let (mut xmp, mut bos) = (group("xmp", 1, 2), bos(4));
    (xmp[0].cwnd, bos[0].cwnd) = (2, 2);
    for _ in 0..100_000 {
        for group in [&mut xmp, &mut bos] {
            group[0].srtt = SRTT_LIMIT - 1;
            group[0].ssthresh = 2;
            let ack = Ack { delivered: 1, new_round: 1, ..Ack::default() };
            group.ack(0, &ack);
            group.grow(0, &ack);
        }
        assert_eq!(xmp[0].cwnd, bos[0].cwnd);
        (xmp[0].cwnd, bos[0].cwnd) = (2, 2);
    }
}

/// Fig. 1 (c) and (d): half the window for a mark; in slow start only its end.
#[test]
fn a_mark_halves() {
    for (window, expected) in [(100, 50), (7, 4), (3, 2), (2, 2)] {
        let mut group = group("halving", 1, window);
        assert_eq!(group.congestion(0, Cause::Mark), Some(window), "slow start");
        group[0].ssthresh = 2;
        assert_eq!(group.congestion(0, Cause::Mark), Some(expected));
    }
}
