//! The user's own controllers and balancers that a command loads.

use std::path::PathBuf;

use crate::failure::Failure;

/// Files to compile and load.
#[derive(Debug, clap::Args)]
pub struct Own {
    /// Compile and load your own controller; its name can then be set as a scheme's controller. It is native
    /// code and runs with your rights: run only what you trust. May be given more than once
    #[arg(long, value_name = "FILE.c")]
    controller: Vec<PathBuf>,
    /// Compile and load your own host balancer, as --controller does for a controller. May be given more than once
    #[arg(long, value_name = "FILE.c")]
    balancer: Vec<PathBuf>,
}

/// The names of what was loaded.
#[derive(Debug, Default)]
pub struct Names {
    pub controllers: Vec<&'static str>,
    pub balancers: Vec<&'static str>,
}

impl Own {
    /// Compiles and loads them; `tell` gets a line on each.
    ///
    /// # Errors
    /// A file that does not compile, or whose names are taken.
    pub fn load(&self, tell: &mut dyn FnMut(String)) -> Result<Names, Failure> {
        let mut names = Names::default();
        for file in &self.controller {
            for controller in tresse_controllers::load(file)? {
                tell(format!("loaded controller {} from {}", controller.name(), file.display()));
                names.controllers.push(controller.name());
            }
        }
        for file in &self.balancer {
            for balancer in tresse_balancers::load(file)? {
                tell(format!("loaded balancer {} from {}", balancer.name(), file.display()));
                names.balancers.push(balancer.name());
            }
        }
        Ok(names)
    }
}
