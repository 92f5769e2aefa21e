//! From `[fabric]` to a network, and how the paths of packets are chosen on its topology.

use std::borrow::Cow;

use tresse_fabric::balancers::{self, Declaration};
use tresse_fabric::{
    Balancing, Exclusive, Feedback, FixedPaths, FlagConfig, ShortestPaths, Spread, Threshold, Topology,
};
use tresse_units::{Mark, Queue};

use crate::diagnostic::{Diagnostic, Wrong, wrong};
use crate::plan::bdp::{Bdp, PacketSizes};
use crate::plan::single_links::links;
use crate::plan::topologies::virtual_hosts::VIRTUAL_HOSTS;
use crate::plan::topologies::{self, OwnRoutes};
use crate::read::{Loaded, graph_file};
use crate::schema::fabric::{Distinct, Fabric, FlagFeedback, Flags};
use crate::schema::link_events::ChangeKey;
use crate::schema::routing::{Choice, RoutingKey};
use crate::schema::scheme::Scheme;
use crate::schema::transport::HostProfile;

/// How the paths of packets are chosen.
#[derive(Debug, Clone)]
pub enum Routing {
    /// By subflow, which has a fixed route.
    Fixed(FixedPaths),
    /// By each node, for each packet.
    Nodes {
        /// How.
        balancing: Balancing,
        /// The congestion flags, if the balancer needs them.
        flags: Option<FlagConfig>,
        /// How many paths there are.
        paths: ShortestPaths,
    },
}

impl Routing {
    /// The largest number of different paths between two hosts.
    pub fn most(&self) -> u32 {
        match self {
            Self::Fixed(routes) => routes.most(),
            Self::Nodes { paths, .. } => paths.most(),
        }
    }

    /// Pairs of addresses of two hosts that have this many addresses with their own link. Fixed routes have their
    /// own numbers. If nodes decide, a host with one link has as many aliases as it wants.
    pub fn address_pairs(&self, addresses: u32) -> u32 {
        match self {
            Self::Fixed(routes) => routes.most(),
            Self::Nodes { .. } if addresses == 1 => u32::MAX,
            Self::Nodes { .. } => addresses.saturating_mul(addresses),
        }
    }

    /// Whether the nodes that balance have shares for their ports, which may move.
    pub fn has_shares(&self) -> bool {
        let holnets =
            |own: &Balancing| matches!(own, Balancing::HolnetPercentage(_) | Balancing::HolnetRate(_));
        matches!(self, Self::Nodes { balancing, .. } if holnets(balancing))
    }

    /// The longest fixed route, ports.
    pub fn longest(&self) -> usize {
        match self {
            Self::Fixed(routes) => routes.longest(),
            Self::Nodes { paths, .. } => paths.longest(),
        }
    }
}

/// How the paths of a scheme's packets are chosen: as the scheme says, otherwise by the fabric's `own` routing.
///
/// # Errors
/// What is wrong; errors in the scheme's routing are at its keys below `fabric.routing`.
pub(crate) fn routing(
    f: &Fabric,
    changes: &[ChangeKey],
    scheme: &Scheme,
    own: &Routing,
) -> Result<(Routing, &'static Declaration), Wrong> {
    let (name, routing) = match &scheme.routing {
        None => {
            let usual = usual_routing(f)?;
            (f.routing.as_ref().map_or(usual, |key| &*key.name), own.clone())
        }
        Some(key) => {
            let fabric = Fabric { routing: Some(key.clone()), ..f.clone() };
            (&*key.name, build(&fabric, changes)?.1)
        }
    };
    Ok((routing, balancers::find(name).expect("the routing was built")))
}

/// The congestion flags of the load balancer, or else of the fabric.
///
/// # Errors
/// The keys down to the error, and why.
pub(crate) fn flags(f: &Fabric, routing: &Routing) -> Result<Option<FlagConfig>, Wrong> {
    let below = |key: &str, message: String| Wrong::new(["fabric", "flags", key], message);
    if let Some(flags) = f.flags
        && !(1..=100).contains(&flags.percent)
    {
        return Err(below("percent", format!("{}: 1 to 100 percent of a queue's limit", flags.percent)));
    }
    let own = f.flags.map(|Flags { percent, feedback }| FlagConfig {
        fraction: percent * 10,
        unlimited: Threshold::UNLIMITED,
        feedback: match feedback {
            FlagFeedback::OneHop => Feedback::OneHop,
            FlagFeedback::Backward => Feedback::Backward,
        },
    });
    let balancers = match routing {
        Routing::Nodes { flags, .. } => *flags,
        Routing::Fixed(_) => None,
    };
    if own.is_some() && balancers.is_some() {
        let message = "HOLNET's load balancers have their own flags: `flag` and `feedback` of `routing`";
        return Err(wrong("flags", message));
    }
    let unlimited = host_flag(f).map_err(|e| wrong("host_flag", e))?;
    Ok(own.or(balancers).map(|flags| FlagConfig { unlimited, ..flags }))
}

