//! Code that may divide by 0, or never return, run in a process of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fmt, io, ptr};

/// CPU time for one script among all: far more than any takes.
pub(super) const ALL_SCRIPTS: Duration = Duration::from_secs(2);
/// CPU time for one script while it is made shorter, over and over.
pub(super) const ONE_SCRIPT: Duration = Duration::from_millis(200);

/// How a process ended that did not end well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    signal: i32,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.signal {
            libc::SIGFPE => write!(f, "a hook divides by 0 (SIGFPE)"),
            libc::SIGSEGV | libc::SIGBUS => write!(f, "a hook reaches outside of its memory (SIGSEGV)"),
            libc::SIGPROF => write!(f, "a hook does not return"),
            signal => write!(f, "a hook ends the process (signal {signal})"),
        }
    }
}

/// Runs `work` in a child process; what it does there is not seen here. `work` says which step it begins,
/// and has `limit` of CPU time for each. If a signal ended it: the step, and the end.
///
/// # Errors
/// If no process can be made.
pub(super) fn apart(limit: Duration, work: impl Fn(&dyn Fn(usize))) -> io::Result<Option<(usize, End)>> {
    let step = Shared::new()?;
    // SAFETY: the child calls nothing but `work` and what is safe after a fork, then `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let begin = |k: usize| {
                step.get().store(k, Ordering::Relaxed);
                arm(limit);
            };
            begin(0);
            // A panic is no controller's fault; the parent will meet it too, and tell.
            let _ = catch_unwind(AssertUnwindSafe(|| work(&begin)));
            // SAFETY: ends the child without running what the parent has registered.
            unsafe { libc::_exit(0) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `child` is ours, and `status` is there to be written.
            while unsafe { libc::waitpid(child, &mut status, 0) } == -1 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            let ended = libc::WIFSIGNALED(status);
            Ok(ended.then(|| (step.get().load(Ordering::Relaxed), End { signal: libc::WTERMSIG(status) })))
        }
    }
}

/// SIGPROF, which nobody handles, after `limit` of CPU time.
fn arm(limit: Duration) {
    let value = libc::timeval { tv_sec: limit.as_secs() as i64, tv_usec: i64::from(limit.subsec_micros()) };
    let once = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: `once` is read, and nothing is written.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &once, ptr::null_mut()) };
}

/// A number that parent and child share.
struct Shared(*mut AtomicUsize);

impl Shared {
    fn new() -> io::Result<Self> {
        // SAFETY: a new mapping, of zeros, that no other memory overlaps.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<AtomicUsize>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(memory.cast())) }
    }

    fn get(&self) -> &AtomicUsize {
        // SAFETY: mapped as long as `self` lives, aligned to a page, and zero is a valid number.
        unsafe { &*self.0 }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and no reference outlives `self`.
        unsafe { libc::munmap(self.0.cast(), size_of::<AtomicUsize>()) };
    }
}
