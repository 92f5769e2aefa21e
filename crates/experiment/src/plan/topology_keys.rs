//! Which keys of `[fabric]` size which topology.

use crate::diagnostic::{Wrong, wrong};
use crate::keys::fabric::{Fabric, Topology as Shape};

/// Refuses keys that size another topology, and those that are missing in all.
pub(crate) fn check(f: &Fabric) -> Result<(), Wrong> {
    let users = |n: &Option<u32>| (n.is_some(), "those of the thesis's networks with users");
    let keys = [
        ("k", (f.k.is_some(), "a fat tree's")),
        ("leaves", (f.leaves.is_some(), "a leaf-spine's")),
        ("spines", (f.spines.is_some(), "a leaf-spine's")),
        ("hosts_per_leaf", (f.hosts_per_leaf.is_some(), "a leaf-spine's")),
        ("virtual_hosts", (f.virtual_hosts.is_some(), "that of topology = \"virtual-hosts\"")),
        ("pairs", (f.pairs.is_some(), "a dumbbell's")),
        ("hops", (f.hops.is_some(), "a parking lot's")),
        ("file", (f.file.is_some(), "that of topology = \"file\"")),
        ("multipath_users", users(&f.multipath_users)),
        ("tcp_users", users(&f.tcp_users)),
    ];
    let (own, has): (&[&str], &str) = match f.topology {
        Shape::FatTree => (&["k"], "a fat tree has `k`"),
        Shape::LeafSpine => (
            &["leaves", "spines", "hosts_per_leaf"],
            "a leaf-spine has `leaves`, `spines` and `hosts_per_leaf`",
        ),
        Shape::VirtualHosts => (&["virtual_hosts"], "virtual hosts have a table `virtual_hosts`"),
        Shape::Dumbbell => (&["pairs"], "a dumbbell has `pairs`"),
        Shape::ParkingLot => (&["hops"], "a parking lot has `hops`"),
        Shape::Thesis32 | Shape::Thesis42 => {
            (&["multipath_users", "tcp_users"], "this network has `multipath_users` and `tcp_users`")
        }
        Shape::File => (&["file"], "this topology has a `file` that says how large it is"),
        Shape::XmpTestbedA | Shape::XmpTestbedB | Shape::XmpTorus | Shape::Thesis22a | Shape::Thesis22b => {
            (&[], "this network is as large as the paper's")
        }
    };
    match keys.iter().find(|(key, (is_said, _))| *is_said && !own.contains(key)) {
        Some((key, (_, whose))) => Err(wrong(key, format!("`{key}` is {whose}; {has}"))),
        None => Ok(()),
    }
}

/// The value of a key that its topology needs.
pub(crate) fn needed(value: Option<u32>, message: &str) -> Result<u32, Wrong> {
    value.ok_or_else(|| wrong("topology", message))
}

/// A number from 1 to `most`.
pub(crate) fn within(key: &str, value: u32, most: u32) -> Result<u32, Wrong> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    Err(wrong(key, format!("{key} = {value}: 1 to {most}")))
}
