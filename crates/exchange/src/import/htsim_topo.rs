//! htsim's `.topo`: a Clos network of two or three tiers (csg-htsim, `fat_tree_topology.cpp`).

mod keys;

use tresse_experiment::diagnostic::{Diagnostic, did_you_mean};
use tresse_experiment::read::sniff_format::instead;
use tresse_units::{Bytes, Duration, Rate};

use super::draft::{Draft, Line, Traffic};
use super::graph::{Graph, Link, Node};
use super::packets::Packets;
use super::words::{Input, Word, of_line};
use keys::{
    BUNDLE, DOWN, KEYS, LATENCY, OVERSUBSCRIBED, QUEUE_DOWN, QUEUE_UP, SPEED, SWITCH, Tier, UP, of_top,
};

/// This format, for messages about files that look like several formats.
const OWN: &str = "(htsim-topo)";

/// The most hosts and links that are built.
const MOST: u64 = 1 << 22;

/// A Clos network. All counts are at least 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clos {
    /// Pods; 1 if there are two tiers.
    pub pods: u64,
    /// Switches of tier 0 in a pod.
    pub edges: u64,
    /// Hosts of each of them.
    pub hosts_per_edge: u64,
    /// Switches of tier 1 in a pod.
    pub aggregations: u64,
    /// Switches of tier 2 above each of them; 0 if there are two tiers.
    pub cores_each: u64,
    /// By layer of links, from the hosts: rate, delay including half of the latency of the switches at its
    /// ends, the number of parallel links, and the queue if given, bytes.
    pub layers: Vec<Layer>,
    /// Whether this comes from a file; otherwise it is what htsim builds without one.
    pub told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layer {
    pub rate: Rate,
    pub delay: Duration,
    pub bundle: u64,
    pub queue: Option<Bytes>,
}

/// A required number, not 0.
fn needed<'a>(
    input: &Input,
    value: Option<(u64, Word<'a>)>,
    what: &str,
) -> Result<(u64, Word<'a>), Diagnostic> {
    match value {
        Some((0, word)) => word.error(input, format!("{what} is 0")),
        Some(value) => Ok(value),
        None => input.ends(&instead(&format!("`{what}`"), input.text, OWN)),
    }
}

/// The tiers of a file, all of which it describes.
struct Tiers<'a> {
    input: &'a Input<'a>,
    tiers: Vec<Tier<'a>>,
}

