//! How a sprayed connection drives a TCP controller: by rounds instead of TCP's congestion states.
//!
//! A mark cuts the window once a round, and so does a trimmed or lost packet; a loss in the round of a mark
//! deepens its cut (RFC 8257 §3.5). The window goes down at once, and does not rise in the round of a cut.
//! There is no slow start after a timer: it fires for single packets.

use tresse_controllers::{Ack, Cause, Group, Hooks, Report, State};

use crate::Counters;

/// A round: the packets sent until all that were in flight when it began have arrived.
#[derive(Debug, Default)]
pub struct Round {
    /// It ends when all packets below have arrived.
    end: u32,
    /// The same for the round of the last cut, and the window before it.
    cut_end: u32,
    before: u32,
    /// It has begun since `grow` was last called.
    begun: bool,
}

impl Round {
    /// Whether it has ended, when all packets below `una` have arrived.
    pub fn is_over(&self, una: u32) -> bool {
        una > self.end
    }

    /// The next one begins with the packet `sent`, if it has ended.
    pub fn begin_if_over(&mut self, una: u32, sent: u32) {
        if self.is_over(una) {
            self.end = sent;
            self.begun = true;
        }
    }

    /// Calls the hooks for the contents of `report`. `rtt` is its sample in 1/8 us.
    pub fn steer(
        &mut self,
        report: &Report,
        rtt: u32,
        [una, sent]: [u32; 2],
        group: &mut Group,
        counters: &mut Counters,
    ) {
        let new_round = self.is_over(una);
        self.begin_if_over(una, sent);
        let Report { delivered, marked, trimmed, lost, .. } = *report;
        let mut ack = Ack { delivered, marked, rtt, new_round: new_round.into(), now: report.now / 1000 };
        if delivered > 0 {
            group.ack(0, &ack);
        }
        if trimmed + lost > 0 {
            self.lose(sent, group, counters);
        } else if marked > 0 && group[0].state == State::Open {
            self.cut(sent, group, counters);
        }
        if group[0].state == State::Open && delivered > 0 && group[0].cwnd_limited != 0 {
            ack.new_round = std::mem::take(&mut self.begun).into();
            group.grow(0, &ack);
        }
        // The contents of this ACK belong to the round of the cut, even if the ACK ends it.
        if una >= self.cut_end {
            group[0].state = State::Open;
        }
    }

    fn lose(&mut self, sent: u32, group: &mut Group, counters: &mut Counters) {
        match group[0].state {
            State::Open | State::Disorder => {
                let before = group[0].cwnd;
                if let Some(window) = group.congestion(0, Cause::Loss) {
                    (self.before, self.cut_end) = (before, sent);
                    (group[0].ssthresh, group[0].cwnd) = (window, window);
                }
            }
            State::Cwr => {
                group.deepen(0, self.before);
                group[0].cwnd = group[0].cwnd.min(group[0].ssthresh);
            }
            State::Recovery | State::Loss => return,
        }
        counters.recoveries += 1;
        group[0].state = State::Recovery;
    }

    fn cut(&mut self, sent: u32, group: &mut Group, counters: &mut Counters) {
        let before = group[0].cwnd;
        if let Some(window) = group.congestion(0, Cause::Mark) {
            (self.before, self.cut_end) = (before, sent);
            (group[0].ssthresh, group[0].cwnd) = (window, window);
            group[0].state = State::Cwr;
            counters.mark_cuts += 1;
        }
    }
}
