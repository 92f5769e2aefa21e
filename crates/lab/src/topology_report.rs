//! Facts about an experiment's network, without a run: `tresse topology show`.

use serde::Serialize;
use tresse_experiment::diagnostic::{Diagnostic, did_you_mean};
use tresse_experiment::plan::bdp::{PacketSizes, link_rtts};
use tresse_experiment::plan::network;
use tresse_experiment::read::Loaded;
use tresse_fabric::{Locality, ShortestPaths, Tier, Topology, bisection, tiers};
use tresse_units::Time;

/// The facts of a network.
#[derive(Debug, Clone, Serialize)]
pub struct TopologyReport {
    /// `tresse/topology/1`.
    pub schema: &'static str,
    pub experiment: String,
    /// The name of its topology, as in `[fabric]`.
    pub topology: String,
    /// Hosts, each of which may send and receive.
    pub hosts: u32,
    /// Switches.
    pub switches: u32,
    /// Links, each with two directions.
    pub links: u32,
    /// Racks with hosts.
    pub racks: u32,
    /// Pods with hosts.
    pub pods: u32,
    /// The layers of links, from the hosts up.
    pub layers: Vec<LayerEntry>,
    /// The tiers crossed by traffic between hosts of different racks; if there is only one rack, between all hosts.
    pub tiers: Vec<TierEntry>,
    /// The index in `tiers` of the tier that fills first.
    pub narrowest_tier: usize,
    /// What the first half of the hosts can send to the second half at once.
    pub bisection_bps: u64,
    /// RTTs of empty shortest paths, for packets of the following sizes.
    pub base_rtts: Vec<RttEntry>,
    /// The size of a data packet in them, headers included.
    pub data_bytes: u32,
    /// The size of an ACK in them.
    pub ack_bytes: u32,
    /// The paths between two hosts, if two were named.
    pub paths: Option<PathsEntry>,
}

/// A layer of links, with the range of values of its ports.
#[derive(Debug, Clone, Serialize)]
pub struct LayerEntry {
    pub layer: String,
    pub links: u32,
    /// Rates.
    pub rate_bps: [u64; 2],
    /// One-way delays, in the unit of files: a port may have less than a nanosecond.
    pub delay_ps: [u64; 2],
}

/// A tier (`tresse explain tiers`).
#[derive(Debug, Clone, Serialize)]
pub struct TierEntry {
    pub layer: String,
    /// `up`, `level` or `down`, seen from the hosts.
    pub direction: &'static str,
    /// Its ports that the traffic can use.
    pub ports: u32,
    /// The sum of their rates.
    pub capacity_bps: u64,
    /// How many of them a bit crosses on average.
    pub crossings: f64,
    /// The maximum total traffic: capacity over crossings.
    pub throughput_bps: f64,
    /// The sum of the rates by which the hosts can send, over the capacity.
    pub oversubscription: f64,
}

/// The RTTs between hosts that are this far apart.
#[derive(Debug, Clone, Serialize)]
pub struct RttEntry {
    pub locality: &'static str,
    /// Ordered pairs of hosts; for hosts with several addresses, pairs of addresses.
    pub pairs: u64,
    /// The shortest of a pair's paths, ps.
    pub min_ps: u64,
    pub max_ps: u64,
}

/// The shortest paths between two hosts.
#[derive(Debug, Clone, Serialize)]
pub struct PathsEntry {
    pub from: String,
    pub to: String,
    /// How many there are, at most 2^32 - 1.
    pub count: u32,
    /// The first of these paths.
    pub shown: Vec<PathEntry>,
}

/// One path.
#[derive(Debug, Clone, Serialize)]
pub struct PathEntry {
    /// The nodes, including the two hosts.
    pub nodes: Vec<String>,
    /// Its RTT when it is empty, ps.
    pub base_rtt_ps: u64,
}