impl<'a> Tiers<'a> {
    fn of(input: &'a Input, tiers: [Option<Tier<'a>>; 3], count: usize) -> Result<Self, Diagnostic> {
        let mut described = Vec::new();
        for (number, tier) in tiers.into_iter().take(count).enumerate() {
            let Some(tier) = tier else { return input.ends(&format!("`Tier {number}`")) };
            described.push(tier);
        }
        Ok(Self { input, tiers: described })
    }

    /// A number that a tier must have.
    fn needed(&self, tier: usize, key: usize) -> Result<(u64, Word<'a>), Diagnostic> {
        let name = ["Downlink_speed_Gbps", "Radix_Down", "Radix_Up", "Downlink_Latency_ns"][key];
        needed(self.input, self.tiers[tier][key], &format!("{name} of tier {tier}"))
    }

    fn or(&self, tier: usize, key: usize, usual: u64) -> u64 {
        self.tiers[tier][key].map_or(usual, |(number, _)| number)
    }

    /// By tier but the last: how many switches each has above it. Checks that this agrees with the tier above.
    fn switches_above(&self, edges: u64, pods: u64) -> Result<Vec<u64>, Diagnostic> {
        let input = self.input;
        let mut above = Vec::new();
        for tier in 1..self.tiers.len() {
            let below = if tier == 2 { pods } else { edges };
            let bundle = self.or(tier, BUNDLE, 1);
            let (up, up_word) = self.needed(tier - 1, UP)?;
            let (down, down_word) = self.needed(tier, DOWN)?;
            if bundle == 0 || up % bundle != 0 {
                let message = format!("{up} links up are not a multiple of Bundle {bundle} of tier {tier}");
                return up_word.error(input, message);
            }
            if down != below * bundle {
                let message = format!(
                    "{below} switches of tier {} below, {bundle} links each, make {}",
                    tier - 1,
                    below * bundle
                );
                return down_word.error(input, message);
            }
            let own = self.needed(tier - 1, DOWN)?.0 * self.needed(tier - 1, SPEED)?.0;
            let speed = self.needed(tier, SPEED)?.0;
            let oversubscribed = self.or(tier - 1, OVERSUBSCRIBED, 1);
            if u128::from(own) != u128::from(oversubscribed) * u128::from(up * speed) {
                let (_, word) = self.tiers[tier - 1][OVERSUBSCRIBED].unwrap_or((0, up_word));
                let message = format!(
                    "tier {} has {own} Gbit/s below and {} above, which is not Oversubscribed {oversubscribed}",
                    tier - 1,
                    up * speed
                );
                return word.error(input, message);
            }
            above.push(up / bundle);
        }
        Ok(above)
    }

    /// The layers of links; also what is left out.
    fn layers(&self) -> Result<(Vec<Layer>, Vec<String>), Diagnostic> {
        let (tiers, last) = (&self.tiers, self.tiers.len() - 1);
        let mut notes = of_top(&tiers[last], last);
        let mut layers = Vec::new();
        for tier in 0..=last {
            let half_switches =
                self.or(tier, SWITCH, 0) + if tier > 0 { self.or(tier - 1, SWITCH, 0) } else { 0 };
            let (latency, word) = self.needed(tier, LATENCY)?;
            let ps = latency.checked_mul(1000).zip(half_switches.checked_mul(500));
            let ps = ps.and_then(|(a, b)| a.checked_add(b));
            let rate = self.needed(tier, SPEED)?.0.checked_mul(1_000_000_000);
            let (Some(ps), Some(rate)) = (ps, rate) else {
                return word.error(self.input, format!("tier {tier} has a number that is too large"));
            };
            let down = tiers[tier][QUEUE_DOWN].map(|(bytes, _)| Bytes(bytes));
            let up = if tier > 0 { tiers[tier - 1][QUEUE_UP].map(|(bytes, _)| Bytes(bytes)) } else { None };
            if let (Some(down), Some(up)) = (down, up)
                && down != up
            {
                notes.push(format!(
                    "the queues up to tier {tier}, {up}, must equal those down from it: {down}"
                ));
            }
            let bundle = self.or(tier, BUNDLE, 1);
            layers.push(Layer { rate: Rate(rate), delay: Duration(ps), bundle, queue: down.or(up) });
        }
        if layers.iter().any(|l| l.queue.is_some()) && layers.iter().any(|l| l.queue.is_none()) {
            notes.push("queues are left out: not every tier has its own".to_owned());
            layers.iter_mut().for_each(|l| l.queue = None);
        }
        Ok((layers, notes))
    }
}

/// The experiment on this network.
pub(crate) fn draft(input: &Input) -> Result<Draft, Diagnostic> {
    let (clos, notes) = Clos::read(input)?;
    Ok(clos.draft(notes))
}

impl Clos {
    /// Reads a `.topo`; also returns what is left out.
    pub fn read(input: &Input) -> Result<(Self, Vec<String>), Diagnostic> {
        let mut header: [Option<(u64, Word)>; 3] = [None; 3];
        let mut tiers: [Option<Tier>; 3] = [None; 3];
        let mut tier = None;
        for (line, text) in (1..).zip(input.text.lines()) {
            let words = of_line(line, text);
            let (Some(key), value) = (words.first(), words.get(1)) else { continue };
            let name = key.text.to_lowercase();
            let place = ["nodes", "tiers", "podsize"].iter().position(|k| *k == name);
            let known = KEYS.iter().position(|k| *k == name);
            if place.is_none() && known.is_none() && name != "tier" {
                let hint =
                    did_you_mean(&name, KEYS.iter().copied().chain(["nodes", "tiers", "podsize", "tier"]));
                return key.error(
                    input,
                    instead(&format!("an htsim topology has no `{}`{hint}", key.text), input.text, OWN),
                );
            }
            let Some(value) = value else {
                return input.error(
                    line,
                    key.column + key.text.len(),
                    format!("`{}` has no value", key.text),
                );
            };
            let number: u32 = value.number(input, "a whole number below 2^32, as htsim reads it")?;
            let number = u64::from(number);
            if let Some(extra) = words.get(2) {
                return extra
                    .error(input, instead(&format!("`{}` after the value", extra.text), input.text, OWN));
            }
            let slot = match (name.as_str(), place, tier) {
                ("tier", ..) => {
                    if number > 2 || tiers[number as usize].is_some() {
                        return value.error(input, "tiers are 0, 1 and 2, each once");
                    }
                    tiers[number as usize] = Some([None; KEYS.len()]);
                    tier = Some(number as usize);
                    continue;
                }
                (_, Some(place), None) => &mut header[place],
                (_, Some(_), Some(_)) => {
                    return key.error(input, format!("`{}` comes before the tiers", key.text));
                }
                (_, None, None) => {
                    return key
                        .error(input, format!("`{}` belongs to a tier: `Tier 0` must come first", key.text));
                }
                (_, None, Some(tier)) => {
                    let known = known.expect("the key is of the header or of a tier");
                    &mut tiers[tier].as_mut().expect("the tier has begun")[known]
                }
            };
            if slot.replace((number, *value)).is_some() {
                return key.error(input, format!("`{}` appears twice", key.text));
            }
        }
        Self::check(input, header, tiers)
    }

