//! The transport's contents of a packet.

use tresse_units::Time;

use crate::tcp::Step;

/// Segments `start..end` that arrived out of order (RFC 2018).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    /// The first one.
    pub start: u32,
    /// One after the last.
    pub end: u32,
}

/// A time in a header. It needs no alignment of its own, which keeps a header at 48 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(Rust, packed(4))]
pub struct Stamp(Time);

impl Stamp {
    /// The time, ps.
    #[inline]
    pub fn time(self) -> Time {
        self.0
    }
}

impl From<Time> for Stamp {
    #[inline]
    fn from(time: Time) -> Self {
        Self(time)
    }
}

/// The transport header of a packet, as the fabric carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// The subflow of the packet, by the receiving host's own name for it.
    pub subflow: u32,
    /// The rest of the header.
    pub body: Body,
}

// A packet is copied at every hop.
const _: () = assert!(size_of::<Wire>() == 48);

/// What kind of packet it is, and what its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Data of a TCP subflow.
    Segment(Segment),
    /// An ACK of a TCP subflow.
    Ack(Ack),
    /// A packet of the handshake of a TCP subflow: neither data nor an ACK of data.
    Handshake(Step, Stamp),
    /// Data of a sprayed connection.
    Sprayed(SprayedPacket),
    /// An ACK or NACK of a sprayed connection.
    Answer(Answer),
    /// A datagram: there is no transport.
    Datagram,
}

impl Body {
    /// Whether it goes from the receiving half of a connection to the sending one.
    #[inline]
    pub fn is_ack(&self) -> bool {
        match self {
            Self::Ack(_) | Self::Answer(_) => true,
            Self::Handshake(step, _) => step.is_answer(),
            Self::Segment(_) | Self::Sprayed(_) | Self::Datagram => false,
        }
    }

    /// The number in the connection of the segment that it carries.
    #[inline]
    pub fn segment(&self) -> Option<u32> {
        match self {
            Self::Segment(segment) => Some(segment.dsn),
            Self::Sprayed(packet) => Some(packet.number),
            Self::Ack(_) | Self::Answer(_) | Self::Handshake(..) | Self::Datagram => None,
        }
    }

    /// For a sprayed connection: the path that this packet takes, or the path of the packet that it answers.
    #[inline]
    pub fn path(&self) -> Option<u32> {
        match self {
            Self::Sprayed(packet) => Some(packet.path),
            Self::Answer(answer) => Some(answer.path),
            Self::Segment(_) | Self::Ack(_) | Self::Handshake(..) | Self::Datagram => None,
        }
    }
}

/// The header of a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// When it was sent.
    pub stamp: Stamp,
    /// Its number on the subflow.
    pub seq: u32,
    /// Its number in the connection (RFC 8684 §3.3).
    pub dsn: u32,
    /// It is the last one of a message.
    pub last: bool,
    /// The window was reduced (RFC 3168 §6.1.2).
    pub cwr: bool,
    /// It was sent before on this subflow. No endpoint reads this.
    pub again: bool,
    /// All segments of the subflow below this one have arrived, as far as its sender knows.
    pub acked: u32,
}

/// The header of a TCP ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ack {
    /// The timestamp of the first segment that it covers (RFC 7323).
    pub stamp: Stamp,
    /// The next segment expected on the subflow.
    pub seq: u32,
    /// The first segment of the connection that is still missing (RFC 8684 §3.3.1).
    pub dsn: u32,
    /// The echoed CE marks; 1 for a plain ECE.
    pub ce: u8,
    /// How many of `blocks` are used.
    pub count: Count,
    /// With a receive buffer that grows: how many segments from `dsn` on may be sent.
    pub window: u16,
    /// SACK blocks, the newest first.
    pub blocks: [Block; 3],
}

/// How many blocks an ACK has. As an enum, because [`Body`] uses its free values to tell the kinds of packets apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "numbers")]
pub enum Count {
    #[default]
    Zero,
    One,
    Two,
    Three,
}

