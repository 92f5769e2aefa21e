//! The testbed itself, and paths without competition.

use crate::clock::sleep;
use crate::control::{Control, Controller, attachable};
use crate::flow::{Protocol, measure};
use crate::namespace;
use crate::probe::{at_full_length, ready};
use crate::repeat::{mean, once, stock, together};
use crate::testbed::{Path, Plan, Testbed};

/// Payload of a full packet of an MPTCP subflow, of the 1514 bytes that the bottleneck counts.
const PAYLOAD: f64 = 1428.0 / 1514.0;

#[test]
fn a_connection_has_as_many_subflows_as_asked() {
    if !ready("a_connection_has_as_many_subflows_as_asked") {
        return;
    }
    for subflows in [1, 2, 8] {
        let paths = [Path::drop_tail(20, 50), Path::drop_tail(20, 50)];
        let over: Vec<_> = (0..subflows).map(|i| i % 2).collect();
        let bed = Testbed::new(&Plan { paths: &paths, subflows: &over, control: "reno" });
        let names =
            [&bed.sender, &bed.other, &bed.router, &bed.receiver].map(|place| place.name().to_owned());
        assert_eq!(bed.connect().subflows().len(), subflows);
        let plain = bed.compete(1, Protocol::Tcp, "cubic");
        let seen = plain.subflows();
        assert_eq!((seen.len(), seen[0].mptcp, seen[0].control.as_str()), (1, false, "cubic"));
        drop(bed);
        let left: Vec<_> = namespace::own().into_iter().filter(|name| names.contains(name)).collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

#[test]
fn a_failing_test_leaves_nothing_behind() {
    if !ready("a_failing_test_leaves_nothing_behind") {
        return;
    }
    let name = std::sync::Mutex::new(String::new());
    let failed = std::thread::scope(|scope| {
        let fails = || {
            let paths = [Path::drop_tail(20, 50)];
            let bed = Testbed::new(&Plan { paths: &paths, subflows: &[0, 0], control: "reno" });
            bed.sender.name().clone_into(&mut name.lock().expect("nobody has panicked yet"));
            let _flow = bed.connect();
            std::panic::resume_unwind(Box::new("as a failing test does"));
        };
        scope.spawn(fails).join().is_err()
    });
    let name = name.into_inner().expect("nobody panicked while writing");
    assert!(failed && !name.is_empty());
    assert!(!namespace::own().contains(&name), "{name} is left behind");
}

/// The shares of two unequal paths that a connection fills, its subflows' payload per payload that fits.
fn fill(control: &Control, marks: bool) -> [f64; 2] {
    let mbit = [12, 24];
    let paths = mbit.map(|mbit| if marks { Path::marking(mbit, 20) } else { Path::drop_tail(mbit, 50) });
    let bed = Testbed::new(&Plan { paths: &paths, subflows: &[0, 1], control: control.name() });
    let flow = bed.connect();
    sleep(2.0);
    let rates = measure(&[&flow], 5.0).remove(0);
    [0, 1].map(|path| rates[path] / (f64::from(mbit[path]) * PAYLOAD))
}

/// The least share of a path that counts as filled.
const FILLED: f64 = 0.9;

fn fills(who: &str, runs: &[[f64; 2]]) {
    for path in [0, 1] {
        let filled = mean(&format!("{who} fills path {path}"), runs.iter().map(|run| run[path]));
        assert!(filled >= FILLED, "{who} fills {filled} of path {path}");
    }
}

#[test]
fn fills_two_unequal_paths() {
    if !ready("fills_two_unequal_paths") {
        return;
    }
    fills("the kernel's own Reno", &stock("reno", |control| fill(control, false)));
    let step = if at_full_length() { 1 } else { 4 };
    let some = attachable("fills_two_unequal_paths", &[]).into_iter().step_by(step);
    together(some, |Controller { name, marks, .. }| {
        let both = |shares: &[f64; 2]| shares.iter().all(|share| *share >= FILLED);
        if let Some(run) = once(&name, both, |control| fill(control, marks)) {
            fills(&name, &[run]);
        }
    });
}
