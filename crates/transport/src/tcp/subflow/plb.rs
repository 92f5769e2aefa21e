//! Protective Load Balancing: a flow that stays congested asks for another path (Qureshi et al., SIGCOMM 2022;
//! Linux 6.2 and later, `net/ipv4/tcp_plb.c`). Names of functions and parameters are Linux's.
//!
//! A round ends when everything that had been sent when it began is ACKed (`dctcp_update_alpha`). The ACK
//! that ends it belongs to it; in kernels that call the congestion controller before they count the segments
//! that an ACK delivers, it belongs to the next round.

use tresse_units::{SplitMix, Time};

use super::Subflow;
use crate::{Config, Echo, Plb};

/// `struct tcp_plb_state`, and the counts of the current round.
#[derive(Debug, Default)]
pub(super) struct Balancer {
    /// The subflow's number: no two draw the same suspensions.
    number: u64,
    /// `consec_cong_rounds`, at most `rehash_rounds`.
    congested_rounds: u32,
    /// `pause_until`: when the suspension ends.
    paused_until: Time,
    /// Suspensions so far.
    pauses: u64,
    /// The round ends when all segments below this one are ACKed.
    round_end: u32,
    delivered: u32,
    marked: u32,
    /// Another path is asked for.
    rehash: bool,
}

impl Balancer {
    pub fn new(number: usize) -> Self {
        Self { number: number as u64, ..Self::default() }
    }

    /// `tcp_plb_update_state`: a round has ended.
    fn update_state(&mut self, plb: &Plb) {
        let congested = u64::from(self.marked) << 8 >= u64::from(plb.cong_thresh) * u64::from(self.delivered);
        self.congested_rounds =
            if congested { (self.congested_rounds + 1).min(plb.rehash_rounds) } else { 0 };
        (self.delivered, self.marked) = (0, 0);
    }

    /// `tcp_plb_check_rehash`.
    fn check_rehash(&mut self, now: Time, idle: bool, plb: &Plb) {
        let rounds = self.congested_rounds;
        let forced = rounds >= plb.rehash_rounds;
        let when_idle = idle && plb.idle_rehash_rounds > 0 && rounds >= plb.idle_rehash_rounds;
        if (forced || when_idle) && now >= self.paused_until {
            self.rehash = true;
            self.congested_rounds = 0;
        }
    }

    /// `tcp_plb_update_state_upon_rto`.
    fn suspend(&mut self, now: Time, plb: &Plb) {
        self.pauses += 1;
        let own = SplitMix::new(SplitMix::new(plb.seed).next() ^ self.number).next();
        let more = SplitMix::new(own.wrapping_add(self.pauses)).below(plb.suspend);
        self.paused_until = now.saturating_add(plb.suspend + more);
        self.congested_rounds = 0;
    }
}

impl Subflow {
    /// An ACK that echoes `ce` has delivered this many segments.
    #[inline]
    pub(super) fn balance_after_ack(&mut self, now: Time, delivered: u32, ce: u8, config: &Config) {
        let (Some(balancer), Some(plb)) = (&mut self.balancer, &config.plb) else { return };
        balancer.delivered += delivered;
        balancer.marked += match config.echo {
            Echo::TwoBit => ce.into(),
            // Linux's `tcp_newly_delivered`: an ACK with ECE marks all that it delivers.
            Echo::Dctcp | Echo::Rfc3168 => {
                if ce > 0 {
                    delivered
                } else {
                    0
                }
            }
        };
        if self.board.una() < balancer.round_end {
            return;
        }
        balancer.round_end = self.board.nxt();
        if balancer.delivered > 0 {
            balancer.update_state(plb);
            balancer.check_rehash(now, self.board.outstanding() == 0, plb);
        }
    }

    /// Data is sent while nothing is outstanding (`CA_EVENT_TX_START`).
    #[inline]
    pub(super) fn balance_before_start(&mut self, now: Time, config: &Config) {
        if let (Some(balancer), Some(plb)) = (&mut self.balancer, &config.plb) {
            balancer.check_rehash(now, true, plb);
        }
    }

    /// A retransmission timeout, perhaps the first of a loss episode (`CA_EVENT_LOSS`; Linux counts none
    /// during a reduction or recovery). Every timeout asks for another path, in Linux with or without PLB
    /// (`tcp_write_timeout`).
    pub(super) fn balance_after_timeout(&mut self, now: Time, first: bool, config: &Config) {
        if let (Some(balancer), Some(plb)) = (&mut self.balancer, &config.plb) {
            balancer.rehash = true;
            if first {
                balancer.suspend(now, plb);
            }
        }
    }

    /// Whether another path has been asked for since the last call.
    #[inline]
    pub fn take_rehash(&mut self) -> bool {
        self.balancer.as_mut().is_some_and(|b| std::mem::take(&mut b.rehash))
    }
}

#[cfg(test)]
mod tests {
    use tresse_units::SECOND;

    use super::*;

    /// The length of a suspension must never change: results depend on it.
    #[test]
    fn a_subflow_has_its_own_suspensions() {
        let plb =
            Plb { cong_thresh: 128, rehash_rounds: 12, idle_rehash_rounds: 0, suspend: SECOND, seed: 7 };
        let paused_until = [0, 1].map(|number| {
            let mut balancer = Balancer::new(number);
            balancer.suspend(0, &plb);
            balancer.paused_until
        });
        assert_eq!(paused_until, [1_100_078_886_333, 1_672_302_971_599]);
    }
}
