//! The user's own controllers and balancers that a request loads.

use std::path::PathBuf;

use crate::failure::Failure;

/// Files to compile and load.
#[derive(Debug, Clone, Default)]
pub struct OwnCode {
    /// C files of controllers.
    pub controllers: Vec<PathBuf>,
    /// C files of host balancers.
    pub balancers: Vec<PathBuf>,
}

/// The names of what was loaded.
#[derive(Debug, Default)]
pub struct Names {
    /// Of controllers.
    pub controllers: Vec<&'static str>,
    /// Of balancers.
    pub balancers: Vec<&'static str>,
}

impl OwnCode {
    /// Compiles and loads them; `tell` gets a line on each.
    ///
    /// # Errors
    /// A file that does not compile, or whose names are taken.
    pub fn load(&self, tell: &mut dyn FnMut(String)) -> Result<Names, Failure> {
        let mut names = Names::default();
        for file in &self.controllers {
            for controller in tresse_controllers::load(file)? {
                tell(format!("loaded controller {} from {}", controller.name(), file.display()));
                names.controllers.push(controller.name());
            }
        }
        for file in &self.balancers {
            for balancer in tresse_balancers::load(file)? {
                tell(format!("loaded balancer {} from {}", balancer.name(), file.display()));
                names.balancers.push(balancer.name());
            }
        }
        Ok(names)
    }
}
