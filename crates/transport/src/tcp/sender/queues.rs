//! Linux's scheduler: data is given to subflows ahead of their windows, and waits there.

use std::collections::VecDeque;
use std::ops::Range;

use tresse_controllers::State;
use tresse_units::Time;

use super::Sender;
use crate::tcp::set::{bit, bits};
use crate::{Origin, Transmit};

/// The bytes that a subflow is given at once (`MPTCP_SEND_BURST_SIZE`).
const BURST: u32 = 1 << 16;

/// The data that goes to a subflow whole, bytes: what the application wrote into one page fragment (`mptcp_data_frag`).
/// Between two of them Linux looks at the subflow's buffer (`__subflow_push_pending`).
const FRAGMENT: u32 = 1 << 15;

/// The space of a held segment in a send buffer, bytes: an `sk_buff`, its headers and a payload of 1448.
const HELD: u64 = 2304;

/// The initial size of a send buffer, bytes: the testbed's `tcp_wmem`.
const FIRST_BUFFER: u64 = 131_072;

/// The pacing rate before the first RTT sample, bytes a second: faster than any other.
const UNKNOWN_RATE: u64 = 1 << 48;

/// The data that was given to the subflows of a connection and is not yet sent.
#[derive(Debug, Default)]
pub(super) struct Queues {
    /// By number.
    of: Vec<Queue>,
    /// Data sequence numbers that were taken back: they are given out again first.
    returned: VecDeque<Range<u32>>,
    /// The application has put segments below this one into the connection's buffer.
    accepted: u32,
    /// The application has more, and waits for room.
    is_blocked: bool,
}

#[derive(Debug, Default)]
struct Queue {
    /// Data sequence numbers, in the order in which they are sent.
    waiting: VecDeque<Range<u32>>,
    /// How many.
    len: u32,
    /// The average pacing rate, bytes a second; 0 before the first burst.
    rate: u64,
    /// The send buffer, bytes. It never shrinks.
    buffer: u64,
    /// When it last sent data (`lsndtime`).
    last_sent: Time,
}

impl Queue {
    /// The window after `idle` without data in flight, longer than `rto`: slow start after idle (RFC 2861). Linux halves
    /// it for each RTO, and does so again for each segment that it is given before the first one leaves
    /// (`tcp_slow_start_after_idle_check` in `tcp_skb_entail`): a burst of several segments starts with the first window.
    fn after_idle(&self, cwnd: u32, idle: Time, rto: Time, first: u32) -> u32 {
        let halvings = (idle.div_ceil(rto) - 1).saturating_mul(u64::from(self.len));
        let halved = cwnd.checked_shr(u32::try_from(halvings).unwrap_or(u32::MAX)).unwrap_or(0);
        halved.max(first.min(cwnd))
    }

    fn push(&mut self, given: Range<u32>) {
        self.len += given.end - given.start;
        match self.waiting.back_mut() {
            Some(last) if last.end == given.start => last.end = given.end,
            _ => self.waiting.push_back(given),
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let first = self.waiting.front_mut()?;
        let dsn = first.start;
        first.start += 1;
        if first.start == first.end {
            self.waiting.pop_front();
        }
        self.len -= 1;
        Some(dsn)
    }
}

impl Queues {
    /// Segments that were given to `subflow` and are not sent.
    pub fn len(&self, subflow: usize) -> u32 {
        self.of.get(subflow).map_or(0, |queue| queue.len)
    }

    /// Whether a segment was given to `subflow` and is not sent.
    pub fn holds(&self, subflow: usize, dsn: u32) -> bool {
        self.of.get(subflow).is_some_and(|queue| queue.waiting.iter().any(|range| range.contains(&dsn)))
    }

    /// The segments of all subflows, and those that no subflow has now.
    pub fn total(&self) -> u32 {
        let returned: u32 = self.returned.iter().map(|range| range.end - range.start).sum();
        returned + self.of.iter().map(|queue| queue.len).sum::<u32>()
    }

