//! HOLNET's fluid models over time, against the controllers themselves, ACK by ACK.

use std::sync::Arc;

use tresse_controllers::{Ack, ConfiguredController, Group, find};
use tresse_optimum::fluid::{Fluid, Link, Signal};

use crate::networks::{connection, network, of_controller, path};

/// The initial windows, in packets.
const FIRST: u32 = 10;

/// Windows after `seconds` without congestion, of subflows with these RTTs: every RTT a window of ACKs.
fn controller(name: &str, set: &[(&str, u64)], rtts_ms: &[u32], seconds: u32) -> Vec<f64> {
    let scheme = ConfiguredController::new(find(name).unwrap(), set.iter().copied()).unwrap();
    let mut group = Group::new(Arc::new(scheme), rtts_ms.len(), FIRST);
    for (i, rtt) in rtts_ms.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt, group[i].mss) = (FIRST, 1, rtt * 8000, 1500);
    }
    for ms in 1..=seconds * 1000 {
        for i in (0..rtts_ms.len()).filter(|&i| ms % rtts_ms[i] == 0) {
            let delivered = group[i].cwnd;
            group.grow(i, &Ack { delivered, ..Ack::default() });
        }
    }
    (0..rtts_ms.len()).map(|i| f64::from(group[i].cwnd)).collect()
}

/// The same for the fluid model.
fn fluid(name: &str, set: &[(&str, u64)], rtts_ms: &[u32], seconds: u32) -> Vec<f64> {
    let scheme = of_controller(name, set, rtts_ms.len()).unwrap();
    let paths = rtts_ms.iter().enumerate().map(|(i, rtt)| path(&[i], f64::from(*rtt))).collect();
    let mut c = connection(scheme, paths);
    // A window starts a tenth of a packet above its floor.
    c.min_window_pkts = f64::from(FIRST) - 0.1;
    let links = vec![Link::Random(0.0); rtts_ms.len()];
    let mut fluid = Fluid::new(network(Signal::PerRound, links, vec![c])).unwrap();
    fluid.advance(f64::from(seconds), 1).unwrap().remove(0).windows_pkts.remove(0)
}

fn alike(name: &str, set: &[(&str, u64)], rtts_ms: &[u32], seconds: u32) -> Vec<f64> {
    let there = controller(name, set, rtts_ms, seconds);
    let here = fluid(name, set, rtts_ms, seconds);
    for (here, there) in here.iter().zip(&there) {
        // A controller's window is in whole packets, rounded down, and it sees its siblings' windows like
        // this too.
        let range = there * 0.98..there * 1.02 + 1.0;
        assert!(range.contains(here), "{name} {set:?} {rtts_ms:?}: {here} is not {there}");
    }
    there
}

/// THESIS (2.19): at rates far above X a window grows by g price X T a round, here 500 kbit/s times T.
#[test]
fn holnet_cc_is_as_fast_as_the_controller() {
    for rtt in [5, 20, 80] {
        let grown = alike("holnet_cc", &[], &[rtt], 20)[0] - f64::from(FIRST);
        assert!((0.9..1.02).contains(&(grown / (0.5e6 * 20.0 / 12_000.0))), "{grown} packets at {rtt} ms");
    }
    for set in [("alpha", 750), ("weight", 4000), ("gamma", 100), ("reference", 100_000), ("price", 10)] {
        alike("holnet_cc", &[set], &[20], 20);
    }
}

/// THESIS (2.20): eps is two packets in each subflow's own RTT.
#[test]
fn holnet_mcc_grows_each_subflow_by_its_own_rtt() {
    for rtts in [[20, 20], [10, 40], [60, 20]] {
        alike("holnet_mcc", &[], &rtts, 20);
    }
}
