//! Work on several threads, whose results do not depend on how many.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// `work` on each of `items`, `workers` at a time; the results are in the order of the items. After an interrupt, and
/// after the first error, no more work begins.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    workers: usize,
    interrupt: &Interrupt,
    work: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Vec<Result<R, Failure>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, Failure>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    if interrupt.asked() {
                        return;
                    }
                    let result = work(item);
                    if matches!(result, Err(ref failure) if !matches!(failure, Failure::Interrupted)) {
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    *results[at].lock().expect("no holder of the lock panics") = Some(result);
                }
            });
        }
    });
    let result = |own: Mutex<Option<_>>| own.into_inner().expect("no holder of the lock panics");
    results.into_iter().map(|own| result(own).unwrap_or(Err(Failure::Interrupted))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        for workers in [1, 7] {
            let doubled = each(&items, workers, &Interrupt::default(), |item| Ok(2 * item));
            let doubled: Vec<u64> = doubled.into_iter().map(|own| own.expect("it works")).collect();
            assert_eq!(doubled, items.iter().map(|item| 2 * item).collect::<Vec<_>>());
        }
    }
}
