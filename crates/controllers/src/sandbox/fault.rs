//! The record that a child process writes when a hook ends it: the signal, and its place in the controller's code.
//!
//! Everything here may happen at any instruction, on a stack that is full: it allocates nothing, locks nothing, and
//! writes only to memory that was there before.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use super::shared::Shareable;

/// The values of [`Fault::kind`].
pub(super) mod kind {
    /// It came to its end.
    pub const DONE: usize = 6;
    /// It panicked, which no hook does.
    pub const PANIC: usize = 7;
    /// A signal; `detail` is its number.
    pub const SIGNAL: usize = 1;
    /// A signal at an address just outside the stack.
    pub const STACK: usize = 2;
    /// A signal at an address near 0.
    pub const NULL: usize = 3;
    /// `exit()`; `detail` is not used.
    pub const EXIT: usize = 4;
    /// A window that no host accepts; `detail` is the window, `first` the hook's own address.
    pub const WINDOW: usize = 5;
    /// A path that does not exist; `detail` is its number, `first` the hook's own address.
    pub const PATH: usize = 8;
}

/// The reason for the child's end; `kind` is 0 while it runs.
#[derive(Debug, Default)]
pub(super) struct Fault {
    pub kind: AtomicUsize,
    pub detail: AtomicU64,
    /// The instruction of the controller's code; 0 if it was not in it.
    pub first: AtomicUsize,
    /// An instruction of the function that the host had called, if `first` is not 0.
    pub hook: AtomicUsize,
}

// SAFETY: atomic numbers.
unsafe impl Shareable for Fault {}

impl Fault {
    fn write(&self, kind: usize, detail: u64, [first, hook]: [usize; 2]) {
        self.detail.store(detail, Ordering::Relaxed);
        self.first.store(first, Ordering::Relaxed);
        self.hook.store(hook, Ordering::Relaxed);
        self.kind.store(kind, Ordering::Relaxed);
    }
}

/// Where this process, if it is a child, reports its end; null in any other process.
static FAULT: AtomicPtr<Fault> = AtomicPtr::new(ptr::null_mut());

/// The code of users' files.
static CODE: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// The lowest address of the stack on which hooks are called.
static STACK: AtomicUsize = AtomicUsize::new(0);

/// An address at most this far below the stack, or above its end, is due to a stack overflow.
const NEAR: usize = 1 << 16;

/// Room for the handler: the unwinder takes some KiB.
const HANDLER_STACK: usize = 1 << 16;

/// The signals that a faulty hook may raise.
const SIGNALS: [c_int; 6] =
    [libc::SIGFPE, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];

/// "Where are you?": ends the process if it is in a hook.
pub(super) const PROBE: c_int = libc::SIGUSR1;

/// In the child, from now on the reason for its end is written to `fault`, with the place in `code`.
pub(super) fn catch(fault: &Fault, code: Vec<Range<usize>>) {
    FAULT.store(ptr::from_ref(fault).cast_mut(), Ordering::Relaxed);
    let _ = CODE.set(code); // a child's child has it already
    STACK.store(stack(), Ordering::Relaxed);
    // A stack that is full has no room for a handler.
    let memory = Box::leak(vec![0u8; HANDLER_STACK].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
    // SAFETY: the memory is never freed.
    unsafe { libc::sigaltstack(&stack, ptr::null_mut()) };
    for signal in SIGNALS.into_iter().chain([PROBE, libc::SIGPROF]) {
        // SAFETY: zeros are an action without flags that blocks nothing.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the type that SA_SIGINFO asks for.
        unsafe { libc::sigaction(signal, &action, ptr::null_mut()) };
    }
    // What was registered last is called first: nothing that the parent has registered runs here.
    // SAFETY: the function has the type that is asked for.
    unsafe { libc::atexit(on_exit) };
}

/// Ends this child because of the window or the path that a hook at `address` answered; does nothing in a process
/// that is not a child.
pub(super) fn refuse(kind: usize, address: usize, answer: u32) {
    // SAFETY: set by `catch`, to memory that stays.
    let Some(fault) = (unsafe { FAULT.load(Ordering::Relaxed).as_ref() }) else { return };
    fault.write(kind, answer.into(), [address; 2]);
    // SAFETY: ends the child without running what the parent has registered.
    unsafe { libc::_exit(1) }
}

extern "C" fn on_exit() {
    end(kind::EXIT, 0, places(None));
}

extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let places = places(instruction(context));
    if signal == PROBE && places[0] == 0 {
        return; // Tresse's own code is slow, and will answer
    }
    let in_memory = signal == libc::SIGSEGV || signal == libc::SIGBUS;
    // SAFETY: the system gives the handler of such a signal an address.
    let address = if in_memory { unsafe { (*info).si_addr() as usize } } else { usize::MAX };
    let kind = match STACK.load(Ordering::Relaxed) {
        stack if in_memory && address.abs_diff(stack) < NEAR => kind::STACK,
        _ if address < NEAR => kind::NULL,
        _ => kind::SIGNAL,
    };
    end(kind, signal as u64, places);
}

fn end(kind: usize, detail: u64, places: [usize; 2]) -> ! {
    // SAFETY: set by `catch`, to memory that stays.
    if let Some(fault) = unsafe { FAULT.load(Ordering::Relaxed).as_ref() } {
        fault.write(kind, detail, places);
    }
    // SAFETY: ends the child without running what the parent has registered.
    unsafe { libc::_exit(1) }
}

/// The innermost instruction in users' code, and the outermost of those that called each other there: the hook's.
/// Zeros if there is none. `at` is where a signal came.
fn places(at: Option<usize>) -> [usize; 2] {
    let is_code =
        |address: usize| CODE.get().is_some_and(|all| all.iter().any(|code| code.contains(&address)));
    let mut found = match at.filter(|at| is_code(*at)) {
        Some(at) => [at; 2],
        None => [0; 2],
    };
    let mut inside = false;
    // SAFETY: the child has one thread. In a handler too: the unwinder looks the tables up without a lock, and
    // allocates nothing.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let address = frame.ip() as usize;
            // A frame that has called has the address after the call.
            let call = if Some(address) == at { address } else { address.saturating_sub(1) };
            if is_code(call) {
                inside = true;
                found = [if found[0] == 0 { call } else { found[0] }, call];
            } else if inside {
                return false;
            }
            true
        });
    }
    found
}

/// The place of a signal, if known.
fn instruction(context: *mut c_void) -> Option<usize> {
    let context: *const libc::ucontext_t = context.cast();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the system gives a handler its context.
    return Some(unsafe { (*context).uc_mcontext.gregs[libc::REG_RIP as usize] as usize });
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the system gives a handler its context.
    return Some(unsafe { (*context).uc_mcontext.pc as usize });
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// The lowest address of this thread's stack; 0 if the system does not say.
fn stack() -> usize {
    let (mut low, mut size) = (ptr::null_mut(), 0);
    // SAFETY: zeros are attributes, which the call fills in and which are destroyed at the end.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return 0;
        }
        libc::pthread_attr_getstack(&attributes, &mut low, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
    }
    low as usize
}
