//! `tresse daemon`: path managers on a live host; and what `tresse status` shows of it.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tracing::level_filters::LevelFilter;
use tresse_linux::daemon::{self, Config, Outcome, Status};
use tresse_workbench::Failure;

use crate::ended::Ended;
use crate::table::Table;

/// Manage the subflows of this host's Multipath TCP connections
///
/// The configuration says which connections get which path manager: `fixed` (n subflows on one pair
/// of addresses, for ECMP, or one for each address), `opn` (as many as the loss rate suggests, away from
/// silent paths), `path-sharing` (closes subflows that share a bottleneck). They are the same state
/// machines that the simulator runs.
///
/// It runs in the foreground as root, or with CAP_NET_ADMIN (and CAP_SYS_ADMIN for namespaces other
/// than its own). SIGHUP reloads the configuration; existing connections keep their policy. When it
/// ends, subflows stay as they are, and the kernel decides again. `tresse status` shows what it
/// does.
///
///   [[policy]]
///   name = "fabric"
///   to = ["10.0.0.0/8"]
///   manager = "fixed"
///   parameters = { subflows = 4 }
///   after = "1MB"
///
/// Examples:
///   tresse daemon --config /etc/tresse/daemon.toml --check
///   tresse daemon --config /etc/tresse/daemon.toml --dry-run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The configuration file (docs/daemon.md)
    #[arg(long, value_name = "FILE", default_value = "/etc/tresse/daemon.toml")]
    config: PathBuf,
    /// Check the configuration and exit
    #[arg(long, conflicts_with = "dry_run")]
    check: bool,
    /// Say what would be done, but do nothing
    #[arg(long)]
    dry_run: bool,
    /// What is logged: error, warn, info (every decision)
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: String,
    /// Log as lines of JSON
    #[arg(long)]
    log_json: bool,
}

/// Where `ip netns` keeps its names.
const NAMED: &str = "/run/netns";

pub fn run(args: &Args) -> Result<(), Ended> {
    let level: LevelFilter = args.log.parse().map_err(|_| {
        let log = &args.log;
        Failure::Input(format!("--log {log}: there is no such level\n\nhint: expected error, warn or info"))
    })?;
    if args.check {
        let config = Config::read(&args.config)?;
        for policy in &config.policies {
            let manager = policy.manager.as_ref().map_or("left alone", |own| own.declaration().name);
            writeln!(io::stdout(), "{}: {manager}", policy.name)?;
        }
        for name in config.namespaces.iter().flatten().filter(|name| !Path::new(NAMED).join(name).exists()) {
            eprintln!(
                "note: there is no network namespace `{name}` now: the daemon does not start without it"
            );
        }
        return Ok(());
    }
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false);
    // The journal has the time of each line itself, and no colours.
    let log = log.with_ansi(io::stderr().is_terminal());
    match args.log_json {
        true => log.json().init(),
        false if std::env::var_os("JOURNAL_STREAM").is_some() => log.without_time().init(),
        false => log.init(),
    }
    let ready = || {
        let what = if args.dry_run { "does nothing (--dry-run)" } else { "is running" };
        tracing::info!("the daemon {what}");
    };
    Ok(daemon::run(&args.config, args.dry_run, ready)?)
}

/// Writes what the daemon says about itself.
pub fn show(status: &Status, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = status.namespaces.iter().map(|own| &*own.name).collect();
    let dry = if status.dry_run { ", dry run" } else { "" };
    let counters = &status.counters;
    writeln!(out, "daemon {} in {}{dry}", status.version, names.join(", "))?;
    writeln!(
        out,
        "  {} connections managed, {} opened since it started; subflows: {} opened, {} closed, {} refused",
        status.connections.len(),
        counters.connections,
        counters.opens,
        counters.closes,
        counters.refused + counters.limited
    )?;
    let mut table = Table::new(&[
        "namespace",
        "token",
        "policy",
        "manager",
        "subflow",
        "local",
        "remote",
        "state",
        "cwnd",
        "srtt",
    ]);
    let number =
        |value: Option<u32>, unit: &str| value.map_or_else(|| "-".to_owned(), |n| format!("{n} {unit}"));
    for connection in &status.connections {
        for (i, own) in connection.subflows.iter().enumerate() {
            let rests = if own.backup && own.state == "open" { ", rests" } else { "" };
            table.row(vec![
                connection.namespace.clone(),
                connection.token.clone(),
                connection.policy.clone(),
                connection.manager.clone(),
                i.to_string(),
                own.local.clone(),
                own.remote.clone(),
                format!("{}{rests}", own.state),
                number(own.cwnd_pkts, "pkt"),
                number(own.srtt_us, "us"),
            ]);
        }
    }
    if !status.connections.is_empty() {
        write!(out, "{table}")?;
    }
    const SHOWN: usize = 20;
    let skipped = status.decisions.len().saturating_sub(SHOWN);
    for record in status.decisions.iter().skip(skipped) {
        let done = match &record.done {
            Outcome::Yes => String::new(),
            Outcome::Not => " (dry run)".to_owned(),
            Outcome::Refused(why) => format!(" (refused: {why})"),
        };
        writeln!(
            out,
            "  {:.3} s  {} {}  {}: {}{done}",
            record.at_s, record.namespace, record.token, record.what, record.because
        )?;
    }
    Ok(())
}
