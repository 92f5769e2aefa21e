//! What a network can carry of flows between random pairs of hosts: the reference of an offered load.

use tresse_fabric::{Direction, Tier, Topology, tiers};

/// Who may send to whom.
#[derive(Debug, Clone)]
pub struct Allowed<'a> {
    /// Hosts that send.
    pub from: &'a [u32],
    /// Hosts that receive.
    pub to: &'a [u32],
    /// Only between racks.
    pub inter_rack: bool,
}

/// The total rate that the network carries of flows between random pairs, bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// At the narrowest tier (catalogue 0.5): the core of a fat tree, the uplinks of the leaves in an
    /// oversubscribed leaf-spine.
    pub bisection: f64,
    /// At the links of the hosts that send.
    pub access: f64,
}

/// The capacity of `topology` for these pairs, all equally likely; `None` if there is no such pair.
pub fn capacity(topology: &Topology, allowed: &Allowed) -> Option<Capacity> {
    let is_in = |hosts: &[u32]| {
        let mut is_in = vec![false; topology.hosts() as usize];
        hosts.iter().for_each(|&host| is_in[host as usize] = true);
        is_in
    };
    let (sends, receives) = (is_in(allowed.from), is_in(allowed.to));
    let racks = &topology.racks;
    let tiers = tiers(topology, |from, to| {
        let (from, to) = (from as usize, to as usize);
        sends[from] && receives[to] && !(allowed.inter_rack && racks[from] == racks[to])
    });
    let narrowest =
        |tiers: &mut dyn Iterator<Item = &Tier>| tiers.map(Tier::throughput).min_by(f64::total_cmp);
    let access = |tier: &&Tier| tier.layer == topology.layer_names[0] && tier.direction == Direction::Up;
    Some(Capacity {
        bisection: narrowest(&mut tiers.iter())?,
        access: narrowest(&mut tiers.iter().filter(access))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, Source, find, load, resolve};

    /// The fabric of `xmp/table1` with another `[fabric]` in its first lines.
    fn fabric(settings: &[(&str, &str)]) -> Topology {
        let mut text = find("xmp/table1").expect("built in").text;
        // Its claims are of the fat tree's layers.
        text.truncate(text.find("[published]").expect("numbers, and claims behind them"));
        for (from, to) in settings {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        let loaded = load(Source { name: "t".into(), text }, Profile::Quick, &[]).expect("valid");
        resolve(&loaded, &["scheme=dctcp".to_owned()]).expect("valid").fabric().clone()
    }

    fn all(topology: &Topology, inter_rack: bool) -> Capacity {
        let hosts: Vec<u32> = (0..topology.hosts()).collect();
        capacity(topology, &Allowed { from: &hosts, to: &hosts, inter_rack }).expect("pairs")
    }

    #[test]
    fn a_full_bisection_is_as_wide_as_the_hosts() {
        let tree = fabric(&[("k = 8 ", "k = 4 ")]);
        // Between pods 12 of 15: the core carries a little more than the hosts send.
        assert_eq!(all(&tree, false), Capacity { bisection: 16e9, access: 16e9 });
    }

    /// OPN §Performance evaluation: 50 hosts on 20 uplinks of the same rate, 2.5 to 1.
    #[test]
    fn an_oversubscribed_leaf_is_narrow_at_its_uplinks() {
        let leaf_spine = fabric(&[
            ("topology = \"fat-tree\"", "topology = \"leaf-spine\""),
            ("k = 8 ", "leaves = 4\nspines = 20\nhosts_per_leaf = 50\n"),
            ("delay = { rack = \"20us\", aggregation = \"30us\", core = \"40us\" }", "delay = \"12.5us\""),
            ("distinct = \"core\"", ""),
        ]);
        assert_eq!(all(&leaf_spine, true), Capacity { bisection: 80e9, access: 200e9 });
        // Of any pair, 150 of 199 leave the rack.
        let any = all(&leaf_spine, false);
        assert!((any.bisection / 80e9 - 199.0 / 150.0).abs() < 1e-6, "{any:?}");
        // Only the first rack sends: its own uplinks.
        let (rack, others): (Vec<u32>, Vec<u32>) = (0..200).partition(|h| *h < 50);
        let one = capacity(&leaf_spine, &Allowed { from: &rack, to: &others, inter_rack: false });
        assert_eq!(one, Some(Capacity { bisection: 20e9, access: 50e9 }));
        assert_eq!(capacity(&leaf_spine, &Allowed { from: &[0], to: &[0], inter_rack: false }), None);
    }
}
