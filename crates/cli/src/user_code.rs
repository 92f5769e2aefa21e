//! The user's own controllers and balancers that a command loads.

use std::path::PathBuf;

use tresse_workbench::own_code::OwnCode;

/// Files to compile and load.
#[derive(Debug, clap::Args)]
pub struct UserCode {
    /// Compile and load your own controller; its name can then be set as a scheme's controller. It is native
    /// code and runs with your rights: run only what you trust. May be given more than once
    #[arg(long, value_name = "FILE.c")]
    controller: Vec<PathBuf>,
    /// Compile and load your own host balancer, as --controller does for a controller. May be given more than once
    #[arg(long, value_name = "FILE.c")]
    balancer: Vec<PathBuf>,
}

impl UserCode {
    pub fn code(self) -> OwnCode {
        OwnCode { controllers: self.controller, balancers: self.balancer }
    }
}
