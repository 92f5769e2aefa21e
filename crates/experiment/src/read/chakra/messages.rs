//! The messages of a file, one after another: each is preceded by its length, and the file may be compressed with
//! gzip.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use prost::Message;

/// The first bytes of a gzip file. Read as a message's length, they are followed by bytes that begin no first
/// message.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// More bytes than any message has: anything longer is not a message.
const MOST: u64 = 1 << 28;

/// A file that is being read.
pub(super) struct Messages<'a> {
    from: Box<dyn BufRead + 'a>,
    /// The (uncompressed) bytes before the next message.
    at: u64,
    /// How many messages there were so far.
    number: u64,
    buffer: Vec<u8>,
}

impl<'a> Messages<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let from: Box<dyn BufRead + 'a> = match bytes.starts_with(&GZIP) {
            true => Box::new(BufReader::new(MultiGzDecoder::new(bytes))),
            false => Box::new(bytes),
        };
        Self { from, at: 0, number: 0, buffer: Vec::new() }
    }

    /// An error in the message that begins here.
    fn wrong<T>(&self, what: impl Display) -> Result<T, String> {
        Err(format!("message {}, at byte {}: {what}", self.number, self.at))
    }

    fn byte(&mut self) -> Result<Option<u8>, String> {
        let mut byte = [0];
        match self.from.read(&mut byte) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(byte[0])),
            Err(e) => self.packed(&e),
        }
    }

    fn packed<T>(&self, e: &io::Error) -> Result<T, String> {
        self.wrong(format!("it cannot be unpacked ({e}): is the file truncated or damaged?"))
    }

    /// A number with 7 bits per byte, the lowest first, and how many bytes it has; `None` at the end of the file.
    fn length(&mut self) -> Result<Option<(u64, u64)>, String> {
        let mut length = 0;
        for place in 0..5 {
            match self.byte()? {
                None if place == 0 => return Ok(None),
                None => return self.wrong("the file ends within its length: is it truncated?"),
                Some(byte) => {
                    length |= u64::from(byte & 0x7f) << (7 * place);
                    if byte < 0x80 {
                        return Ok(Some((length, place + 1)));
                    }
                }
            }
        }
        self.wrong("there is no length here: is this a Chakra trace?")
    }

    /// The next message; `None` at the end.
    pub fn next<M: Message + Default>(&mut self, name: &str) -> Result<Option<M>, String> {
        let Some((length, before)) = self.length()? else { return Ok(None) };
        if length > MOST {
            return self.wrong(format!("{length} bytes are not a message: is this a Chakra trace?"));
        }
        self.buffer.clear();
        // It grows with what is there, not with what is said.
        let read = (&mut self.from).take(length).read_to_end(&mut self.buffer);
        if let Err(e) = read {
            return self.packed(&e);
        }
        if (self.buffer.len() as u64) < length {
            let there = self.buffer.len();
            return self
                .wrong(format!("only {there} of its {length} bytes are present: is the file truncated?"));
        }
        let message = match M::decode(&self.buffer[..]) {
            Ok(message) => message,
            Err(e) => return self.wrong(format!("it is not a {name} of Chakra 1.0.0 ({e})")),
        };
        self.at += before + length;
        self.number += 1;
        Ok(Some(message))
    }
}
