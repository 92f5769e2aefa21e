//! Tests that need root and a kernel that loads eBPF: skipped elsewhere, with a line that says why.

mod refused;
mod traces;
mod verifier;

use tresse_controllers::{ConfiguredController, Controller, built_in, find};

/// Whether the kernel can be used here; prints what is missing if not.
fn kernel_is_here() -> bool {
    let reno = scheme(find("reno").expect("it is built in"));
    match tresse_linux::check(&reno) {
        Ok(_) => true,
        Err(error) => {
            let first = error.to_string().lines().next().unwrap_or_default().to_owned();
            eprintln!("skipped: no eBPF here: {first} (`tresse doctor` says more)");
            false
        }
    }
}

/// The controllers that a kernel can run, each once.
fn controllers() -> Vec<Controller> {
    built_in().into_iter().filter(|c| c.attachable() && c.alias_of().is_none()).collect()
}

fn scheme(controller: Controller) -> ConfiguredController {
    ConfiguredController::new(controller, []).expect("defaults lie in their ranges")
}
