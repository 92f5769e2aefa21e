//! A receive buffer that grows: `mptcp_rcv_space_adjust` and `mptcp_rcvbuf_grow` of Linux 6.18, which are TCP's
//! `tcp_rcv_space_adjust` and `tcp_rcvbuf_grow` with the longest RTT of all subflows.

use tresse_units::Time;

/// The room of a receiver, in segments.
#[derive(Debug)]
pub(super) struct Space {
    buffer: u32,
    most: u32,
    /// The most that the application took in a round trip (`rcvq_space.space`).
    space: u32,
    /// What it has taken in this one (`rcvq_space.copied`).
    copied: u32,
    /// When this one began, if it has.
    since: Option<Time>,
    /// Data below this may be sent. It never falls: what was allowed stays allowed (`rcv_wnd_sent`).
    edge: u32,
    /// The window in the last ACK (`old_wspace`).
    told: u32,
    /// By subflow.
    trips: Vec<RoundTrip>,
}

/// The RTT of a subflow as its receiver knows it: from an ACK to the first data of a sender that has it
/// (`tcp_rcv_rtt_measure_ts`), here once in a round trip and without the granularity of timestamps, a millisecond.
#[derive(Debug, Clone, Copy, Default)]
struct RoundTrip {
    /// What the ACK has said, and when.
    begun: Option<(u32, Time)>,
    /// The most that an ACK has said: only a new one can be told from those before.
    said: u32,
    /// Smoothed; 0 without a sample.
    rtt: Time,
}

/// `rcvq_space.space` at the start: `TCP_INIT_CWND`.
const FIRST_SPACE: u32 = 10;

impl Space {
    pub fn new(buffer: u32, most: u32, subflows: usize) -> Self {
        Self {
            buffer,
            most,
            space: FIRST_SPACE.min(buffer),
            copied: 0,
            since: None,
            edge: buffer,
            told: buffer,
            trips: vec![RoundTrip::default(); subflows],
        }
    }

    pub fn open(&mut self) {
        self.trips.push(RoundTrip::default());
    }

    /// Data has arrived on a subflow, whose sender has heard that all segments below `acked` have.
    pub fn hear(&mut self, now: Time, subflow: usize, acked: u32) {
        let own = &mut self.trips[subflow];
        if let Some((_, then)) = own.begun.filter(|(seq, _)| acked >= *seq) {
            // `tcp_rcv_rtt_update`
            let sample = (now - then).max(1);
            own.rtt =
                if own.rtt == 0 || sample < own.rtt { sample } else { own.rtt - own.rtt / 8 + sample / 8 };
            own.begun = None;
        }
    }

    /// The application has taken `segments`, and `waiting` wait for their order. Returns whether the sender is told at once:
    /// the window has doubled since the last ACK (`mptcp_cleanup_rbuf`).
    pub fn take(&mut self, now: Time, segments: u32, next: u32, waiting: u32) -> bool {
        if segments == 0 {
            return false;
        }
        self.adjust(now, segments);
        self.widen(next, waiting);
        self.edge - next >= 2 * self.told.max(1)
    }

    /// `mptcp_rcv_space_adjust`
    fn adjust(&mut self, now: Time, segments: u32) {
        let since = *self.since.get_or_insert(now);
        self.copied += segments;
        let rtt = self.trips.iter().map(|own| own.rtt).max().unwrap_or(0);
        if rtt == 0 || now - since < rtt {
            return;
        }
        if self.copied > self.space {
            self.grow();
        }
        (self.copied, self.since) = (0, Some(now));
    }

    /// `mptcp_rcvbuf_grow`: twice what was taken, for that is known a round trip late, and more while it still rises, as in a
    /// slow start.
    fn grow(&mut self) {
        let (new, old) = (u64::from(self.copied), u64::from(self.space));
        let window = 2 * new + 2 * (2 * new * (new - old) / old);
        self.space = self.copied;
        self.buffer = self.buffer.max(window.min(self.most.into()) as u32);
    }

    /// What waits takes its room from the window (`__mptcp_space`).
    fn widen(&mut self, next: u32, waiting: u32) {
        self.edge = self.edge.max(next.saturating_add(self.buffer.saturating_sub(waiting)));
    }

    /// The window that an ACK of `subflow` tells, which has everything below `seq`; the connection misses `next`.
    pub fn tell(&mut self, now: Time, subflow: usize, seq: u32, next: u32) -> u16 {
        let own = &mut self.trips[subflow];
        if seq > own.said {
            own.said = seq;
            own.begun.get_or_insert((seq, now));
        }
        self.told = self.edge.saturating_sub(next);
        u16::try_from(self.told).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer with an RTT of 100 on one subflow.
    fn with_rtt(buffer: u32, most: u32) -> Space {
        let mut space = Space::new(buffer, most, 1);
        space.tell(0, 0, 5, 5);
        space.hear(60, 0, 4);
        assert_eq!(space.trips[0].rtt, 0, "the sender has not heard that ACK");
        space.hear(100, 0, 5);
        assert_eq!(space.trips[0].rtt, 100);
        space
    }

    #[test]
    fn a_buffer_grows_by_what_was_taken_in_a_round_trip() {
        let mut space = with_rtt(40, 1000);
        space.take(0, 10, 10, 0);
        assert_eq!((space.buffer, space.copied), (40, 10), "a round trip is not over");
        // 30 in a round trip in which 10 were known: 60 + 2 * 60 * 20 / 10.
        space.take(100, 20, 30, 0);
        assert_eq!((space.buffer, space.space, space.copied), (300, 30, 0));
        // No more than the last time: it stays.
        space.take(200, 30, 60, 0);
        assert_eq!((space.buffer, space.space), (300, 30));
        // A little more asks for less than there is.
        space.take(300, 33, 93, 0);
        assert_eq!((space.buffer, space.space), (300, 33));
        space.take(400, 330, 423, 0);
        assert_eq!(space.buffer, 1000, "and never for more than the maximum");
    }

    #[test]
    fn what_waits_takes_room_and_nothing_is_taken_back() {
        let mut space = with_rtt(40, 40);
        assert_eq!(space.tell(100, 0, 5, 0), 40);
        space.take(100, 1, 1, 30);
        assert_eq!(space.tell(100, 0, 5, 1), 39, "what was allowed stays allowed");
        space.take(100, 25, 26, 5);
        assert_eq!(space.tell(100, 0, 5, 26), 35);
    }

    #[test]
    fn the_longest_round_trip_counts() {
        let mut space = with_rtt(40, 1000);
        space.open();
        space.tell(0, 1, 1, 0);
        space.hear(1600, 1, 1);
        space.take(2000, 20, 20, 0);
        space.take(2100, 20, 40, 0);
        assert_eq!(space.buffer, 40);
        space.take(3600, 20, 60, 0);
        assert!(space.buffer > 40);
    }

    #[test]
    fn an_ack_that_says_nothing_new_begins_no_round_trip() {
        let mut space = with_rtt(40, 40);
        space.tell(200, 0, 5, 5);
        space.hear(201, 0, 5);
        assert_eq!(space.trips[0].rtt, 100);
    }

    #[test]
    fn a_window_that_has_doubled_is_told() {
        let mut space = with_rtt(40, 40);
        space.take(100, 1, 1, 39);
        assert_eq!(space.tell(100, 0, 5, 30), 10);
        assert!(!space.take(100, 1, 31, 25));
        assert!(space.take(100, 1, 32, 18), "22 after 10");
    }
}
