//! Mistakes in a declaration that a C compiler cannot see.

use crate::parameters::check_defaults;
use crate::raw::RawController;
use crate::registry::{Claim, Controller, Exception, Signal, all};

impl Controller {
    /// Checks the declaration for mistakes that a C compiler cannot see.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = self.name();
        if self.min_cwnd() == 0 {
            return Err(format!("{name}: .min_cwnd must be at least 1 packet"));
        }
        self.check_flags().map_err(|wrong| format!("{name}: {wrong}"))?;
        self.raw.check_hooks().map_err(|wrong| format!("{name}: {wrong}"))?;
        self.check_laws().map_err(|wrong| format!("{name}: {wrong}"))?;
        check_defaults(name, &self.parameters())
    }

    /// Refuses flags that `controller.h` does not define: they would mean nothing.
    fn check_flags(&self) -> Result<(), String> {
        let RawController { signals, exceptions, claims, .. } = *self.raw;
        for (field, flags, known) in [
            ("signals", signals, bits(&Signal::ALL)),
            ("exceptions", exceptions, bits(&Exception::ALL)),
            ("claims", claims, bits(&Claim::ALL)),
        ] {
            let unknown = flags & !known;
            if unknown != 0 {
                return Err(format!(".{field} has flags that controller.h does not define ({unknown:#x})"));
            }
        }
        Ok(())
    }

    /// Refuses a `.single` that names no controller; those of the file itself are `own`.
    pub(crate) fn check_single(&self, own: &[Controller]) -> Result<(), String> {
        let Some(single) = self.single() else { return Ok(()) };
        let mut known: Vec<&str> = all().iter().chain(own).map(Self::name).collect();
        if known.contains(&single) {
            return Ok(());
        }
        known.sort_unstable();
        known.dedup();
        let name = self.name();
        Err(format!(
            "{name}: .single names `{single}`, which is no controller (available: {})",
            known.join(", ")
        ))
    }
}

/// All bits of a table of flags.
fn bits<T>(flags: &[(u32, T)]) -> u32 {
    flags.iter().fold(0, |all, (bit, _)| all | bit)
}
