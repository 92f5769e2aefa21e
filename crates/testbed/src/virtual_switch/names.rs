//! The names of interfaces and bridges, and what a machine sends at once.

use crate::address::MTU;

/// A full frame, bytes: what a machine sends at once.
pub(super) const FRAME: u64 = MTU as u64 + 14;

/// The interface of a port.
pub(super) fn interface(port: u32) -> String {
    format!("p{port}")
}

/// The name of a bridge.
pub(super) fn bridge_name(node: u32) -> String {
    format!("n{node}")
}

/// The hardware address of a machine's interface.
pub(super) fn mac(nic: u32) -> String {
    format!("02:74:72:00:{:02x}:{:02x}", nic >> 8, nic & 255)
}
