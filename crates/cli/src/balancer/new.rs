//! `tresse balancer new`: a balancer to start from.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_workbench::balancer::new::new;

use crate::ended::Ended;
use crate::output::print_json;

/// Start your own balancer: writes NAME.c, which compiles and works right away
///
/// The file is a small balancer with a parameter, memory for the connection and for each path, and every
/// hook, each explained in one line. docs/balancers.md continues from there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name: lower-case letters, digits and `_`, at most 20 characters
    name: String,
    /// The folder for the file
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let name = &*args.name;
    let file = new(name, &args.dir)?;
    if args.json {
        let schema = "tresse/balancer-new/1";
        return print_json(&serde_json::json!({ "schema": schema, "balancer": name, "file": file }));
    }
    let file = file.display();
    writeln!(
        io::stdout(),
        "wrote {file}, a working balancer to start from. Next:\n\n\
         the compiler, and the contract:\n  tresse balancer check {file}\n\
         your own experiment; SCHEME is one of its sprayed schemes:\n  \
         tresse run EXPERIMENT --balancer {file} --set schemes.SCHEME.balancer={name}"
    )?;
    Ok(())
}
