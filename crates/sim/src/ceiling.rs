//! The ceiling of the simulator's speed: the same fabric, routes and packets with a constant window
//! and nothing else.
//!
//! Every data packet crosses its route; every second one comes back as an ACK, and an ACK sends two data packets.
//! Everything that the simulator does beyond this is transport.

use std::iter;
use std::sync::Arc;

use tresse_fabric::{Arrival, Ecn, Fabric, Happening, Header, PortConfig, RouteId, Sites};
use tresse_units::Time;

/// One constant-window source: its route there and back, and its window in packets.
#[derive(Debug, Clone)]
pub struct ConstantWindow {
    /// Ports to the destination.
    pub there: Vec<u32>,
    /// Ports back.
    pub back: Vec<u32>,
    /// The number of packets that it keeps in flight, even.
    pub window: u32,
}

#[derive(Clone, Copy)]
struct Bare {
    source: u32,
    ack: bool,
}

/// Runs the sources for `duration` on a network with these sites and returns the packet-hops.
pub fn run(
    ports: &[PortConfig],
    sites: Arc<Sites>,
    longest_route: usize,
    sources: &[ConstantWindow],
    bytes: (u32, u32),
    duration: Time,
) -> u64 {
    let mut fabric: Fabric<Bare> = Fabric::new(ports, longest_route, 1).with_sites(sites);
    let routes: Vec<(RouteId, RouteId)> =
        sources.iter().map(|s| (fabric.add_route(&s.there), fabric.add_route(&s.back))).collect();
    let mut received = vec![0u32; sources.len()];
    for (i, s) in sources.iter().enumerate() {
        for _ in 0..s.window {
            fabric.send(routes[i].0, Header::new(bytes.0, Ecn::Ect), Bare { source: i as u32, ack: false });
        }
    }
    let mut start = 0;
    while start <= duration {
        let end = fabric.turn_end(start).min(duration);
        fabric.open_window(end, None, iter::empty());
        while let Some(happening) = fabric.next_of_site(&()) {
            let Happening::Arrival(Arrival::Delivered(packet)) = happening else { continue };
            let Bare { source, ack } = packet.payload;
            let (there, back) = routes[source as usize];
            if ack {
                for _ in 0..2 {
                    fabric.send(there, Header::new(bytes.0, Ecn::Ect), Bare { source, ack: false });
                }
            } else {
                received[source as usize] += 1;
                if received[source as usize].is_multiple_of(2) {
                    fabric.send(back, Header::new(bytes.1, Ecn::NotEct), Bare { source, ack: true });
                }
            }
        }
        start = end + 1;
    }
    fabric.hops()
}