impl Count {
    /// This many, at most three.
    #[inline]
    pub(crate) fn of(blocks: usize) -> Self {
        match blocks {
            0 => Self::Zero,
            1 => Self::One,
            2 => Self::Two,
            _ => Self::Three,
        }
    }
}

impl Ack {
    /// Puts a block before the others; of four, the last one goes.
    pub(crate) fn push_front(&mut self, block: Block) {
        self.blocks = [block, self.blocks[0], self.blocks[1]];
        self.count = Count::of(self.count as usize + 1);
    }

    /// The SACK blocks, the newest first.
    #[inline]
    pub fn sack(&self) -> &[Block] {
        &self.blocks[..self.count as usize]
    }

    /// With these SACK blocks, the newest first; the first three of them.
    pub fn with_sack(mut self, newest_first: impl IntoIterator<Item = Block>) -> Self {
        let mut count = 0;
        for (place, block) in self.blocks.iter_mut().zip(newest_first) {
            *place = block;
            count += 1;
        }
        self.count = Count::of(count);
        self
    }
}

/// The header of a packet of a sprayed connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SprayedPacket {
    /// When it was sent.
    pub stamp: Stamp,
    /// Its number, the same for every transmission.
    pub number: u32,
    /// The path that it takes.
    pub path: u32,
    /// It is the last one of a message.
    pub last: bool,
    /// It asks for an ACK at once: the sender sends nothing more until it hears about it.
    pub asks: bool,
    /// It was sent before. No endpoint reads this.
    pub again: bool,
}

/// Whether an answer is about a packet that arrived, or about one that a switch has cut to its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrived, with a CE mark or without.
    Arrived {
        /// It was marked.
        ce: bool,
    },
    /// It was trimmed.
    Trimmed {
        /// The port that trimmed it leads to the receiver.
        last_hop: bool,
    },
}

/// The header of an ACK or NACK of a sprayed connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The timestamp of the packet that it answers.
    pub stamp: Stamp,
    /// All packets below have arrived.
    pub next: u32,
    /// The packet that it answers.
    pub packet: u32,
    /// The path that this packet took.
    pub path: u32,
    /// What became of it.
    pub fate: Fate,
    /// Bit j of the bitmap is set if the packet `base` + j has arrived.
    pub base: u32,
    /// See `base`: the low and the high half.
    pub bitmap: [u32; 2],
}

impl Answer {
    /// The packets that have arrived from [`Answer::base`] on, as blocks in the order of their numbers.
    pub fn arrived(&self) -> impl Iterator<Item = Block> {
        let (base, bitmap) = (self.base, self.bits());
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next + bitmap.checked_shr(next).filter(|&left| left != 0)?.trailing_zeros();
            next = start + (bitmap >> start).trailing_ones();
            Some(Block { start: base + start, end: base + next })
        })
    }

    /// The bitmap.
    #[inline]
    pub(crate) fn bits(&self) -> u64 {
        u64::from(self.bitmap[1]) << 32 | u64::from(self.bitmap[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reports_blocks() {
        let blocks = |bits: u64| -> Vec<_> {
            let bitmap = [bits as u32, (bits >> 32) as u32];
            let (fate, stamp) = (Fate::Arrived { ce: false }, Stamp::from(0));
            let answer = Answer { stamp, next: 0, packet: 0, path: 0, fate, base: 100, bitmap };
            answer.arrived().map(|block| (block.start, block.end)).collect()
        };
        assert_eq!(blocks(0), []);
        assert_eq!(blocks(0b1101), [(100, 101), (102, 104)]);
        assert_eq!(blocks(1 << 63 | 1), [(100, 101), (163, 164)]);
        assert_eq!(blocks(u64::MAX), [(100, 164)]);
    }

    #[test]
    fn an_ack_has_the_three_newest_blocks() {
        let block = |start| Block { start, end: start + 1 };
        let ack = Ack::default();
        assert_eq!(ack.sack(), []);
        let full = ack.with_sack([40, 30, 20, 10].map(block));
        assert_eq!(full.sack(), [40, 30, 20].map(block));
        assert_eq!(full.with_sack([block(5)]).sack(), [block(5)]);
    }
}
