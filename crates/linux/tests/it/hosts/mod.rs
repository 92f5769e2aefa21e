//! One table of event sequences for the three hosts: the simulator's sender, the host of scripts, and the kernel's
//! wrapper inside Linux's rules (linux.c). In each, a controller records which of its hooks are called
//! (recorder.c); calls, thresholds and states must be the same.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tresse_controllers::trace::{Event, Hosts};
use tresse_controllers::{ConfiguredController, Group, load};
use tresse_transport::tcp::Sender;
use tresse_transport::{Ack, Block, Config, Recovery};

const MILLISECOND: u64 = 1_000_000_000;

/// The window at first, packets; half of it is the threshold. linux.c has the same.
const WINDOW: u32 = 40;

/// `ack` and `mark` ACK the first outstanding packet, `edge` the first window; `loss` SACKs the three packets after
/// the first outstanding one.
const EVENTS: [&str; 7] = ["ack", "mark", "edge", "loss", "local", "timeout", "undo"];

/// After an event: the recorder's word, the threshold, the state.
type After = (u64, u32, u8);

/// What a receiver has got.
#[derive(Default)]
struct Receiver {
    /// The first packet that is missing.
    una: u32,
    /// The packets after it that have arrived.
    sacked: Option<Block>,
}

impl Receiver {
    /// An event that is an ACK: how many packets it covers for the first time.
    fn advance(&mut self, event: &str) -> u32 {
        let before = self.una;
        self.una = match self.sacked.filter(|block| block.start == self.una + 1) {
            _ if event == "edge" && self.una < WINDOW => WINDOW,
            Some(block) => block.end,
            None => self.una + 1,
        };
        self.una - before
    }

    fn lose(&mut self) -> Block {
        *self.sacked.insert(Block { start: self.una + 1, end: self.una + 4 })
    }
}

fn recorder() -> Arc<ConfiguredController> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hosts/recorder.c");
    let [controller] = load(&file).expect("it compiles")[..] else { panic!("it declares one") };
    Arc::new(ConfiguredController::new(controller, []).expect("it has no parameters"))
}

/// Every sequence of up to three events.
fn sequences() -> Vec<Vec<&'static str>> {
    let longer = |sequences: &[Vec<&'static str>]| -> Vec<Vec<&'static str>> {
        sequences.iter().flat_map(|s| EVENTS.map(|event| [s, &[event][..]].concat())).collect()
    };
    let one = longer(&[Vec::new()]);
    let two = longer(&one);
    let three = longer(&two);
    [one, two, three].concat()
}

fn in_a_script(scheme: &Arc<ConfiguredController>, sequence: &[&str]) -> Vec<After> {
    let mut group = Group::new(scheme.clone(), 1, WINDOW);
    let mut hosts = Hosts::new(1, WINDOW);
    hosts.play(&mut group, Event::Window { cwnd: WINDOW, ssthresh: Some(WINDOW / 2), subflow: 0 });
    let mut receiver = Receiver::default();
    let play = |&event: &&str| {
        let event = match event {
            "loss" => {
                receiver.lose();
                Event::Loss { subflow: 0 }
            }
            "local" => Event::Local { subflow: 0 },
            "timeout" => Event::Timeout { subflow: 0 },
            "undo" => Event::Undo { subflow: 0 },
            _ => Event::Ack {
                packets: receiver.advance(event),
                marked: u32::from(event == "mark"),
                rtt: None,
                limited: true,
                subflow: 0,
            },
        };
        hosts.play(&mut group, event);
        (group[0].word, group[0].ssthresh, group[0].state as u8)
    };
    sequence.iter().map(play).collect()
}

fn config() -> Config {
    Config {
        initial_window: WINDOW,
        initial_ssthresh: WINDOW / 2,
        recovery: Recovery::Rack,
        ecn: true,
        ..Config::default()
    }
}

