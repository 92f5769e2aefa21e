//! Memory that a process and its child share.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::{io, ptr};

/// A type that two processes may read and change at the same time.
///
/// # Safety
/// The type contains nothing but atomic numbers: no pointer, because it would point to something else in the other
/// process, and nothing that has to be dropped.
pub unsafe trait Shareable {}

// SAFETY: an atomic number.
unsafe impl Shareable for AtomicBool {}
// SAFETY: an atomic number.
unsafe impl Shareable for AtomicU64 {}
// SAFETY: an atomic number.
unsafe impl Shareable for AtomicUsize {}

/// A value in memory that the children of this process share with it.
#[derive(Debug)]
pub(super) struct Shared<T>(*mut T);

impl<T: Shareable> Shared<T> {
    /// # Errors
    /// If the system provides no memory.
    pub fn new(value: T) -> io::Result<Self> {
        // SAFETY: a new mapping that no other memory overlaps.
        let memory = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<T>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory: *mut T = memory.cast();
        // SAFETY: it is large enough, and aligned to a page.
        unsafe { memory.write(value) };
        Ok(Self(memory))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: written by `new`, and mapped as long as `self` lives.
        unsafe { &*self.0 }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, no reference outlives `self`, and there is nothing to be dropped in it.
        unsafe { libc::munmap(self.0.cast(), size_of::<T>()) };
    }
}
