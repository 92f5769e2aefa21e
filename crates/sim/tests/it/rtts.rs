//! The RTTs that are recorded at every ACK.

use tresse_fabric::Histogram;
use tresse_sim::{FlowRecord, FlowSpec, World};
use tresse_units::{MICROSECOND, SECOND};

use crate::common::{Acking, Bottleneck, GIGABIT, MSS, Net, flow, run_until, scheme};

const BASE: u64 = 225 * MICROSECOND;
/// A full packet at 1 Gbit/s.
const PACKET: u64 = 12 * MICROSECOND;

/// A message of this many segments in each group, each alone on its link.
fn run(groups: usize, segments: &[u64]) -> (World, Vec<FlowRecord>) {
    let net = Net::new(BASE, &[Bottleneck::drop_tail(GIGABIT, 1000); 2], 2);
    let mut world = match groups {
        0 => net.world(),
        n => net.world().with_rtts(n),
    };
    let reno = scheme("reno", &[]);
    for (id, segments) in (0..).zip(segments) {
        let path = net.path(id, id);
        let spec = flow(id.into(), &reno, Acking::Each, segments * u64::from(MSS), vec![path]);
        world.start(FlowSpec { group: id, ..spec });
    }
    let records = run_until(&mut world, SECOND);
    assert_eq!(records.len(), segments.len());
    (world, records)
}

/// In slow start, of a window of 2^i packets two leave whenever an ACK comes, one transmission after the last one: the
/// n-th of 0, 1, … waits for half of the n before it, rounded up. The message has arrived before the last window's ACKs.
#[test]
fn those_of_a_flow_alone_are_what_its_own_queue_makes_of_the_base_rtt() {
    let (world, _) = run(2, &[1 + 2 + 4 + 8, 1 + 2]);
    let recorded = |windows: &[u64]| {
        let mut rtts = Histogram::new();
        for n in windows.iter().flat_map(|&window| 0..window) {
            rtts.record(BASE + n.div_ceil(2) * PACKET);
        }
        rtts
    };
    assert_eq!(world.rtts(), [recorded(&[1, 2, 4]), recorded(&[1])]);
}

#[test]
fn recording_changes_nothing() {
    let segments = [500, 1000];
    let ((recording, one), (silent, other)) = (run(2, &segments), run(0, &segments));
    assert_eq!((one, recording.packets()), (other, silent.packets()));
    assert!(silent.rtts().is_empty());
}
