//! `tresse controller new`: a controller to start from.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_workbench::controller::new::new;

use crate::ended::Ended;
use crate::output::print_json;

/// Start your own controller: writes NAME.c, which compiles and runs right away
///
/// The file is a small coupled controller with a parameter, private state, a word that its siblings
/// see, and every hook, each explained in one line. docs/controllers.md continues from there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name: lower-case letters, digits and `_`, at most 12 characters
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
        let schema = "tresse/controller-new/1";
        return print_json(&serde_json::json!({ "schema": schema, "controller": name, "file": file }));
    }
    let file = file.display();
    writeln!(
        io::stdout(),
        "wrote {file}, a working controller to start from. Next:\n\n\
         both compilers, and the kernel's verifier:\n  tresse controller check {file}\n\
         its window after each event of a script:\n  tresse controller trace {file} --script FILE\n\
         in the simulator, next to LIA:\n  \
         tresse run xmp/table1 --controller {file} --set schemes.{name}.controller={name} \\\n\
         \x20     --set schemes.{name}.subflows=2 --only scheme={name},lia --only pattern=permutation\n\
         in this machine's kernel, as tr_{name} (root):\n  tresse attach {file}"
    )?;
    Ok(())
}
