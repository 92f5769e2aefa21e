//! The fabric gets its own core, if there are several.

use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

struct Cores {
    of_fabric: CpuSet,
    of_others: CpuSet,
}

/// The cores that this process may use at the first call; `None` if there is only one.
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
        let _ = sched_setaffinity(Pid::from_raw(0), &cores.of_fabric); // otherwise it moves between cores
    }
}

/// This thread, and those that it starts, do something else.
pub(crate) fn leave() {
    if let Some(cores) = cores() {
        let _ = sched_setaffinity(Pid::from_raw(0), &cores.of_others); // otherwise it gets in the way
    }
}
