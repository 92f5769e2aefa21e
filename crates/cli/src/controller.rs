//! `tresse controller`.

mod check;
mod new;

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_controllers::CWND_LIMIT;
use tresse_workbench::controller::{self, TraceRequest, ssthresh};

use crate::ended::Ended;
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

impl From<Host> for controller::Host {
    fn from(host: Host) -> Self {
        match host {
            Host::Native => Self::Native,
            Host::Bpf => Self::Bpf,
        }
    }
}

pub fn run(command: Command) -> Result<(), Ended> {
    match command {
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Trace(args) => trace(args),
    }
}

fn trace(args: TraceArgs) -> Result<(), Ended> {
    let trace = controller::trace(&TraceRequest {
        controller: args.controller,
        parameters: args.parameters,
        script: args.script,
        initial_window: args.initial_window,
        host: args.host.into(),
    })?;
    if args.json {
        return print_json(&trace.json());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for s in &trace.steps {
        let ssthresh = ssthresh(s).map_or_else(|| "-".to_owned(), |v| v.to_string());
        write!(out, "{} {} {} {ssthresh} {}", s.event, s.subflow, s.cwnd, s.state.name())?;
        match s.pace {
            _ if !trace.controller.reports() => writeln!(out)?,
            0 => writeln!(out, " -")?,
            pace => writeln!(out, " {pace}")?,
        }
    }
    out.flush()?;
    Ok(())
}

/// A window of the contract.
fn initial_window(text: &str) -> Result<u32, String> {
    let most = CWND_LIMIT - 1;
    let packets = text.parse().ok().filter(|packets| (1..=most).contains(packets));
    packets.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}
