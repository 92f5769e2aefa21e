//! Linux's bridges.

use std::fmt::Write as _;

use super::layout::Layout;
use super::names::{bridge_name, interface, mac};
use crate::namespace::{Error, Namespace};

/// Makes the bridges, with the ports of their links and the entries for all interfaces.
pub(super) fn build(namespace: &Namespace, layout: &Layout) -> Result<(), Error> {
    let (mut lines, mut entries) = (String::new(), String::new());
    for node in layout.nics..layout.nodes {
        let name = bridge_name(node);
        let _ = writeln!(lines, "link add {name} type bridge mcast_snooping 0\nlink set {name} up");
    }
    for (number, port) in (0..).zip(&layout.ports).filter(|(_, port)| port.ends[0] >= layout.nics) {
        let (own, bridge) = (interface(number), bridge_name(port.ends[0]));
        let _ = writeln!(lines, "link set {own} master {bridge}");
        let _ =
            writeln!(entries, "link set dev {own} learning off flood off mcast_flood off bcast_flood off");
    }
    for (_, nic, port) in layout.entries() {
        let _ = writeln!(entries, "fdb add {} dev {} master static", mac(nic), interface(port));
    }
    namespace.ip(&lines)?;
    namespace.batch("bridge", &entries)
}
