//! The topologies that `[fabric]` describes: a fat tree, a leaf-spine, virtual hosts.

use tresse_fabric::{
    FatTree, FatTreeConfig, LeafSpine, LeafSpineError, NonEct as PortNonEct, Probability, Threshold,
    Topology, VirtualHosts, VirtualHostsConfig, VirtualHostsError,
};

use crate::changes::ChangeKey;
use crate::experiment::{Fabric, Layered, NonEct};
use crate::network::{Wrong, wrong};
use crate::resolve::LONGEST;
use crate::single_links::{RATES, nodes};
use crate::units::{Duration, Rate};

pub(crate) fn fat_tree(f: &Fabric) -> Result<FatTree, Wrong> {
    let of_others = [("leaves", f.leaves), ("spines", f.spines), ("hosts_per_leaf", f.hosts_per_leaf)];
    foreign(&of_others, "a leaf-spine's; a fat tree has `k`")?;
    let layers = Layers::new(f, ["rack", "aggregation", "core"])?;
    FatTree::new(FatTreeConfig {
        k: needed(f.k, "a fat tree needs `k`, the ports of a switch, such as k = 8")?,
        rate: layers.rate,
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: (f.host_queue.threshold(), f.host_mark.threshold()),
        non_ect: non_ect(f.non_ect),
        loss: layers.loss,
    })
    .map_err(|e| wrong("k", e.to_string()))
}

pub(crate) fn leaf_spine(f: &Fabric) -> Result<Topology, Wrong> {
    foreign(&[("k", f.k)], "a fat tree's; a leaf-spine has `leaves`, `spines` and `hosts_per_leaf`")?;
    let layers = Layers::new(f, ["rack", "spine"])?;
    let config = LeafSpine {
        leaves: needed(f.leaves, "a leaf-spine needs `leaves`, such as leaves = 4")?,
        spines: needed(f.spines, "a leaf-spine needs `spines`, such as spines = 4")?,
        hosts_per_leaf: needed(f.hosts_per_leaf, "a leaf-spine needs `hosts_per_leaf`")?,
        rate: layers.rate,
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: (f.host_queue.threshold(), f.host_mark.threshold()),
        non_ect: non_ect(f.non_ect),
        loss: layers.loss,
    };
    config.topology().map_err(|e| match e {
        LeafSpineError::None(key @ ("leaves" | "spines")) => wrong(key, e.to_string()),
        LeafSpineError::None(_) => wrong("hosts_per_leaf", e.to_string()),
        LeafSpineError::Ports { .. } => wrong("leaves", e.to_string()),
    })
}

pub(crate) fn virtual_hosts(f: &Fabric, changes: &[ChangeKey]) -> Result<VirtualHosts, Wrong> {
    let keys = [("k", f.k), ("leaves", f.leaves), ("spines", f.spines), ("hosts_per_leaf", f.hosts_per_leaf)];
    foreign(&keys, "another topology's; virtual hosts have a table `virtual_hosts`")?;
    let Some(v) = &f.virtual_hosts else {
        let example = "virtual_hosts = { hosts = 10, nics = 2, machines = 12, virtual_nics = 2, mapping = \
                       \"disjoint\" }";
        return Err(wrong("topology", format!("virtual hosts need a table such as {example}")));
    };
    let at =
        |key: &str, message: String| (["fabric", "virtual_hosts", key].map(str::to_owned).to_vec(), message);
    if let Some(rate) = v.receive.filter(|r| !RATES.contains(&r.0)) {
        return Err(at("receive", format!("{rate}: a link has 1kbps to 100Tbps")));
    }
    let layers = Layers::new(f, ["vnic", "nic", "trunk"])?;
    let config = VirtualHostsConfig {
        hosts: v.hosts,
        nics: v.nics,
        machines: v.machines,
        virtual_nics: v.virtual_nics,
        mapping: v.mapping.of(v.hosts),
        rate: layers.rate,
        receive: v.receive.map(|r| r.0),
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: (f.host_queue.threshold(), f.host_mark.threshold()),
        non_ect: non_ect(f.non_ect),
        loss: layers.loss,
        spare: Vec::new(),
    };
    let hosts = VirtualHosts::new(config.clone()).map_err(|e| match e {
        VirtualHostsError::Mappings(..) => at("mapping", e.to_string()),
        _ => wrong("virtual_hosts", e.to_string()),
    })?;
    let spare = spare(f, &hosts, changes)?;
    VirtualHosts::new(VirtualHostsConfig { spare, ..config })
        .map_err(|e| wrong("virtual_hosts", e.to_string()))
}

