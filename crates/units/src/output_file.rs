//! Files that are written whole or not at all: the one writer of everything that a command leaves behind.
//!
//! A file is written beside its place, flushed to the disk and renamed, so its old content stays until the new one is
//! complete, even if the machine loses power. A link stays, and what it leads to is replaced. Devices and pipes, such
//! as `/dev/null`, `/dev/stdout` and a FIFO, are written into.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::patience;

/// The most links that lead from one to the next, as in Linux.
const MOST_LINKS: usize = 40;

/// A file that is being written. What it gets is in its place after [`OutputFile::finish`]; if it is dropped before,
/// its place is as it was.
#[derive(Debug)]
pub struct OutputFile {
    file: BufWriter<File>,
    /// Where it is written and what it replaces; `None` for a device or a pipe, which is written into.
    beside: Option<Beside>,
}

#[derive(Debug)]
struct Beside {
    partial: PathBuf,
    target: PathBuf,
}

/// Writes a whole file.
///
/// # Errors
/// If it cannot be written; then its place is as it was.
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(content.as_ref())?;
    file.finish()
}

/// Whether writing to `path` would replace something: a device or a pipe is only written into.
pub fn replaces(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !takes_everything(&there) && !is_own_output(&there))
}

impl OutputFile {
    /// Begins to write to `path`.
    ///
    /// # Errors
    /// If its folder cannot be written, or if `path` is a folder, a disk or a socket.
    pub fn create(path: &Path) -> io::Result<Self> {
        let there = match fs::metadata(path) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(there) = &there {
            if let Some(file) = own_output(there) {
                return Ok(Self { file: BufWriter::new(file), beside: None });
            }
            if takes_everything(there) {
                let open = || OpenOptions::new().write(true).open(path);
                let file = patience::tell(|| format!("{}: waiting for a reader", path.display()), open)?;
                return Ok(Self { file: BufWriter::new(file), beside: None });
            }
            if !there.is_file() {
                return Err(not_a_file(there));
            }
        }
        let target = target(path)?;
        let (file, partial) = unfinished(&target)?;
        let beside = Beside { partial, target };
        if let Some(there) = there {
            file.set_permissions(there.permissions())?; // who may read the old content may read the new one
        }
        Ok(Self { file: BufWriter::new(file), beside: Some(beside) })
    }

    /// Puts what was written in its place.
    ///
    /// # Errors
    /// If it cannot be written; then its place is as it was.
    pub fn finish(self) -> io::Result<()> {
        Self::finish_all([self])
    }

    /// The same for files that belong together: none is in its place before all are complete.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn finish_all(files: impl IntoIterator<Item = Self>) -> io::Result<()> {
        let mut files: Vec<Self> = files.into_iter().collect();
        for own in &mut files {
            own.file.flush()?;
            if own.beside.is_some() {
                own.file.get_ref().sync_all()?;
            }
        }
        for Beside { partial, target } in files.iter().filter_map(|own| own.beside.as_ref()) {
            fs::rename(partial, target)?;
            // The file has its new content; a file system that cannot flush folders is no reason to say otherwise.
            let _ = File::open(folder(target)).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.partial); // gone already if it was renamed
        unfinished_files().retain(|path| *path != self.partial);
    }
}

