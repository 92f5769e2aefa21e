//! How fast packets are delivered, after draft-cheng-iccrg-delivery-rate-estimation: the amount delivered
//! since the newest packet of an answer was sent, over the time that sending or answering took, whichever was
//! longer.

use tresse_units::Time;

/// The state when a packet was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Snapshot {
    delivered: u32,
    /// When the last of them was delivered.
    delivered_at: Time,
    /// When the packet was sent that was the newest of them.
    first_sent: Time,
}

/// Counts delivered packets.
#[derive(Debug)]
pub(super) struct Delivery {
    now: Snapshot,
    /// The newest packet of the current answer: when it was sent, and the state at that time.
    newest: Option<(Time, Snapshot)>,
}

impl Delivery {
    pub fn new() -> Self {
        Self { now: Snapshot { delivered: 0, delivered_at: 0, first_sent: 0 }, newest: None }
    }

    /// A packet is sent; `idle`: none is in flight.
    pub fn send(&mut self, now: Time, idle: bool) -> Snapshot {
        if idle {
            (self.now.delivered_at, self.now.first_sent) = (now, now);
        }
        self.now
    }

    /// A packet that was sent then has been delivered.
    pub fn deliver(&mut self, sent: Time, known: Snapshot) {
        self.now.delivered += 1;
        if self.newest.is_none_or(|(newest, _)| sent >= newest) {
            self.newest = Some((sent, known));
        }
    }

    /// The sample of an answer, for packets of `bytes`, Mbit/s; 0 if it reported no new packet.
    pub fn sample(&mut self, now: Time, bytes: u32) -> u32 {
        let Some((sent, then)) = self.newest.take() else { return 0 };
        (self.now.delivered_at, self.now.first_sent) = (now, sent);
        let bits = u64::from(self.now.delivered - then.delivered) * u64::from(bytes) * 8;
        let time = (now - then.delivered_at).max(sent - then.first_sent);
        // One bit per ps is 10^6 Mbit/s.
        u32::try_from(u128::from(bits) * 1_000_000 / u128::from(time.max(1))).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use tresse_units::MICROSECOND;

    use super::*;

    /// Packets of 1250 bytes that leave every `gap` us and are answered 10 us later, `each` at a time: the samples.
    fn samples(gap: u64, each: usize) -> Vec<u32> {
        let (mut delivery, mut flying, mut samples) = (Delivery::new(), VecDeque::new(), Vec::new());
        for tick in 0..100 {
            if tick % gap == 0 {
                let known = delivery.send(tick * MICROSECOND, flying.is_empty());
                flying.push_back((tick * MICROSECOND, known));
            }
            let answered =
                flying.iter().filter(|(sent, _)| sent + 10 * MICROSECOND <= tick * MICROSECOND).count();
            if answered >= each {
                flying.drain(..each).for_each(|(sent, known)| delivery.deliver(sent, known));
                samples.push(delivery.sample(tick * MICROSECOND, 1250));
            }
        }
        samples
    }

    #[test]
    fn it_is_that_of_the_path() {
        // 10,000 bits in a microsecond. The first round trip is empty until the first answer.
        assert!(samples(1, 1)[11..].iter().all(|&rate| rate == 10_000), "{:?}", samples(1, 1));
        assert!(samples(2, 1)[11..].iter().all(|&rate| rate == 5_000), "{:?}", samples(2, 1));
    }

    #[test]
    fn answers_that_come_together_do_not_raise_it() {
        let most = samples(1, 4).into_iter().max();
        assert_eq!(most, Some(10_000));
    }

    #[test]
    fn an_answer_that_tells_nothing_new_is_no_sample() {
        assert_eq!(Delivery::new().sample(MICROSECOND, 1250), 0);
    }
}
