//! The packets of a TCP connection, with one subflow or several.

use std::collections::BTreeMap;

use etherparse::{TcpHeader, TcpOptions};
use tresse_results::record::packet::Kind;

use super::connections::{Connection, ends, first_numbers, nonces};
use super::frame::{Frame, Ip, tcp};
use super::mptcp::{Mapping, capable, dss, join};
use super::packet::Packet;
use crate::key::Key;

/// All packets have the largest possible window: flow control is not the limit.
const WINDOW: u16 = u16::MAX;
const SCALE: u8 = 14;

const END: u8 = 0;
const NOP: u8 = 1;

/// The remark on a packet that was not simulated.
const MADE: &str = "not simulated: made by tresse export";

/// The packets of a subflow's handshake that an interface has shown.
type Shown = [bool; 3];

/// Makes the packets of TCP connections.
#[derive(Debug, Default)]
pub(crate) struct Tcp {
    /// By host, connection and subflow.
    shown: BTreeMap<(u32, u32, u32), Shown>,
}

/// A packet, whether the recorded host sent it, and the remark on it.
pub(crate) struct CapturedPacket {
    pub frame: Frame,
    pub sent: bool,
    pub comments: Vec<String>,
}

impl Tcp {
    /// The packet of a row, preceded by the missing packets of its subflow's handshake; `None` if it is too
    /// large for IP.
    pub fn frames(
        &mut self,
        row: &Packet,
        connection: &Connection,
        several: bool,
    ) -> Option<Vec<CapturedPacket>> {
        let subflow = Subflow { row, connection, several };
        let shown = self.shown.entry((row.host, connection.number, row.subflow)).or_default();
        let mut made = Vec::new();
        match row.kind {
            Kind::Syn => shown[0] = true,
            Kind::SynAck => shown[1] = true,
            Kind::JoinAck => shown[2] = true,
            _ => {
                for (packet, shown) in shown.iter_mut().enumerate() {
                    if !std::mem::replace(shown, true) {
                        made.push(subflow.handshake(packet, Some(MADE))?);
                    }
                }
            }
        }
        made.push(subflow.packet()?);
        Some(made)
    }
}

struct Subflow<'a> {
    row: &'a Packet,
    connection: &'a Connection,
    /// It belongs to a Multipath TCP connection.
    several: bool,
}

