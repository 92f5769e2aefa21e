//! Data that is sent once more on other subflows, because a path manager says so or has closed its subflow.
//!
//! The packets of a run that is sent twice go in the same order both times. So of each copy a beginning has arrived, and
//! the longer of the two beginnings is what the receiver has.

use std::collections::VecDeque;

use crate::connection::Connection;

/// Packets of one subflow that others send once more.
#[derive(Debug)]
pub(crate) struct Run {
    /// The subflow that sent them first.
    from: usize,
    packets: u32,
    /// How many others have sent.
    again: u32,
    /// How many have arrived as they were sent first, and as they were sent again.
    arrived: [u32; 2],
}

impl Run {
    /// Packets that others have still to send: the sender no longer sends what the receiver has.
    fn left(&self) -> u32 {
        let [first, second] = self.arrived;
        self.packets.saturating_sub(self.again.max(first).max(second))
    }

    /// More packets have arrived, of the first copy or of the second. Returns how many of them the receiver did not have.
    fn arrive(&mut self, copy: usize, packets: u32) -> u32 {
        let before = self.arrived[0].max(self.arrived[1]);
        self.arrived[copy] += packets;
        self.arrived[0].max(self.arrived[1]).min(self.packets).saturating_sub(before)
    }
}

/// What packets of a subflow are, which have not arrived yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Data that nobody else sends.
    Only,
    /// Those of the run of this number, as it was sent first.
    First(usize),
    /// The same, as it is sent again.
    Again(usize),
}

/// A subflow's packets that have not arrived, in their order, if some of them are sent twice.
pub(crate) type Pieces = Option<Box<VecDeque<(What, u32)>>>;

impl Connection {
    /// The packets of subflow `i` that have not arrived.
    fn pieces(&mut self, i: usize) -> &mut VecDeque<(What, u32)> {
        let s = &mut self.subflows[i];
        let outgoing = s.outgoing.as_ref().map_or(0, |out| out.packets);
        let lost: u32 = s.batches.iter().map(|batch| batch.lost).sum();
        let missing = outgoing + lost + s.repair.holes + s.repair.resend;
        s.pieces.get_or_insert_with(|| Box::new(VecDeque::from([(What::Only, missing)])))
    }

    /// What subflow `i` has in flight, others send once more.
    pub fn repeat_elsewhere(&mut self, i: usize) {
        let number = self.runs.len();
        let mut packets = 0;
        for (what, n) in self.pieces(i).iter_mut() {
            if *what == What::Only && *n > 0 {
                packets += *n;
                *what = What::First(number);
            }
        }
        if packets > 0 {
            self.runs.push(Run { from: i, packets, again: 0, arrived: [0; 2] });
        } else if self.runs.is_empty() {
            self.subflows[i].pieces = None; // all has arrived, and what it sends next is nobody else's
        }
    }

    /// Subflow `i` has been closed: the copies that it was to bring, others send.
    pub fn hand_back(&mut self, i: usize) {
        let pieces: Vec<_> = self.pieces(i).iter().copied().collect();
        for (what, n) in pieces {
            if let What::Again(run) = what {
                let run = &mut self.runs[run];
                run.again = run.again.saturating_sub(n);
            }
        }
    }

    /// Packets of other subflows that `i` may send once more.
    pub fn copies_for(&self, i: usize) -> u64 {
        self.runs.iter().filter(|run| run.from != i).map(|run| u64::from(run.left())).sum()
    }

    /// Subflow `i` sends `room` packets: those of others once more, then new ones. Returns how many are of others.
    pub fn send_copies(&mut self, i: usize, room: u32) -> u32 {
        if self.runs.is_empty() {
            return 0;
        }
        let mut sent = 0;
        for number in 0..self.runs.len() {
            let run = &mut self.runs[number];
            let n = run.left().min(room - sent);
            if n > 0 && run.from != i {
                // Those that have arrived meanwhile are left out: the second copy has them too.
                let known = run.packets - run.left();
                run.arrived[1] += known - run.again.max(run.arrived[1]);
                run.again = known + n;
                sent += n;
                self.pieces(i).push_back((What::Again(number), n));
            }
        }
        if let Some(pieces) = &mut self.subflows[i].pieces {
            pieces.push_back((What::Only, room - sent));
        }
        self.subflows[i].counters.reinjections += u64::from(sent);
        sent
    }

    /// `arrived` packets of subflow `i` arrive. Returns how many of them the receiver did not have.
    pub fn pass(&mut self, i: usize, mut arrived: u32) -> u32 {
        let Some(mut pieces) = self.subflows[i].pieces.take() else { return arrived };
        let mut fresh = 0;
        while arrived > 0 {
            let Some((what, left)) = pieces.front_mut() else { break };
            let n = arrived.min(*left);
            (arrived, *left) = (arrived - n, *left - n);
            fresh += match *what {
                What::Only => n,
                What::First(run) => self.runs[run].arrive(0, n),
                What::Again(run) => self.runs[run].arrive(1, n),
            };
            if *left == 0 {
                pieces.pop_front();
            }
        }
        if pieces.iter().any(|(what, _)| *what != What::Only) {
            self.subflows[i].pieces = Some(pieces);
        } else if self.subflows.iter().all(|s| s.pieces.is_none())
            && self.runs.iter().all(|run| run.left() == 0)
        {
            self.runs.clear(); // nobody has packets of them any more, or is to send some
        }
        fresh
    }
}
