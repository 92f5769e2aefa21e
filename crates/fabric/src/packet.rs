//! Packets, kept in a slab.

/// There are fewer packets than this in the network at a time.
const NAMES: u32 = 1 << 24;

/// The ECN field of the IP header (RFC 3168 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable: a queue can only drop it.
    NotEct,
    /// ECN-capable.
    Ect,
    /// Congestion experienced: a queue marked it.
    Ce,
}

/// The fields of a packet that switches read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Size on the wire, bytes.
    pub bytes: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// The class of service (the DSCP of IP), 0 to 7: selects the queue in a port with several. The bits
    /// above it hold what [`Header::trimmable`] and [`Header::trimmed`] return.
    pub class: u8,
    /// A hash of addresses and ports: to ECMP, packets with the same hash are one flow.
    pub hash: u32,
}

impl Header {
    /// The highest class of any port: packets in it wait in the last class of every port.
    pub const LAST_CLASS: u8 = 7;

    /// For a packet of `bytes` in class 0, of a flow whose path needs no hash.
    ///
    /// # Panics
    /// If it has more than 65,535 bytes, which no IP packet has.
    #[inline]
    pub fn new(bytes: u32, ecn: Ecn) -> Self {
        let bytes = u16::try_from(bytes).expect("a packet of at most 65,535 bytes");
        Self { bytes, ecn, class: 0, hash: 0 }
    }

    /// The packet, which a port that trims may cut to its header if it has no room.
    #[inline]
    #[must_use]
    pub fn trimmable(self) -> Self {
        Self { class: self.class | TRIMMABLE, ..self }
    }

    /// For a packet that was trimmed because a port had no room: whether that port led to a host. `None` for a
    /// whole packet.
    #[inline]
    pub fn trimmed(&self) -> Option<bool> {
        (self.class & TRIMMED != 0).then_some(self.class & LAST_HOP != 0)
    }

    /// Whether a port may trim it.
    #[inline]
    pub(crate) fn is_trimmable(&self) -> bool {
        self.class & TRIMMABLE != 0
    }

    /// Whether a port may trim it, or one has.
    #[inline]
    pub(crate) fn is_sprayed(&self) -> bool {
        self.class & (TRIMMABLE | TRIMMED) != 0
    }

    /// Cuts it to `bytes`; from here on it is in the last class of every port.
    pub(crate) fn trim(&mut self, bytes: u16, last_hop: bool) {
        self.bytes = bytes;
        self.class = TRIMMED | Self::LAST_CLASS | if last_hop { LAST_HOP } else { 0 };
    }

    /// Its class of service alone.
    #[inline]
    pub(crate) fn service(&self) -> u8 {
        self.class & Self::LAST_CLASS
    }
}

impl Header {
    /// The fields that a plain port needs, and whether the packet is at the end of its route when it arrives.
    #[inline]
    pub(crate) fn carried(&self, is_at_end: bool) -> u32 {
        u32::from(self.bytes) | (self.ecn as u32) << 16 | u32::from(is_at_end) << 24
    }
}

/// What [`Header::carried`] returns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CarriedHeader(pub u32);

impl CarriedHeader {
    /// Size on the wire, bytes.
    #[inline]
    pub fn bytes(self) -> u32 {
        self.0 & 0xffff
    }

    #[inline]
    pub fn ecn(self) -> Ecn {
        match self.0 >> 16 & 0xff {
            0 => Ecn::NotEct,
            1 => Ecn::Ect,
            _ => Ecn::Ce,
        }
    }

    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.0 = self.0 & !0xff_0000 | (ecn as u32) << 16;
    }

    /// Whether the packet is at the end of its route.
    #[inline]
    pub fn is_at_end(self) -> bool {
        self.0 & 1 << 24 != 0
    }

    #[inline]
    pub fn set_end(&mut self, is_at_end: bool) {
        self.0 = self.0 & !(1 << 24) | u32::from(is_at_end) << 24;
    }
}

const TRIMMABLE: u8 = 0x20;
const LAST_HOP: u8 = 0x40;
const TRIMMED: u8 = 0x80;

/// A packet on its way: one cache line, with a payload of up to 48 bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Packet<P> {
    /// The entry of the route table for the node at which it will arrive: the next port.
    pub(crate) next: u32,
    /// Where the table has the entry after that.
    pub(crate) cursor: u32,
    /// The fields that switches read.
    pub header: Header,
    /// The caller's own.
    pub payload: P,
}

/// A slab of packets: ids are reused, the last one freed first, so that the cache stays warm.
#[derive(Debug)]
pub(crate) struct Packets<P> {
    slots: Vec<Packet<P>>,
    free: Vec<u32>,
}

impl<P: Copy> Packets<P> {
    pub fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub fn insert(&mut self, packet: Packet<P>) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = packet;
                id
            }
            None => {
                assert!(
                    self.slots.len() < NAMES as usize,
                    "fewer than 2^24 packets in the network at a time"
                );
                self.slots.push(packet);
                self.slots.len() as u32 - 1
            }
        }
    }

    #[inline]
    pub fn remove(&mut self, id: u32) -> Packet<P> {
        self.free.push(id);
        self.slots[id as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, id: u32) -> &mut Packet<P> {
        &mut self.slots[id as usize]
    }

    #[inline]
    pub fn get(&self, id: u32) -> &Packet<P> {
        &self.slots[id as usize]
    }

    /// How many packets there are now.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
