//! Runs code that may divide by 0, call `exit` or never return in a separate process.
//!
//! # Why a fork of a process with threads is safe here
//!
//! The child has one thread, and the locks of all other threads stay in their state at the fork. The child takes
//! none of them: it computes, allocates (glibc repairs its allocator in the child) and writes to its pipe. It
//! prints nothing through Rust's standard streams, starts nothing, and reads at most [`crate::find`]'s list, which
//! is only written while files are loaded. It ends with `_exit`, so that nothing that the parent has registered
//! runs twice. Ctrl-C is for the parent: the child ignores it and dies with the parent.

mod end;
mod fault;
mod shared;

use std::io::{self, PipeReader, PipeWriter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, Once};
use std::time::Duration;
use std::{mem, panic, ptr};

pub use end::{CrashReport, End};
pub use shared::Shareable;

use crate::user_file::loaded_code;
use fault::{Fault, kind};
use shared::Shared;

/// The memory that a child shares with its parent.
struct Page<T> {
    own: T,
    fault: Fault,
}

// SAFETY: both are.
unsafe impl<T: Shareable> Shareable for Page<T> {}

/// A child process, which does one thing and ends.
pub struct Apart<T> {
    child: libc::pid_t,
    page: Shared<Page<T>>,
    output: PipeReader,
    waited: bool,
}

/// Pipes and children are made one after the other: a child that is forked between the creation of a pipe and the
/// closing of its writing end here would hold that end open, and the pipe would not end with its own child.
static FORK: Mutex<()> = Mutex::new(());

impl<T: Shareable> Apart<T> {
    /// Runs `work` in a child process. It shares `shared` with the caller, and what it writes to the pipe can be
    /// read from [`Apart::output`]; its other changes are not visible here.
    ///
    /// # Errors
    /// If the system provides no process, memory or pipe.
    pub fn start(shared: T, work: impl FnOnce(&T, PipeWriter)) -> io::Result<Self> {
        let page = Shared::new(Page { own: shared, fault: Fault::default() })?;
        let code = loaded_code();
        prepare_for_panics();
        let turn = FORK.lock().expect("no holder of the lock panics");
        let (output, input) = io::pipe()?;
        let signals = block();
        // SAFETY: the child does what the head of this module says, then `_exit`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop(turn); // the child may have children
            begin();
            fault::catch(&page.fault, code);
            restore(&signals);
            let done = catch_unwind(AssertUnwindSafe(|| work(&page.own, input)));
            page.fault.kind.store(if done.is_ok() { kind::DONE } else { kind::PANIC }, Ordering::Relaxed);
            finish();
        }
        let failed = io::Error::last_os_error();
        restore(&signals);
        drop((input, turn));
        if child == -1 { Err(failed) } else { Ok(Self { child, page, output, waited: false }) }
    }

    /// The shared memory, with the child's changes.
    pub fn shared(&self) -> &T {
        &self.page.own
    }

    /// The output of the child; it ends with the child.
    ///
    /// # Errors
    /// If the system has no room for one more file.
    pub fn output(&self) -> io::Result<PipeReader> {
        self.output.try_clone()
    }

    /// Waits until there is something to read or the child has ended; returns false if that takes longer than
    /// `limit`.
    ///
    /// # Errors
    /// If the system does not report it.
    pub fn has_output(&self, limit: Duration) -> io::Result<bool> {
        use std::os::fd::AsRawFd;
        let mut wanted = libc::pollfd { fd: self.output.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor is looked at, and it is open.
        match unsafe { libc::poll(&mut wanted, 1, limit.as_millis() as i32) } {
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
                error => Err(error),
            },
            ready => Ok(ready > 0),
        }
    }

    /// Ends the child if it is in a hook now; otherwise the child continues.
    pub fn end_in_hook(&self) {
        // SAFETY: the child is ours, and nobody has waited for it.
        unsafe { libc::kill(self.child, fault::PROBE) };
    }

    /// Waits for the child's end; returns how a hook ended it, if one did.
    ///
    /// # Errors
    /// If the system does not know it.
    ///
    /// # Panics
    /// If `work` did; it has already reported that.
    pub fn end(mut self) -> io::Result<Option<End>> {
        let mut status = 0;
        // SAFETY: the child is ours, and `status` is there to be written.
        while unsafe { libc::waitpid(self.child, &mut status, 0) } == -1 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        self.waited = true;
        let panicked = self.page.fault.kind.load(Ordering::Relaxed) == kind::PANIC;
        assert!(!panicked, "in a process of its own, which has told why");
        Ok(End::new(&self.page.fault, status))
    }
}

