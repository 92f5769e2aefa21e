//! Network namespaces: finding them, and working inside one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, setns};

use crate::Error;

const NAMED: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Namespace {
    /// The number by which the kernel knows it while it exists.
    pub inode: u64,
    /// Its name in `ip netns`, `current` for the caller's own, otherwise a process in it: `pid 123`.
    pub label: String,
    file: PathBuf,
}

impl Namespace {
    /// The namespace of this process.
    pub(crate) fn current() -> Result<Self, Error> {
        Self::at(Path::new(OWN), "current".to_owned())
            .map_err(|e| Error::Machine(format!("the network namespace of this process: {e}")))
    }

    /// The namespace that `ip netns add NAME` made.
    pub(crate) fn named(name: &str) -> Result<Self, Error> {
        let missing = |why: String| {
            Error::Input(format!("there is no network namespace `{name}`: {why}\n\nhint: `ip netns list`"))
        };
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return Err(missing("a name has no slash".to_owned()));
        }
        let file = Path::new(NAMED).join(name);
        Self::at(&file, name.to_owned()).map_err(|e| missing(format!("{}: {e}", file.display())))
    }

    fn at(file: &Path, label: String) -> std::io::Result<Self> {
        Ok(Self { inode: fs::metadata(file)?.ino(), label, file: file.to_owned() })
    }

    /// Whether its file still refers to it.
    pub(crate) fn is_there(&self) -> bool {
        fs::metadata(&self.file).is_ok_and(|file| file.ino() == self.inode)
    }

    /// Its [`cookie`].
    pub(crate) fn cookie(&self) -> Result<u64, Error> {
        let failed =
            |e: io::Error| Error::Machine(format!("network namespace {}: its cookie: {e}", self.label));
        self.within(cookie)?.map_err(failed)
    }

    /// Does `work` in the namespace, in a separate thread unless this thread is already there: staying needs
    /// no permission.
    pub(crate) fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        if fs::metadata(OWN).is_ok_and(|own| own.ino() == self.inode) {
            return Ok(work());
        }
        let failed = |why: String| Error::Machine(format!("network namespace {}: {why}", self.label));
        let file = File::open(&self.file).map_err(|e| failed(e.to_string()))?;
        std::thread::scope(|scope| {
            scope
                .spawn(|| setns(file, CloneFlags::CLONE_NEWNET).map(|()| work()))
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
        .map_err(|e| failed(format!("it cannot be entered: {e}\n\nhint: run it as root")))
    }
}

/// The kernel's cookie of the network namespace of this thread (since Linux 5.14): a number that no other one gets until
/// the machine starts again. An inode number is given to the next namespace.
pub(crate) fn cookie() -> io::Result<u64> {
    /// `SO_NETNS_COOKIE` of `include/uapi/asm-generic/socket.h`, which the library does not have.
    const SO_NETNS_COOKIE: libc::c_int = 71;
    let socket = UnixDatagram::unbound()?;
    let mut cookie = 0_u64;
    let mut size = size_of_val(&cookie) as libc::socklen_t;
    // SAFETY: `cookie` is `size` bytes, and both live until the call returns.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &mut size,
        )
    };
    if result == 0 { Ok(cookie) } else { Err(io::Error::last_os_error()) }
}

/// Every visible network namespace: the caller's own, those with a name, those of processes.
pub(crate) fn all() -> Vec<Namespace> {
    let mut found = BTreeMap::new();
    let mut add = |file: PathBuf, label: String| {
        if let Ok(ns) = Namespace::at(&file, label) {
            found.entry(ns.inode).or_insert(ns);
        }
    };
    add(PathBuf::from(OWN), "current".to_owned());
    for entry in fs::read_dir(NAMED).into_iter().flatten().flatten() {
        add(entry.path(), entry.file_name().to_string_lossy().into_owned());
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.bytes().all(|b| b.is_ascii_digit()) {
            add(entry.path().join("ns/net"), format!("pid {name}"));
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_none_is_bad_input() {
        for name in ["", ".", "../../etc", "tresse-no-such-namespace"] {
            let result = Namespace::named(name);
            assert!(
                matches!(&result, Err(Error::Input(m)) if m.contains("no network namespace")),
                "{result:?}"
            );
        }
    }
}
