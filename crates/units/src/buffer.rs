//! The size of a receive buffer.

use std::fmt;
use std::str::FromStr;

use crate::Bytes;
use crate::text::text_form;

/// The receive buffer of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// It grows as Linux's does, up to this size; `None`: Linux's own.
    Linux(Option<Bytes>),
    /// Always this large.
    Fixed(Bytes),
}

impl FromStr for Buffer {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |wrong: String| format!("{wrong}, \"linux\" or \"linux 1MB\": it grows as Linux's does");
        match text.trim().strip_prefix("linux") {
            Some("") => Ok(Self::Linux(None)),
            Some(most) => most.trim().parse().map(|most| Self::Linux(Some(most))).map_err(wrong),
            None => text.parse().map(Self::Fixed).map_err(wrong),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux(None) => f.write_str("linux"),
            Self::Linux(Some(most)) => write!(f, "linux {most}"),
            Self::Fixed(size) => size.fmt(f),
        }
    }
}

text_form!(Buffer, r"^((linux *)?[0-9.]+ *(B|kB|MB|GB|TB|KiB|MiB|GiB)|linux)$", "linux");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_a_size_or_linuxs() {
        for (text, buffer) in [
            ("linux", Buffer::Linux(None)),
            ("linux 1MB", Buffer::Linux(Some(Bytes(1_000_000)))),
            ("256kB", Buffer::Fixed(Bytes(256_000))),
        ] {
            assert_eq!(text.parse(), Ok(buffer));
            assert_eq!(buffer.to_string(), text);
        }
        for wrong in ["10pkt", "linux 10pkt", "linux 1MB 2MB"] {
            let told = wrong.parse::<Buffer>().expect_err("it is no size");
            assert!(told.ends_with(", \"linux\" or \"linux 1MB\": it grows as Linux's does"), "{told}");
        }
    }
}
