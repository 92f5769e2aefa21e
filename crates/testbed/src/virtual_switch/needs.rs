//! What virtual switches need of the machine.

use super::kind::SwitchKind;
use super::ovs;
use crate::namespace::{self, Namespace};

/// What this machine lacks for such switches; `None` if it lacks nothing.
pub(crate) fn lacks(kind: SwitchKind) -> Option<String> {
    if kind == SwitchKind::Emulated {
        return None;
    }
    for (program, package) in [("tc", "iproute2"), ("bridge", "iproute2"), ("ethtool", "ethtool")] {
        if !namespace::is_installed(program) {
            return Some(format!("{program} is not installed\n\nhint: apt-get install {package}"));
        }
    }
    if kind == SwitchKind::Ovs
        && let Some(lack) = ovs::lacks()
    {
        return Some(lack);
    }
    match Namespace::create("probe") {
        Ok(probe) => {
            let mut needed: Vec<_> =
                NEEDED.into_iter().filter(|own| kind == SwitchKind::Bridge || !own.bridge).collect();
            needed.drain(..).find_map(|own| own.lacks(&probe))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// A part of the kernel, and what fails without it.
struct Needed {
    what: &'static str,
    program: &'static str,
    command: &'static str,
    /// Only Linux's bridge needs it.
    bridge: bool,
}

/// In this order: each command uses what those before it have made.
const NEEDED: [Needed; 5] = [
    Needed {
        what: "veth interfaces (CONFIG_VETH)",
        program: "ip",
        command: "link add p0 type veth peer name p1",
        bridge: false,
    },
    Needed {
        what: "bridges (CONFIG_BRIDGE)",
        program: "ip",
        command: "link add n0 type bridge",
        bridge: true,
    },
    Needed {
        what: "the queueing discipline HTB (CONFIG_NET_SCH_HTB)",
        program: "tc",
        command: "qdisc add dev p0 root handle 1: htb default 1",
        bridge: false,
    },
    Needed {
        what: "clsact (CONFIG_NET_SCH_INGRESS)",
        program: "tc",
        command: "qdisc add dev p0 clsact",
        bridge: false,
    },
    Needed {
        what: "the filter u32 with the action mirred (CONFIG_NET_CLS_U32, CONFIG_NET_ACT_MIRRED)",
        program: "tc",
        command: "filter add dev p0 ingress protocol all u32 match u32 0 0 action mirred egress redirect dev p1",
        bridge: false,
    },
];

impl Needed {
    fn lacks(&self, probe: &Namespace) -> Option<String> {
        let error = probe.batch(self.program, &format!("{}\n", self.command)).err()?;
        Some(format!("this kernel lacks {}: {error}", self.what))
    }
}
