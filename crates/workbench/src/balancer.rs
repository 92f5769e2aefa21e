//! A host balancer: found or loaded, checked, started.

pub mod check;
pub mod new;

use std::path::Path;

use tresse_balancers as balancers;
use tresse_balancers::Balancer;

use crate::failure::Failure;

/// A built-in balancer's name, or a file that declares one.
fn find(name: &str) -> Result<Balancer, Failure> {
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
