//! What packets cost a host: transfers between two hosts, and the costs that explain them.

mod fit;
mod pair;

use crate::namespace::Error;
use fit::{Parts, cost, costs};
use pair::Pair;

pub use fit::median;
pub use pair::Taken;

/// A transfer that is repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// The largest packet of the link, bytes.
    pub mtu: u32,
    /// How many packets of a connection the sender's kernel hands to the link as one segment, at most.
    pub merged: u32,
    /// What is sent, bytes.
    pub bytes: u64,
    /// What each repetition has taken.
    pub taken: Vec<Taken>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Transfers of one byte.
    pub small: Transfer,
    /// Long transfers, by which costs are fitted.
    pub long: Vec<Transfer>,
    /// Transfers by which they are not.
    pub others: Vec<Transfer>,
}

/// Costs of a host, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Until a core that was idle begins with a packet that has arrived.
    pub wake: f64,
    /// Of the core that decides how fast a connection is: for a segment, a packet and a byte.
    pub send: [f64; 3],
    /// Of the other one.
    pub receive: [f64; 3],
}

/// The links of long transfers: packets of several sizes one by one, and segments of several packets.
const LONG: [(u32, u32); 6] = [(1500, 1), (4000, 1), (9000, 1), (1500, 4), (1500, 16), (1500, 44)];

/// The size of a long transfer, bytes.
const LONG_BYTES: u64 = 8_000_000;

/// The link of the small transfers.
const SMALL: (u32, u32) = (1500, 1);

/// How many small transfers there are for each long one: they vary most.
const SMALL_TRANSFERS: usize = 10;

/// The packets of the transfers that are predicted, bytes: others than those of [`LONG`].
const OTHERS: [u32; 4] = [1000, 2500, 6000, 12_000];

/// Their sizes, bytes.
const OTHER_BYTES: [u64; 7] = [2000, 20_000, 100_000, 300_000, 1_000_000, 4_000_000, 16_000_000];

/// How often each transfer is repeated. The interval of a median from the second to the eighth of nine values has a
/// confidence of 96 %, whatever their distribution.
pub const REPETITIONS: usize = 9;

/// Measures transfers between two network namespaces. `None` if `asked` says that it shall end.
///
/// # Errors
/// If the system refuses.
pub fn measure(asked: &dyn Fn() -> bool) -> Result<Option<Measured>, Error> {
    let pair = Pair::new()?;
    let transfer = |(mtu, merged), bytes| Transfer { mtu, merged, bytes, taken: Vec::new() };
    let others = OTHERS.iter().flat_map(|&mtu| OTHER_BYTES.map(|bytes| transfer((mtu, 1), bytes)));
    let mut own = Measured {
        small: transfer(SMALL, 1),
        long: LONG.map(|link| transfer(link, LONG_BYTES)).to_vec(),
        others: others.collect(),
    };
    // One after the other, and all of it again: what disturbs for a while disturbs all of them.
    for _ in 0..REPETITIONS {
        pair.set(SMALL.0, SMALL.1)?;
        for _ in 0..SMALL_TRANSFERS {
            own.small.taken.push(pair.transfer(own.small.bytes)?);
        }
        let mut link = SMALL;
        for transfer in own.long.iter_mut().chain(&mut own.others) {
            if asked() {
                return Ok(None);
            }
            if link != (transfer.mtu, transfer.merged) {
                link = (transfer.mtu, transfer.merged);
                pair.set(link.0, link.1)?;
            }
            transfer.taken.push(pair.transfer(transfer.bytes)?);
        }
    }
    Ok(Some(own))
}

/// Headers of a packet of the link, bytes.
pub const HEADER: u32 = 52;

impl Transfer {
    /// The median of its times, s.
    pub fn seconds(&self) -> f64 {
        median(&self.taken.iter().map(|own| own.seconds).collect::<Vec<_>>())
    }

    /// What it consists of, the median of its time, and that of its processor time.
    fn fitted(&self, of: &dyn Fn(&[f64]) -> f64) -> (Parts, [f64; 2]) {
        let middle = |value: fn(&Taken) -> f64| of(&self.taken.iter().map(value).collect::<Vec<_>>());
        let packets = middle(|own| own.packets as f64);
        let bytes = self.bytes as f64 + packets * f64::from(HEADER);
        let parts = [middle(|own| own.segments as f64), packets, bytes];
        (parts, [middle(|own| own.seconds), middle(|own| own.cpu)])
    }
}

