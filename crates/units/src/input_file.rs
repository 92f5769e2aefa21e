//! The content of files that others have made, of bounded size: the one reader of everything that is read whole.
//!
//! Devices have no end, and a pipe may have none: the former are refused, the latter are read up to a bound, like files
//! that grow. Whoever waits for a pipe's writer is told so.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::Bytes;
use crate::patience;

/// The most bytes of a file that people write: experiments, plans, suites, scripts, C files.
pub const MOST_WRITTEN: u64 = 16_000_000;

/// The most bytes of a file that programs write: flows, networks, traces, results.
pub const MOST_DATA: u64 = 500_000_000;

/// The content of the file at `path`, of at most `most` bytes.
///
/// # Errors
/// If it cannot be read, is larger, or is a device, a socket or a folder.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Opening a device may already do something.
    let there = fs::metadata(path)?;
    refuse(&there, false)?;
    let open_and_read = || {
        let mut file = File::open(path)?;
        let there = file.metadata()?;
        refuse(&there, false)?;
        up_to(&mut file, &there, most)
    };
    match there.is_file() {
        true => open_and_read(),
        false => patience::tell(|| format!("{}: waiting for its writer", path.display()), open_and_read),
    }
}

/// The content of the standard input, of at most `most` bytes.
///
/// # Errors
/// If it cannot be read, is larger, or is a device other than a terminal.
pub fn read_stdin(most: u64) -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin();
    let is_terminal = stdin.is_terminal();
    let there = File::from(stdin.as_fd().try_clone_to_owned()?).metadata()?;
    if !is_terminal {
        refuse(&there, true)?;
    }
    let waiting = || match is_terminal {
        true => "reading from the terminal until Ctrl-D".to_owned(),
        false => "stdin: waiting for its writer".to_owned(),
    };
    patience::tell(waiting, || up_to(&mut stdin, &there, most))
}

/// Refuses what is no file and no pipe. Some shells and programs connect standard input by a socket.
fn refuse(there: &Metadata, is_stdin: bool) -> io::Result<()> {
    let kind = there.file_type();
    let refused = |kind, message: &str| Err(io::Error::new(kind, message));
    match kind {
        _ if kind.is_file() || kind.is_fifo() || (is_stdin && kind.is_socket()) => Ok(()),
        _ if kind.is_dir() => refused(ErrorKind::IsADirectory, "it is a folder, not a file"),
        _ if is_device(kind) => refused(ErrorKind::InvalidInput, "it is a device, not a file"),
        _ => refused(ErrorKind::InvalidInput, "it is a socket, not a file"),
    }
}

/// Opens a file to be read bit by bit.
///
/// # Errors
/// If it cannot be opened, or is no file.
pub fn open(path: &Path) -> io::Result<File> {
    let there = fs::metadata(path)?;
    if there.file_type().is_fifo() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is a pipe, not a file"));
    }
    refuse(&there, false)?;
    File::open(path)
}

fn is_device(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

fn up_to(file: &mut impl Read, there: &Metadata, most: u64) -> io::Result<Vec<u8>> {
    let too_large = |size: &str| {
        let message = format!("it has {size}; at most {} are read", Bytes(most));
        Err(io::Error::new(ErrorKind::FileTooLarge, message))
    };
    if there.len() > most {
        return too_large(&format!("{} bytes", there.len()));
    }
    let mut content = Vec::with_capacity(there.len() as usize + 1);
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return too_large("no end within that size");
    }
    Ok(content)
}
