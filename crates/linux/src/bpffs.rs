//! The BPF file system, which holds the pins.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use nix::mount::{MsFlags, mount};
use nix::sys::statfs::statfs;
use nix::unistd::{AccessFlags, access, geteuid};

use crate::Error;

const MOUNT_POINT: &str = "/sys/fs/bpf";
const BPF_FS_MAGIC: i64 = 0xcafe_4a11;

/// Where the pins of this program are, and nothing else.
pub(crate) const FOLDER: &str = "/sys/fs/bpf/tresse";

/// Whether it is mounted.
pub(crate) fn mounted() -> bool {
    statfs(MOUNT_POINT).is_ok_and(|fs| fs.filesystem_type().0 == BPF_FS_MAGIC)
}

/// Whether [`ensure`] would succeed, without doing it: the current state, or the obstacle.
pub(crate) fn look() -> Result<&'static str, Error> {
    if !mounted() {
        return if private() { Err(lost()) } else { Ok("not mounted; `attach` mounts it at /sys/fs/bpf") };
    }
    access(MOUNT_POINT, AccessFlags::W_OK).map_err(|e| unwritable(&e))?;
    only_ours(Path::new(MOUNT_POINT))?;
    if Path::new(FOLDER).exists() {
        only_ours(Path::new(FOLDER))?;
    }
    Ok("/sys/fs/bpf, writable")
}

fn lost() -> Error {
    Error::Machine(format!(
        "no BPF file system at {MOUNT_POINT}, and this is a separate mount namespace, in which a pin would be lost\n\n\
         hint: run it outside of `ip netns exec`; `attach` has `--netns NAME`"
    ))
}

fn unwritable(error: &dyn std::fmt::Display) -> Error {
    Error::Machine(format!(
        "{MOUNT_POINT} cannot be written: {error}\n\nhint: run it as root; if it is mounted read-only, `mount -o \
         remount,rw {MOUNT_POINT}`"
    ))
}

/// Makes sure that there is a folder for pins; mounts the file system if it is not mounted, as `bpftool`
/// does.
///
/// # Errors
/// Without the permission, and in a process's own mount namespace (`ip netns exec` makes one): a pin there is
/// gone when the process ends.
pub(crate) fn ensure() -> Result<(), Error> {
    if !mounted() {
        if private() {
            return Err(lost());
        }
        mount(Some("bpf"), MOUNT_POINT, Some("bpf"), MsFlags::empty(), Some("mode=0700")).map_err(|e| {
            Error::Machine(format!(
                "the BPF file system cannot be mounted at {MOUNT_POINT}: {e}\n\nhint: as root, `mount -t bpf -o mode=0700 \
                 bpf {MOUNT_POINT}`"
            ))
        })?;
    }
    only_ours(Path::new(MOUNT_POINT))?;
    match DirBuilder::new().mode(0o700).create(FOLDER) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(unwritable(&e)),
        _ => {}
    }
    only_ours(Path::new(FOLDER))?;
    // Whoever may open it could hold the lock; earlier versions let everybody.
    fs::set_permissions(FOLDER, Permissions::from_mode(0o700)).map_err(|e| unwritable(&e))
}

/// Refuses pins in a folder that others may write into.
///
/// # Errors
/// If they may, with the reason.
pub(crate) fn trust() -> Result<(), Error> {
    [MOUNT_POINT, FOLDER].iter().try_for_each(|folder| only_ours(Path::new(folder)))
}

/// Refuses a folder that others may write into: they could put a pin of their own in the place of ours, or hold the
/// lock.
fn only_ours(folder: &Path) -> Result<(), Error> {
    let shown = folder.display();
    let there = fs::symlink_metadata(folder).map_err(|e| unwritable(&e))?;
    let refused = |what: &str, remedy: &str| {
        Err(Error::Machine(format!(
            "{shown} {what}, who could replace what is attached or keep it from changing\n\nhint: {remedy}"
        )))
    };
    match there.mode() & 0o7777 {
        _ if !there.is_dir() => refused("is not a folder: it belongs to others", &format!("`rm {shown}`")),
        _ if there.uid() != 0 && there.uid() != geteuid().as_raw() => {
            let owner = there.uid();
            refused(&format!("belongs to the user {owner}"), &format!("`chown root {shown}`"))
        }
        mode if mode & 0o022 != 0 => refused(
            &format!("(mode {mode:04o}) may be written by others"),
            &format!(
                "`chmod go-w {shown}`; a new BPF file system is `mount -t bpf -o mode=0700 bpf {MOUNT_POINT}`"
            ),
        ),
        _ => Ok(()),
    }
}

/// Whether the mounts that this process sees are not the system's: those of process 1, or of a kernel thread
/// if process 1 cannot be read.
fn private() -> bool {
    let namespace = |pid: &str| fs::read_link(Path::new("/proc").join(pid).join("ns/mnt")).ok();
    let system = namespace("1").or_else(|| namespace("2"));
    system.is_some() && system != namespace("self")
}
