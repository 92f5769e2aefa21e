//! What is between the hosts of a testbed, by name.

use std::fmt;
use std::str::FromStr;

/// What moves packets between hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SwitchKind {
    /// The simulator's fabric under the wall clock.
    #[default]
    Emulated,
    /// Linux's bridge.
    Bridge,
    /// Open vSwitch.
    Ovs,
}

impl SwitchKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Emulated, Self::Bridge, Self::Ovs];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Emulated => "emulated",
            Self::Bridge => "bridge",
            Self::Ovs => "ovs",
        }
    }
}

impl fmt::Display for SwitchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SwitchKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| "expected `emulated`, `bridge` or `ovs`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_its_name() {
        for kind in SwitchKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("vpp".parse::<SwitchKind>().is_err());
    }
}
