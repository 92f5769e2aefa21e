//! What one thread waits for, and others ring when it may have come.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a thread checks before it sleeps: about as long as it takes to be woken.
const SPINS: u32 = 1 << 12;

/// Who waits checks what others have stored, with the order [`Ordering::SeqCst`], before they rang.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    sleeps: AtomicBool,
    mutex: Mutex<()>,
    rings: Condvar,
}

impl Bell {
    /// Waits a moment without sleep. Whether it is ready.
    pub fn spin(is_ready: impl Fn() -> bool) -> bool {
        for _ in 0..SPINS {
            if is_ready() {
                return true;
            }
            spin_loop();
        }
        false
    }

    /// Waits until it is ready, at last asleep.
    pub fn wait(&self, is_ready: impl Fn() -> bool) {
        if Self::spin(&is_ready) {
            return;
        }
        let mut guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            // Either this is seen by who rings, or what was stored before is seen here.
            self.sleeps.store(true, Ordering::SeqCst);
            if is_ready() {
                break;
            }
            guard = self.rings.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleeps.store(false, Ordering::SeqCst);
    }

    /// Wakes who sleeps.
    pub fn ring(&self) {
        if self.sleeps.load(Ordering::SeqCst) && self.sleeps.swap(false, Ordering::SeqCst) {
            // Not between a check and the sleep after it.
            drop(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
            self.rings.notify_one();
        }
    }
}
