//! The eBPF build of a controller, by `tresse-linux`.

use tresse_controllers::ConfiguredController;
use tresse_controllers::trace::{Script, Step};
use tresse_linux::trace::Player;

use crate::failure::Failure;

pub use tresse_linux::Program;

/// Submits it to the kernel's verifier.
///
/// # Errors
/// [`Failure::Machine`] if this machine cannot do that, another one if the verifier or the compiler refuses it.
pub fn verify(scheme: &ConfiguredController) -> Result<Vec<Program>, Failure> {
    Ok(tresse_linux::check(scheme)?)
}

/// Plays a script with it.
///
/// # Errors
/// [`Failure::Machine`] if this machine cannot do that, another one if the compiler refuses the controller.
pub fn play(
    scheme: &ConfiguredController,
    script: &Script,
    initial_window: u32,
) -> Result<Vec<Step>, Failure> {
    Ok(Player::new(scheme)?.play(script, initial_window))
}

impl From<tresse_linux::Error> for Failure {
    fn from(error: tresse_linux::Error) -> Self {
        match error {
            tresse_linux::Error::Input(message) => Self::Input(message),
            tresse_linux::Error::Machine(message) => Self::Machine(message),
        }
    }
}
