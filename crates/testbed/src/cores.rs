//! The fabric has a core for itself, if there are several.

use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

struct Cores {
    of_fabric: CpuSet,
    of_others: CpuSet,
}

/// As this process may use them when it is asked first; `None` if there is one only.
fn cores() -> Option<&'static Cores> {
    static CORES: OnceLock<Option<Cores>> = OnceLock::new();
    let divide = || {
        let mut of_others = sched_getaffinity(Pid::from_raw(0)).ok()?;
        let mut usable = (0..CpuSet::count()).filter(|&core| of_others.is_set(core).unwrap_or(false));
        let (_, last) = (usable.next()?, usable.next_back()?);
        let mut of_fabric = CpuSet::new();
        of_fabric.set(last).ok()?;
        of_others.unset(last).ok()?;
        Some(Cores { of_fabric, of_others })
    };
    CORES.get_or_init(divide).as_ref()
}

/// This thread is the fabric.
pub(crate) fn take() {
    if let Some(cores) = cores() {
        let _ = sched_setaffinity(Pid::from_raw(0), &cores.of_fabric); // it moves about then
    }
}

/// This thread, and what it starts, is something else.
pub(crate) fn leave() {
    if let Some(cores) = cores() {
        let _ = sched_setaffinity(Pid::from_raw(0), &cores.of_others); // it is in the way then
    }
}
