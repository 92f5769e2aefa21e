//! What holds for every built-in controller, whatever it computes: the invariants of
//! `tresse_controllers::check`. A new controller is tested by being there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tresse_controllers::check::{SCRIPTS, check};
use tresse_controllers::{built_in, find};

/// A part of what `tresse controller check` plays, for there are many controllers; all in `make test-all`.
fn some() -> usize {
    if std::env::var_os("TRESSE_TEST_ALL").is_some() { SCRIPTS } else { SCRIPTS / 16 }
}

#[test]
fn every_controller_keeps_its_contract() {
    let controllers: Vec<_> = built_in().into_iter().filter(|c| c.alias_of().is_none()).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&controller) = controllers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(breach) = check(controller, some()) {
                        panic!("{}{}\n{breach}", controller.name(), breach.arguments());
                    }
                }
            });
        }
    });
}

/// WUTCP with a weight below 1 climbs more slowly than Reno in slow start, so it ends between two packets. Few scripts get
/// there.
#[test]
fn a_slow_start_that_ends_between_two_packets_is_not_above_reno() {
    let wutcp = find("wutcp").expect("it is built in");
    if let Err(breach) = check(wutcp, SCRIPTS) {
        panic!("{}\n{breach}", breach.arguments());
    }
}
