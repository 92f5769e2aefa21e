//! Which hosts use which of several schemes.

use tresse_units::Stream;

/// The part of each host, from 0: `parts` random parts (at least 1) of equal sizes, up to one host. XMP
/// §5.2.2 has half of the flows use one scheme and half another; here the hosts that send them do.
pub fn host_split(seed: u64, hosts: u32, parts: u32) -> Vec<u32> {
    let mut part: Vec<u32> = (0..hosts).map(|host| host % parts).collect();
    Stream::new(seed, "halves", 0).shuffle(&mut part);
    part
}
