//! Connections that share drop-tail bottlenecks with plain TCP.

use crate::clock::sleep;
use crate::control::{Control, Controller, attachable};
use crate::flow::{Protocol, measure};
use crate::probe::ready;
use crate::repeat::{attached, holds, mean, stock, together};
use crate::testbed::{Path, Plan, Testbed};

/// Those that couple subflows, and answer losses.
const COUPLED: [&str; 3] = ["lia", "olia", "balia"];

/// The rate of two subflows over one bottleneck per rate of the plain Reno beside them.
fn beside(control: &Control) -> f64 {
    let paths = [Path::drop_tail(40, 100)];
    let bed = Testbed::new(&Plan { paths: &paths, subflows: &[0, 0], control: control.name() });
    let (flow, reno) = (bed.connect(), bed.compete(0, Protocol::Tcp, "reno"));
    sleep(3.0);
    let rates = measure(&[&flow, &reno], 9.0);
    rates[0].iter().sum::<f64>() / rates[1][0]
}

#[test]
#[ignore = "measures for a minute: `make test-all`"]
fn beside_one_reno() {
    if !ready("beside_one_reno") {
        return;
    }
    let kernel = mean("two subflows of the kernel's Reno per Reno beside them", stock("reno", beside));
    assert!((1.6..=2.2).contains(&kernel), "two uncoupled subflows take {kernel} times a Reno's rate");
    together(
        attachable("beside_one_reno", &["reno", "lia", "olia", "balia"]),
        |Controller { name, .. }| {
            let bounds = if name == "reno" { 1.6..=2.2 } else { 0.0..=1.4 };
            attached(&name, beside, |runs| {
                let what = format!("two subflows of {name} per Reno beside them");
                let ratio = mean(&what, runs.iter().map(|ratio| **ratio));
                holds(bounds.contains(&ratio), || {
                    format!("two subflows of {name} take {ratio} times a Reno's rate")
                })
            });
        },
    );
}

/// The share of a path with a Reno on it that the subflow there takes, while the other path is free.
fn shared_path(control: &Control) -> f64 {
    let paths = [Path::drop_tail(20, 50), Path::drop_tail(20, 50)];
    let bed = Testbed::new(&Plan { paths: &paths, subflows: &[0, 1], control: control.name() });
    let (flow, reno) = (bed.connect(), bed.compete(0, Protocol::Tcp, "reno"));
    sleep(3.0);
    let rates = measure(&[&flow, &reno], 9.0);
    rates[0][0] / (rates[0][0] + rates[1][0])
}

#[test]
#[ignore = "measures for a minute: `make test-all`"]
fn shifts_away_from_a_shared_path() {
    if !ready("shifts_away_from_a_shared_path") {
        return;
    }
    let uncoupled = mean("an uncoupled subflow's share beside one Reno", stock("reno", shared_path));
    assert!((0.4..=0.6).contains(&uncoupled), "an uncoupled subflow takes {uncoupled} of the shared path");
    together(attachable("shifts_away_from_a_shared_path", &COUPLED), |Controller { name, .. }| {
        attached(&name, shared_path, |runs| {
            let what = format!("a subflow of {name}: its share beside one Reno");
            let coupled = mean(&what, runs.iter().map(|share| **share));
            holds(coupled < 0.8 * uncoupled, || format!("{name} takes {coupled}, uncoupled Reno {uncoupled}"))
        });
    });
}