/// Whether `[fabric]` says what a host's NIC is like, for hosts of this profile.
///
/// # Errors
/// What is missing or contradicts, and the key of `[fabric]`.
pub(crate) fn check_hosts(f: &Fabric, profile: Option<HostProfile>) -> Result<(), Wrong> {
    if f.host_queue.is_none() && !profile.is_some_and(HostProfile::has_fair_hosts) {
        let message = "`host_queue` is missing: such as host_queue = \"100pkt\" for one queue, or \"fq\" for one per subflow, \
                       which is the default with the profiles \"linux\" and \"spray\"";
        return Err(Wrong::key("fabric", message.to_owned()));
    }
    let of_one_queue = [("host_mark", f.host_mark), ("host_flag", Mark::Length(f.host_flag))];
    match of_one_queue.into_iter().find(|(_, length)| f.has_fair_hosts() && *length != Mark::UNLIMITED) {
        Some((key, length)) => Err(wrong(
            key,
            format!(
                "{length}: hosts serve their subflows in turn and hold them back, so there is no queue to measure: \
                 leave out this key, or set `host_queue` to the limit of one queue"
            ),
        )),
        None => Ok(()),
    }
}

/// The length from which on a host's own queue is flagged, if it has no limit.
fn host_flag(f: &Fabric) -> Result<Threshold, String> {
    match f.host_flag {
        Queue::Packets(0) | Queue::Bytes(0) => {
            Err(format!("{}: an empty queue is not congested", f.host_flag))
        }
        length if length != Queue::Unlimited && f.host_limit() != Queue::Unlimited => Err(format!(
            "{length}: hosts' queues have a limit, {}, which already sets when they are flagged; \
             leave out this key, or set host_queue = \"unlimited\"",
            f.host_limit()
        )),
        length => Ok(length.into()),
    }
}

/// Congestion flags are shares of a queue's limit, so every port of a switch needs one.
fn limited(topology: &Topology) -> Result<(), Wrong> {
    let hosts = topology.network.hosts;
    let unlimited = |&port: &u32| {
        let [from, _] = topology.network.ends[port as usize];
        from >= hosts && topology.configs[port as usize].limit == Threshold::UNLIMITED
    };
    match (0..topology.configs.len() as u32).find(unlimited) {
        None => Ok(()),
        Some(port) => {
            let (layer, [from, to]) = (topology.layer_name(port), topology.end_names(port));
            let message = format!(
                "a port is flagged at a share of its queue's limit, but in the {layer} layer the port \
                 from {from} to {to} has no limit: set one such as \"100pkt\""
            );
            Err(wrong("queue", message))
        }
    }
}

/// The network of an experiment.
///
/// # Errors
/// The error in `[fabric]`, with its location.
pub fn topology(loaded: &Loaded) -> Result<Topology, Diagnostic> {
    let loaded = &*in_bytes(loaded)?;
    build_of(loaded).map(|(topology, _)| topology)
}

fn build_of(loaded: &Loaded) -> Result<(Topology, Routing), Diagnostic> {
    let experiment = &loaded.experiment;
    build(&experiment.fabric, &experiment.changes).map_err(|e| loaded.error(e))
}

/// The experiment with those thresholds in bytes that are multiples of its network's BDP.
///
/// # Errors
/// If there are any: an error in `[fabric]` or `[transport]`, with its location.
pub fn in_bytes(loaded: &Loaded) -> Result<Cow<'_, Loaded>, Diagnostic> {
    if !loaded.experiment.fabric.has_multiples() {
        return Ok(Cow::Borrowed(loaded));
    }
    let (topology, _) = build_of(loaded)?;
    let sizes = PacketSizes::of(loaded)?;
    let mut own = loaded.clone();
    own.experiment.fabric = own.experiment.fabric.in_bytes(Bdp::of(&topology, sizes), sizes);
    // The links of a file have the thresholds of `[fabric]`.
    graph_file::read(&mut own)?;
    Ok(Cow::Owned(own))
}

/// The routing of a fabric that names none.
fn usual_routing(f: &Fabric) -> Result<&'static str, Wrong> {
    Ok(if f.planes.is_some() { "shortest" } else { topologies::find(f)?.routing })
}