    /// Takes back the data that was given to `subflow` but not sent.
    pub fn take_back(&mut self, subflow: usize) {
        if let Some(queue) = self.of.get_mut(subflow) {
            queue.len = 0;
            self.returned.append(&mut queue.waiting);
        }
    }

    /// The application puts in as many of `written` segments as there is room for; those below `una` have
    /// arrived. Once it has to wait, it waits until a third of the buffer is free (`sk_stream_is_writeable`).
    fn accept(&mut self, written: u32, una: u32, mss: u32) {
        let buffer = self.of.iter().map(|queue| queue.buffer).sum::<u64>();
        let room = u32::try_from(buffer / u64::from(mss)).unwrap_or(u32::MAX);
        if self.is_blocked && self.accepted.saturating_sub(una) > room / 3 * 2 {
            return;
        }
        self.accepted = self.accepted.max(written.min(una.saturating_add(room)));
        self.is_blocked = self.accepted < written;
    }

    /// The data to give next; `fresh` if nothing was taken back.
    fn next(&self, fresh: Range<u32>) -> Range<u32> {
        self.returned.front().cloned().unwrap_or(fresh)
    }
}

impl Sender {
    /// [`Sender::poll_transmit`] with [`Scheduler::Linux`](crate::Scheduler::Linux): new data is given out
    /// first; then a subflow sends its lost segments, data to be sent once more, or the data that it was
    /// given.
    #[cold]
    pub(super) fn poll_given(&mut self, now: Time, mut queues: Box<Queues>) -> Option<Transmit> {
        let takes = self.fresh(self.takes_data);
        self.give(&mut queues, takes);
        let mut found = self.poll_queues(now, &mut queues, takes);
        if found.is_none() && self.expand(&mut queues) {
            self.give(&mut queues, takes);
            found = self.poll_queues(now, &mut queues, takes);
        }
        self.queues = Some(queues);
        found
    }

    /// While the application waits for room, a subflow's buffer grows to two of its windows (`tcp_new_space`,
    /// `tcp_sndbuf_expand`). Linux asks for room in the window too (`tcp_should_expand_sndbuf`), which small queues
    /// (`tcp_small_queue_check`) leave again and again: the large subflow's buffer of a real host held two windows of 183
    /// segments, its largest, a lone flow's two of 143. Returns whether one grew.
    fn expand(&self, queues: &mut Queues) -> bool {
        let mut grew = false;
        for (place, i) in bits(self.open).enumerate().filter(|_| queues.is_blocked) {
            let buffer = &mut queues.of[i].buffer;
            let two_windows = 2 * self.config.send_segment * u64::from(self.group[place].cwnd);
            grew |= two_windows > *buffer;
            *buffer = two_windows.max(*buffer);
        }
        grew
    }

    fn poll_queues(&mut self, now: Time, queues: &mut Queues, takes: u64) -> Option<Transmit> {
        let mut chosen = None;
        for (place, i) in bits(self.open).enumerate() {
            let own = &self.group[place];
            let s = &mut self.subflows[i];
            let held = self.held & bit(i) != 0;
            if held {
                s.stop_waiting();
            } else if let Some((seq, dsn)) = s.retransmit(now, own.cwnd, &self.config) {
                queues.of[i].last_sent = now;
                return Some(self.packet(now, i, Origin::Retransmitted, [seq, dsn], false));
            }
            if s.check_room(now, own, queues.len(i) > 0) && !held && chosen.is_none() {
                chosen = Some((i, place));
            }
        }
        if !self.reinjections.is_empty()
            && let Some(packet) = self.poll_reinjection(now, takes)
        {
            return Some(packet);
        }
        if chosen.is_none() && self.is_blocked() {
            return self.poll_blocked(now, takes);
        }
        let chosen = chosen?;
        let queue = &mut queues.of[chosen.0];
        self.restart_after_idle(now, chosen, queue);
        let dsn = queue.pop()?;
        queue.last_sent = now;
        Some(self.transmit(now, chosen, Origin::New, dsn))
    }

