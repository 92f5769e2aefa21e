//! Standard growth, RFC 5681 eq. (3), of the controllers that do not couple.

use tresse_controllers::Ack;

use super::group;
use super::meter::increase;

const STANDARD: [&str; 2] = ["dctcp", "reno"];

#[test]
fn a_packet_is_worth_one_over_the_window() {
    for name in STANDARD {
        for window in [2, 3, 10, 99, 1000, 12_345, 131_071] {
            let mut group = group(name, 1, window);
            group[0].ssthresh = window;
            let measured = increase(&mut group, 0, 1.0 / f64::from(window));
            let off = (measured * f64::from(window) - 1.0).abs();
            assert!(off < 1e-8, "{name}, {window}: {measured:e}");
        }
    }
}

/// A window of packets adds one. 1/w is cut off in Q48, so the packet may come one ACK late.
#[test]
fn a_window_of_packets_adds_one() {
    for name in STANDARD {
        for window in [2, 3, 7, 10, 64, 99, 1000] {
            let mut group = group(name, 1, window);
            group[0].ssthresh = window;
            for _ in 1..window {
                group.grow(0, &Ack { delivered: 1, ..Ack::default() });
                assert_eq!(group[0].cwnd, window, "{name}: less than a window of packets");
            }
            group.grow(0, &Ack { delivered: 2, ..Ack::default() });
            assert_eq!(group[0].cwnd, window + 1, "{name}: a window of packets, and one more");
        }
    }
}
