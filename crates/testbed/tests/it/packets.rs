use proptest::prelude::*;
use tresse_fabric::Ecn;
use tresse_testbed::ip;

/// An IPv4 packet with this ECN field.
fn packet(tos: u8, id: u16, from: u32, to: u32, ports: [u16; 2], payload: usize) -> Vec<u8> {
    let mut own = vec![0; 28 + payload];
    own[0] = 0x45;
    own[1] = tos;
    own[2..4].copy_from_slice(&((28 + payload) as u16).to_be_bytes());
    own[4..6].copy_from_slice(&id.to_be_bytes());
    own[8] = 64;
    own[9] = 17;
    own[12..16].copy_from_slice(&from.to_be_bytes());
    own[16..20].copy_from_slice(&to.to_be_bytes());
    own[20..22].copy_from_slice(&ports[0].to_be_bytes());
    own[22..24].copy_from_slice(&ports[1].to_be_bytes());
    let sum = !sum(&own[..20]);
    own[10..12].copy_from_slice(&sum.to_be_bytes());
    own
}

/// The one's-complement sum (RFC 1071): all bits of it are set if the checksum holds.
fn sum(header: &[u8]) -> u16 {
    let words = header.chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

proptest! {
    #[test]
    fn a_mark_leaves_the_checksum_right(
        tos in any::<u8>(), id in any::<u16>(), from in any::<u32>(), to in any::<u32>(),
        ports in any::<[u16; 2]>(), payload in 0_usize..1400,
    ) {
        let mut own = packet(tos, id, from, to, ports, payload);
        prop_assert_eq!(sum(&own[..20]), 0xffff);
        let before = ip::read(&own).expect("a packet");
        prop_assert_eq!(before.ports, ports);
        prop_assert_eq!(usize::from(before.header.bytes), own.len());
        ip::set_ce(&mut own);
        prop_assert_eq!(sum(&own[..20]), 0xffff);
        let after = ip::read(&own).expect("a packet");
        prop_assert_eq!(after.header.ecn, Ecn::Ce);
        prop_assert_eq!((after.header.hash, after.header.class), (before.header.hash, before.header.class));
    }

    #[test]
    fn whatever_comes_is_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = ip::read(&bytes);
    }
}
