//! Packets, kept in a slab.

use crate::carried::CarriedHeader;

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

    /// Whether a port may trim it, or one has.
    #[inline]
    pub(crate) fn is_sprayed(&self) -> bool {
        self.class & (TRIMMABLE | TRIMMED) != 0
    }

    /// The fields that ports need, as events and queues have them.
    #[inline]
    pub(crate) fn carried(&self) -> CarriedHeader {
        CarriedHeader::new(self.bytes, self.ecn, self.class)
    }

    /// Takes over what ports have changed.
    #[inline]
    pub(crate) fn take_over(&mut self, carried: CarriedHeader) {
        (self.bytes, self.ecn, self.class) = (carried.bytes(), carried.ecn(), carried.class());
    }
}

/// Bits of [`Header::class`] above the class of service.
pub(crate) const TRIMMABLE: u8 = 0x20;
pub(crate) const LAST_HOP: u8 = 0x40;
pub(crate) const TRIMMED: u8 = 0x80;

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
    /// By id: the host to which nodes forward the packet. Apart from the packets, so that a cache holds them all.
    destinations: Vec<u32>,
}

impl<P: Copy> Packets<P> {
    /// For a network of this many ports. There is room for a bandwidth-delay product and a queue at each; the system
    /// gives the memory of what is used, and nothing has to be copied to grow.
    pub fn for_ports(ports: usize) -> Self {
        const OF_A_PORT: usize = 16;
        let slots = Vec::with_capacity((ports * OF_A_PORT).min(NAMES as usize));
        Self { slots, free: Vec::new(), destinations: Vec::new() }
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

    /// The hosts to which nodes forward packets, by the packets' ids.
    #[inline]
    pub fn destinations(&self) -> &[u32] {
        &self.destinations
    }

    /// Nodes forward the packet to this host.
    #[inline]
    pub fn set_destination(&mut self, id: u32, host: u32) {
        if self.destinations.len() < self.slots.len() {
            self.destinations.resize(self.slots.len(), 0);
        }
        self.destinations[id as usize] = host;
    }

    /// How many packets there are now.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
