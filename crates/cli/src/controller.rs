//! `tresse controller`.

pub mod check;
pub mod new;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tresse_controllers as controllers;
use tresse_controllers::apart::End;
use tresse_controllers::trace::{Script, Step, play_apart};
use tresse_controllers::{ConfiguredController, Controller};
use tresse_units::input_file::{self, MOST_WRITTEN};
use tresse_units::text_file;

use crate::ebpf;
use crate::failure::Failure;
use crate::output::print_json;

/// Work with one controller
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    New(new::Args),
    Check(check::Args),
    Trace(TraceArgs),
}

/// Play a script of ACKs, marks and losses, and print the window after each event
///
/// A script has one event per line:
///
///   subflows N                                        first, if there is more than one
///   ack PKTS [marked=PKTS] [rtt=20us] [limited=no] [subflow=0]
///                                                     limited=no: the application was the limit, so
///                                                     the window does not grow
///   loss [subflow=0]
///   timeout [subflow=0]
///   undo [subflow=0]                                  the packets were not lost after all
///   local [subflow=0]                                 a drop in the host's own queue
///   wait 10ms [subflow=0]                             nothing happens
///   window PKTS [ssthresh=PKTS] [subflow=0]           set from outside; ends a reduction, and the
///                                                     next ACK begins a round
///   next_hop 0|1 [subflow=0]                          whether it signals congestion, from now on
///   # a comment
///
/// A controller with the hook `report` has these events instead:
///
///   path [base=12us] [rate=100Gbps] [subflow=0]       base RTT and line rate, from now on
///   report [delivered=PKTS] [marked=PKTS] [trimmed=PKTS] [lost=PKTS] [rtt=15us] [after=1us]
///          [limited=no] [last_hop=yes] [subflow=0]    after=1us: this long after the previous report
///   hop [sent=1500B] [at=10us] [queue=3kB] [rate=100Gbps] [subflow=0]
///                                                     a hop of the packet that the next report is
///                                                     about, as its port reports it by its own clock
///
/// A round is a window of ACKed packets; an ACK of n packets takes n/cwnd of the RTT. `tresse
/// controller check` prints such scripts. The output has one line per event: its name (`mark` for an
/// ACK whose mark cut the window), subflow, cwnd, ssthresh (`-` before there is one), and state. For a
/// controller with `report` the pace follows, in bytes/us (`-` if there is none).
///
/// A mark cuts the window of every controller, also of one without SIGNAL_ECN, which gets no marks in a
/// run.
///
/// A C file is compiled to native code that runs with your rights: run only what you trust.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct TraceArgs {
    /// A built-in controller (`tresse list controllers`), or a C file
    controller: String,
    /// The script, `-` for stdin
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// Set a parameter of the controller
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// The initial window of every subflow, packets
    #[arg(
        long,
        default_value_t = 10,
        value_parser = initial_window,
    )]
    initial_window: u32,
    /// Which build of the controller to use: the simulator's, or the kernel's
    #[arg(long, value_enum, default_value = "native")]
    host: Host,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Host {
    Native,
    Bpf,
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Trace(args) => trace(&args),
    }
}

fn trace(args: &TraceArgs) -> Result<(), Failure> {
    let controller = controller(&args.controller)?;
    let scheme = ConfiguredController::new(controller, settings(&args.parameters)?)
        .map_err(|e| Failure::Input(e.to_string()))?;
    let name = args.script.display();
    let text = read(&args.script).map_err(|e| Failure::Input(format!("{name}: cannot be read: {e}")))?;
    let script = Script::parse(&text)
        .map_err(|e| Failure::Input(format!("{name}:{}: {}\n  |\n  | {}", e.line, e.message, e.text)))?;
    script.suits(controller).map_err(|e| Failure::Input(format!("{name}: {e}")))?;
    let steps = match args.host {
        Host::Native => play_apart(Arc::new(scheme), &script, args.initial_window)
            .map_err(|e| Failure::Machine(format!("cannot start a process for the controller: {e}")))?
            .map_err(|end| ended(end, controller))?,
        Host::Bpf => ebpf::play(&scheme, &script, args.initial_window)?,
    };
    if args.json {
        return print_json(&steps.iter().map(|step| json(step, controller)).collect::<Vec<_>>());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for s in &steps {
        let ssthresh = ssthresh(s).map_or_else(|| "-".to_owned(), |v| v.to_string());
        write!(out, "{} {} {} {ssthresh} {}", s.event, s.subflow, s.cwnd, s.state.name())?;
        match s.pace {
            _ if !controller.reports() => writeln!(out)?,
            0 => writeln!(out, " -")?,
            pace => writeln!(out, " {pace}")?,
        }
    }
    out.flush()?;
    Ok(())
}

/// A window of the contract.
fn initial_window(text: &str) -> Result<u32, String> {
    let most = controllers::CWND_LIMIT - 1;
    let packets = text.parse().ok().filter(|packets| (1..=most).contains(packets));
    packets.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}

/// The error if a hook of `controller` ended the process that it ran in.
pub fn ended(end: End, controller: Controller) -> Failure {
    Failure::Input(match end.told(&[controller]) {
        Some(told) => format!("{told}\n\nhint: tresse controller check {}", told.file.display()),
        None => format!("controller {}: {end}", controller.name()),
    })
}

/// A built-in controller's name, or a file that declares one.
pub fn controller(name: &str) -> Result<Controller, Failure> {
    if let Some(c) = controllers::find(name) {
        return Ok(c);
    }
    if !name.ends_with(".c") {
        let known: Vec<_> = controllers::built_in().iter().map(Controller::name).collect();
        return Err(Failure::Input(format!(
            "there is no controller `{name}`{} (available: {}, or a C file)",
            tresse_experiment::did_you_mean(name, known.iter().copied()),
            known.join(", ")
        )));
    }
    let only = declared_in(name)?;
    controllers::load(Path::new(name))?;
    Ok(controllers::find(&only).expect("it is loaded"))
}

/// The name of the one controller that `file` declares.
pub fn declared_in(file: &str) -> Result<String, Failure> {
    match controllers::declared_in(Path::new(file))?.as_slice() {
        [name] => Ok(name.clone()),
        several => {
            Err(Failure::Input(format!("{file} declares {}: expected exactly one", several.join(" and "))))
        }
    }
}

pub fn settings(texts: &[String]) -> Result<Vec<(&str, u64)>, Failure> {
    texts
        .iter()
        .map(|text| {
            text.split_once('=').and_then(|(k, v)| Some((k.trim(), v.trim().parse().ok()?))).ok_or_else(
                || Failure::Input(format!("--param {text}: expected NAME=VALUE with a whole number")),
            )
        })
        .collect()
}

fn read(path: &Path) -> io::Result<String> {
    if path == Path::new("-") {
        return input_file::read_stdin(MOST_WRITTEN).and_then(text_file::text);
    }
    text_file::read_written(path)
}

fn ssthresh(step: &Step) -> Option<u32> {
    (step.ssthresh != controllers::INFINITE_SSTHRESH).then_some(step.ssthresh)
}

fn json(step: &Step, controller: Controller) -> serde_json::Value {
    let mut json = serde_json::json!({
        "event": step.event, "subflow": step.subflow, "cwnd": step.cwnd, "ssthresh": ssthresh(step),
        "state": step.state.name(),
    });
    if controller.reports() {
        json["pace_bytes_per_us"] = (step.pace > 0).then_some(step.pace).into();
    }
    json
}
