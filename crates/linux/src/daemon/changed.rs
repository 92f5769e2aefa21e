//! What the daemon has changed in namespaces, remembered in files: a daemon that was killed puts nothing back, so the
//! next one does.
//!
//! A file is locked by its daemon as long as that lives. Namespaces are known by the kernel's cookie, a number that it
//! gives to no other one until the machine starts again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::netns::{self, Namespace, cookie};

/// Where a next start finds it; empty after the machine has started again, like the kernel's settings.
const FOLDER: &str = "/run/tresse/changed";

/// Who decides about subflows in a namespace: 0 the kernel, 1 a program.
pub(super) const WHO: &str = "/proc/sys/net/mptcp/pm_type";

/// The value of [`WHO`] with which a program decides.
const PROGRAM: &str = "1";

/// How often a file that another daemon holds is tried, every 10 ms. One that looks for what is to be put back holds it
/// for a moment, one that decides in the same namespace for as long as it lives.
const TRIES: usize = 100;

/// A namespace in which this daemon decides although the kernel did before.
#[derive(Debug)]
pub(super) struct Changed {
    /// The earlier value of [`WHO`].
    before: String,
    /// The file that says so; `None` if none can be written.
    file: Option<(PathBuf, Flock<File>)>,
}

impl Changed {
    /// Lets a program decide in the namespace of this thread. `None` if this was so before, or if another daemon sees
    /// to it.
    ///
    /// # Errors
    /// If the namespace's setting cannot be read or written.
    pub fn change() -> io::Result<Option<Self>> {
        let held = hold_patiently(&Path::new(FOLDER).join(cookie()?.to_string()));
        // Only now: whoever held the file may have put it back.
        let now = fs::read_to_string(WHO);
        if let (Err(_), Ok(Some((path, _)))) = (&now, &held) {
            let _ = fs::remove_file(path);
        }
        let now = now?.trim().to_owned();
        let own = match held {
            Ok(None) => return Ok(None),
            Ok(Some((path, mut file))) => {
                // Left by a daemon that was killed.
                let earlier = said(&mut file).filter(|_| now == PROGRAM);
                let before = earlier.unwrap_or(now);
                if before == PROGRAM {
                    let _ = fs::remove_file(&path);
                    return Ok(None);
                }
                say(&mut file, &before)?;
                Self { before, file: Some((path, file)) }
            }
            Err(_) if now == PROGRAM => return Ok(None),
            Err(error) => {
                tracing::warn!(
                    "{FOLDER}: {error}: if this daemon is killed, the next one will not know that pm_type was {now}"
                );
                Self { before: now, file: None }
            }
        };
        fs::write(WHO, PROGRAM)?;
        Ok(Some(own))
    }

    /// Puts it back, in the namespace of this thread.
    pub fn put_back(self) {
        if fs::write(WHO, &self.before).is_ok() {
            self.forget();
        }
    }

    /// Forgets it: the namespace is gone.
    pub fn forget(self) {
        if let Some((path, _held)) = self.file {
            let _ = fs::remove_file(path);
        }
    }
}

/// Puts back what daemons that were killed have left in namespaces that this one does not manage.
pub(super) fn put_back_others() {
    for entry in fs::read_dir(FOLDER).into_iter().flatten().flatten() {
        // Those of living daemons, this one among them, are held.
        let Ok(Some((path, mut file))) = hold(&entry.path()) else { continue };
        // Another daemon has put it back since the folder was read; there may be a new file of this name.
        if file.metadata().map_or(true, |own| own.nlink() == 0) {
            continue;
        }
        let Some(before) = said(&mut file) else {
            let _ = fs::remove_file(path);
            continue;
        };
        let number = entry.file_name().to_string_lossy().parse::<u64>();
        let is_it = |namespace: &Namespace| {
            let own = namespace.within(cookie);
            matches!((own, &number), (Ok(Ok(own)), Ok(number)) if own == *number)
        };
        let Some(namespace) = netns::all().into_iter().find(is_it) else { continue };
        let put_back = || {
            let is_ours = fs::read_to_string(WHO).is_ok_and(|now| now.trim() == PROGRAM);
            !is_ours || fs::write(WHO, &before).is_ok()
        };
        if namespace.within(put_back).unwrap_or(false) {
            let label = &namespace.label;
            tracing::info!(
                namespace = label,
                "pm_type is {before} again: a daemon that was killed had changed it"
            );
            let _ = fs::remove_file(path);
        }
    }
}

/// As [`hold`], but another daemon that begins at the same time, and looks for what is to be put back, is waited for.
fn hold_patiently(path: &Path) -> io::Result<Option<(PathBuf, Flock<File>)>> {
    for _ in 0..TRIES {
        match hold(path)? {
            // What that daemon has put back it removes: then this is no file of the folder any more.
            Some((_, file)) if file.metadata()?.nlink() == 0 => {}
            Some(held) => return Ok(Some(held)),
            None => pause(),
        }
    }
    Ok(None)
}

#[expect(clippy::disallowed_methods, reason = "another process is waited for")]
fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// The file at `path`, which is made if it does not exist; `None` if a living daemon holds it.
fn hold(path: &Path) -> io::Result<Option<(PathBuf, Flock<File>)>> {
    fs::create_dir_all(FOLDER)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    match Flock::lock(options.open(path)?, FlockArg::LockExclusiveNonblock) {
        Ok(file) => Ok(Some((path.to_owned(), file))),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, error)) => Err(error.into()),
    }
}

/// The earlier value that a file has, if it is of this start of the machine.
fn said(file: &mut Flock<File>) -> Option<String> {
    let mut text = String::new();
    (&mut **file).take(100).read_to_string(&mut text).ok()?;
    let (before, start) = text.split_once(' ')?;
    let is_value = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
    (is_value && start.trim() == this_start()).then(|| before.to_owned())
}

fn say(file: &mut Flock<File>, before: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{before} {}", this_start())
}

/// What distinguishes this start of the machine from others.
fn this_start() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use nix::sched::{CloneFlags, unshare};

    use super::*;

    fn who() -> String {
        fs::read_to_string(WHO).expect("the setting").trim().to_owned()
    }

    /// In a namespace of this thread, where a daemon was killed: another one puts its change back while this one begins.
    fn begins_while_it_is_put_back() {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            eprintln!("skipped: what_is_put_back_meanwhile_is_changed_again: a network namespace: {error}");
            return;
        }
        let Ok(()) = fs::write(WHO, PROGRAM) else {
            eprintln!("skipped: what_is_put_back_meanwhile_is_changed_again: {WHO}: no MPTCP in this kernel");
            return;
        };
        let path = Path::new(FOLDER).join(cookie().expect("a cookie").to_string());
        let (path, mut file) = hold(&path).expect("a file").expect("nobody holds it");
        say(&mut file, "0").expect("written");
        let other = thread::spawn(move || {
            (0..20).for_each(|_| pause());
            fs::write(WHO, "0").expect("put back");
            fs::remove_file(path).expect("removed");
            drop(file);
        });
        let changed = Changed::change().expect("changed").expect("a change of this daemon's own");
        other.join().expect("the other daemon");
        assert_eq!(who(), PROGRAM);
        changed.put_back();
        assert_eq!(who(), "0");
    }

    #[test]
    fn what_is_put_back_meanwhile_is_changed_again() {
        thread::spawn(begins_while_it_is_put_back).join().expect("the daemon that begins");
    }
}
