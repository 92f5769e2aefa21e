//! Flowlets: the packets of a flow between two pauses. They stay on one port to keep their order (CONGA,
//! Alizadeh et al., SIGCOMM 2014; LetFlow, Vanini et al., NSDI 2017).
//!
//! As in these switches, a table of fixed size identifies flows by a hash: two flows that collide share their
//! port and their pauses.

use tresse_units::{Time, mix};

/// A node's table has 2^14 entries.
const TABLE_BITS: u32 = 14;

/// The tables, by node; those of nodes that never asked are empty.
#[derive(Debug, Default)]
pub(crate) struct Flowlets(Vec<Vec<Flowlet>>);

#[derive(Debug, Clone, Copy)]
struct Flowlet {
    /// When its last packet came.
    last: Time,
    port: u32,
}

const NONE: Flowlet = Flowlet { last: 0, port: u32::MAX };

impl Flowlets {
    /// The port for a packet of the flow `hash` towards a destination: that of its last packet, unless that
    /// came `gap` ago or longer, or the port is no longer among `members`; then a `new` one.
    pub fn port(
        &mut self,
        [node, destination]: [u32; 2],
        hash: u32,
        (now, gap): (Time, Time),
        members: &[u32],
        new: impl FnOnce() -> u32,
    ) -> u32 {
        if self.0.len() <= node as usize {
            self.0.resize(node as usize + 1, Vec::new());
        }
        let table = &mut self.0[node as usize];
        if table.is_empty() {
            table.resize(1 << TABLE_BITS, NONE);
        }
        let name = u64::from(destination) << 32 | u64::from(hash);
        let flowlet = &mut table[(mix(name) >> (64 - TABLE_BITS)) as usize];
        if now - flowlet.last >= gap || !members.contains(&flowlet.port) {
            flowlet.port = new();
        }
        flowlet.last = now;
        flowlet.port
    }
}
