//! From `[fabric]` to a network: its topology, its links one by one, and who chooses the ways.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::{
    Balancing, FatTree, FatTreeConfig, Feedback, FlagConfig, LeafSpine, LeafSpineError, NonEct as PortNonEct,
    Probability, Routes, ShortestPaths, Spread, Threshold, Topology, VirtualHosts, VirtualHostsConfig,
    VirtualHostsError,
};

use crate::balancers::{self, Declaration};
use crate::changes::ChangeKey;
use crate::error::did_you_mean;
use crate::experiment::{Distinct, Fabric, FlagFeedback, Flags, Layered, NonEct, Topology as Shape};
use crate::resolve::LONGEST;
use crate::routing_keys::{Choice, RoutingKey};
use crate::scheme::Scheme;
use crate::units::{Duration, Rate};

/// A link that differs from its layer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSetting {
    /// The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`.
    pub ends: [String; 2],
    /// Its rate.
    pub rate: Option<Rate>,
    /// It is not there.
    #[serde(default)]
    pub failed: bool,
}

/// Who chooses the ways of packets.
#[derive(Debug, Clone)]
pub enum Routing {
    /// The subflow has a route.
    Fixed(Routes),
    /// Each node, for each packet.
    Nodes {
        /// How.
        balancing: Balancing,
        /// The congestion flags, if the balancer needs them.
        flags: Option<FlagConfig>,
        /// How many ways there are.
        paths: ShortestPaths,
    },
}

impl Routing {
    /// How many ways between two hosts differ, where they are most.
    pub fn most(&self) -> u32 {
        match self {
            Self::Fixed(routes) => routes.most(),
            Self::Nodes { paths, .. } => paths.most(),
        }
    }

    /// The longest fixed route, ports.
    pub fn longest(&self) -> usize {
        match self {
            Self::Fixed(routes) => routes.longest(),
            Self::Nodes { paths, .. } => paths.longest(),
        }
    }
}

/// The keys down to what is wrong, and what is.
pub(crate) type Wrong = (Vec<String>, String);

fn wrong(key: &str, message: impl Into<String>) -> Wrong {
    (vec!["fabric".to_owned(), key.to_owned()], message.into())
}

/// The routing of a topology unless it has another.
fn own_routing(f: &Fabric) -> &'static str {
    match f.topology {
        Shape::FatTree => "two-level",
        Shape::LeafSpine | Shape::VirtualHosts => "shortest",
    }
}

/// Who chooses the ways of a scheme's packets: what the scheme says, or else the fabric's `own` routing.
///
/// # Errors
/// What is wrong with the scheme's.
pub(crate) fn routing(
    f: &Fabric,
    changes: &[ChangeKey],
    scheme: &Scheme,
    own: &Routing,
) -> Result<(Routing, &'static Declaration), String> {
    let (name, routing) = match &scheme.routing {
        None => (f.routing.as_ref().map_or(own_routing(f), |key| &*key.name), own.clone()),
        Some(key) => {
            let fabric = Fabric { routing: Some(key.clone()), ..f.clone() };
            (&*key.name, build(&fabric, changes).map_err(|(_, e)| e)?.1)
        }
    };
    Ok((routing, balancers::find(name).expect("the routing was built")))
}

/// The congestion flags: those of the load balancer, or the fabric's own.
///
/// # Errors
/// The key below `fabric.flags` that is wrong, and why.
pub(crate) fn flags(f: &Fabric, routing: &Routing) -> Result<Option<FlagConfig>, (&'static str, String)> {
    if let Some(flags) = f.flags
        && !(1..=100).contains(&flags.percent)
    {
        return Err(("percent", format!("{}: 1 to 100 percent of a queue's limit", flags.percent)));
    }
    let own = f.flags.map(|Flags { percent, feedback }| FlagConfig {
        fraction: percent * 10,
        feedback: match feedback {
            FlagFeedback::OneHop => Feedback::OneHop,
            FlagFeedback::Backward => Feedback::Backward,
        },
    });
    Ok(match routing {
        Routing::Nodes { flags: Some(flags), .. } => Some(*flags),
        Routing::Nodes { .. } | Routing::Fixed(_) => own,
    })
}

/// The network that `f` describes, with the links that `changes` remap virtual NICs to.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn build(f: &Fabric, changes: &[ChangeKey]) -> Result<(Topology, Routing), Wrong> {
    if let Some(i) = changes.iter().position(|c| c.remap.is_some())
        && f.topology != Shape::VirtualHosts
    {
        let path = ["changes", &i.to_string(), "remap"].map(str::to_owned);
        return Err((path.to_vec(), "virtual NICs are of topology = \"virtual-hosts\"".into()));
    }
    if f.virtual_hosts.is_some() && f.topology != Shape::VirtualHosts {
        return Err(wrong("virtual_hosts", "these are of topology = \"virtual-hosts\""));
    }
    let (mut topology, own_routes) = match f.topology {
        Shape::FatTree => {
            let tree = fat_tree(f)?;
            (tree.topology(), Own::Tree(tree))
        }
        Shape::LeafSpine => (leaf_spine(f)?, Own::None),
        Shape::VirtualHosts => {
            let hosts = virtual_hosts(f, changes)?;
            (hosts.topology(), Own::Virtual(hosts))
        }
    };
    let default = RoutingKey { name: own_routing(f).to_owned(), parameters: Default::default() };
    let routing = f.routing.as_ref().unwrap_or(&default);
    let choice = routing.resolve().map_err(|e| wrong("routing", e))?;
    if f.distinct.is_some() && !matches!(own_routes, Own::Tree(_)) {
        return Err(wrong("distinct", "only a fat tree has core and aggregation switches"));
    }
    let over_every_link = match (&choice, &own_routes) {
        (Choice::TwoLevel, _) => {
            Some("two-level routing leads over every link; \"shortest\" or a load balancer")
        }
        (Choice::Shortest, Own::Virtual(_)) => Some("virtual NICs have one route; a load balancer"),
        _ => None,
    };
    links(f, &mut topology, over_every_link)?;
    let spread = match f.distinct.unwrap_or_default() {
        Distinct::Core => Spread::Core,
        Distinct::Aggregation => Spread::Aggregation,
    };
    let routing = match (choice, own_routes) {
        (Choice::TwoLevel, Own::Tree(tree)) => Routing::Fixed(Routes::TwoLevel(tree, spread)),
        (Choice::TwoLevel, _) => {
            return Err(wrong(
                "routing",
                "two-level routing is a fat tree's; \"shortest\" has fixed paths here",
            ));
        }
        (Choice::Shortest, Own::Virtual(hosts)) => Routing::Fixed(Routes::Virtual(hosts)),
        (Choice::Shortest, _) => Routing::Fixed(Routes::Shortest(shortest(&topology)?)),
        (Choice::Nodes(balancing, flags), _) => {
            Routing::Nodes { balancing, flags, paths: shortest(&topology)? }
        }
    };
    Ok((topology, routing))
}

