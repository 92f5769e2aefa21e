//! `tresse view`: the runs in a folder, in a browser.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_report::view::serve;
use tresse_workbench::{Failure, page};

use crate::ended::Ended;
use crate::interrupt;

/// Show the runs in a folder in a browser, including those in progress
///
/// Prints the address to open. It works on this machine only, and contains a random word that keeps others
/// out. The list and the pages of runs in progress are kept up to date. The viewer starts nothing and
/// changes nothing; end it with Ctrl-C. From another machine, use `ssh -L PORT:127.0.0.1:PORT` and the
/// same address.
///
/// Examples:
///   tresse view
///   tresse view runs/reproduction --port 8080
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder; runs may be in subfolders
    #[arg(default_value = "runs")]
    dir: PathBuf,
    /// The TCP port to listen on; 0 picks a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    interrupt::catch()?;
    if !args.dir.is_dir() {
        let message =
            format!("{}: there is no such folder\n\nhint: expected a folder of runs", args.dir.display());
        return Err(Failure::Input(message).into());
    }
    let viewer = page::viewer(&args.dir, args.port).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let hint = "another program uses this port; without --port a free one is chosen";
            Failure::Input(format!("--port {}: {error}\n\nhint: {hint}", args.port))
        }
        _ => Failure::Machine(format!("--port {}: {error}", args.port)),
    })?;
    println!("{}", viewer.address);
    io::stdout().flush()?;
    eprintln!("serving the runs in {} until Ctrl-C", args.dir.display());
    serve(viewer)
}
