//! The daemon's status on request: a Unix socket that writes the status to every permitted client, and reads
//! nothing.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use nix::unistd::Group;
use tresse_units::input_file::MOST_DATA;

use super::status::Status;
use super::{Config, machine};
use crate::Error;

/// How long a client may take to read.
const PATIENCE: Duration = Duration::from_secs(5);

/// The socket; its file is removed with it.
#[derive(Debug)]
pub(super) struct Control {
    listener: UnixListener,
    path: PathBuf,
    /// Of the socket there.
    inode: u64,
}

impl Control {
    /// Opens the configured socket, if nobody else answers there.
    pub fn listen(config: &Config) -> Result<Self, Error> {
        let path = &config.socket;
        if UnixStream::connect(path).is_ok() {
            return Err(Error::Input(format!(
                "a daemon is already running: it answers at {}",
                path.display()
            )));
        }
        let wrong = |e: &io::Error| match e.kind() {
            io::ErrorKind::PermissionDenied => Error::Machine(format!(
                "the socket {}: {e}\n\nhint: run it as root, or put `socket` in [daemon] into a folder of your own",
                path.display()
            )),
            _ => machine(&format!("the socket {}", path.display()), e),
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| wrong(&e))?;
        }
        match fs::symlink_metadata(path) {
            // Left by a daemon that was killed.
            Ok(there) if there.file_type().is_socket() => fs::remove_file(path).map_err(|e| wrong(&e))?,
            Ok(_) => {
                return Err(Error::Input(format!(
                    "{} is not a socket, and was left unchanged\n\nhint: choose another `socket` in [daemon]",
                    path.display()
                )));
            }
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(wrong(&e)),
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(|e| wrong(&e))?;
        let inode = fs::symlink_metadata(path).map_err(|e| wrong(&e))?.ino();
        listener.set_nonblocking(true).map_err(|e| wrong(&e))?;
        let own = Self { listener, path: path.clone(), inode };
        if let Some(name) = &config.group {
            let group = Group::from_name(name).ok().flatten();
            let group = group.ok_or_else(|| Error::Input(format!("there is no group `{name}`")))?;
            chown(path, None, Some(group.gid.as_raw())).map_err(|e| wrong(&e))?;
        }
        let mode = if config.group.is_some() { 0o660 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|e| wrong(&e))?;
        Ok(own)
    }

    /// Sends the status to all waiting clients. A slow reader does not delay the others.
    pub fn answer(&self, status: &Status) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            let text = serde_json::to_vec(status).expect("it is plain data");
            let tell = move || {
                let _ = stream.set_write_timeout(Some(PATIENCE));
                let _ = stream.write_all(&text);
            };
            if let Err(e) = thread::Builder::new().name("status".to_owned()).spawn(tell) {
                tracing::warn!("the status cannot be written: {e}");
            }
        }
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let is_own = |there: fs::Metadata| there.file_type().is_socket() && there.ino() == self.inode;
        // Somebody may have put something else there.
        if fs::symlink_metadata(&self.path).is_ok_and(is_own) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The status of the daemon at `socket`; `None` if there is none.
///
/// # Errors
/// If there is one but it does not answer, or the caller lacks the permission.
pub fn ask(socket: &Path) -> Result<Option<Status>, Error> {
    let wrong = |e: io::Error| machine(&format!("the daemon at {}", socket.display()), &e);
    let stream = match UnixStream::connect(socket) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        stream => stream.map_err(wrong)?,
    };
    stream.set_read_timeout(Some(PATIENCE)).map_err(wrong)?;
    let mut text = Vec::new();
    stream.take(MOST_DATA).read_to_end(&mut text).map_err(wrong)?;
    serde_json::from_slice(&text).map(Some).map_err(|e| wrong(e.into()))
}
