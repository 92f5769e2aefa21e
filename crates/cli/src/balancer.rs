//! `tresse balancer`.

mod check;
mod new;

use std::path::Path;

use tresse_balancers as balancers;
use tresse_balancers::Balancer;

use crate::failure::Failure;

/// Work with one host balancer
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    New(new::Args),
    Check(check::Args),
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::New(args) => new::run(&args),
        Command::Check(args) => check::run(&args),
    }
}

/// A built-in balancer's name, or a file that declares one.
fn balancer(name: &str) -> Result<Balancer, Failure> {
    if let Some(b) = balancers::find(name) {
        return Ok(b);
    }
    if !name.ends_with(".c") {
        let known: Vec<_> = balancers::built_in().iter().map(Balancer::name).collect();
        return Err(Failure::Input(format!(
            "there is no balancer `{name}`{} (available: {}, or a C file)",
            tresse_experiment::did_you_mean(name, known.iter().copied()),
            known.join(", ")
        )));
    }
    match balancers::declared_in(Path::new(name))?.as_slice() {
        [_] => Ok(balancers::load(Path::new(name))?[0]),
        several => {
            Err(Failure::Input(format!("{name} declares {}: expected exactly one", several.join(" and "))))
        }
    }
}
