//! RED by rounds beside packets: goodputs, and the queue that it holds.

use tresse_fabric::{Fabric, NonEct, RedConfig, Threshold};
use tresse_rounds::Rounds;
use tresse_sim::World;
use tresse_units::{MICROSECOND, MILLISECOND, Time};

use crate::beside_packets::{Both, LINKS, PACKET, RATE, flow, ports};

const FLOWS: u64 = 4;

/// What has arrived in a second, as a share of both links, and the mean queue of the first link, packets.
fn measured(network: &mut dyn Both, controller: &str) -> [f64; 2] {
    (0..FLOWS).for_each(|id| network.begin(flow(id, controller, 1, 1 << 40)));
    network.until(200 * MILLISECOND);
    let arrived = |network: &dyn Both| (0..FLOWS).map(|id| network.arrived(id)).sum::<u64>() as f64;
    let before = arrived(network);
    let (mut queue, samples) = (0, 8000);
    for sample in 1..=samples {
        network.until(200 * MILLISECOND + sample * 100 * MICROSECOND as Time);
        queue += network.waiting(LINKS[0]);
    }
    let seconds = samples as f64 * 100e-6;
    [(arrived(network) - before) * 8.0 / (2.0 * RATE as f64 * seconds), queue as f64 / samples as f64]
}

/// The average follows the queue at once (weight 0), over 16 packets, or over 512 as in the paper; gaps between signals are
/// geometric or uniform.
#[test]
fn red_holds_the_queue_that_it_holds_by_packets() {
    for (controller, weight, uniform, within) in
        [("dctcp", 0, false, 0.1), ("dctcp", 4, true, 0.1), ("xmp", 4, false, 0.1), ("xmp", 9, true, 0.25)]
    {
        let red = |port: u32| RedConfig {
            min: Threshold::packets(10),
            max: Threshold::packets(40),
            probability: 1 << 13,
            weight,
            gentle: true,
            uniform,
            stream: (1, port),
        };
        let mut ports = ports(FLOWS as u32);
        for link in LINKS {
            let port = &mut ports[link as usize];
            (port.red, port.mark, port.non_ect) = (Some(red(link)), Threshold::UNLIMITED, NonEct::Drop);
        }
        let mut world = World::on(Fabric::new(&ports, 2, 1));
        let mut rounds = Rounds::new(Fabric::new(&ports, 2, 1), PACKET, 1);
        let packets = measured(&mut world, controller);
        let rounds = measured(&mut rounds, controller);
        let [goodput, queue] = [0, 1].map(|i| rounds[i] / packets[i] - 1.0);
        assert!(goodput.abs() < 0.01, "{controller}, weight {weight}: {packets:.3?} {rounds:.3?}");
        assert!(queue.abs() < within, "{controller}, weight {weight}: {packets:.3?} {rounds:.3?}");
    }
}
