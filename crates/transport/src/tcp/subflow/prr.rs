//! Proportional rate reduction (RFC 6937; Linux's `tcp_cwnd_reduction`).

/// The packets of one reduction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prr {
    /// `RecoverFS`: the window before.
    pub prior_cwnd: u32,
    /// `prr_delivered`.
    pub delivered: u32,
    /// `prr_out`.
    pub out: u32,
}

impl Prr {
    /// RFC 6937 §3.1: how many packets may go for an ACK that delivers `delivered`. Above `ssthresh` they
    /// keep its ratio to the window before; below, slow start's bound applies if the ACK is `safe` (it
    /// advances and shows no further loss), otherwise packet conservation's (Linux since 3.12).
    pub fn allowance(&mut self, delivered: u32, safe: bool, in_flight: u32, ssthresh: u32) -> u32 {
        self.delivered += delivered;
        let send = if in_flight > ssthresh {
            let target = u64::from(ssthresh) * u64::from(self.delivered);
            let target = target.div_ceil(u64::from(self.prior_cwnd)) as u32;
            target.saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + u32::from(safe);
            bound.min(ssthresh - in_flight)
        };
        // The first transmission of a recovery always goes out.
        send.max(u32::from(self.out == 0))
    }
}