    /// Lowers the window of a subflow that sends data after it had none for longer than its timeout
    /// (`tcp_cwnd_restart`).
    fn restart_after_idle(&mut self, now: Time, (i, place): (usize, usize), queue: &Queue) {
        let subflow = &self.subflows[i];
        let (idle, rto) = (now - queue.last_sent, subflow.rtt.rto(&self.config).max(1));
        if subflow.counters.sent == 0 || subflow.board.outstanding() > 0 || idle <= rto {
            return;
        }
        let own = &mut self.group[place];
        // `tcp_current_ssthresh`
        if !matches!(own.state, State::Cwr | State::Recovery) {
            own.ssthresh = own.ssthresh.max(own.cwnd / 2 + own.cwnd / 4);
        }
        own.cwnd = queue.after_idle(own.cwnd, idle, rto, self.config.initial_window);
    }

    /// Gives new data to the subflows of `takes`, as Linux's `mptcp_subflow_get_send` does: each time a burst
    /// to the one that would finish its queued data first, until its send buffer is full, or the
    /// connection's, which is as large as all of theirs together.
    fn give(&mut self, queues: &mut Queues, takes: u64) {
        let mss = self.config.mss;
        queues.of.resize_with(self.subflows.len(), Queue::default);
        for (i, queue) in queues.of.iter_mut().enumerate() {
            queue.buffer = if self.is_open(i) { queue.buffer.max(FIRST_BUFFER) } else { 0 };
        }
        queues.accept(self.messages.written(), self.data_una, mss);
        let end = queues.accepted.min(self.sendable());
        loop {
            let next = queues.next(self.next_dsn..end);
            if next.is_empty() {
                return;
            }
            let Some((i, held, rate)) = self.first_done(queues, takes) else { return };
            let queue = &mut queues.of[i];
            let free = queue.buffer.saturating_sub(held).div_ceil(HELD) as u32;
            if free == 0 {
                return;
            }
            let fragment = FRAGMENT.div_ceil(mss);
            let most = BURST.div_ceil(mss).min(free.div_ceil(fragment) * fragment);
            let weight = u128::from(queue.rate) * u128::from(held) + u128::from(rate) * u128::from(BURST);
            queue.rate = (weight / (u128::from(held) + u128::from(BURST))) as u64;
            let count = (next.end - next.start).min(most);
            let given = next.start..next.start + count;
            queue.push(given.clone());
            match queues.returned.front_mut() {
                Some(range) if *range == given => drop(queues.returned.pop_front()),
                Some(range) => range.start = given.end,
                None => self.next_dsn = given.end,
            }
        }
    }

    /// The subflow of `takes` that would finish its queued data first at its average rate; how many bytes of
    /// its send buffer this data takes, and its pacing rate, bytes a second.
    fn first_done(&self, queues: &mut Queues, takes: u64) -> Option<(usize, u64, u64)> {
        let mut best = None;
        let mut least = u128::MAX;
        for (place, i) in bits(self.open).enumerate().filter(|(_, i)| takes & bit(*i) != 0) {
            let rate = self.pacing_rate(i, place);
            let queue = &mut queues.of[i];
            if queue.rate == 0 {
                queue.rate = rate;
            }
            let held = u64::from(queue.len + self.subflows[i].board.outstanding()) * HELD;
            let linger = (u128::from(held) << 32) / u128::from(queue.rate);
            if linger < least {
                (best, least) = (Some((i, held, rate)), linger);
            }
        }
        best
    }

    /// Twice the window in an RTT in slow start, 1.2 times after it (`tcp_update_pacing_rate`), bytes a second.
    pub(super) fn pacing_rate(&self, i: usize, place: usize) -> u64 {
        let own = &self.group[place];
        if own.srtt == 0 {
            return UNKNOWN_RATE;
        }
        let percent = if own.cwnd < own.ssthresh / 2 { 200 } else { 120 };
        let window = u64::from(own.cwnd.max(self.subflows[i].board.outstanding()));
        // `srtt` is in eighths of a microsecond.
        (window * u64::from(self.config.mss) * 8_000_000 / 100 * percent / u64::from(own.srtt)).max(1)
    }
}
