//! The properties of a route without traffic.

use std::collections::BTreeSet;

use tresse_units::{BitsPerSecond, Time};

use super::{FORWARD, Fabric, RouteId};

impl<P: Copy> Fabric<P> {
    /// How long a packet of `bytes` takes over a route without other packets. If the nodes decide, over a
    /// shortest path with the fastest link of each node. `None` if no path leads there.
    pub fn empty_path(&self, route: RouteId, bytes: u32) -> Option<Time> {
        let hop = |port: u32| {
            let port = &self.ports[port as usize];
            port.transmission(bytes) + port.config().delay
        };
        if let ports @ [_, ..] = self.route(route) {
            return Some(ports.iter().copied().map(hop).sum());
        }
        let row = &self.routes[route.0 as usize..][..2];
        let (to, mut node) = (row[0] & !FORWARD, row[1]);
        let forwarding = self.forwarding.as_ref()?;
        let mut time = 0;
        while node != to {
            let port = forwarding.fastest_port(node, to)?;
            time += hop(port);
            node = forwarding.far_end(port);
        }
        Some(time)
    }

    /// The total rate of the links by which packets on any of `routes` leave their host, bit/s.
    pub fn first_rate(&self, routes: &[RouteId]) -> BitsPerSecond {
        let first = |&route: &RouteId| match self.route(route) {
            [first, ..] => std::slice::from_ref(first),
            [] => {
                let row = &self.routes[route.0 as usize..][..2];
                self.forwarding.as_ref().map_or(&[][..], |own| own.ports_to_host(row[1], row[0] & !FORWARD))
            }
        };
        let ports: BTreeSet<u32> = routes.iter().flat_map(first).copied().collect();
        ports.into_iter().map(|port| self.ports[port as usize].config().rate).sum()
    }
}