    fn check(
        input: &Input,
        header: [Option<(u64, Word)>; 3],
        tiers: [Option<Tier>; 3],
    ) -> Result<(Self, Vec<String>), Diagnostic> {
        let (nodes, _) = needed(input, header[0], "Nodes")?;
        let (count, word) = needed(input, header[1], "Tiers")?;
        if !(2..=3).contains(&count) {
            return word.error(input, "a network of htsim has 2 or 3 tiers");
        }
        let (pod_size, pod_word) = needed(input, header[2], "Podsize")?;
        if tiers[2].is_some() && count == 2 {
            return word
                .error(input, "the file describes a `Tier 2`, which a network of 2 tiers does not have");
        }
        let tiers = Tiers::of(input, tiers, count as usize)?;
        if nodes % pod_size != 0 {
            return pod_word.error(input, format!("{nodes} hosts are not a multiple of {pod_size}"));
        }
        let pods = nodes / pod_size;
        if count == 2 && pods != 1 {
            return pod_word.error(input, format!("a network of 2 tiers is one pod: Podsize {nodes}"));
        }
        let (hosts_per_edge, word) = tiers.needed(0, DOWN)?;
        if pod_size % hosts_per_edge != 0 {
            return word
                .error(input, format!("{pod_size} hosts of a pod are not a multiple of {hosts_per_edge}"));
        }
        if tiers.or(0, BUNDLE, 1) != 1 {
            let (_, word) = tiers.tiers[0][BUNDLE].expect("it is not 1");
            return word.error(input, "a host has one link, as in htsim");
        }
        let edges = pod_size / hosts_per_edge;
        let above = tiers.switches_above(edges, pods)?;
        if nodes > MOST || nodes.saturating_mul(above.iter().product()) > MOST * 8 {
            return Err(Diagnostic::input(format!("{nodes} hosts are too many to build")).of(input.name));
        }
        let (layers, notes) = tiers.layers()?;
        let clos = Self {
            pods,
            edges,
            hosts_per_edge,
            aggregations: above[0],
            cores_each: above.get(1).copied().unwrap_or(0),
            layers,
            told: true,
        };
        Ok((clos, notes))
    }

    pub fn hosts(&self) -> u64 {
        self.pods * self.edges * self.hosts_per_edge
    }

