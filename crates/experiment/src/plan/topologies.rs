//! The topologies that `[fabric]` describes: a fat tree, a leaf-spine, virtual hosts, and those of the papers' small
//! experiments, and users' own.

use tresse_fabric::{
    FatTree, FatTreeConfig, Graph, LeafSpine, LeafSpineError, LinkConfig, Links, Probability, Threshold,
    Topology, VirtualHosts, VirtualHostsConfig, VirtualHostsError,
};
use tresse_units::{Duration, Rate};

use crate::diagnostic::{Wrong, wrong};
use crate::keys::bounds::{LONGEST, RATES};
use crate::keys::fabric::{Fabric, Layered, Topology as Shape};
use crate::keys::link_events::ChangeKey;
use crate::plan::single_links::nodes;
use crate::plan::topology_keys::{needed, within};

pub(crate) fn fat_tree(f: &Fabric) -> Result<FatTree, Wrong> {
    let layers = Layers::new(f, ["rack", "aggregation", "core"])?;
    FatTree::new(FatTreeConfig {
        k: needed(f.k, "a fat tree needs `k`, the ports of a switch, such as k = 8")?,
        rate: layers.rate,
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: (f.host_queue.into(), f.host_mark.into()),
        non_ect: f.non_ect.into(),
        loss: layers.loss,
    })
    .map_err(|e| wrong("k", e.to_string()))
}

pub(crate) fn leaf_spine(f: &Fabric) -> Result<Topology, Wrong> {
    let layers = Layers::new(f, ["rack", "spine"])?;
    let config = LeafSpine {
        leaves: needed(f.leaves, "a leaf-spine needs `leaves`, such as leaves = 4")?,
        spines: needed(f.spines, "a leaf-spine needs `spines`, such as spines = 4")?,
        hosts_per_leaf: needed(f.hosts_per_leaf, "a leaf-spine needs `hosts_per_leaf`")?,
        rate: layers.rate,
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: (f.host_queue.into(), f.host_mark.into()),
        non_ect: f.non_ect.into(),
        loss: layers.loss,
    };
    config.topology().map_err(|e| match e {
        LeafSpineError::None(key @ ("leaves" | "spines")) => wrong(key, e.to_string()),
        LeafSpineError::None(_) => wrong("hosts_per_leaf", e.to_string()),
        LeafSpineError::Ports { .. } => wrong("leaves", e.to_string()),
    })
}

