//! What every host's interface has: its addresses, and the largest packet.

use std::net::Ipv4Addr;

/// The MTU of hosts, bytes.
pub(crate) const MTU: u16 = 1500;

/// The address of a host with this number among its addresses.
pub(crate) fn address(host: u32, number: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, (host >> 8) as u8, host as u8, 1 + number as u8)
}