impl Subflow<'_> {
    fn packet(&self) -> Option<CapturedPacket> {
        match self.row.kind {
            Kind::Syn => self.handshake(0, None),
            Kind::SynAck => self.handshake(1, None),
            Kind::JoinAck => self.handshake(2, None),
            Kind::Data => self.data(),
            _ => self.ack(),
        }
    }

    /// The packet with this number in the handshake.
    fn handshake(&self, packet: usize, made: Option<&str>) -> Option<CapturedPacket> {
        let (key, number) = (&self.row.key, self.row.subflow);
        let [sender, receiver] = first_numbers(key, number);
        let is_answer = packet == 1;
        let mut header = self.header(is_answer);
        header.sequence_number = [sender, receiver, sender.wrapping_add(1)][packet];
        header.acknowledgment_number = [0, sender, receiver][packet].wrapping_add(u32::from(packet > 0));
        (header.syn, header.ack) = (packet < 2, packet > 0);
        // RFC 3168 §6.1.1.
        (header.ece, header.cwr) = (self.connection.ecn && packet < 2, self.connection.ecn && packet == 0);
        let mut options = Vec::new();
        if packet < 2 {
            let [high, low] = (self.connection.full.clamp(1, u16::MAX.into()) as u16).to_be_bytes();
            // Maximum segment size, selective ACKs, window scale.
            options.extend([2, 4, high, low, NOP, NOP, 4, 2, NOP, 3, 3, SCALE]);
        }
        if self.several {
            let ends = ends(key);
            let address = self.row.addresses[usize::from(is_answer)] as u8;
            options.extend(match number {
                0 => capable(packet, &ends),
                _ => join(packet, &ends, nonces(key, number), address),
            });
        }
        let mut comments: Vec<String> = made.map(str::to_owned).into_iter().collect();
        comments.extend((packet == 0).then(|| format!("{}, subflow {number}", key.name())));
        let ecn = if made.is_some() { 0 } else { self.row.ecn };
        self.made(header, &options, is_answer, (ecn, 0), comments)
    }

    fn data(&self) -> Option<CapturedPacket> {
        let row = self.row;
        let [seq, dsn] = row.data?;
        let before = self.connection.bytes_before_on(row.subflow, seq);
        let [sender, receiver] = first_numbers(&row.key, row.subflow);
        let mut header = self.header(false);
        header.sequence_number = sender.wrapping_add(1).wrapping_add(before as u32);
        header.acknowledgment_number = receiver.wrapping_add(1);
        (header.ack, header.psh, header.cwr) = (true, row.last, row.cwr);
        let options = if self.several {
            let [sender, receiver] = ends(&row.key);
            let mapping = Mapping {
                dsn: sender.idsn.wrapping_add(1).wrapping_add(self.connection.bytes_before(dsn)),
                ssn: (before as u32).wrapping_add(1),
                length: row.payload as u16,
            };
            dss(receiver.idsn.wrapping_add(1), Some(mapping))
        } else {
            Vec::new()
        };
        self.made(header, &options, false, (row.ecn, row.payload), remarks(row))
    }

    /// An ACK, or the answer to the third packet of a handshake.
    fn ack(&self) -> Option<CapturedPacket> {
        let row = self.row;
        let [ack, data_ack] = row.ack.unwrap_or_default();
        let [sender, receiver] = first_numbers(&row.key, row.subflow);
        let number = |segment| {
            let before = self.connection.bytes_before_on(row.subflow, segment);
            sender.wrapping_add(1).wrapping_add(before as u32)
        };
        let mut header = self.header(true);
        header.sequence_number = receiver.wrapping_add(1);
        header.acknowledgment_number = number(ack);
        // XMP counts marks with both bits; others have at most one.
        (header.ack, header.ece, header.cwr) = (true, row.echo & 1 != 0, row.echo & 2 != 0);
        let mut options = Vec::new();
        if self.several {
            let before = self.connection.bytes_before(data_ack);
            let [sender, _] = ends(&row.key);
            options = dss(sender.idsn.wrapping_add(1).wrapping_add(before), None);
        }
        if !row.sack.is_empty() {
            options.extend([NOP, NOP, 5, 2 + 8 * row.sack.len() as u8]);
            options.extend(row.sack.iter().flatten().flat_map(|&segment| number(segment).to_be_bytes()));
        }
        self.made(header, &options, true, (row.ecn, 0), remarks(row))
    }

    fn header(&self, is_answer: bool) -> TcpHeader {
        let [sender, receiver] = self.connection.subflow(self.row.subflow).ports;
        let [from, to] = if is_answer { [receiver, sender] } else { [sender, receiver] };
        TcpHeader::new(from, to, 0, WINDOW)
    }

    fn made(
        &self,
        mut header: TcpHeader,
        options: &[u8],
        is_answer: bool,
        (ecn, payload): (u8, u32),
        comments: Vec<String>,
    ) -> Option<CapturedPacket> {
        let row = self.row;
        let mut options = options.to_vec();
        options.resize(options.len().next_multiple_of(4), END);
        header.options = TcpOptions::try_from_slice(&options).ok()?;
        let ip = ip(row, is_answer, ecn);
        let sent = is_answer == (u64::from(row.host) == row.key.to);
        Some(CapturedPacket { frame: tcp(&ip, header, payload)?, sent, comments })
    }
}

/// The source and destination of a packet: an answer comes from the host that receives the flow's data.
pub(crate) fn ip(row: &Packet, is_answer: bool, ecn: u8) -> Ip {
    let Key { from, to, .. } = row.key;
    let [from, to] = [[from as u32, row.addresses[0]], [to as u32, row.addresses[1]]];
    if is_answer { Ip { from: to, to: from, ecn } } else { Ip { from, to, ecn } }
}

/// The remarks on a packet.
pub(crate) fn remarks(row: &Packet) -> Vec<String> {
    let remarks = [
        (row.dropped, "dropped by its own host's port"),
        (row.retransmission, "retransmission"),
        (row.ecn == 2, "marked: congestion experienced"),
        (row.trimmed, "trimmed to its header by a switch"),
        (row.last, "last byte of a message"),
    ];
    remarks.iter().filter(|(is_so, _)| *is_so).map(|(_, text)| (*text).to_owned()).collect()
}
