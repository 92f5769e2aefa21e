//! What the sender does when the connection's receive window is closed because data on one subflow is missing.

use tresse_controllers::State;
use tresse_units::Time;

use super::Sender;
use crate::tcp::set::{bit, bits};
use crate::{Blocked, Origin, ReceiveBuffer, Transmit};

/// The most data that Linux sends again at once, bytes: a page fragment (`mptcp_data_frag`).
const FRAGMENT: u32 = 1 << 15;

/// A subflow with at most this window gets help from any other.
const SMALL_WINDOW: u32 = 4;

/// Other subflows get help only from those whose RTT is less than one such part of theirs.
const FASTER: u64 = 4;

/// The segment that keeps the window closed, with [`Blocked::Reinject`].
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Its data sequence number, and the subflows on which it was found in flight.
    carriers: Option<(u32, u64)>,
    /// By subflow, when its window was last halved, if it was.
    halved: Vec<Option<Time>>,
}

impl Sender {
    /// There is data, and the receiver has no room for it.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        let next = self.next_dsn;
        next < self.messages.written() && next >= self.sendable()
    }

    /// A retransmission timeout has passed on `subflow`, and the receiver has no room for more: if the first missing data
    /// is there, others send it too.
    pub(super) fn reinject_missing(&mut self, subflow: usize, buffer: ReceiveBuffer) {
        match buffer.blocked {
            Blocked::Reinject => self.reinject(subflow),
            Blocked::Wait => {
                let others = self.open & self.fresh(self.takes_data) & !bit(subflow);
                if bits(others).any(|i| self.is_idle(i)) {
                    self.reinject_head(subflow);
                }
            }
        }
    }

    /// Whether a subflow has nothing in flight and nothing to send (Linux's `mptcp_subflow_get_retrans`).
    fn is_idle(&self, subflow: usize) -> bool {
        let waiting = self.queues.as_ref().map_or(0, |queues| queues.len(subflow));
        self.outstanding(subflow) == 0 && waiting == 0
    }

    /// Sends the first missing data on others too, if it is in flight on `subflow`; if it waits there, others get all that
    /// waits.
    fn reinject_head(&mut self, subflow: usize) {
        let una = self.data_una;
        let mut found = Vec::new();
        self.subflows[subflow].board.for_each_unsacked(|dsn| found.push(dsn));
        found.retain(|&dsn| dsn >= una);
        found.sort_unstable();
        if found.first() == Some(&una) {
            let most = (FRAGMENT / self.config.mss).max(1) as usize;
            for dsn in found.into_iter().take(most) {
                self.reinjections.entry(dsn).or_insert(subflow);
            }
        } else if let Some(queues) = &mut self.queues
            && queues.holds(subflow, una)
        {
            queues.take_back(subflow);
        }
    }

    /// The window is closed: with [`Blocked::Reinject`], a subflow with room sends the first missing segment too, and the
    /// one that holds it up gets half its window.
    #[cold]
    pub(super) fn poll_blocked(&mut self, now: Time, takes: u64) -> Option<Transmit> {
        if self.group.len() < 2 {
            return None;
        }
        let mut head = self.head.take()?;
        let sent = self.help(now, takes, &mut head);
        self.head = Some(head);
        sent
    }

    /// `mptcp_rcv_buf_optimization`, as in version 0.8x.
    fn help(&mut self, now: Time, takes: u64, head: &mut Head) -> Option<Transmit> {
        let dsn = self.data_una;
        let carriers = match head.carriers {
            Some((known, carriers)) if known == dsn && carriers != 0 => carriers,
            _ => self.carriers_of(dsn),
        };
        head.carriers = Some((dsn, carriers));
        let slow = bits(carriers & self.open).next()?;
        let chosen = self.schedule(now, takes & !carriers)?;
        self.halve(now, slow, chosen.1, head);
        if !self.helps(chosen.1, carriers) {
            return None;
        }
        head.carriers = Some((dsn, carriers | bit(chosen.0)));
        self.subflows[chosen.0].counters.reinjections += 1;
        Some(self.transmit(now, chosen, Origin::Reinjected, dsn))
    }

    /// Whether the subflow in `place` sends what those in `carriers` have in flight.
    fn helps(&self, place: usize, carriers: u64) -> bool {
        let fast = u64::from(self.group[place].srtt);
        for slow in bits(carriers).filter_map(|i| self.place(i)).map(|place| &self.group[place]) {
            if slow.cwnd <= SMALL_WINDOW {
                return true;
            }
            if FASTER * fast >= u64::from(slow.srtt) {
                return false;
            }
        }
        true
    }

    /// Halves the window of a subflow that holds the connection up and is slower than the one in `place`, at most once in
    /// its RTT.
    fn halve(&mut self, now: Time, slow: usize, fast: usize, head: &mut Head) {
        let Some(place) = self.place(slow) else { return };
        head.halved.resize(self.subflows.len(), None);
        let srtt = self.subflows[slow].rtt.srtt();
        let rate = |i: usize, other: usize| u64::from(self.group[i].cwnd) * u64::from(self.group[other].srtt);
        let is_slower = rate(place, fast) < rate(fast, place);
        let is_early = head.halved[slow].is_some_and(|last| now - last < srtt);
        if self.group[place].state != State::Open || !is_slower || is_early {
            return;
        }
        let least = self.group.scheme().controller().min_cwnd();
        let own = &mut self.group[place];
        own.cwnd = (own.cwnd / 2).max(least).min(own.cwnd);
        own.ssthresh = own.cwnd.max(2);
        head.halved[slow] = Some(now);
    }

    /// The subflows on which a segment is in flight.
    fn carriers_of(&mut self, dsn: u32) -> u64 {
        let mut carriers = 0;
        for i in bits(self.open) {
            self.subflows[i].board.for_each_unsacked(|own| carriers |= u64::from(own == dsn) << i);
        }
        carriers
    }
}
