//! A hint to the processor; changes nothing but speed.

/// Fetches the cache line of `target` before it is needed.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program could see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            std::ptr::from_ref(target).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}