/// The network with this many planes.
fn in_planes(topology: Topology, planes: u32, own_routes: &OwnRoutes) -> Result<Topology, Wrong> {
    if !(1..=MOST_PLANES).contains(&planes) {
        return Err(wrong("planes", format!("{planes}: 1 to {MOST_PLANES}")));
    }
    if matches!(own_routes, OwnRoutes::Virtual(_)) {
        return Err(wrong("planes", "virtual hosts have one network for all their NICs"));
    }
    let ports = topology.configs.len();
    topology.in_planes(planes).ok_or_else(|| {
        wrong("planes", format!("{planes} planes of {ports} ports: a network has fewer than 2^23 ports"))
    })
}

/// As many as subflows.
const MOST_PLANES: u32 = 64;

/// The network that `f` describes, with the links that `changes` remap virtual NICs to.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn build(f: &Fabric, changes: &[ChangeKey]) -> Result<(Topology, Routing), Wrong> {
    if let Some(i) = changes.iter().position(|c| c.remap.is_some())
        && f.topology != VIRTUAL_HOSTS.name
    {
        let message = "virtual NICs need topology = \"virtual-hosts\"";
        return Err(Wrong::new(["changes", &i.to_string(), "remap"], message));
    }
    let kind = topologies::find(f)?;
    let (mut topology, mut own_routes) = (kind.build)(f, changes)?;
    if let Some(planes) = f.planes {
        topology = in_planes(topology, planes, &own_routes)?;
        own_routes = OwnRoutes::None;
    }
    let default = RoutingKey { name: usual_routing(f)?.to_owned(), parameters: Default::default() };
    let routing = f.routing.as_ref().unwrap_or(&default);
    let choice = routing.resolve().map_err(|(key, e)| Wrong::new(["fabric", "routing", key], e))?;
    match (f.distinct, &choice, &own_routes) {
        (Some(Distinct::HostLink), Choice::TwoLevel, _)
        | (Some(Distinct::HostLink), _, OwnRoutes::Virtual(_)) => {
            return Err(wrong("distinct", "\"host-link\" is for routing = \"shortest\""));
        }
        (Some(Distinct::HostLink), Choice::Shortest, _) if !several_links(&topology) => {
            let message = "\"host-link\" is for hosts with several links, and each has one here: set `planes`, or \
                           leave `distinct` out for subflows that share no path";
            return Err(wrong("distinct", message));
        }
        (Some(Distinct::Core | Distinct::Aggregation), _, OwnRoutes::None | OwnRoutes::Virtual(_)) => {
            return Err(wrong("distinct", "only a fat tree has core and aggregation switches"));
        }
        _ => {}
    }
    let over_every_link = match (&choice, &own_routes) {
        (Choice::TwoLevel, _) => Some("two-level routing uses every link; \"shortest\" or a load balancer"),
        (Choice::Shortest, OwnRoutes::Virtual(_)) => Some("virtual NICs have one route; a load balancer"),
        _ => None,
    };
    links(f, &mut topology, over_every_link)?;
    if f.flags.is_some() || matches!(choice, Choice::Nodes(_, Some(_))) {
        if f.pfc.is_some() {
            let message = "congestion flags are set at a share of a queue's limit, which ports under flow control do not \
                           have: choose a load balancer other than HOLNET's, without `flags`, or leave out `pfc`";
            return Err(wrong("pfc", message));
        }
        limited(&topology)?;
    }
    let spread = match f.distinct {
        Some(Distinct::Aggregation) => Spread::Aggregation,
        _ => Spread::Core,
    };
    let own = match f.distinct {
        Some(Distinct::HostLink) => Exclusive::HostLink,
        _ => Exclusive::Path,
    };
    let routing = match (choice, own_routes) {
        (Choice::TwoLevel, OwnRoutes::Tree(tree)) => Routing::Fixed(FixedPaths::TwoLevel(tree, spread)),
        (Choice::TwoLevel, _) => {
            let whose = if f.planes.is_some() { "that of one plane" } else { "a fat tree's" };
            let message = format!("two-level routing is {whose}; \"shortest\" has fixed paths here");
            return Err(wrong("routing", message));
        }
        (Choice::Shortest, OwnRoutes::Virtual(hosts)) => Routing::Fixed(FixedPaths::Virtual(hosts)),
        (Choice::Shortest, _) => Routing::Fixed(FixedPaths::Shortest(shortest(&topology)?, own)),
        (Choice::Nodes(balancing, flags), _) => {
            Routing::Nodes { balancing, flags, paths: shortest(&topology)? }
        }
    };
    Ok((topology, routing))
}

/// Whether a host has more than one link to what is not itself.
fn several_links(topology: &Topology) -> bool {
    let links = |host| {
        let own = topology.addresses(host);
        let leaves = |&&[from, to]: &&[u32; 2]| own.contains(&from) && !own.contains(&to);
        topology.network.ends.iter().filter(leaves).count()
    };
    (0..topology.hosts()).any(|host| links(host) > 1)
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
