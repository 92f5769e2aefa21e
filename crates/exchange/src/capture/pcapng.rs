//! A pcapng file (draft-ietf-opsawg-pcapng): a section, an interface for each host, and a block for each frame.

use std::io::{self, Write};

use super::frame::Frame;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// Read with the file's own byte order, it says which one that is.
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const LINKTYPE_ETHERNET: u16 = 1;
/// Nanoseconds, as the negative power of ten: the finest resolution that Wireshark shows.
const RESOLUTION: u8 = 9;
const PS_PER_NS: u64 = 1000;

/// The codes of options. Every block may have comments; the others are of one kind of block.
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;

/// A file being written: little-endian, so that it has the same bytes on every machine.
pub(crate) struct File<'a> {
    out: &'a mut dyn Write,
}

impl<'a> File<'a> {
    /// With an interface for each of `hosts`; `comment` is about the whole file.
    pub fn new(out: &'a mut dyn Write, comment: &str, hosts: impl Iterator<Item = u32>) -> io::Result<Self> {
        let mut section = Block::new(SECTION_HEADER);
        section.u32(BYTE_ORDER_MAGIC);
        section.u16(1); // version 1.0
        section.u16(0);
        section.bytes(&u64::MAX.to_le_bytes()); // the length is not given
        section.option(COMMENT, comment.as_bytes())?;
        section.option(SHB_USERAPPL, format!("tresse {}", env!("CARGO_PKG_VERSION")).as_bytes())?;
        section.write(out)?;
        for host in hosts {
            let mut interface = Block::new(INTERFACE_DESCRIPTION);
            interface.u16(LINKTYPE_ETHERNET);
            interface.u16(0); // reserved
            interface.u32(0); // frames are not cut at any length
            interface.option(IF_NAME, format!("host {host}").as_bytes())?;
            interface.option(IF_TSRESOL, &[RESOLUTION])?;
            interface.write(out)?;
        }
        Ok(Self { out })
    }

    /// A frame that the host of an interface sent or received at `time`, ps.
    pub fn add(
        &mut self,
        interface: u32,
        (time, sent): (u64, bool),
        frame: &Frame,
        comments: &[String],
    ) -> io::Result<()> {
        let time = time / PS_PER_NS;
        let mut block = Block::new(ENHANCED_PACKET);
        block.u32(interface);
        block.u32((time >> 32) as u32);
        block.u32(time as u32);
        block.u32(frame.headers.len() as u32);
        block.u32(frame.length as u32);
        block.bytes(&frame.headers);
        // Bits 0 and 1: 1 inbound, 2 outbound.
        let direction: u32 = if sent { 2 } else { 1 };
        block.option(EPB_FLAGS, &direction.to_le_bytes())?;
        comments.iter().try_for_each(|comment| block.option(COMMENT, comment.as_bytes()))?;
        block.write(self.out)
    }
}

/// A block: its kind, its length, its fields and its options, and once more its length.
struct Block(Vec<u8>);

impl Block {
    fn new(kind: u32) -> Self {
        let mut block = Self(Vec::new());
        block.u32(kind);
        block.u32(0); // the length, when it is known
        block
    }

    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    /// Padded to 32 bits.
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let length = u16::try_from(value.len());
        self.u16(code);
        self.u16(length.map_err(|_| io::Error::other("a comment of more than 65535 bytes"))?);
        self.bytes(value);
        Ok(())
    }

    fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.u32(0); // the end of the options, which every block here has
        let length = (self.0.len() + 4) as u32;
        self.0[4..8].copy_from_slice(&length.to_le_bytes());
        self.u32(length);
        out.write_all(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_bytes_of_the_draft() {
        let mut out = Vec::new();
        let mut file = File::new(&mut out, "abc", [7].into_iter()).expect("memory");
        let frame = Frame { headers: vec![0xAA; 5], length: 1500 };
        let time = (5_000_000_000 + 3) * PS_PER_NS; // more than 32 bits of nanoseconds
        file.add(0, (time, true), &frame, &["hello".to_owned()]).expect("memory");
        let program = format!("tresse {}", env!("CARGO_PKG_VERSION"));
        let padding = vec![0; program.len().next_multiple_of(4) - program.len()];
        let length = 4 * 10 + program.len() + padding.len() + 4;
        #[rustfmt::skip]
        let section = [
            &[0x0A, 0x0D, 0x0D, 0x0A, length as u8, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0][..],
            &[0xFF; 8], &[1, 0, 3, 0], b"abc\0", &[4, 0, program.len() as u8, 0], program.as_bytes(), &padding,
            &[0; 4], &[length as u8, 0, 0, 0],
        ].concat();
        #[rustfmt::skip]
        let interface = [
            &[1, 0, 0, 0, 44, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0][..], &[2, 0, 6, 0], b"host 7\0\0",
            &[9, 0, 1, 0, 9, 0, 0, 0], &[0; 4], &[44, 0, 0, 0],
        ].concat();
        // 5,000,000,003 ns = 1 * 2^32 + 705,032,707.
        #[rustfmt::skip]
        let packet = [
            &[6, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x03, 0xF2, 0x05, 0x2A, 5, 0, 0, 0, 0xDC, 5, 0, 0][..],
            &[0xAA; 5], &[0; 3], &[2, 0, 4, 0, 2, 0, 0, 0], &[1, 0, 5, 0], b"hello\0\0\0", &[0; 4], &[64, 0, 0, 0],
        ].concat();
        assert_eq!(out, [section, interface, packet].concat());
    }

    #[test]
    fn a_comment_that_does_not_fit_is_an_error() {
        assert!(File::new(&mut Vec::new(), &"x".repeat(65_536), [].into_iter()).is_err());
        assert!(File::new(&mut Vec::new(), &"x".repeat(65_535), [].into_iter()).is_ok());
    }
}