impl<T> Drop for Apart<T> {
    /// A child whose end nobody waits for is killed.
    fn drop(&mut self) {
        if !self.waited {
            // SAFETY: the child is ours, and nobody has waited for it.
            unsafe {
                libc::kill(self.child, libc::SIGKILL);
                libc::waitpid(self.child, ptr::null_mut(), 0);
            }
        }
    }
}

/// Whether this process refuses windows and paths; see [`refuse_windows`].
static REFUSES: AtomicBool = AtomicBool::new(false);

/// In a child, from now on a hook ends it that makes a window of 0 or of at least
/// [`CWND_LIMIT`](crate::CWND_LIMIT), or picks a path that does not exist. Elsewhere, hosts correct such answers,
/// as kernels do.
pub fn refuse_windows() {
    REFUSES.store(true, Ordering::Relaxed);
}

/// The hook at `address` made a window that no host accepts.
#[cold]
pub(crate) fn refuse_window(address: usize, window: u32) {
    if REFUSES.load(Ordering::Relaxed) {
        fault::refuse(kind::WINDOW, address, window);
    }
}

/// The hook at `address` picked a path that does not exist; see [`refuse_windows`].
#[cold]
pub fn refuse_path(address: usize, path: u32) {
    if REFUSES.load(Ordering::Relaxed) {
        fault::refuse(kind::PATH, address, path);
    }
}

/// CPU time for one of the many steps of a test.
pub const ALL_SCRIPTS: Duration = Duration::from_secs(2);

/// What a child has done of the steps of a test.
#[derive(Default)]
struct Done {
    begun: AtomicUsize,
    passed: AtomicUsize,
    work: AtomicU64,
}

// SAFETY: atomic numbers.
unsafe impl Shareable for Done {}

/// The steps of a test in a child process.
pub struct Steps<'a> {
    done: &'a Done,
    limit: Duration,
}

impl Steps<'_> {
    /// The next step begins, with its own time.
    pub fn begin(&self) {
        self.done.begun.fetch_add(1, Ordering::Relaxed);
        arm(self.limit);
    }

    /// It has been passed, after so much work.
    pub fn pass(&self, work: u64) {
        self.done.passed.fetch_add(1, Ordering::Relaxed);
        self.done.work.fetch_add(work, Ordering::Relaxed);
    }
}

/// How a test in a child process went.
pub struct Tried {
    /// Steps that were begun.
    pub begun: usize,
    /// Those that were passed.
    pub passed: usize,
    /// The work that these were.
    pub work: u64,
    /// How a hook ended it, if one did.
    pub end: Option<End>,
}

/// Runs `work` in a child process; its effects are not visible here. It has `limit` of CPU time for each of its steps.
///
/// # Errors
/// If no process can be made.
pub fn try_apart(limit: Duration, work: impl Fn(&Steps)) -> io::Result<Tried> {
    let child = Apart::start(Done::default(), |done, _| {
        arm(limit);
        work(&Steps { done, limit });
    })?;
    io::copy(&mut child.output()?, &mut io::sink())?;
    let done = child.shared();
    let [begun, passed] = [&done.begun, &done.passed].map(|count| count.load(Ordering::Relaxed));
    let work = done.work.load(Ordering::Relaxed);
    Ok(Tried { begun, passed, work, end: child.end()? })
}

/// SIGPROF, after `limit` of CPU time.
fn arm(limit: Duration) {
    let value = libc::timeval { tv_sec: limit.as_secs() as i64, tv_usec: i64::from(limit.subsec_micros()) };
    let once = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: `once` is read, and nothing is written.
    unsafe { libc::setitimer(libc::ITIMER_PROF, &once, ptr::null_mut()) };
}

/// The child's first actions, before any signal reaches it.
fn begin() {
    // SAFETY: these calls change this process alone.
    unsafe {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // What a hook prints is no result.
        libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO);
    }
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// Whether this process is a child.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Sets up, once and in the parent, how its children report a panic. The usual hook locks standard error, which a
/// thread of the parent may hold at the fork. A child cannot set its own hook, because a thread of the parent that
/// panics at the fork holds that lock too.
fn prepare_for_panics() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_CHILD.load(Ordering::Relaxed) {
                return usual(panic);
            }
            let text = format!("{panic}\n");
            // SAFETY: the text is that long.
            unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        }));
    });
}

/// Ends the child without running what the parent has registered.
fn finish() -> ! {
    // SAFETY: what hooks have printed is written out; nothing of the parent's waits there, for it prints otherwise.
    unsafe {
        libc::fflush(ptr::null_mut());
        libc::_exit(0)
    }
}

/// Blocks all signals in this thread; returns those that were blocked before.
fn block() -> libc::sigset_t {
    // SAFETY: both sets are there to be written.
    unsafe {
        let (mut all, mut before) = (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

fn restore(signals: &libc::sigset_t) {
    // SAFETY: a set that `block` gave.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, signals, ptr::null_mut()) };
}
