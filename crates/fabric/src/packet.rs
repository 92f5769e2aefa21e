//! Packets, kept in a slab.

use crate::queue::NAMES;

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

/// What switches read of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Size on the wire, bytes.
    pub bytes: u16,
    /// The ECN field.
    pub ecn: Ecn,
    /// The class of service (the DSCP of IP): which queue of a port with several it waits in.
    pub class: u8,
    /// A hash of addresses and ports: packets with the same one are the same flow to ECMP.
    pub hash: u32,
}

impl Header {
    /// Of a packet of `bytes` in class 0, of a flow whose path needs no hash.
    ///
    /// # Panics
    /// If it has more than 65,535 bytes, which no IP packet has.
    #[inline]
    pub fn new(bytes: u32, ecn: Ecn) -> Self {
        let bytes = u16::try_from(bytes).expect("a packet of at most 65,535 bytes");
        Self { bytes, ecn, class: 0, hash: 0 }
    }
}

/// A packet on its way: one cache line, with a payload of up to 48 bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Packet<P> {
    /// What stands in the table of routes for the node at which it will arrive: the next port.
    pub(crate) next: u32,
    /// Where in the table the one after that stands.
    pub(crate) cursor: u32,
    /// What switches read.
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
