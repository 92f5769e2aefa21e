//! `tresse attach` and `tresse testbed`, killed at any moment.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::clean::{Clean, maps_of_ours};
use crate::clock::{now, sleep, wait_for};
use crate::control::{Control, attach, attachable, detach, unique};
use crate::namespace::Namespace;
use crate::probe::{asked, at_full_length, ready, say};
use crate::real::{BOTTLENECKS, can_run, folder, tresse};

/// How often it is killed.
fn times() -> u32 {
    if at_full_length() { 20 } else { 8 }
}

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
    let (times, mut finished) = (times(), 0);
    for i in 0..times {
        let name = unique("xmp");
        // Moments spread over the whole time, in an order that tells nothing.
        let moment = whole.mul_f64(f64::from(i * 7 % times) / f64::from(times));
        finished += u32::from(killed(&name, &place, moment));
        // Whatever it left must not be in the way of the next one with this name, nor of its end.
        let output = attach("xmp", &name, &[&place]).output().expect("the command starts");
        assert!(output.status.success(), "after {moment:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(place.read_sysctl("ipv4/tcp_congestion_control"), name);
        detach(&name);
        assert_eq!(place.read_sysctl("ipv4/tcp_congestion_control"), "reno", "killed after {moment:?}");
    }
    say(&format!("attach takes {whole:?}; killed {times} times, {finished} of them too late"));
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

/// The host's own namespaces, routes, devices, pins, and settings of its network: which congestion controls there are is among
/// them. Their programs the kernel frees later, with the last of their sockets.
pub fn host() -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = files(Path::new("/proc/sys/net")).collect();
    for (name, args) in [
        ("ip", &["netns", "list"][..]),
        ("ip", &["-4", "route", "show", "table", "all"]),
        ("ip", &["-o", "link", "show"]),
        ("ls", &["-R", "/sys/fs/bpf"]),
    ] {
        let output = Command::new(name).args(args).output();
        let text =
            output.map_or_else(|e| e.to_string(), |own| String::from_utf8_lossy(&own.stdout).into_owned());
        all.insert(format!("{name} {}", args.join(" ")), text);
    }
    all
}

/// What the files below a folder hold, those that can be read.
fn files(folder: &Path) -> Box<dyn Iterator<Item = (String, String)>> {
    Box::new(fs::read_dir(folder).into_iter().flatten().flatten().flat_map(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path),
            false => {
                let text = fs::read_to_string(&path);
                Box::new(text.ok().map(|text| (path.display().to_string(), text)).into_iter())
            }
        }
    }))
}

/// Any number from 0 to 1.
fn random() -> f64 {
    let mut bytes = [0; 4];
    fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).expect("random bytes");
    f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
}

#[test]
fn a_killed_testbed_leaves_nothing_that_clean_does_not_find() {
    let test = "a_killed_testbed_leaves_nothing_that_clean_does_not_find";
    if !can_run(test) {
        return;
    }
    // `TRESSE_KILLS=30` tries as many moments of the first four seconds, others each time.
    let moments = match asked("TRESSE_KILLS") {
        Some(kills) => (0..kills).map(|_| random() * 4.0).collect(),
        None if at_full_length() => vec![0.05, 0.3, 0.8, 1.6],
        None => vec![0.3, 1.6],
    };
    let clean = Clean::before();
    let before = host();
    let dir = folder(BOTTLENECKS);
    for moment in moments {
        let mut child =
            tresse(dir.path(), &["testbed", "run", "mine.toml", "--out", &format!("out-{moment}")])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the command starts");
        sleep(moment);
        child.kill().expect("it is there");
        child.wait().expect("it was there");
        let output = tresse(dir.path(), &["testbed", "clean"]).output().expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let left = tresse(dir.path(), &["testbed", "clean"]).output().expect("the command starts");
        assert_eq!(String::from_utf8_lossy(&left.stdout), "there was nothing to remove\n");
        let after = host();
        let differs = before.keys().chain(after.keys()).find(|key| before.get(*key) != after.get(*key));
        assert_eq!(
            differs,
            None,
            "killed after {moment} s: {:?}",
            differs.map(|key| (before.get(key), after.get(key)))
        );
    }
    clean.check();
}

#[test]
fn a_testbed_that_is_interrupted_twice_says_what_removes_the_rest() {
    if !can_run("a_testbed_that_is_interrupted_twice_says_what_removes_the_rest") {
        return;
    }
    let clean = Clean::before();
    let dir = folder(BOTTLENECKS);
    let child = tresse(dir.path(), &["testbed", "run", "mine.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    sleep(1.6);
    for _ in 0..2 {
        // SAFETY: kill takes two integers.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        sleep(0.02);
    }
    let output = child.wait_with_output().expect("it was there");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("`tresse testbed clean` removes what is left"), "{told}");
    let cleaned = tresse(dir.path(), &["testbed", "clean"]).output().expect("the command starts");
    assert!(cleaned.status.success(), "{}", String::from_utf8_lossy(&cleaned.stderr));
    clean.check();
}