fn in_the_simulator(scheme: &Arc<ConfiguredController>, sequence: &[&str]) -> Vec<After> {
    let mut sender = Sender::new(config(), scheme.clone(), 1, 1_000_000 * 1460);
    let mut receiver = Receiver::default();
    let mut now = 0;
    while sender.poll_transmit(now).is_some() {}
    let play = |&event: &&str| {
        now += MILLISECOND;
        let stamp = (now - MILLISECOND).into();
        let ack = Ack { stamp, seq: receiver.una, ce: u8::from(event == "mark"), ..Ack::default() };
        match event {
            "loss" => {
                sender.handle_ack(now, 0, &ack.with_sack([receiver.lose()]));
            }
            "local" => sender.hear(0, true, false),
            "timeout" => {
                let before = sender.counters(0).timeouts;
                while sender.counters(0).timeouts == before {
                    now = now.max(sender.deadline(0));
                    sender.handle_timeout(now, 0);
                }
            }
            _ => {
                receiver.advance(event);
                sender.handle_ack(now, 0, &Ack { seq: receiver.una, ..ack });
            }
        }
        while sender.poll_transmit(now).is_some() {}
        let own = &sender.group()[0];
        (own.word, own.ssthresh, own.state as u8)
    };
    sequence.iter().map(play).collect()
}

/// The outcome of each sequence, and the timeouts that the wrapper has counted.
fn in_linux(sequences: &[Vec<&str>]) -> Vec<(Vec<After>, u64)> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("linux");
    let include = |folder: &str| format!("-I{}", crate_folder.join(folder).display());
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Wno-unused-function", "-Werror"])
        .args(["-DCONTROLLER_FILE=\"recorder.c\"", "-DCONTROLLER_ID=tresse_controller_recorder"])
        .args([include("../../controllers"), include("../../bpf"), include("tests/it/hosts")])
        .arg(crate_folder.join("tests/it/hosts/linux.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let lines: String = sequences.iter().map(|s| s.join(" ") + "\n").collect();
    let mut input = child.stdin.take().expect("it is a pipe");
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it does not panic").expect("it reads everything");
    String::from_utf8(output.stdout).expect("text").lines().map(outcome).collect()
}

/// Reads a line of linux.c.
fn outcome(line: &str) -> (Vec<After>, u64) {
    let (steps, timeouts) = line.rsplit_once(';').expect("steps and a number");
    let step = |step: &str| -> Option<After> {
        let mut words = step.split(' ');
        let word = u64::from_str_radix(words.next()?, 16).ok()?;
        Some((word, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let steps = steps.split(';').map(|s| step(s).expect("three numbers")).collect();
    (steps, timeouts.parse().expect("a number"))
}

/// Real hosts send a packet or two in a reduction, and the script's host none. In these sequences it matters: `edge` is
/// not yet all that was outstanding at the timeout; and the last mark is of the packet that the kernel sends before its
/// cut is complete, and which therefore belongs to that cut.
const SENT_IN_REDUCTION: [[&str; 3]; 3] =
    [["mark", "timeout", "edge"], ["loss", "timeout", "edge"], ["mark", "edge", "mark"]];

/// All single events, pairs and triples. The simulator has no undo.
#[test]
fn three_hosts_agree_on_every_sequence_of_events() {
    let scheme = recorder();
    let sequences = sequences();
    let linux = in_linux(&sequences);
    assert_eq!(linux.len(), 7 + 49 + 343);
    let mut wrong = Vec::new();
    for (sequence, (linux, timeouts)) in sequences.iter().zip(linux) {
        if SENT_IN_REDUCTION.iter().any(|differs| differs == &sequence[..]) {
            continue;
        }
        let expected = sequence.iter().filter(|event| **event == "timeout").count();
        let script = in_a_script(&scheme, sequence);
        let simulator =
            if sequence.contains(&"undo") { linux.clone() } else { in_the_simulator(&scheme, sequence) };
        if script != linux || simulator != linux || timeouts as usize != expected {
            wrong.push(format!("{sequence:?}\n  linux     {linux:x?} {timeouts}\n  script    {script:x?}\n  simulator {simulator:x?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), sequences.len(), wrong.join("\n"));
}