/// Those that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished_files() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is being written. To be called before the process ends at a signal.
pub fn remove_unfinished() {
    for path in unfinished_files().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Whether it is a device or a pipe that takes what it gets. A disk is not: it would lose what is on it.
fn takes_everything(there: &Metadata) -> bool {
    there.file_type().is_char_device() || there.file_type().is_fifo()
}

fn not_a_file(there: &Metadata) -> io::Error {
    let kind = there.file_type();
    let (error, what) = match () {
        () if kind.is_dir() => (ErrorKind::IsADirectory, "it is a folder"),
        () if kind.is_block_device() => {
            (ErrorKind::InvalidInput, "it is a disk, whose content would be lost")
        }
        () if kind.is_socket() => (ErrorKind::InvalidInput, "it is a socket"),
        () => (ErrorKind::InvalidInput, "it is not a file"),
    };
    io::Error::new(error, what)
}

/// Whether it is this process's standard output or error, as `/dev/stdout` is.
fn is_own_output(there: &Metadata) -> bool {
    own_output(there).is_some()
}

/// This process's standard output or error, if `there` is one of them: redirected to a file, it is written at its own
/// position, and not replaced.
fn own_output(there: &Metadata) -> Option<File> {
    let (out, err) = (io::stdout(), io::stderr());
    [out.as_fd(), err.as_fd()].into_iter().find_map(|own| {
        let file = File::from(own.try_clone_to_owned().ok()?);
        let own = file.metadata().ok()?;
        ((own.dev(), own.ino()) == (there.dev(), there.ino())).then_some(file)
    })
}

/// Where links lead, even if nothing is there yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(there) if there.is_symlink() => target = folder(&target).join(fs::read_link(&target)?),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => return Ok(target),
        }
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "its links lead in a circle"))
}

/// A new file in the folder of `target`, with a name that nothing else has, however long the target's own is.
fn unfinished(target: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".tresse-{}-{count}.partial", process::id()));
        match File::create_new(&path) {
            Ok(file) => {
                unfinished_files().push(path.clone());
                return Ok((file, path));
            }
            // Left by a process that was killed and had the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::{env, thread};

    use super::*;

    /// An empty folder of the test with this name.
    fn empty(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("tresse-output-file-{}-{name}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder");
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> = names.map(|own| own.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_content_stays_until_the_new_one_is_complete() {
        let folder = empty("old");
        let path = folder.join("x");
        fs::write(&path, "old").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let mut file = OutputFile::create(&path).expect("a folder");
        file.write_all(b"new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "old");
        drop(file);
        assert_eq!(
            (names(&folder), fs::read_to_string(&path).expect("there")),
            (vec!["x".into()], "old".into())
        );
        write_whole(&path, "new").expect("written");
        assert_eq!(
            (names(&folder), fs::read_to_string(&path).expect("there")),
            (vec!["x".into()], "new".into())
        );
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = empty("link");
        fs::create_dir(folder.join("below")).expect("a folder");
        fs::write(folder.join("below/target"), "old").expect("written");
        symlink("below/target", folder.join("one")).expect("a link");
        symlink("one", folder.join("two")).expect("a link");
        symlink("below/none", folder.join("dangling")).expect("a link");
        symlink("circle", folder.join("circle")).expect("a link");
        for (link, target) in [("two", "below/target"), ("dangling", "below/none")] {
            write_whole(&folder.join(link), link).expect("written");
            assert!(fs::symlink_metadata(folder.join(link)).expect("there").is_symlink());
            assert_eq!(fs::read_to_string(folder.join(target)).expect("there"), link);
        }
        assert!(write_whole(&folder.join("circle"), "x").is_err());
        assert_eq!(names(&folder), ["below", "circle", "dangling", "one", "two"]);
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn what_is_no_file_is_written_into_or_refused() {
        let folder = empty("special");
        let fifo = folder.join("fifo");
        assert!(process::Command::new("mkfifo").arg(&fifo).status().expect("coreutils").success());
        let reader = thread::spawn({
            let fifo = fifo.clone();
            move || {
                let mut text = String::new();
                File::open(fifo).and_then(|mut file| file.read_to_string(&mut text)).expect("read");
                text
            }
        });
        assert!(!replaces(&fifo) && !replaces(Path::new("/dev/null")) && !replaces(&folder.join("none")));
        write_whole(&fifo, "through").expect("written");
        assert_eq!(reader.join().expect("it does not panic"), "through");
        assert!(fs::metadata(&fifo).expect("there").file_type().is_fifo());
        write_whole(Path::new("/dev/null"), "nowhere").expect("written");
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());

        let _socket = UnixListener::bind(folder.join("socket")).expect("a socket");
        for (path, why) in [("socket", "a socket"), (".", "a folder")] {
            let error = write_whole(&folder.join(path), "x").expect_err("it is no file");
            assert!(error.to_string().contains(why), "{error}");
        }
        assert_eq!(names(&folder), ["fifo", "socket"]);
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
