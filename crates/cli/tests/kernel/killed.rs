//! `tresse attach`, killed at any moment.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::clean::{Clean, maps_of_ours};
use crate::clock::{now, sleep, wait_for};
use crate::control::{Control, attach, attachable, detach, unique};
use crate::namespace::Namespace;
use crate::probe::{ready, say};

/// How often it is killed.
const TIMES: u32 = 20;

#[test]
fn attach_killed() {
    let test = "attach_killed";
    if !ready(test) || attachable(test, &["xmp"]).is_empty() {
        return;
    }
    let clean = Clean::before();
    let maps = maps_of_ours();
    let place = Namespace::create("k");
    place.sysctl("ipv4/tcp_congestion_control", "reno");
    let start = now();
    drop(Control::attach_as_default("xmp", &[&place]));
    let whole = start.elapsed();
    let mut finished = 0;
    for i in 0..TIMES {
        let name = unique("xmp");
        // Moments spread over the whole time, in an order that tells nothing.
        let moment = whole.mul_f64(f64::from(i * 7 % TIMES) / f64::from(TIMES));
        finished += u32::from(killed(&name, &place, moment));
        // Whatever it left must not be in the way of the next one with this name, nor of its end.
        let output = attach("xmp", &name, &[&place]).output().expect("the command starts");
        assert!(output.status.success(), "after {moment:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(place.read_sysctl("ipv4/tcp_congestion_control"), name);
        detach(&name);
        assert_eq!(place.read_sysctl("ipv4/tcp_congestion_control"), "reno", "killed after {moment:?}");
    }
    say(&format!("attach takes {whole:?}; killed {TIMES} times, {finished} of them too late"));
    drop(place);
    // Also those of an `attach` that died before anything led to them.
    assert!(wait_for(20.0, || maps_of_ours() <= maps), "{maps} maps before, {} now", maps_of_ours());
    clean.check();
}

/// True if it had ended before.
fn killed(name: &str, place: &Namespace, moment: Duration) -> bool {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("tresse"));
    command.args(["attach", "xmp", "--name", name, "--default", "--netns", place.name()]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    sleep(moment.as_secs_f64());
    let ended = child.try_wait().expect("it is our child").is_some();
    drop(child.kill());
    child.wait().expect("it ends");
    ended
}
