//! `tresse attach`, `detach`, `status`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tresse_linux::attach::{Changed, Default};
use tresse_linux::daemon;
use tresse_workbench::Failure;
use tresse_workbench::controller::{configured, declared_in, find};

use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;

/// Load a controller into the kernel, as a TCP congestion control
///
/// The controller is the same file that the simulator runs, compiled to eBPF; the kernel is not patched.
/// It is pinned under /sys/fs/bpf/tresse, so it outlives this command; `tresse detach` removes it. Sockets
/// get it as the default of their network namespace (`--default`), by route (`ip route … congctl tr_xmp`)
/// or by setsockopt(TCP_CONGESTION). The subflows of an MPTCP connection are coupled.
///
///   tresse attach xmp                                 # known to the kernel, not yet used
///   tresse attach xmp --default                       # and the default of this network namespace
///   tresse attach xmp --param beta=6 --netns blue     # of the namespace `blue` only
///   tresse attach my.c
///
/// Attaching the same controller again only adds defaults. Needs root and Linux 6.12 or later:
/// `tresse doctor` says what is missing.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct AttachArgs {
    /// A built-in controller (`tresse list controllers`), or a C file
    controller: String,
    /// Its name in the kernel, at most 15 characters [default: tr_ and the controller's name]
    #[arg(long)]
    name: Option<String>,
    /// Set a parameter of the controller
    #[arg(long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Make it the default of this network namespace, or of those in `--netns`; the old default is remembered
    #[arg(long)]
    default: bool,
    /// Make it the default of this namespace of `ip netns` instead, with or without `--default`; may be given more
    /// than once
    #[arg(long, value_name = "NAME")]
    netns: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Remove a controller from the kernel
///
/// The defaults that `attach` changed are restored first. The command refuses while a namespace still
/// has the controller as its default and the former default is not known. Sockets that use it keep it
/// until they close. The controllers of a testbed that runs are refused too.
#[derive(Debug, clap::Args)]
pub struct DetachArgs {
    /// The controller as `attach` was given it (a name, or a C file), or its name in the kernel
    controller: String,
    /// Give CUBIC, or else Reno, to namespaces whose default it is, and take it from a testbed
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Show the attached controllers and the running daemon
///
/// For each controller: its parameters, the namespaces where it is the default, the connections
/// that it controls with their subflows, and its counters. For the daemon: the connections that it
/// manages, and its last decisions with their reasons.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// The socket on which the daemon listens [default: /run/tresse/daemon.sock, if a daemon is there]
    #[arg(long, value_name = "SOCKET")]
    daemon: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn attach(args: &AttachArgs) -> Result<(), Ended> {
    let scheme = configured(find(&args.controller)?, &args.parameters)?;
    let default = match (args.default, args.netns.is_empty()) {
        (false, true) => Default::No,
        (true, true) => Default::Here,
        (_, false) => Default::In(args.netns.clone()),
    };
    let report = tresse_linux::attach(&scheme, args.name.as_deref(), &default)?;
    if args.json {
        return print_report("tresse/attach/1", &report);
    }
    let how = if report.already_attached { "was already attached" } else { "is attached" };
    writeln!(io::stdout(), "{} {how} as {}", report.controller, report.kernel_name)?;
    for namespace in &report.default_before_in {
        writeln!(io::stdout(), "default of {namespace}: {} (it was before)", report.kernel_name)?;
    }
    print_changes(&report.default_in)
}

pub fn detach(args: &DetachArgs) -> Result<(), Ended> {
    // The names that `attach` takes, and those in the kernel.
    let name = match &args.controller {
        file if file.ends_with(".c") => declared_in(file)?,
        name => name.clone(),
    };
    let report = tresse_linux::detach(&name, args.force)?;
    if args.json {
        return print_report("tresse/detach/1", &report);
    }
    writeln!(io::stdout(), "{} ({}) is detached", report.controller, report.kernel_name)?;
    print_changes(&report.default_in)?;
    if report.sockets_left > 0 {
        writeln!(io::stdout(), "sockets that keep it until they close: {}", report.sockets_left)?;
    }
    Ok(())
}

pub fn status(args: &StatusArgs) -> Result<(), Ended> {
    let (controllers, strange) = tresse_linux::status()?;
    for error in strange {
        let _ = writeln!(io::stderr(), "warning: {error}");
    }
    let daemon = daemon::ask(args.daemon.as_deref().unwrap_or(Path::new(daemon::SOCKET)))?;
    if let (Some(socket), None) = (&args.daemon, &daemon) {
        return Err(Failure::Machine(format!("no daemon listens at {}", socket.display())).into());
    }
    if args.json {
        return print_json(&serde_json::json!({
            "schema": "tresse/status/1", "controllers": controllers, "daemon": daemon,
        }));
    }
    let mut out = io::stdout().lock();
    if controllers.is_empty() {
        writeln!(out, "nothing is attached")?;
    }
    for c in controllers {
        let parameters: Vec<_> = c.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let settings = parameters.iter().map(|p| format!(" {p}")).collect::<String>();
        writeln!(out, "{} ({}{settings})", c.kernel_name, c.controller)?;
        if !c.default_in.is_empty() {
            writeln!(out, "  default in: {}", c.default_in.join(", "))?;
        }
        let counters: Vec<_> =
            c.counters.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}")).collect();
        if !counters.is_empty() {
            writeln!(out, "  {}", counters.join(", "))?;
        }
        let mut hooks = Table::new(&["hook", "calls", "ns a call"]);
        for h in &c.hooks {
            let mean = h.run_time_ns as f64 / h.calls as f64;
            hooks.row(vec![h.name.clone(), h.calls.to_string(), format!("{mean:.0}")]);
        }
        if !c.hooks.is_empty() {
            write!(out, "{hooks}")?;
        }
        // On a host without other namespaces, all would be the same.
        let named = c.connections.iter().any(|connection| connection.namespace != "current");
        let head = ["token", "local", "remote", "cwnd", "srtt", "CE", "state"];
        let head: Vec<_> = named.then_some("namespace").into_iter().chain(head).collect();
        let mut table = Table::new(&head);
        let mut rows = 0;
        for connection in &c.connections {
            for s in &connection.subflows {
                let cells = vec![
                    connection.token.clone().unwrap_or_else(|| "TCP".to_owned()),
                    s.local.clone(),
                    s.remote.clone(),
                    format!("{} pkt", s.cwnd_pkts),
                    format!("{} us", s.srtt_us),
                    s.ce_pkts.to_string(),
                    s.state.to_owned(),
                ];
                let namespace = named.then(|| connection.namespace.clone());
                table.row(namespace.into_iter().chain(cells).collect());
                rows += 1;
            }
        }
        if rows > 0 {
            write!(out, "{table}")?;
        }
    }
    daemon.map_or(Ok(()), |daemon| super::daemon::show(&daemon, &mut out))?;
    Ok(())
}

fn print_changes(changes: &[Changed]) -> Result<(), Ended> {
    for c in changes {
        writeln!(io::stdout(), "default of {}: {} (was {})", c.namespace, c.now, c.before)?;
    }
    Ok(())
}

/// A report as JSON, with its schema first.
fn print_report(schema: &str, report: &impl serde::Serialize) -> Result<(), Ended> {
    let mut object = serde_json::Map::from_iter([("schema".to_owned(), schema.into())]);
    if let serde_json::Value::Object(fields) = serde_json::to_value(report).expect("a report is plain data") {
        object.extend(fields);
    }
    print_json(&object)
}
