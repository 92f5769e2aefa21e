//! What events and queues carry of a packet, so that switches need not fetch the packet itself.

use crate::packet::{Ecn, Header, LAST_HOP, TRIMMABLE, TRIMMED};

/// A packet on its way, as events and queues have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving {
    /// Its place in the slab.
    pub id: u32,
    pub carried: Carried,
}

/// What an event carries of a packet besides its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Carried {
    /// On a fixed route, where the table of routes has the entry after the next port; otherwise the hash.
    pub key: u32,
    pub header: CarriedHeader,
}

/// The fields of a header that ports need, and where the packet is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CarriedHeader(u32);

const ECN_SHIFT: u32 = 16;
const ECN: u32 = 0b11 << ECN_SHIFT;
const END: u32 = 1 << 18;
const GONE: u32 = 1 << 19;
const NOWHERE: u32 = 1 << 20;
const FORWARDED: u32 = 1 << 21;
const CLASS_SHIFT: u32 = 24;

impl CarriedHeader {
    #[inline]
    pub fn new(bytes: u16, ecn: Ecn, class: u8) -> Self {
        Self(u32::from(bytes) | (ecn as u32) << ECN_SHIFT | u32::from(class) << CLASS_SHIFT)
    }

    /// Its word, and the header with this word.
    pub fn word(self) -> u32 {
        self.0
    }

    pub fn from_word(word: u32) -> Self {
        Self(word)
    }

    /// Size on the wire, bytes.
    #[inline]
    pub fn bytes(self) -> u16 {
        self.0 as u16
    }

    #[inline]
    pub fn ecn(self) -> Ecn {
        match self.0 >> ECN_SHIFT & 0b11 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect,
            _ => Ecn::Ce,
        }
    }

    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.0 = self.0 & !ECN | (ecn as u32) << ECN_SHIFT;
    }

    /// [`Header::class`], with the bits above the class of service.
    #[inline]
    pub fn class(self) -> u8 {
        (self.0 >> CLASS_SHIFT) as u8
    }

    /// The class of service alone.
    #[inline]
    pub fn service(self) -> u8 {
        self.class() & Header::LAST_CLASS
    }

    /// Whether a port may trim it.
    #[inline]
    pub fn is_trimmable(self) -> bool {
        self.class() & TRIMMABLE != 0
    }

    /// Whether a port has trimmed it.
    #[inline]
    pub fn is_trimmed(self) -> bool {
        self.class() & TRIMMED != 0
    }

    /// Cuts it to `bytes`; from here on it is in the last class of every port.
    pub fn trim(&mut self, bytes: u16, last_hop: bool) {
        let class = TRIMMED | Header::LAST_CLASS | if last_hop { LAST_HOP } else { 0 };
        let where_it_is = self.0 & (END | GONE | NOWHERE | FORWARDED);
        *self = Self(Self::new(bytes, self.ecn(), class).0 | where_it_is);
    }

    /// Whether the packet is at the end of its route when it arrives.
    #[inline]
    pub fn is_at_end(self) -> bool {
        self.0 & END != 0
    }

    #[inline]
    pub fn set_end(&mut self, is_at_end: bool) {
        self.0 = self.0 & !END | if is_at_end { END } else { 0 };
    }

    /// Whether the packet has been lost with its link.
    #[inline]
    pub fn is_gone(self) -> bool {
        self.0 & GONE != 0
    }

    pub fn set_gone(&mut self) {
        self.0 |= GONE;
    }

    /// No port leads on from where it arrives, as far as is known.
    #[inline]
    pub fn set_nowhere(&mut self, is_nowhere: bool) {
        self.0 = self.0 & !NOWHERE | if is_nowhere { NOWHERE } else { 0 };
    }

    /// Whether the packet enters another port where it arrives, as far as is known.
    #[inline]
    pub fn goes_on(self) -> bool {
        self.0 & (END | GONE | NOWHERE) == 0
    }

    /// Whether nodes decide where it goes; otherwise its route is fixed.
    #[inline]
    pub fn is_forwarded(self) -> bool {
        self.0 & FORWARDED != 0
    }

    pub fn set_forwarded(&mut self) {
        self.0 |= FORWARDED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_carried_as_it_is() {
        for ecn in [Ecn::NotEct, Ecn::Ect, Ecn::Ce] {
            let header = Header { class: 3, hash: 9, ..Header::new(65_535, ecn) }.trimmable();
            let mut carried = header.carried();
            assert!(carried.goes_on() && carried.is_trimmable() && !carried.is_forwarded());
            carried.set_end(true);
            carried.set_forwarded();
            carried.trim(64, true);
            assert!(carried.is_at_end() && carried.is_forwarded() && !carried.is_trimmable());
            let mut taken = header;
            taken.take_over(carried);
            assert_eq!((taken.bytes, taken.ecn, taken.hash, taken.trimmed()), (64, ecn, 9, Some(true)));
        }
    }
}
