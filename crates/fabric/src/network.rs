//! A network: nodes, and the ports that lead from one to another.

/// Which node each port belongs to and where it leads. Nodes `0..hosts` are hosts, the others switches.
#[derive(Debug, Clone)]
pub struct Network {
    /// The number of hosts.
    pub hosts: u32,
    /// The number of nodes, hosts and switches.
    pub nodes: u32,
    /// By port: the node that it belongs to, and the node at the far end of its link.
    pub ends: Vec<[u32; 2]>,
}

impl Network {
    /// By node: the ports that lead to it.
    pub(crate) fn incoming(&self) -> Vec<Vec<u32>> {
        let mut incoming = vec![Vec::new(); self.nodes as usize];
        for (port, &[_, to]) in self.ends.iter().enumerate() {
            incoming[to as usize].push(port as u32);
        }
        incoming
    }

    /// By node: the ports by which packets leave it.
    pub(crate) fn outgoing(&self) -> Vec<Vec<u32>> {
        let mut outgoing = vec![Vec::new(); self.nodes as usize];
        for (port, &[from, _]) in self.ends.iter().enumerate() {
            outgoing[from as usize].push(port as u32);
        }
        outgoing
    }
}
