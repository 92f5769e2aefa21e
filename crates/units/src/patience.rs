//! Waiting for another program, which is told to whoever watches.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a wait lasts until it is told.
const SILENT: Duration = Duration::from_secs(1);

/// Does `work`, which may wait for another program; if it does, says so once on stderr, in the words of `waiting`.
pub(crate) fn tell<T>(waiting: impl FnOnce() -> String + Send, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(SILENT) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = writeln!(io::stderr(), "{} (Ctrl-C ends it)", waiting());
            }
        });
        let result = work();
        drop(done);
        result
    })
}
