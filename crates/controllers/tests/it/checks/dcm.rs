//! DCM is LIA's increase and DCTCP's cut, to the last bit; only the floor is its own.

use proptest::prelude::*;
use tresse_controllers::{Ack, Cause, MAX_SUBFLOWS};

use super::group;
use crate::host::{Hook, show};
use crate::host::{LONGEST_RTT, SHORTEST_RTT, calls, config, events, logarithmic};

proptest! {
    #![proptest_config(config(256))]

    /// Each call is made on the same windows; so the three never part.
    #[test]
    fn it_grows_as_lia_and_is_cut_as_dctcp(count in 1..=8usize, events in events(400)) {
        let (mut dcm, mut lia, mut dctcp) =
            (group("dcm", count, 10), group("lia", count, 10), group("dctcp", count, 10));
        for call in calls(count, &events) {
            let i = call.subflow;
            for group in [&mut dcm, &mut lia, &mut dctcp] {
                show(group, &call);
            }
            match call.hook {
                Hook::Ack(ack) => {
                    dcm.ack(i, &ack);
                    dctcp.ack(i, &ack);
                }
                Hook::Grow(ack) => {
                    dcm.grow(i, &ack);
                    lia.grow(i, &ack);
                    prop_assert_eq!(dcm[i].cwnd, lia[i].cwnd, "{:?}", call);
                }
                Hook::Congestion(cause) => {
                    let own = dcm.congestion(i, cause).expect("cut");
                    let window = dctcp.congestion(i, cause).expect("cut");
                    lia.congestion(i, cause).expect("cut"); // forgets its fraction
                    prop_assert_eq!(own.max(2), window, "{:?}", call);
                    (dcm[i].cwnd, dcm[i].ssthresh) = (own.min(dcm[i].cwnd), own);
                }
                Hook::Timeout => {
                    dcm.timeout(i);
                    dctcp.timeout(i);
                    dcm[i].cwnd = 1;
                }
                Hook::Window(cwnd, ssthresh) => (dcm[i].cwnd, dcm[i].ssthresh) = (cwnd, ssthresh),
            }
            dcm[i].cwnd = dcm[i].cwnd.min(tresse_controllers::CWND_LIMIT - 1);
            for group in [&mut lia, &mut dctcp] {
                (group[i].cwnd, group[i].ssthresh) = (dcm[i].cwnd, dcm[i].ssthresh);
            }
        }
    }

    /// Slides, "Our approach": no subflow is more eager than a DCTCP there.
    #[test]
    fn it_never_grows_faster_than_dctcp(
        subflows in prop::collection::vec(
            (logarithmic(2, 100_000), logarithmic(SHORTEST_RTT, LONGEST_RTT)),
            1..=MAX_SUBFLOWS,
        ),
        delivered in 1..=10_000u32,
    ) {
        let (mut dcm, mut dctcp) = (group("dcm", subflows.len(), 10), group("dctcp", 1, 10));
        for (i, &(window, rtt)) in subflows.iter().enumerate() {
            (dcm[i].cwnd, dcm[i].ssthresh, dcm[i].srtt) = (window, window, rtt);
        }
        (dctcp[0].cwnd, dctcp[0].ssthresh, dctcp[0].srtt) = (subflows[0].0, subflows[0].0, subflows[0].1);
        let ack = Ack { delivered, ..Ack::default() };
        dcm.grow(0, &ack);
        dctcp.grow(0, &ack);
        prop_assert!(dcm[0].cwnd <= dctcp[0].cwnd);
    }
}

/// The author's CwndMin: 1 packet, after a mark as after a loss.
#[test]
fn the_floor_is_one_packet() {
    for cause in [Cause::Mark, Cause::Loss, Cause::Local] {
        for (window, expected) in [(1, 1), (2, 1), (4, 2)] {
            let mut group = group("dcm", 1, window); // alpha = 1
            let cut = group.congestion(0, cause).expect("cut");
            // Half of 1 packet is none: a mark's cut is rounded down.
            assert_eq!(cut, expected, "{window}, {cause:?}");
        }
    }
}