    /// The names of the layers, from the hosts up.
    fn layer_names(&self) -> &'static [&'static str] {
        if self.cores_each > 0 { &["rack", "aggregation", "core"] } else { &["rack", "spine"] }
    }

    /// The names of the tiers of switches.
    fn tier_names(&self) -> [&'static str; 2] {
        if self.cores_each > 0 { ["edge", "aggregation"] } else { ["leaf", "spine"] }
    }

    /// The two ends of a link from a switch of tier 1 to one of tier 2, by htsim's numbers.
    pub fn core_link(&self, aggregation: u64, link: u64) -> [String; 2] {
        let core = aggregation % self.aggregations * self.cores_each + link;
        [format!("aggregation {aggregation}"), format!("core {core}")]
    }

    /// The nodes, named and numbered as in our own fat trees and leaf-spines; htsim numbers the switches of
    /// the last tier differently, but they are all alike.
    pub fn graph(&self) -> Graph {
        let hosts = self.hosts();
        let [edges, aggregations] = [self.pods * self.edges, self.pods * self.aggregations];
        let cores = self.aggregations * self.cores_each;
        let [edge, aggregation] = self.tier_names();
        let tiers = [("host", hosts), (edge, edges), (aggregation, aggregations), ("core", cores)];
        let nodes = tiers.into_iter().flat_map(|(kind, n)| {
            (0..n).map(move |i| Node { host: kind == "host", name: format!("{kind} {i}") })
        });
        let mut links = Vec::new();
        let mut add = |layer: usize, a: u64, b: u64| {
            let Layer { rate, delay, bundle, .. } = self.layers[layer];
            let link = Link { ends: [a, b].map(|n| n as usize), rate, delay, loss: String::new() };
            links.extend((0..bundle).map(|_| link.clone()));
        };
        for host in 0..hosts {
            add(0, host, hosts + host / self.hosts_per_edge);
        }
        for edge in 0..edges {
            for i in 0..self.aggregations {
                add(1, hosts + edge, hosts + edges + edge / self.edges * self.aggregations + i);
            }
        }
        for aggregation in 0..aggregations {
            for i in 0..self.cores_each {
                let core = aggregation % self.aggregations * self.cores_each + i;
                add(2, hosts + edges + aggregation, hosts + edges + aggregations + core);
            }
        }
        Graph { nodes: nodes.collect(), links }
    }

    /// The keys of `[fabric]`, if it is exactly a fat tree or a leaf-spine.
    fn keys(&self) -> Option<Vec<Line>> {
        let line = |key: String, why: &str| (key, if self.told { why.to_owned() } else { String::new() });
        if self.layers.iter().any(|l| l.bundle > 1) {
            return None;
        }
        let mut keys = if self.cores_each == 0 {
            vec![
                line("topology = \"leaf-spine\"".into(), "Tiers 2"),
                line(format!("leaves = {}", self.edges), "Nodes over Radix_Down of tier 0"),
                line(format!("spines = {}", self.aggregations), "Radix_Up of tier 0"),
                line(format!("hosts_per_leaf = {}", self.hosts_per_edge), "Radix_Down of tier 0"),
            ]
        } else {
            let half = self.pods / 2;
            let counts = [self.edges, self.hosts_per_edge, self.aggregations, self.cores_each];
            if !self.pods.is_multiple_of(2) || self.pods > 128 || counts.iter().any(|&n| n != half) {
                return None;
            }
            vec![
                line("topology = \"fat-tree\"".into(), "Tiers 3, and as many links up as down everywhere"),
                line(format!("k = {}", self.pods), "Radix_Down of tier 2"),
            ]
        };
        if !self.told {
            keys[0].1 = "not in the file: what htsim builds for this many hosts".to_owned();
        }
        let delays = "Downlink_Latency_ns, and half the Switch_Latency_ns of both ends";
        keys.push(line(self.layered("rate", |l| l.rate.to_string()), "Downlink_speed_Gbps"));
        keys.push(line(self.layered("delay", |l| l.delay.to_string()), delays));
        Some(keys)
    }

    /// A key with one value, or one for each layer.
    fn layered(&self, key: &str, value: impl Fn(&Layer) -> String) -> String {
        let values: Vec<String> = self.layers.iter().map(value).collect();
        if values.iter().all(|v| *v == values[0]) {
            return format!("{key} = \"{}\"", values[0]);
        }
        let each = self.layer_names().iter().zip(values).map(|(name, v)| format!("{name} = \"{v}\""));
        format!("{key} = {{ {} }}", each.collect::<Vec<_>>().join(", "))
    }

    /// The experiment on this network, without traffic.
    pub fn draft(&self, notes: Vec<String>) -> Draft {
        let fabric = self.keys().unwrap_or_default();
        let queue = self.layers[0].queue.map(|_| {
            let queues = self.layered("queue", |l| l.queue.map(|q| q.to_string()).unwrap_or_default());
            (queues, "Queue_Down".to_owned())
        });
        Draft {
            title: format!("A Clos network of {} hosts from htsim", self.hosts()),
            about: vec![
                "Queues, packets and transport are on htsim's command line; here they are ours.".into(),
            ],
            fabric,
            queue,
            graph: self.graph(),
            failed: Vec::new(),
            packets: Packets::OURS,
            traffic: Traffic::Permutation,
            notes,
        }
    }
}