/// The links that `changes` need: numbers of virtual NICs and of bridges.
fn spare(f: &Fabric, hosts: &VirtualHosts, changes: &[ChangeKey]) -> Result<Vec<[u32; 2]>, Wrong> {
    let topology = hosts.topology();
    let virtual_nics = topology.network.hosts;
    let mut spare = Vec::new();
    for (i, names) in (0..).zip(changes).filter_map(|(i, c)| Some((i, c.remap.as_ref()?))) {
        let wrong = |message: String| {
            let path = ["changes", &usize::to_string(&i), "remap"].map(str::to_owned);
            (path.to_vec(), message)
        };
        let nodes = nodes(&topology, names).map_err(wrong)?;
        let bridge = nodes[1].checked_sub(virtual_nics).filter(|_| names[1].starts_with("bridge "));
        let (Some(bridge), true) = (bridge, nodes[0] < virtual_nics) else {
            return Err(wrong("a virtual NIC and a bridge, such as [\"vnic 0.3.1\", \"bridge 0.1\"]".into()));
        };
        if f.links.iter().any(|link| link.failed && link.ends.contains(&names[0])) {
            let message = format!("`[[fabric.links]]` says that a link of {} is not there", names[0]);
            return Err(wrong(message + ": it has all its links, or it is not remapped"));
        }
        let link = [nodes[0], bridge];
        if hosts.bridge(nodes[0]) != bridge && !spare.contains(&link) {
            spare.push(link);
        }
    }
    Ok(spare)
}

fn foreign(keys: &[(&str, Option<u32>)], whose: &str) -> Result<(), Wrong> {
    match keys.iter().find(|(_, value)| value.is_some()) {
        Some((key, _)) => Err(wrong(key, format!("`{key}` is {whose}"))),
        None => Ok(()),
    }
}

fn needed(value: Option<u32>, message: &str) -> Result<u32, Wrong> {
    value.ok_or_else(|| wrong("topology", message))
}

fn non_ect(non_ect: NonEct) -> PortNonEct {
    match non_ect {
        NonEct::Queue => PortNonEct::Queue,
        NonEct::Drop => PortNonEct::Drop,
    }
}

/// What the links of each layer are made of.
struct Layers<const N: usize> {
    rate: [u64; N],
    delay: [u64; N],
    limit: [Threshold; N],
    mark: [Threshold; N],
    loss: [Probability; N],
}

impl<const N: usize> Layers<N> {
    fn new(f: &Fabric, names: [&str; N]) -> Result<Self, Wrong> {
        let rate: [Rate; N] = of_layers("rate", &f.rate, names)?;
        for (rate, layer) in rate.iter().zip(names) {
            if !RATES.contains(&rate.0) {
                let message = format!("{rate} in the {layer} layer: a link has 1kbps to 100Tbps");
                return Err(wrong("rate", message));
            }
        }
        let delay: [Duration; N] = of_layers("delay", &f.delay, names)?;
        if let Some(delay) = delay.iter().find(|d| d.0 > LONGEST) {
            return Err(wrong("delay", format!("{delay}: a link has at most 1000s of delay")));
        }
        let loss: [crate::units::Probability; N] = of_layers("loss", &f.loss, names)?;
        for (loss, layer) in loss.iter().zip(names) {
            if loss.to_port() == Probability::ONE {
                let message = format!("{loss} in the {layer} layer: no flow would ever finish");
                return Err(wrong("loss", message));
            }
        }
        Ok(Self {
            rate: rate.map(|r| r.0),
            delay: delay.map(|d| d.0),
            limit: of_layers("queue", &f.queue, names)?.map(|q| q.threshold()),
            mark: of_layers("mark", &f.mark, names)?.map(|q| q.threshold()),
            loss: loss.map(|p| p.to_port()),
        })
    }
}

fn of_layers<T: Copy, const N: usize>(key: &str, v: &Layered<T>, names: [&str; N]) -> Result<[T; N], Wrong> {
    let values = v.layers(&names).map_err(|e| wrong(key, e))?;
    Ok(std::array::from_fn(|layer| values[layer]))
}
