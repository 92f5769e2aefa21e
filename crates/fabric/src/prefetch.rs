//! Hints to the processor; they change nothing but speed.

/// What a fabric's caller touches when a packet arrives, so that it is fetched before. This affects only the speed.
pub trait Ends<P> {
    /// The address of two cache lines for a packet that may soon arrive; any address is allowed.
    fn address(&self, payload: &P) -> *const u8;

    /// A packet arrives next but one at the end of a fixed route, and those two lines are there: fetches what they lead to.
    fn fetch(&self, payload: &P);
}

/// Nothing is fetched.
impl<P> Ends<P> for () {
    fn address(&self, _: &P) -> *const u8 {
        std::ptr::null()
    }

    fn fetch(&self, _: &P) {}
}

/// Fetches the first cache line of `target` before it is needed.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    prefetch_line(std::ptr::from_ref(target).cast());
}

/// Fetches the cache line at `address`, which may be any.
#[inline(always)]
#[cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the instruction takes any address"))]
pub fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect that a program could see, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
