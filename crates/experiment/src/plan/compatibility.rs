//! Which parts of an experiment cannot be combined, and why. Every other combination runs.

use tresse_fabric::balancers::{Declaration, Follows};
use tresse_path_manager::{By, Config};

/// The parts that an experiment combines, as far as one part can rule out another.
#[derive(Debug, Clone, Copy)]
pub struct Combination<'a> {
    /// What the switches do.
    pub routing: &'static Declaration,
    /// Ports flag congestion, and report it to the nodes before them.
    pub flags: bool,
    /// Addresses of a host, each with its own link; at least 1.
    pub addresses: u32,
    /// Pairs of addresses of two hosts, including aliases; at least 1.
    pub address_pairs: u32,
    /// Hosts change the hashes of congested flows.
    pub plb: bool,
    /// Packets of the scheme are ECN-capable.
    pub ecn: bool,
    /// The scheme's controller needs signals from the next hop.
    pub next_hop: bool,
    /// The scheme's path manager, with the values of its parameters.
    pub manager: &'a Config,
}

/// A pair of parts that cannot be combined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatible {
    /// The part to change.
    pub part: Culprit,
    /// Why, and what would work.
    pub reason: String,
}

/// Where a part is in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Culprit {
    /// `plb` of the scheme's transport, or in `[transport]`.
    Plb,
    /// `ecn` of a scheme.
    Ecn,
    /// `controller` of a scheme.
    Controller,
    /// `path_manager` of a scheme.
    PathManager,
    /// `subflows` of a scheme.
    Subflows,
}

/// Checks that the parts can be combined.
///
/// # Errors
/// The first pair that cannot.
pub fn check(parts: &Combination) -> Result<(), Incompatible> {
    match incompatible(parts) {
        Some((part, reason)) => Err(Incompatible { part, reason }),
        None => Ok(()),
    }
}

fn incompatible(parts: &Combination) -> Option<(Culprit, String)> {
    hosts(parts).or_else(|| links(parts)).or_else(|| match parts.manager {
        Config::Fixed(fixed) => subflows(parts, fixed.by, fixed.subflows),
        Config::Mmptcp(_) => mmptcp(parts),
        Config::Opn(opn) if opn.shifting.is_some() => shifting(parts),
        Config::Opn(_) => None,
        Config::PathSharing(sharing) => {
            path_sharing(parts, sharing.subflows).or_else(|| subflows(parts, sharing.by, sharing.subflows))
        }
    })
}

fn hosts(parts: &Combination) -> Option<(Culprit, String)> {
    if parts.next_hop && !parts.flags {
        let reason = "the controller needs signals from the next hop, but no port of this fabric flags \
            congestion; HOLNET's load balancers do, such as routing = \"holnet-percentage\"";
        return Some((Culprit::Controller, reason.to_owned()));
    }
    if !parts.plb {
        return None;
    }
    if parts.routing.follows != Follows::Hash {
        let reason =
            format!("PLB changes a flow's hash, but {}: use routing = \"ecmp\"", instead_of_hash(parts));
        return Some((Culprit::Plb, reason));
    }
    let reason = "PLB counts marks, but packets that are not ECN-capable get none: set ecn = true, or \
                  transport = { plb = \"off\" } in the scheme";
    (!parts.ecn).then(|| (Culprit::Ecn, reason.to_owned()))
}

/// What the switches base their choice on.
fn instead_of_hash(parts: &Combination) -> String {
    let looks_at = match parts.routing.follows {
        Follows::Address => "looks at addresses only",
        Follows::Route => "fixes the route of each subflow",
        Follows::Packet => "chooses for each packet anew",
        Follows::Flags => "follows congestion",
        Follows::Hash | Follows::Host => "follows hashes",
    };
    format!("{} {looks_at}", parts.routing.name)
}

/// If nodes decide, a source port uses the first addresses, and so only one link of a host that has several.
fn links(parts: &Combination) -> Option<(Culprit, String)> {
    let fixed = matches!(parts.routing.follows, Follows::Address | Follows::Route);
    let by_port = match parts.manager {
        Config::Fixed(fixed) => fixed.by == By::Port && fixed.subflows > 1,
        Config::PathSharing(sharing) => sharing.by == By::Port && sharing.subflows > 1,
        Config::Mmptcp(_) | Config::Opn(_) => true,
    };
    (by_port && !fixed && parts.addresses > 1).then(|| {
        let reason = format!(
            "subflows that differ by port all use the first of a machine's {} virtual NICs: \
             {{ name = \"fixed\", by = \"address\" }}, or routing = \"shortest\", where a port chooses among all paths",
            parts.addresses
        );
        (Culprit::PathManager, reason)
    })
}

fn mmptcp(parts: &Combination) -> Option<(Culprit, String)> {
    (parts.routing.follows != Follows::Hash).then(|| {
        let reason = format!(
            "mmptcp first sprays with a new hash for each packet and then keeps one hash for each subflow, but {}: \
             use routing = \"ecmp\"",
            instead_of_hash(parts)
        );
        (Culprit::PathManager, reason)
    })
}

/// Packets of a subflow stay on one path.
fn has_paths(parts: &Combination) -> bool {
    matches!(parts.routing.follows, Follows::Address | Follows::Route | Follows::Hash)
}

fn shifting(parts: &Combination) -> Option<(Culprit, String)> {
    (!has_paths(parts)).then(|| {
        let reason = format!(
            "traffic shifting leaves the paths of silent subflows, but {}, so no subflow has its own path: use \
             opn-tuning, or routing = \"ecmp\"",
            instead_of_hash(parts)
        );
        (Culprit::PathManager, reason)
    })
}

fn path_sharing(parts: &Combination, subflows: usize) -> Option<(Culprit, String)> {
    if subflows < 2 {
        let reason = "path-sharing compares subflows, but there is only one: use at least 2";
        return Some((Culprit::Subflows, reason.to_owned()));
    }
    if !parts.ecn {
        let reason = "path-sharing compares how many marks subflows get, but packets that are not \
        ECN-capable get none: set ecn = true";
        return Some((Culprit::Ecn, reason.to_owned()));
    }
    (!has_paths(parts)).then(|| {
        let reason = format!(
            "path-sharing looks for subflows on one path, but {}, so all share all paths: use routing = \"ecmp\"",
            instead_of_hash(parts)
        );
        (Culprit::PathManager, reason)
    })
}

fn subflows(parts: &Combination, by: By, subflows: usize) -> Option<(Culprit, String)> {
    match by {
        By::Port if subflows > 1 && parts.routing.follows == Follows::Address => {
            let reason = "subflows that differ by port take one path if switches look at addresses only, as with \
                          two-level: use by = \"address\", or routing = \"ecmp\"";
            Some((Culprit::PathManager, reason.to_owned()))
        }
        By::Address if subflows > parts.address_pairs as usize => {
            let pairs = parts.address_pairs;
            let reason = format!(
                "{subflows} subflows by address, but two hosts have {pairs} address pairs: use subflows = {pairs}"
            );
            Some((Culprit::Subflows, reason))
        }
        _ => None,
    }
}
