//! The folder of a run's results: created for one run, and held by it while it is in progress.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use tresse_experiment::diagnostic::Diagnostic;

/// A folder that this process writes results to. It holds an advisory lock (`flock`) on the folder itself, which
/// the system releases when the process ends, however it ends: so a run that was killed is distinguished from one
/// in progress.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// None if the file system has no such locks.
    _held: Option<Flock<File>>,
}

impl Folder {
    /// Creates the folder, or takes it if it exists, and holds it.
    ///
    /// # Errors
    /// If it cannot be created, or another run holds it.
    pub fn hold(path: &Path) -> Result<Self, Diagnostic> {
        if path.is_file() {
            let message = format!("{} is a file, but results need a folder", path.display());
            return Err(Diagnostic::input(message).hint(ANOTHER));
        }
        fs::create_dir_all(path).map_err(|e| Diagnostic::io("cannot be created", path, e))?;
        let held = match lock(path, FlockArg::LockExclusiveNonblock) {
            Ok(held) => Some(held),
            Err(Errno::EWOULDBLOCK) => {
                let message = format!("another run is in progress in {}", path.display());
                return Err(Diagnostic::input(message).hint(ANOTHER));
            }
            Err(_) => None,
        };
        Ok(Self { path: path.to_owned(), _held: held })
    }

    /// The same for a folder that must be new or empty.
    ///
    /// # Errors
    /// If it cannot be created, is not empty, or another run holds it.
    pub fn hold_empty(path: &Path) -> Result<Self, Diagnostic> {
        // Only who holds it can tell: another run may have been quicker.
        let folder = Self::hold(path)?;
        let mut entries = fs::read_dir(path).map_err(|e| Diagnostic::io("cannot be read", path, e))?;
        if entries.next().is_some() {
            let message = format!("{} is not empty, and a run never overwrites anything", path.display());
            return Err(Diagnostic::input(message).hint(ANOTHER));
        }
        Ok(folder)
    }

    /// Creates and holds the first folder `runs/NAME-N` that does not exist yet, with NAME from the experiment's
    /// name.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn next(experiment: &str) -> Result<Self, Diagnostic> {
        Self::next_below(Path::new("runs"), experiment)
    }

    /// The same, `PARENT/NAME-N`.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn next_below(parent: &Path, name: &str) -> Result<Self, Diagnostic> {
        let stem = Path::new(name).with_extension("");
        let stem = stem.to_string_lossy();
        let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = name.trim_matches('-');
        fs::create_dir_all(parent).map_err(|e| Diagnostic::io("cannot be created", parent, e))?;
        for n in 1_u32.. {
            let path = parent.join(format!("{name}-{n}"));
            // Of two runs that begin at one moment, one makes it.
            match fs::create_dir(&path) {
                Ok(()) => return Self::hold(&path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Diagnostic::io("cannot be created", &path, error)),
            }
        }
        unreachable!("there are fewer than 2^32 runs")
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

const ANOTHER: &str = "choose another folder with `--out DIR`";

/// Whether a process holds the folder, so that the run in it is in progress. On a file system without locks none
/// does.
pub fn is_held(path: &Path) -> bool {
    lock(path, FlockArg::LockSharedNonblock).is_err_and(|error| error == Errno::EWOULDBLOCK)
}

fn lock(path: &Path, how: FlockArg) -> Result<Flock<File>, Errno> {
    let folder = File::open(path).map_err(|e| e.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
    Flock::lock(folder, how).map_err(|(_, error)| error)
}
