//! The wall clock, which these tests alone may read: the traffic is real.

use std::time::{Duration, Instant};

/// Now.
#[expect(clippy::disallowed_methods, reason = "real traffic takes real time")]
pub fn now() -> Instant {
    Instant::now()
}

/// Waits.
pub fn sleep(seconds: f64) {
    #[expect(clippy::disallowed_methods, reason = "real traffic takes real time")]
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// Asks every 20 ms until `ready` says yes; false if it did not within `seconds`.
pub fn wait_for(seconds: f64, mut ready: impl FnMut() -> bool) -> bool {
    let end = now() + Duration::from_secs_f64(seconds);
    loop {
        if ready() {
            return true;
        }
        if now() > end {
            return false;
        }
        sleep(0.02);
    }
}
