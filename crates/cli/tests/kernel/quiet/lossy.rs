//! Timeouts: the kernel's count and the controller's.

use std::fs;

use crate::clock::sleep;
use crate::control::{Control, attachable, status_of};
use crate::flow::Protocol;
use crate::namespace::Namespace;
use crate::probe::{has, ready, say};
use crate::repeat::once;
use crate::testbed::{Path, Plan, Testbed};

/// A counter of /proc/net/netstat in a namespace.
fn counter(place: &Namespace, name: &str) -> u64 {
    let text =
        place.enter(|| fs::read_to_string("/proc/thread-self/net/netstat")).expect("the kernel's counters");
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let found = names.split(' ').zip(values.split(' ')).find(|(n, _)| *n == name);
    found.unwrap_or_else(|| panic!("no {name}")).1.parse().expect("a number")
}

/// Eight connections over a path that drops 15 % of the data: timeouts that the controller was told of, all that there
/// were, and those of them in a fast recovery.
fn timeouts(control: &Control) -> [u64; 3] {
    let bed =
        Testbed::new(&Plan { paths: &[Path::drop_tail(40, 200)], subflows: &[0], control: control.name() });
    bed.router.nft(
        "add table ip loss\nadd chain ip loss forwarded { type filter hook forward priority 0 ; }\n\
         add rule ip loss forwarded meta length > 100 numgen random mod 100 < 15 drop\n",
    );
    let flows = [(); 8].map(|()| bed.compete(0, Protocol::Tcp, control.name()));
    sleep(8.0);
    drop(flows);
    let told = status_of(control.name())["counters"]["timeouts"].as_u64().expect("a counter");
    [told, counter(&bed.other, "TCPTimeouts"), counter(&bed.other, "TCPSackRecoveryFail")]
}

/// CA_EVENT_LOSS comes only where `ssthresh` is asked too, which is not where most timeouts happen.
#[test]
fn every_timeout_reaches_the_controller() {
    let test = "every_timeout_reaches_the_controller";
    if !ready(test) || attachable(test, &["cubic"]).is_empty() {
        return;
    }
    if !has("nft") {
        say(&format!("skipped: {test}: nft is missing (apt-get install nftables)"));
        return;
    }
    // Without the hook in `set_state` five of six are missed; a tenth is room for programs that the kernel skips (`repeat`).
    let agree = |[told, all, _]: &[u64; 3]| told.abs_diff(*all) * 10 <= *all;
    let Some([told, all, recovering]) = once("cubic", agree, timeouts) else { return };
    say(&format!("{all} timeouts, {recovering} of them in a recovery; the controller was told of {told}"));
    assert!(all >= 20 && recovering * 5 >= all, "too few to tell: {all}, {recovering} of them in a recovery");
    assert!(agree(&[told, all, recovering]), "the controller was told of {told} of {all} timeouts");
}
