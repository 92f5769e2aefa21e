//! How subflows are opened, by handshakes or at once, and closed.

use tresse_units::Time;

use super::Sender;
use crate::tcp::handshake::{Handshake, Step};
use crate::tcp::set::bit;
use crate::tcp::subflow::Subflow;
use crate::{Body, Origin, Transmit};

impl Sender {
    /// Opens a subflow. Returns its number, the next unused one. It may send when [`Sender::is_open`]: at
    /// once, or when its handshake is complete. `duplicates` is the number of duplicate ACKs that indicate a
    /// loss: three, or more if packets overtake each other.
    ///
    /// # Panics
    /// If there are as many as a connection may have.
    pub fn open(&mut self, duplicates: u32) -> usize {
        let subflow = self.subflows.len();
        self.subflows.reserve_exact(1); // most connections have few, and there are many connections
        self.subflows.push(Subflow::new(&self.config, subflow));
        self.subflows[subflow].duplicate_threshold = duplicates.max(3);
        if self.config.handshake {
            self.handshakes.push(Handshake::new(subflow as u8));
        } else {
            self.establish(subflow);
        }
        subflow
    }

    fn establish(&mut self, subflow: usize) {
        let place = self.rank(subflow);
        self.group.insert(place, self.config.initial_window);
        self.group[place].ssthresh = self.config.initial_ssthresh;
        self.group[place].mss = self.config.mss;
        self.subflows[subflow].publish_rtt(&self.config, &mut self.group[place]);
        self.open |= bit(subflow);
    }

    /// Closes a subflow; its data in flight is sent again on the others. Nothing happens if it is closed.
    ///
    /// # Panics
    /// If it is the last one.
    pub fn close(&mut self, subflow: usize) {
        self.handshakes.retain(|h| usize::from(h.subflow) != subflow);
        if let Some(place) = self.place(subflow) {
            self.reinject(subflow);
            self.group.remove(place);
            self.open &= !bit(subflow);
        }
    }

    /// An answer to a packet of `subflow`'s handshake, sent at `stamp`, has arrived. Returns whether the subflow may send now.
    pub fn handle_handshake(&mut self, now: Time, subflow: usize, answer: Step, stamp: Time) -> bool {
        let Some(i) = self.handshakes.iter().position(|h| usize::from(h.subflow) == subflow) else {
            return false; // a second answer, or the subflow was closed
        };
        let rtt = &mut self.subflows[subflow].rtt;
        if self.handshakes[i].is_completed_by(answer) {
            self.handshakes.remove(i);
            rtt.sample(now - stamp);
            rtt.reset_backoff();
            self.establish(subflow);
            return true;
        }
        if self.handshakes[i].go_on(answer) {
            rtt.sample(now - stamp);
            rtt.reset_backoff();
        }
        false
    }

    /// The next packet of a handshake.
    #[cold]
    pub(super) fn poll_handshake(&mut self, now: Time) -> Option<Transmit> {
        let handshake = self.handshakes.iter_mut().find(|h| h.due)?;
        let subflow = usize::from(handshake.subflow);
        handshake.due = false;
        handshake.deadline = now.saturating_add(self.subflows[subflow].rtt.rto(&self.config));
        Some(Transmit {
            subflow,
            origin: Origin::Handshake,
            payload: 0,
            body: Body::Handshake(handshake.packet, now.into()),
        })
    }
}
