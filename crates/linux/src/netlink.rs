//! The kernel's reports about links, queueing disciplines and filters (rtnetlink) in the calling thread's
//! network namespace, and the sockets for requesting them.

use std::io;

use libc::{NETLINK_ROUTE, RTM_GETLINK, RTM_GETQDISC, RTM_GETTFILTER};

pub(crate) use socket::Socket;
#[cfg(test)]
pub(crate) use socket::next;

mod socket;

/// Bytes of `struct ifinfomsg` and `struct tcmsg`.
const IFINFO: usize = 16;
const TCMSG: usize = 20;

/// Constants of the kernel's headers that libc does not have.
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_BPF_ID: u16 = 11;

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub index: i32,
    pub name: String,
    /// Bytes, without the Ethernet header.
    pub mtu: u32,
    /// How many segments one packet of the stack may hold; 1: no packet is split up later.
    pub gso_max_segs: u32,
}

/// A filter of a queueing discipline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filter {
    /// 0 in the message about a whole priority.
    pub handle: u32,
    pub priority: u32,
    /// The number of its eBPF program; 0 if it has none.
    pub program_id: u32,
}

/// The network devices.
pub(crate) fn links() -> io::Result<Vec<Link>> {
    let messages = dump(RTM_GETLINK, &[0; IFINFO])?;
    Ok(messages.iter().filter_map(|m| link(m)).collect())
}

fn link(message: &[u8]) -> Option<Link> {
    let (head, rest) = message.split_at_checked(IFINFO)?;
    let find = |kind| attributes(rest).find(|a| a.0 == kind).map(|a| a.1);
    Some(Link {
        index: word(head, 4)? as i32,
        name: text(find(libc::IFLA_IFNAME)?),
        mtu: word(find(libc::IFLA_MTU)?, 0)?,
        gso_max_segs: find(libc::IFLA_GSO_MAX_SEGS).and_then(|v| word(v, 0)).unwrap_or(1),
    })
}

/// The kind of the queueing discipline at `parent` of a device.
pub(crate) fn qdisc(device: i32, parent: u32) -> io::Result<Option<String>> {
    let messages = dump(RTM_GETQDISC, &tcmsg(device, 0))?;
    // Older kernels report every device.
    let mut ours = messages
        .iter()
        .filter_map(|m| m.split_at_checked(TCMSG))
        .filter(|(head, _)| word(head, 4) == Some(device as u32) && word(head, 12) == Some(parent));
    Ok(ours.find_map(|(_, rest)| attributes(rest).find(|a| a.0 == TCA_KIND).map(|a| text(a.1))))
}

/// The filters at `parent` of a device.
pub(crate) fn filters(device: i32, parent: u32) -> io::Result<Vec<Filter>> {
    let messages = dump(RTM_GETTFILTER, &tcmsg(device, parent))?;
    Ok(messages.iter().filter_map(|m| filter(m)).collect())
}

fn filter(message: &[u8]) -> Option<Filter> {
    let (head, rest) = message.split_at_checked(TCMSG)?;
    let options = attributes(rest).find(|a| a.0 == TCA_OPTIONS).map_or(&[][..], |a| a.1);
    let program = attributes(options).find(|a| a.0 == TCA_BPF_ID).and_then(|a| word(a.1, 0));
    Some(Filter { handle: word(head, 8)?, priority: word(head, 16)? >> 16, program_id: program.unwrap_or(0) })
}

/// A `struct tcmsg`: family and padding, device, handle, parent, info.
fn tcmsg(device: i32, parent: u32) -> [u8; TCMSG] {
    let mut message = [0; TCMSG];
    message[4..8].copy_from_slice(&device.to_ne_bytes());
    message[12..16].copy_from_slice(&parent.to_ne_bytes());
    message
}

fn dump(kind: u16, request: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut answers = Vec::new();
    Socket::open(NETLINK_ROUTE)?.dump(kind, request, |body| answers.push(body.to_vec()))?;
    Ok(answers)
}

/// The attributes of a message: kind and value.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const KIND: u16 = 0x3fff; // the upper bits are flags
    std::iter::from_fn(move || {
        let length = usize::from(half(bytes, 0));
        if length < 4 || length > bytes.len() {
            return None;
        }
        let attribute = (half(bytes, 2) & KIND, &bytes[4..length]);
        bytes = &bytes[aligned(length).min(bytes.len())..];
        Some(attribute)
    })
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

pub(crate) fn half(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |b| u16::from_ne_bytes([b[0], b[1]]))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{attributes, links};

    #[test]
    fn the_loopback_device_is_there() {
        let links = links().expect("links can be listed without privileges");
        let lo = links.iter().find(|l| l.name == "lo").expect("each namespace has it");
        assert_eq!(lo.index, 1);
        assert!(lo.mtu > 0 && lo.gso_max_segs > 0);
    }

    #[test]
    fn attributes_are_padded_and_may_be_cut_off() {
        let mut bytes = vec![5, 0, 1, 0, 9, 0, 0, 0, 8, 0, 2, 0x80, 1, 2, 3, 4];
        let all: Vec<_> = attributes(&bytes).collect();
        assert_eq!(all, [(1, &[9][..]), (2, &[1, 2, 3, 4][..])]);
        bytes.truncate(14);
        assert_eq!(attributes(&bytes).count(), 1);
        assert_eq!(attributes(&[0; 8]).count(), 0);
    }
}
