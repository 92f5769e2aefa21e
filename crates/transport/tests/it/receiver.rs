//! The receiver with segments in any order: delivered data, and the contents of its ACKs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tresse_transport::tcp::Receiver;
use tresse_transport::{Block, Config, Count, Recovery, Segment};

use crate::pipe::{MSS, config, data};

fn receiver(segments: u32) -> Receiver {
    let config = Config { recovery: Recovery::Sack, ..config() };
    Receiver::new(config, 1, u64::from(segments) * u64::from(MSS))
}

/// The runs of consecutive numbers in `set`.
fn runs(set: &BTreeSet<u32>) -> Vec<Block> {
    let mut runs: Vec<Block> = Vec::new();
    for &seq in set {
        match runs.last_mut() {
            Some(run) if run.end == seq => run.end += 1,
            _ => runs.push(Block { start: seq, end: seq + 1 }),
        }
    }
    runs
}

proptest! {
    /// RFC 2018 §4: the first block holds the segment that brought this ACK; the others are further runs of
    /// segments above the cumulative ACK, each once, up to three in all.
    #[test]
    fn sack_blocks_are_what_waits(order in prop::collection::vec(0..60u32, 1..200)) {
        let mut receiver = receiver(60);
        let (mut next, mut waiting) = (0, BTreeSet::new());
        let mut duplicates = 0;
        for seq in order {
            let new = seq >= next && waiting.insert(seq);
            duplicates += u64::from(!new);
            while waiting.remove(&next) {
                next += 1;
            }
            let ack = receiver.handle_data(0, 0, &data(seq, 0), false)[1].expect("every packet is ACKed");
            prop_assert_eq!(ack.seq, next);
            let blocks = ack.sack();
            let runs = runs(&waiting);
            prop_assert_eq!(blocks.len(), runs.len().min(3));
            prop_assert!(blocks.iter().all(|b| runs.contains(b)), "{:?} of {:?}", blocks, runs);
            prop_assert!((1..blocks.len()).all(|i| !blocks[..i].contains(&blocks[i])));
            if waiting.contains(&seq) {
                prop_assert!((blocks[0].start..blocks[0].end).contains(&seq));
            }
        }
        prop_assert_eq!(receiver.messages().delivered(), next);
        prop_assert_eq!(receiver.duplicates(), duplicates);
    }

    /// Which segments complete messages is known before they arrive, duplicates and segments of later messages among them.
    #[test]
    fn it_is_foreseen_which_segments_complete_messages(
        sizes in prop::collection::vec(1..150u32, 1..5),
        before in prop::collection::vec(0..300u32, 0..400),
        coming in prop::collection::vec(0..300u32, 0..500),
    ) {
        let total: u32 = sizes.iter().sum();
        let mut receiver = receiver(sizes[0]);
        for &size in &sizes[1..] {
            receiver.messages_mut().append(u64::from(size) * u64::from(MSS));
        }
        let hear = |receiver: &mut Receiver, seq: u32| {
            receiver.handle_data(0, 0, &data(seq % total, 0), false);
            let mut taken = 0;
            while receiver.messages().complete() {
                receiver.messages_mut().take_message();
                taken += 1;
            }
            taken
        };
        let taken: usize = before.iter().map(|&seq| hear(&mut receiver, seq)).sum();
        let numbers: Vec<u32> = coming.iter().map(|seq| seq % total).collect();
        let foreseen = receiver.messages().completed_by(&numbers);
        let mut completed = Vec::new();
        for (place, &seq) in coming.iter().enumerate() {
            let messages = hear(&mut receiver, seq);
            completed.extend((0..messages).map(|_| place));
        }
        prop_assert_eq!(&foreseen, &completed);
        prop_assert!(taken + completed.len() <= sizes.len());
    }

    /// Segments that are thousands out of order, as on a slow subflow next to a fast one: the delivered data
    /// is always the part without a gap.
    #[test]
    fn data_is_put_back_in_order(
        lag in 1..4000u32,
        stride in prop::sample::select(vec![1u32, 3, 7, 64, 65]),
        total in 4000..9000u32,
    ) {
        let mut receiver = receiver(total);
        // Every `stride`-th segment comes `lag` later than the rest.
        let mut order: Vec<(u32, u32)> =
            (0..total).map(|seq| (if seq % stride == 0 { seq + lag } else { seq }, seq)).collect();
        order.sort_unstable();
        let (mut next, mut there) = (0, vec![false; total as usize + 1]);
        for (_, seq) in order {
            prop_assert!(!receiver.messages().complete());
            receiver.handle_data(0, 0, &data(seq, 0), false);
            there[seq as usize] = true;
            while there[next as usize] {
                next += 1;
            }
            prop_assert_eq!(receiver.messages().delivered(), next);
        }
        prop_assert!(receiver.messages().complete());
    }
}

/// Without SACK an ACK carries no blocks.
#[test]
fn blocks_are_sent_only_with_sack() {
    for recovery in [Recovery::Reno, Recovery::RenoOnce, Recovery::NewReno] {
        let mut receiver = Receiver::new(Config { recovery, ..config() }, 1, 1 << 20);
        let ack = receiver.handle_data(0, 0, &data(3, 0), false)[1].expect("a gap is ACKed at once");
        assert_eq!((ack.seq, ack.count), (0, Count::Zero));
    }
}

/// Each subflow has its own sequence numbers; the message is complete when the data is.
#[test]
fn subflows_share_the_message() {
    let mut receiver = Receiver::new(config(), 2, 4 * u64::from(MSS));
    let packet = |seq, dsn| Segment { dsn, ..data(seq, 0) };
    for (subflow, seq, dsn, delivered) in [(1, 0, 2, 0), (0, 0, 0, 1), (1, 1, 3, 1), (0, 1, 1, 4)] {
        assert!(!receiver.messages().complete());
        let acks = receiver.handle_data(0, subflow, &packet(seq, dsn), false);
        let ack = acks[1].expect("every packet is ACKed");
        assert_eq!(ack.seq, seq + 1);
        assert_eq!(receiver.messages().delivered(), delivered);
    }
    assert!(receiver.messages().complete());
}
