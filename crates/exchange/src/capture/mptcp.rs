//! The options of Multipath TCP, version 1 (RFC 8684).

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The number of the option.
const MPTCP: u8 = 30;

/// An end of a connection: its key, and the values that follow from it (RFC 8684 §3.1, §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    key: u64,
    token: u32,
    /// The data sequence number before the first byte.
    pub idsn: u64,
}

impl End {
    /// The end with this key.
    pub fn new(key: u64) -> Self {
        let hash: [u8; 32] = Sha256::digest(key.to_be_bytes()).into();
        let [token, idsn] =
            [&hash[..8], &hash[24..]].map(|part| u64::from_be_bytes(part.try_into().expect("eight bytes")));
        Self { key, token: (token >> 32) as u32, idsn }
    }
}

/// Both ends of a connection, the one that opens it first.
pub(super) type Ends = [End; 2];

/// MP_CAPABLE for the packet with this number in a handshake, from 0.
pub(crate) fn capable(packet: usize, ends: &Ends) -> Vec<u8> {
    let keys: &[End] = match packet {
        0 => &[],
        1 => &ends[1..],
        _ => ends,
    };
    // Version 1; HMAC-SHA256, and no data checksum.
    let mut option = vec![MPTCP, 4 + 8 * keys.len() as u8, 0x01, 0x01];
    keys.iter().for_each(|end| option.extend(end.key.to_be_bytes()));
    option
}

/// MP_JOIN for the packet with this number in a handshake, from 0. `nonces` are those of the two ends,
/// `address` is the number of the packet's source address.
pub(crate) fn join(packet: usize, ends: &Ends, nonces: [u32; 2], address: u8) -> Vec<u8> {
    let mac = |first: usize| {
        let keys = [ends[first], ends[1 - first]].map(|end| end.key.to_be_bytes()).concat();
        let nonces = [nonces[first], nonces[1 - first]].map(u32::to_be_bytes).concat();
        let mut mac = Hmac::<Sha256>::new_from_slice(&keys).expect("a key may have any length");
        mac.update(&nonces);
        mac.finalize().into_bytes()
    };
    let mut option = vec![MPTCP, [12, 16, 24][packet], 0x10, if packet < 2 { address } else { 0 }];
    match packet {
        0 => {
            option.extend(ends[1].token.to_be_bytes());
            option.extend(nonces[0].to_be_bytes());
        }
        1 => {
            option.extend(&mac(1)[..8]);
            option.extend(nonces[1].to_be_bytes());
        }
        _ => option.extend(&mac(0)[..20]),
    }
    option
}

/// Data that a packet carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapping {
    /// The data sequence number of the first byte.
    pub dsn: u64,
    /// Its number on the subflow: 1 for the first one.
    pub ssn: u32,
    /// Bytes.
    pub length: u16,
}

/// DSS: the data that has arrived, and the data that the packet carries, if any.
pub(crate) fn dss(data_ack: u64, mapping: Option<Mapping>) -> Vec<u8> {
    let Some(Mapping { dsn, ssn, length }) = mapping else {
        return [&[MPTCP, 12, 0x20, 0x03], &data_ack.to_be_bytes()[..]].concat();
    };
    let (ack, dsn, ssn, length) =
        (data_ack.to_be_bytes(), dsn.to_be_bytes(), ssn.to_be_bytes(), length.to_be_bytes());
    [&[MPTCP, 26, 0x20, 0x0f], &ack[..], &dsn, &ssn, &length].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_first_number_are_the_ends_of_the_hash() {
        // `head -c 8 /dev/zero | sha256sum` begins with af5570f5.
        let end = End::new(0);
        let hash: [u8; 32] = Sha256::digest([0; 8]).into();
        assert_eq!(end.token.to_be_bytes(), hash[..4]);
        assert_eq!(end.idsn.to_be_bytes(), hash[24..]);
        assert_eq!(end.token, 0xaf55_70f5);
    }

    #[test]
    fn options_have_the_lengths_that_they_say() {
        let ends = [End::new(1), End::new(2)];
        let mapping = Mapping { dsn: 7, ssn: 1, length: 1460 };
        let mut options = vec![dss(5, None), dss(5, Some(mapping))];
        options.extend((0..3).flat_map(|packet| [capable(packet, &ends), join(packet, &ends, [3, 4], 1)]));
        for option in options {
            assert_eq!((option[0], usize::from(option[1])), (MPTCP, option.len()), "{option:?}");
        }
    }
}