impl Measured {
    /// The costs by the medians of all repetitions.
    pub fn costs(&self) -> Costs {
        self.costs_by(&median, &median)
    }

    /// The costs by each repetition alone.
    pub fn costs_of_each(&self) -> Vec<Costs> {
        let of = |repetition: usize| {
            let small = move |all: &[f64]| {
                let first = repetition * SMALL_TRANSFERS;
                median(&all[first..first + SMALL_TRANSFERS])
            };
            self.costs_by(&move |all: &[f64]| all[repetition], &small)
        };
        (0..REPETITIONS).map(of).collect()
    }

    /// The costs by one value of each transfer.
    fn costs_by(&self, long: &dyn Fn(&[f64]) -> f64, small: &dyn Fn(&[f64]) -> f64) -> Costs {
        let (small_parts, small) = self.small.fitted(small);
        // Without what every transfer takes, however long it is.
        let rows: Vec<(Parts, [f64; 2])> = self.long.iter().map(|own| own.fitted(long)).collect();
        let by = |which: usize| {
            let rows = rows.iter().map(|(parts, times)| {
                let parts: Parts = [0, 1, 2].map(|i| parts[i] - small_parts[i]);
                (parts, (times[which] - small[which]).max(times[which] / 10.0))
            });
            costs(&rows.collect::<Vec<_>>())
        };
        // The clock shows the slower of two cores that work at the same time; the rest of the work is the other one's.
        let (send, all) = (by(0), by(1));
        let receive = [0, 1, 2].map(|i| (all[i] - send[i]).clamp(0.0, send[i]));
        // Three packets go one after the other before one byte is read: two of a handshake, and the byte's.
        let packet: Parts = [1.0, 1.0, f64::from(HEADER)];
        let trip = small[0] / 3.0;
        let wake = (trip - cost(&send, &packet) - cost(&receive, &packet)).max(0.0);
        Costs { wake, send, receive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transfers that take exactly what these costs say.
    fn taken(costs: &Costs) -> Measured {
        let transfer = |(mtu, merged): (u32, u32), bytes: u64| {
            let packets = bytes.div_ceil(u64::from(mtu - HEADER));
            let segments = packets.div_ceil(merged.into());
            let parts: Parts =
                [segments as f64, packets as f64, bytes as f64 + packets as f64 * f64::from(HEADER)];
            let [send, receive] = [cost(&costs.send, &parts), cost(&costs.receive, &parts)];
            let small: Parts = [1.0, 1.0, f64::from(HEADER)];
            let trip = costs.wake + cost(&costs.send, &small) + cost(&costs.receive, &small);
            let own = match bytes {
                1 => Taken { seconds: 3.0 * trip, cpu: 3.0 * trip, packets, segments },
                _ => {
                    Taken { seconds: 3.0 * trip + send, cpu: 3.0 * trip + send + receive, packets, segments }
                }
            };
            let count = if bytes == 1 { REPETITIONS * SMALL_TRANSFERS } else { REPETITIONS };
            Transfer { mtu, merged, bytes, taken: vec![own; count] }
        };
        Measured {
            small: transfer(SMALL, 1),
            long: LONG.map(|link| transfer(link, LONG_BYTES)).to_vec(),
            others: Vec::new(),
        }
    }

    #[test]
    fn the_costs_of_exact_transfers_are_found_again() {
        let send = [1e-6, 0.2e-6, 80e-12];
        let own = Costs { wake: 20e-6, send, receive: [0.4e-6, 0.1e-6, 40e-12] };
        let measured = taken(&own);
        let close = |found: f64, cost: f64| (found / cost - 1.0).abs() < 0.02;
        for found in measured.costs_of_each().into_iter().chain([measured.costs()]) {
            assert!(close(found.wake, own.wake), "{found:?}");
            for i in 0..3 {
                let both = [(found.send[i], own.send[i]), (found.receive[i], own.receive[i])];
                assert!(both.iter().all(|&(found, cost)| close(found, cost)), "{found:?}");
            }
        }
    }
}
