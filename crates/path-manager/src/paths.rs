//! A fixed number of paths between two hosts.

use crate::{Opening, PathChoice};

/// What distinguishes the subflows of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Each has its own address pair (the old MPTCP kernel's `fullmesh`).
    Address,
    /// All have one address pair, but each has its own source port (`ndiffports`).
    Port,
}

/// `count` paths, the initial subflow's first; by address at most as many as there are address pairs.
pub(crate) fn paths(by: By, count: usize, opening: &Opening) -> Vec<PathChoice> {
    match by {
        By::Port => (0..count as u16).map(PathChoice::Port).collect(),
        By::Address => mesh(opening.locals, opening.remotes).take(count).collect(),
    }
}

/// Every pair of addresses once: first those that share no address with an earlier one, as long as there are
/// any.
///
/// Both numbers count up together. After the least common multiple of the two sizes they would repeat the
/// pairs; from there on the remote one is a step ahead.
fn mesh(locals: u16, remotes: u16) -> impl Iterator<Item = PathChoice> {
    let (locals, remotes) = (u32::from(locals), u32::from(remotes));
    let (mut gcd, mut rest) = (locals, remotes);
    while rest != 0 {
        (gcd, rest) = (rest, gcd % rest);
    }
    let lap = locals / gcd * remotes;
    (0..locals * remotes).map(move |k| PathChoice::Addresses {
        local: (k % locals) as u16,
        remote: ((k + k / lap) % remotes) as u16,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_mesh_has_every_pair_once_and_disjoint_ones_first(locals in 1u16..20, remotes in 1u16..20) {
            let mesh = mesh(locals, remotes).map(|path| match path {
                PathChoice::Addresses { local, remote } => (local, remote),
                path => panic!("{path:?} has no addresses"),
            });
            let mesh: Vec<_> = mesh.collect();
            let distinct: BTreeSet<_> = mesh.iter().collect();
            prop_assert_eq!(mesh.len(), usize::from(locals) * usize::from(remotes));
            prop_assert_eq!(distinct.len(), mesh.len());
            let disjoint = &mesh[..usize::from(locals.min(remotes))];
            let ends: (BTreeSet<_>, BTreeSet<_>) = disjoint.iter().copied().unzip();
            prop_assert_eq!((ends.0.len(), ends.1.len()), (disjoint.len(), disjoint.len()));
        }
    }
}