/// Topologies with fixed routes of their own.
enum Own {
    Tree(FatTree),
    Virtual(VirtualHosts),
    None,
}

fn fat_tree(f: &Fabric) -> Result<FatTree, Wrong> {
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

fn leaf_spine(f: &Fabric) -> Result<Topology, Wrong> {
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

fn virtual_hosts(f: &Fabric, changes: &[ChangeKey]) -> Result<VirtualHosts, Wrong> {
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
        VirtualHostsError::Size(..) | VirtualHostsError::Spare(..) => wrong("virtual_hosts", e.to_string()),
    })?;
    let spare = spare(&hosts, changes)?;
    Ok(VirtualHosts::new(VirtualHostsConfig { spare, ..config }).expect("links that are not there yet"))
}

/// The links that `changes` need: numbers of virtual NICs and of bridges.
fn spare(hosts: &VirtualHosts, changes: &[ChangeKey]) -> Result<Vec<[u32; 2]>, Wrong> {
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

/// Rates at which a packet's transmission is neither nothing nor for ever, bit/s.
pub(crate) const RATES: std::ops::RangeInclusive<u64> = 1_000..=100_000_000_000_000;

/// Makes single links as `[[fabric.links]]` says.
fn links(f: &Fabric, topology: &mut Topology, over_every_link: Option<&str>) -> Result<(), Wrong> {
    let mut seen = Vec::new();
    let mut gone = Vec::new();
    for (i, link) in f.links.iter().enumerate() {
        let at = |key: &str, message: String| {
            let path = ["fabric", "links", &i.to_string(), key].map(str::to_owned);
            (path.to_vec(), message)
        };
        let ports = ports_between(topology, &link.ends).map_err(|e| at("ends", e))?;
        if seen.contains(&ports) {
            return Err(at("ends", format!("the link of {} stands here twice", link.ends.join(" and "))));
        }
        match (link.rate, link.failed) {
            (None, false) => {
                return Err(at("ends", "nothing is said of this link: `rate` or failed = true".into()));
            }
            (Some(_), true) => return Err(at("rate", "a link that is not there has no rate".into())),
            (None, true) => match over_every_link {
                Some(who) => return Err(at("failed", format!("{who} leads around this one"))),
                None => gone.extend(&ports),
            },
            (Some(rate), false) if RATES.contains(&rate.0) => {
                ports.iter().for_each(|&port| topology.configs[port as usize].rate = rate.0);
            }
            (Some(rate), false) => return Err(at("rate", format!("{rate}: a link has 1kbps to 100Tbps"))),
        }
        seen.push(ports);
    }
    topology.remove(&gone);
    Ok(())
}

/// The ports of the link between two nodes, both directions.
pub(crate) fn ports_between(topology: &Topology, ends: &[String; 2]) -> Result<Vec<u32>, String> {
    let nodes = nodes(topology, ends)?;
    let ports = topology.ports_between(nodes[0], nodes[1]);
    if ports.is_empty() {
        let of = |&[from, to]: &[u32; 2]| (from == nodes[0]).then(|| &*topology.node_names[to as usize]);
        let others: Vec<&str> = topology.network.ends.iter().filter_map(of).take(4).collect();
        let [a, b] = ends;
        let others = others.join(", ");
        return Err(format!("there is no link between `{a}` and `{b}` ({a} has links to {others} …)"));
    }
    Ok(ports)
}

/// The nodes of these names.
fn nodes(topology: &Topology, names: &[String; 2]) -> Result<[u32; 2], String> {
    let mut nodes = [0; 2];
    for (node, name) in nodes.iter_mut().zip(names) {
        *node = topology.node(name).ok_or_else(|| {
            let hint = did_you_mean(name, topology.node_names.iter().map(String::as_str));
            format!("there is no node `{name}`{hint}")
        })?;
    }
    Ok(nodes)
}

fn shortest(topology: &Topology) -> Result<ShortestPaths, Wrong> {
    let paths = ShortestPaths::new(topology);
    match paths.unreachable() {
        None => Ok(paths),
        Some(pair) => {
            let [from, to] = <[u32; 2]>::from(pair).map(|n| &topology.node_names[n as usize]);
            Err(wrong("links", format!("with these links failed, {from} cannot reach {to}")))
        }
    }
}
