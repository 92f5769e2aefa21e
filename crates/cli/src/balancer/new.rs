//! `tresse balancer new`: a balancer to start from.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_balancers as balancers;

use crate::controller::new::{check_letters, file_in, write};
use crate::failure::Failure;
use crate::output::print_json;

/// A working balancer, with a comment at each place that its author will change.
const TEMPLATE: &str = include_str!("template.c");

/// The balancer's name in the template.
const PLACEHOLDER: &str = "NAME";

/// The longest name; this keeps lists narrow.
const LONGEST: usize = 20;

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

pub fn run(args: &Args) -> Result<(), Failure> {
    let name = &*args.name;
    check_name(name).map_err(Failure::Input)?;
    let file = file_in(&args.dir, name);
    write(&file, &TEMPLATE.replace(PLACEHOLDER, name)).map_err(Failure::Input)?;
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

/// Checks that C and the experiment files can use `name`, and that it is not taken yet.
fn check_name(name: &str) -> Result<(), String> {
    check_letters(name, "balancer")?;
    if name.len() > LONGEST {
        return Err(format!("`{name}` has {} characters: at most {LONGEST} are allowed", name.len()));
    }
    if balancers::find(name).is_some() {
        return Err(format!("there is already a balancer `{name}`; choose another name"));
    }
    Ok(())
}