pub(crate) fn virtual_hosts(f: &Fabric, changes: &[ChangeKey]) -> Result<VirtualHosts, Wrong> {
    let Some(v) = &f.virtual_hosts else {
        let example = "virtual_hosts = { hosts = 10, nics = 2, machines = 12, virtual_nics = 2, mapping = \
                       \"disjoint\" }";
        return Err(wrong("topology", format!("virtual hosts need a table such as {example}")));
    };
    let at = |key: &str, message: String| Wrong::new(["fabric", "virtual_hosts", key], message);
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
        host: (f.host_queue.into(), f.host_mark.into()),
        non_ect: f.non_ect.into(),
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
        let wrong = |message: String| Wrong::new(["changes", &usize::to_string(&i), "remap"], message);
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

/// The topologies that are drawn link by link: those of the papers' small experiments, and that of a file.
pub(crate) fn drawn(f: &Fabric) -> Result<Graph, Wrong> {
    if let Some(graph) = &f.graph {
        return Ok(Graph::clone(graph));
    }
    let users = |key, users: Option<u32>| within(key, users.unwrap_or(1), 10_000);
    Ok(match f.topology {
        Shape::Dumbbell => {
            let pairs = needed(f.pairs, "a dumbbell needs `pairs`, such as pairs = 4")?;
            Graph::dumbbell(within("pairs", pairs, 10_000)?, &links(f, Graph::BOTTLENECK_LAYERS)?)
        }
        Shape::ParkingLot => {
            let hops = needed(f.hops, "a parking lot needs `hops`, such as hops = 3")?;
            Graph::parking_lot(within("hops", hops, 1000)?, &links(f, Graph::BOTTLENECK_LAYERS)?)
        }
        Shape::XmpTestbedA => Graph::xmp_testbed_a(&links(f, Graph::BOTTLENECK_LAYERS)?),
        Shape::XmpTestbedB => Graph::xmp_testbed_b(&links(f, Graph::BOTTLENECK_LAYERS)?),
        Shape::XmpTorus => Graph::xmp_torus(&links(f, Graph::TORUS_LAYERS)?),
        Shape::Thesis22a => Graph::thesis_2_2a(&links(f, Graph::BOTTLENECK_LAYERS)?),
        Shape::Thesis22b => Graph::thesis_2_2b(&links(f, Graph::PRIVATE_LAYERS)?),
        Shape::Thesis32 | Shape::Thesis42 => {
            let multipath = users("multipath_users", f.multipath_users)?;
            let tcp = users("tcp_users", f.tcp_users)?;
            let draw = if f.topology == Shape::Thesis32 { Graph::thesis_3_2 } else { Graph::thesis_4_2 };
            draw(multipath, tcp, &links(f, Graph::PRIVATE_LAYERS)?)
        }
        Shape::File => {
            return Err(wrong("topology", "topology = \"file\" needs `file`, such as file = \"net.json\""));
        }
        Shape::FatTree | Shape::LeafSpine | Shape::VirtualHosts => unreachable!("they are not drawn"),
    })
}

fn links<const N: usize>(f: &Fabric, names: [&str; N]) -> Result<Links<N>, Wrong> {
    let Layers { rate, delay, limit, mark, loss } = Layers::new(f, names)?;
    let layers = std::array::from_fn(|i| LinkConfig {
        rate: rate[i],
        delay: delay[i],
        limit: limit[i],
        mark: mark[i],
        loss: loss[i],
    });
    Ok(Links { layers, host: (f.host_queue.into(), f.host_mark.into()), non_ect: f.non_ect.into() })
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
        let rate: [Rate; N] = of_layers("rate", said("rate", &f.rate, "10Gbps")?, names)?;
        for (rate, layer) in rate.iter().zip(names) {
            if !RATES.contains(&rate.0) {
                let message = format!("{rate} in the {layer} layer: a link has 1kbps to 100Tbps");
                return Err(wrong("rate", message));
            }
        }
        let delay: [Duration; N] = of_layers("delay", said("delay", &f.delay, "20us")?, names)?;
        if let Some(delay) = delay.iter().find(|d| d.0 > LONGEST) {
            return Err(wrong("delay", format!("{delay}: a link has at most 1000s of delay")));
        }
        let loss: [tresse_units::Probability; N] = of_layers("loss", &f.loss, names)?;
        for (loss, layer) in loss.iter().zip(names) {
            if Probability::from(*loss) == Probability::ONE {
                let message = format!("{loss} in the {layer} layer: no flow would ever finish");
                return Err(wrong("loss", message));
            }
        }
        Ok(Self {
            rate: rate.map(|r| r.0),
            delay: delay.map(|d| d.0),
            limit: of_layers("queue", said("queue", &f.queue, "100pkt")?, names)?.map(|q| q.into()),
            mark: of_layers("mark", &f.mark, names)?.map(|q| q.into()),
            loss: loss.map(|p| p.into()),
        })
    }
}

/// What a topology cannot do without.
fn said<'a, T>(key: &str, value: &'a Option<Layered<T>>, example: &str) -> Result<&'a Layered<T>, Wrong> {
    let message = || format!("`{key}` is missing, such as {key} = \"{example}\"");
    value.as_ref().ok_or_else(|| Wrong::key("fabric", message()))
}

fn of_layers<T: Copy, const N: usize>(key: &str, v: &Layered<T>, names: [&str; N]) -> Result<[T; N], Wrong> {
    let values = v.layers(&names).map_err(|e| wrong(key, e))?;
    Ok(std::array::from_fn(|layer| values[layer]))
}
