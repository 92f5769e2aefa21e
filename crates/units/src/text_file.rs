//! Files of text, as people and other programs write them: the one reader of all formats.
//!
//! Editors and spreadsheets write byte order marks, three kinds of line ends, and encodings other than UTF-8. A reader
//! of a format sees none of this: its text begins with the first character, its lines end with `\n` or `\r\n` (which
//! [`str::lines`] takes off), and whatever is not UTF-8 was refused here, with what to do.

use std::io;
use std::path::Path;

use crate::input_file::{self, MOST_DATA, MOST_WRITTEN};

/// The content of the file at `path`.
///
/// # Errors
/// If it cannot be read.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    input_file::read(path, MOST_DATA)
}

/// The content of the standard input.
///
/// # Errors
/// If it cannot be read.
pub fn read_stdin() -> io::Result<Vec<u8>> {
    input_file::read_stdin(MOST_DATA)
}

/// The text of the file at `path`, as [`text`] makes it.
///
/// # Errors
/// If it cannot be read, or is not text.
pub fn read_text(path: &Path) -> io::Result<String> {
    text(read_bytes(path)?)
}

/// The same for a file that people write, such as an experiment, which is never as large as those of programs.
///
/// # Errors
/// Those of [`read_text`], and if it is larger than [`MOST_WRITTEN`].
pub fn read_written(path: &Path) -> io::Result<String> {
    text(input_file::read(path, MOST_WRITTEN)?)
}

/// The text in the content of a file: without the byte order mark, and with `\n` for a line end of old Macs, a lone
/// `\r`.
///
/// # Errors
/// If it is not UTF-8: what it is instead, as far as its beginning says it, and how to convert it.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    let refused = |message: String| Err(io::Error::new(io::ErrorKind::InvalidData, message));
    if let Some((what, remedy)) = foreign(&bytes) {
        return refused(format!("it is {what}, not text in UTF-8: {remedy}"));
    }
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return refused(format!("byte {at} is 0, which no text has: is the file binary, or damaged?"));
    }
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let remedy =
                "is the file binary, or in another encoding (`iconv -f LATIN1 -t UTF-8` converts one)?";
            return refused(format!("byte {at} is not UTF-8: {remedy}"));
        }
    };
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    if has_lone_returns(&text) {
        text = text.replace("\r\n", "\n").replace('\r', "\n");
    }
    Ok(text)
}

/// Whether a `\r` stands without a `\n`.
fn has_lone_returns(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len()).any(|at| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
}

/// What a file that is not UTF-8 is by its first bytes, and how it becomes text.
fn foreign(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const UTF_16: (&str, &str) =
        ("UTF-16", "save it as UTF-8, or convert it with `iconv -f UTF-16 -t UTF-8`");
    const KNOWN: [(&[u8], (&str, &str)); 7] = [
        (b"\xff\xfe", UTF_16),
        (b"\xfe\xff", UTF_16),
        (b"\x1f\x8b", ("compressed by gzip", "unpack it with `gunzip`")),
        (b"\x28\xb5\x2f\xfd", ("compressed by zstd", "unpack it with `unzstd`")),
        (b"\xfd7zXZ\0", ("compressed by xz", "unpack it with `unxz`")),
        (b"BZh", ("compressed by bzip2", "unpack it with `bunzip2`")),
        (b"PK\x03\x04", ("an archive or a spreadsheet (ZIP)", "unpack it, or save it as text")),
    ];
    KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|&(_, told)| told)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn marks_and_line_ends_of_any_system_are_taken_off() {
        for (bytes, expected) in [
            (&b"a\nb\n"[..], &["a", "b"][..]),
            (b"\xef\xbb\xbfa\r\nb", &["a", "b"]),
            (b"a\rb\r", &["a", "b"]),
            (b"# a\r\r\nb\rc", &["# a", "", "b", "c"]),
            (b"a\r\n\r\nb\r\n", &["a", "", "b"]),
            (b"", &[]),
            (b"\xef\xbb\xbf", &[]),
        ] {
            let read = text(bytes.to_vec()).unwrap();
            assert_eq!(read.lines().collect::<Vec<_>>(), expected, "{bytes:?}");
        }
        // Only one mark is a mark; a second one is a character of the text.
        assert_eq!(text(b"\xef\xbb\xbf\xef\xbb\xbfa".to_vec()).unwrap(), "\u{feff}a");
    }

    #[test]
    fn what_is_not_text_is_refused_with_what_it_is() {
        for (bytes, expected) in [
            (&b"\xff\xfe4\0 \0"[..], "it is UTF-16, not text in UTF-8: save it as UTF-8"),
            (b"\x1f\x8b\x08", "it is compressed by gzip, not text in UTF-8: unpack it with `gunzip`"),
            (b"PK\x03\x04", "ZIP"),
            (b"ab\0c", "byte 2 is 0, which no text has"),
            (b"M\xfcnchen", "byte 1 is not UTF-8: is the file binary, or in another encoding"),
        ] {
            let error = text(bytes.to_vec()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
