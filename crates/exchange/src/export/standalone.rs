//! How long a flow takes alone, as the HPCC simulator defines it (`third.cc`, `qp_finish`).

use std::collections::VecDeque;

use tresse_fabric::Topology;

/// The values of the path between two hosts that the simulator adds up, in ns and bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    delay: u64,
    sending: u64,
    rate: u64,
}

impl Way {
    /// The base RTT and all bytes with their headers over the narrowest link, ns:
    /// `2 delay + the payload of a packet at every link + bytes * 8 / rate`, each rounded to whole numbers.
    pub fn alone(self, bytes: u64, mss: u64, header: u64) -> u64 {
        let all = u128::from(bytes) + u128::from(bytes.div_ceil(mss)) * u128::from(header);
        let last = all * 8_000_000_000 / u128::from(self.rate);
        2 * self.delay + self.sending + u64::try_from(last).unwrap_or(u64::MAX)
    }
}

/// By node: the path from there to host `to` over the fewest links, for packets with `mss` bytes of payload.
/// Of several paths with that length, it is the one found first; in regular networks they are alike.
pub(super) fn ways(topology: &Topology, incoming: &[Vec<u32>], to: u32, mss: u64) -> Vec<Option<Way>> {
    let mut ways = vec![None; topology.network.nodes as usize];
    let mut waiting = VecDeque::new();
    for address in topology.addresses(to) {
        ways[address as usize] = Some(Way { delay: 0, sending: 0, rate: u64::MAX });
        waiting.push_back(address);
    }
    while let Some(node) = waiting.pop_front() {
        let Some(way) = ways[node as usize] else { continue };
        for &port in &incoming[node as usize] {
            let before = topology.network.ends[port as usize][0];
            if ways[before as usize].is_none() {
                let config = &topology.configs[port as usize];
                ways[before as usize] = Some(Way {
                    delay: way.delay + config.delay / 1000,
                    sending: way.sending + mss * 8_000_000_000 / config.rate,
                    rate: way.rate.min(config.rate),
                });
                // Hosts pass nothing on.
                if before >= topology.network.hosts {
                    waiting.push_back(before);
                }
            }
        }
    }
    ways
}

/// By node: the ports that lead to it.
pub(super) fn incoming(topology: &Topology) -> Vec<Vec<u32>> {
    let mut incoming = vec![Vec::new(); topology.network.nodes as usize];
    for (port, &[_, to]) in (0..).zip(&topology.network.ends) {
        incoming[to as usize].push(port);
    }
    incoming
}