/// The facts of an experiment's network, and the paths between the two hosts of `pair`: names of nodes, or numbers of
/// hosts.
///
/// # Errors
/// An error in `[fabric]` or `[transport]`, with its location; or if there is no such host.
pub fn topology(loaded: &Loaded, pair: Option<[&str; 2]>) -> Result<TopologyReport, Diagnostic> {
    const SHOWN: u32 = 16;
    let topology = network::topology(loaded)?;
    let sizes = PacketSizes::of(loaded)?;
    let rtt = link_rtts(&topology, sizes);
    let paths = ShortestPaths::new(&topology);
    let pair = match pair {
        None => None,
        Some(names) => {
            let mut hosts = [0; 2];
            for (host, name) in hosts.iter_mut().zip(names) {
                *host = find_host(&topology, name)?;
            }
            Some(hosts)
        }
    };
    let entry = |[from, to]: [u32; 2]| {
        let path = |k| {
            let route = paths.path(from, to, k).there;
            let first = route.first().map(|&p| topology.end_names(p)[0]);
            let rest = route.iter().map(|&p| topology.end_names(p)[1]);
            PathEntry {
                nodes: first.into_iter().chain(rest).map(str::to_owned).collect(),
                base_rtt_ps: route.iter().map(|&p| rtt(p)).sum(),
            }
        };
        let count = paths.count(from, to);
        let [from, to] = [from, to].map(|node| topology.node_names[node as usize].clone());
        PathsEntry { from, to, count, shown: (0..count.min(SHOWN)).map(path).collect() }
    };
    let tiers = tier_entries(&topology);
    let narrowest = tiers.iter().enumerate().min_by(|a, b| a.1.throughput_bps.total_cmp(&b.1.throughput_bps));
    let distinct = |numbers: &[u32]| {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u32
    };
    Ok(TopologyReport {
        schema: "tresse/topology/1",
        experiment: loaded.source.name.clone(),
        topology: loaded.experiment.fabric.topology.clone(),
        hosts: topology.hosts(),
        switches: topology.network.nodes - topology.network.hosts,
        links: topology.configs.len() as u32 / 2,
        racks: distinct(&topology.racks),
        pods: distinct(&topology.pods),
        layers: layers(&topology),
        narrowest_tier: narrowest.map_or(0, |(place, _)| place),
        tiers,
        bisection_bps: bisection(&topology),
        base_rtts: rtts(&topology, &paths, &rtt),
        data_bytes: sizes.data,
        ack_bytes: sizes.ack,
        paths: pair.map(entry),
    })
}

/// The node of a host, by its name, or the first address of the host with this number.
fn find_host(topology: &Topology, name: &str) -> Result<u32, Diagnostic> {
    let hosts = topology.network.hosts;
    let by_number = || name.parse::<u32>().ok().filter(|&n| n < topology.hosts());
    match topology.node(name).or_else(|| by_number().map(|host| topology.addresses(host).start)) {
        Some(node) if node < hosts => Ok(node),
        Some(_) => Err(Diagnostic::input(format!("`{name}` is a switch: paths lead from host to host"))),
        None => {
            let names = &topology.node_names[..hosts as usize];
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            let (first, last) = (&names[0], &names[names.len() - 1]);
            Err(Diagnostic::input(format!(
                "there is no host `{name}`{hint} (available: {first} to {last}, or numbers below {})",
                topology.hosts()
            )))
        }
    }
}

fn layers(topology: &Topology) -> Vec<LayerEntry> {
    let one = |(layer, name): (usize, &std::sync::Arc<str>)| {
        let of_layer =
            topology.configs.iter().zip(&topology.layers).filter(|(_, l)| usize::from(**l) == layer);
        let configs: Vec<_> = of_layer.map(|(config, _)| config).collect();
        let span = |values: &mut dyn Iterator<Item = u64>| {
            values.fold([u64::MAX, 0], |[least, most], v| [least.min(v), most.max(v)])
        };
        LayerEntry {
            layer: name.to_string(),
            links: configs.len() as u32 / 2,
            rate_bps: span(&mut configs.iter().map(|c| c.rate)),
            delay_ps: span(&mut configs.iter().map(|c| c.delay)),
        }
    };
    // All links of a layer may have failed.
    topology.layer_names.iter().enumerate().map(one).filter(|layer| layer.links > 0).collect()
}

fn tier_entries(topology: &Topology) -> Vec<TierEntry> {
    let one_rack = topology.racks.iter().all(|rack| *rack == topology.racks[0]);
    let talks = |from, to| one_rack || from != to;
    let ends = topology.network.ends.iter().zip(&topology.configs);
    let nics = ends.filter(|([from, _], _)| *from < topology.network.hosts).map(|(_, c)| c.rate as f64);
    let access: f64 = nics.sum();
    let entry = |tier: Tier| TierEntry {
        layer: tier.layer.to_string(),
        direction: tier.direction.name(),
        ports: tier.ports,
        capacity_bps: tier.capacity,
        crossings: tier.crossings,
        throughput_bps: tier.throughput(),
        oversubscription: access / tier.capacity as f64,
    };
    tiers(topology, |host| topology.racks[host as usize], talks).into_iter().map(entry).collect()
}

fn rtts(topology: &Topology, paths: &ShortestPaths, rtt: impl Fn(u32) -> Time) -> Vec<RttEntry> {
    let each = topology.network.hosts / topology.hosts();
    let all = [Locality::InnerRack, Locality::InterRack, Locality::InterPod];
    let none = RttEntry { locality: "", pairs: 0, min_ps: u64::MAX, max_ps: 0 };
    let mut entries = all.map(|locality| RttEntry { locality: locality.name(), ..none });
    // Hosts of one rack are in one pod.
    let rack = |host: u32| topology.racks[host as usize];
    paths.spans(rtt, rack, |from, to, pairs, [min, max]| {
        let entry = &mut entries[topology.locality(from / each, to / each) as usize];
        entry.pairs += pairs;
        (entry.min_ps, entry.max_ps) = (entry.min_ps.min(min), entry.max_ps.max(max));
    });
    entries.into_iter().filter(|entry| entry.pairs > 0).collect()
}
