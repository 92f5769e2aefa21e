//! Repetitions of a scenario, several at a time, and the means of what they measure.

use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use crate::control::Control;
use crate::probe::say;

/// Repetitions of one scenario.
const TIMES: usize = 5;
/// How many testbeds run at a time, in all tests of this process together.
const AT_A_TIME: usize = 10;

/// Repeats a scenario with a control that the kernel brings.
pub fn stock<T: Send>(name: &str, scenario: impl Fn(&Control) -> T + Sync) -> Vec<T> {
    together(0..TIMES, |_| {
        let _slot = Slot::take();
        scenario(&Control::stock(name))
    })
}

/// Repeats a scenario with one of our controllers, attached for each repetition, and has all of them judged.
///
/// If the verdict is bad, those repetitions count no more that were hit by skipped hooks: they are run again,
/// once, and all are judged anew. A stock kernel skips none; some build machines have a guard that skips BPF
/// programs while process 1 runs on the same core: a `ssthresh` that was never called returns garbage, until
/// the next hook mends it.
///
/// # Panics
/// With what `judge` says last, if it is an error.
pub fn attached<T: Send>(
    controller: &str,
    scenario: impl Fn(&Control) -> T + Sync,
    judge: impl Fn(&[&T]) -> Result<(), String>,
) {
    let runs = together(0..TIMES, |_| one(controller, &scenario));
    let results = |runs: &[(u64, T)]| judge(&runs.iter().map(|(_, result)| result).collect::<Vec<_>>());
    let Err(verdict) = results(&runs) else { return };
    assert!(runs.iter().any(|(skipped, _)| *skipped > 0), "{verdict}");
    say(&format!("{verdict}; what was hit by skipped hooks is run again"));
    let again = |(skipped, result): (u64, T)| match skipped {
        0 => (0, result),
        _ => {
            let (skipped_again, other) = one(controller, &scenario);
            if skipped_again <= skipped { (skipped_again, other) } else { (skipped, result) }
        }
    };
    if let Err(verdict) = results(&together(runs, again)) {
        panic!("{verdict}");
    }
}

/// One run of a scenario that must give what is `expected`.
///
/// A run that does not, and was hit by skipped hooks, says nothing about the controller: it is run again, [`TIMES`] in all
/// at most. `None`, and a line that says so, if that is true of all of them.
pub fn once<T: Send>(
    controller: &str,
    expected: impl Fn(&T) -> bool,
    scenario: impl Fn(&Control) -> T,
) -> Option<T> {
    for _ in 0..TIMES {
        let (skipped, result) = one(controller, &scenario);
        if skipped == 0 || expected(&result) {
            return Some(result);
        }
    }
    say(&format!(
        "skipped: {controller}: the machine skipped hooks in each of {TIMES} runs, which say nothing then"
    ));
    None
}

/// Hooks that were skipped, and what a run gave.
fn one<T>(controller: &str, scenario: impl Fn(&Control) -> T) -> (u64, T) {
    let _slot = Slot::take();
    let control = Control::attach(controller);
    let result = scenario(&control);
    let skipped = control.repairs();
    if skipped > 0 {
        say(&format!("{controller}: {skipped} hooks were skipped in this run"));
    }
    (skipped, result)
}

/// Does `work` for each of `items`, in parallel; as many as [`AT_A_TIME`] allows run testbeds.
pub fn together<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let runs: Vec<_> = items.into_iter().map(|item| scope.spawn(move || work(item))).collect();
        // All have ended, and have cleaned up, before the first failure is passed on.
        let results: Vec<_> = runs.into_iter().map(thread::ScopedJoinHandle::join).collect();
        results.into_iter().map(|r| r.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// What a judge says of one thing.
pub fn holds(is: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if is { Ok(()) } else { Err(otherwise()) }
}

/// Their mean, and the smallest and the largest, as words.
pub fn mean(what: &str, values: impl IntoIterator<Item = f64>) -> f64 {
    let values: Vec<_> = values.into_iter().collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    say(&format!("{what}: {mean:.3} ({low:.3} to {high:.3} in {} runs)", values.len()));
    mean
}

static FREE: (Mutex<usize>, Condvar) = (Mutex::new(AT_A_TIME), Condvar::new());
static ALONE: RwLock<()> = RwLock::new(());

/// Until this is dropped nothing else of this process runs a testbed.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    ALONE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Until this is dropped no test of this process has the machine to itself.
pub fn beside() -> RwLockReadGuard<'static, ()> {
    ALONE.read().unwrap_or_else(PoisonError::into_inner)
}

/// The right to run a testbed now.
struct Slot {
    _together: RwLockReadGuard<'static, ()>,
}

impl Slot {
    fn take() -> Self {
        let (free, freed) = &FREE;
        let free = free.lock().unwrap_or_else(PoisonError::into_inner);
        *freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner) -= 1;
        Self { _together: beside() }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let (free, freed) = &FREE;
        *free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        freed.notify_one();
    }
}
