//! Networks from files: node-link JSON as networkx writes it, and GraphML (`tresse explain file`).

mod attributes;
mod graphml;
mod json;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tresse_fabric::{Graph, GraphError, GraphPort, Loss, Node, NodeKind, PortConfig, Processing, Topology};
use tresse_units::{Probability, Queue};

use crate::diagnostic::{At, Diagnostic, Wrong, did_you_mean, wrong};
use crate::keys::fabric::{Fabric, Layered};
use crate::read::loaded::{Loaded, Source};
use attributes::{LinkAttributes, NodeAttributes};

/// A file, in a form common to both formats.
struct Document {
    /// Whether an edge is one direction of a link.
    directed: bool,
    nodes: Vec<(Id, Element)>,
    /// Edges, by the ids of their ends.
    edges: Vec<([Id; 2], Element)>,
}

/// The id of a node in a file.
#[derive(Debug, Clone)]
struct Id {
    /// As in the file: in JSON, 1 and "1" are two nodes.
    key: String,
    /// In readable form.
    shown: String,
    /// Its position, in bytes from the file's start.
    at: usize,
}

/// A node or an edge with its attributes.
struct Element {
    /// Where it begins, in bytes from the file's start.
    at: usize,
    attributes: Vec<Attribute>,
}

struct Attribute {
    name: String,
    /// Its value as text; none if it is not a plain value but, say, a list.
    value: Option<String>,
    /// Where the value is, in bytes from the file's start.
    at: usize,
}

/// Reads the file that `[fabric]` names, if it names one.
///
/// # Errors
/// The first error, with its location in that file or in the experiment's.
pub(crate) fn read(loaded: &mut Loaded) -> Result<(), Diagnostic> {
    let fabric = &loaded.experiment.fabric;
    let Some(file) = fabric.file() else { return Ok(()) };
    // Of an experiment that is no file, the folder is the one that we are in.
    let own = Path::new(&loaded.source.name);
    let path = if own.is_file() { own.with_file_name(file) } else { file.into() };
    let name = path.display().to_string();
    let text = loaded
        .files
        .read(&path)
        .map_err(|e| loaded.error_at(&["fabric", "file"], &format!("{name}: cannot be read: {e}")))?;
    match graph(&text, fabric) {
        Ok(graph) => loaded.experiment.fabric.graph = Some(Arc::new(graph)),
        Err(wrong) if matches!(wrong.at, At::Keys(_)) => return Err(loaded.error(wrong)),
        Err(wrong) => return Err(Source { name, text }.error(wrong)),
    }
    Ok(())
}

/// The graph that `text` describes, in either format; values that its links leave out come from `[fabric]`.
fn graph(text: &str, f: &Fabric) -> Result<Graph, Wrong> {
    let start = text.find(|c: char| !c.is_whitespace()).unwrap_or(0);
    let document = match text[start..].chars().next() {
        Some('{') => json::read(text)?,
        Some('<') => graphml::read(text)?,
        _ => {
            let message =
                "this is neither node-link JSON, as networkx's node_link_data writes it, nor GraphML";
            return Err(Wrong::offset(start, message.to_owned()));
        }
    };
    let mut places = BTreeMap::new();
    for (place, (id, _)) in document.nodes.iter().enumerate() {
        if places.insert(&*id.key, place).is_some() {
            return Err(Wrong::offset(id.at, format!("two nodes have the id `{}`", id.shown)));
        }
    }
    let place = |id: &Id| match places.get(&*id.key) {
        Some(&place) => Ok(place),
        None => {
            // What is as short as 2 is like everything.
            let known = document.nodes.iter().map(|(id, _)| &*id.shown).filter(|_| id.shown.len() > 2);
            let hint = did_you_mean(&id.shown, known);
            Err(Wrong::offset(id.at, format!("no node has the id `{}`{hint}", id.shown)))
        }
    };
    let mut ends = Vec::new();
    for (ids, _) in &document.edges {
        ends.push([place(&ids[0])?, place(&ids[1])?]);
    }
    let nodes = nodes(&document, &ends)?;
    let (layers, ports) = ports(&document, &ends, &nodes, f)?;
    let mut graph = Graph { nodes, layers, ports };
    let topology = graph.topology().map_err(|error| misread(&document, error))?;
    sort_layers(&mut graph, &topology);
    Ok(graph)
}

/// Ordered from the hosts up; layers at the same distance are in the order of the file.
fn sort_layers(graph: &mut Graph, topology: &Topology) {
    let heights = topology.heights();
    let mut lowest = vec![u32::MAX; graph.layers.len()];
    for (port, ends) in graph.ports.iter().zip(&topology.network.ends) {
        let lowest = &mut lowest[usize::from(port.layer)];
        *lowest = ends.iter().fold(*lowest, |least, &node| least.min(heights[node as usize]));
    }
    let mut order: Vec<usize> = (0..lowest.len()).collect();
    order.sort_by_key(|&layer| lowest[layer]);
    graph.layers = order.iter().map(|&layer| Arc::clone(&graph.layers[layer])).collect();
    let mut places = vec![0; order.len()];
    (0..).zip(order).for_each(|(place, layer)| places[layer] = place);
    graph.ports.iter_mut().for_each(|port| port.layer = places[usize::from(port.layer)]);
}

/// The hosts and switches. If no node says what it is, those with one neighbour are hosts.
fn nodes(document: &Document, ends: &[[usize; 2]]) -> Result<Vec<Node>, Wrong> {
    let mut neighbours = vec![Vec::new(); document.nodes.len()];
    for &[a, b] in ends {
        for [own, other] in [[a, b], [b, a]] {
            if !neighbours[own].contains(&other) && neighbours[own].len() < 2 {
                neighbours[own].push(other);
            }
        }
    }
    let read = |(id, element): &(Id, Element)| NodeAttributes::new(&id.shown, element);
    let all: Vec<NodeAttributes> = document.nodes.iter().map(read).collect::<Result<_, _>>()?;
    let some_say = all.iter().any(|a| a.is_host.is_some());
    let node = |(place, (id, element)): (usize, &(Id, Element))| {
        let NodeAttributes { is_host, name, rack, pod } = &all[place];
        let is_host = match is_host {
            Some(is_host) => *is_host,
            None if some_say => {
                let message = format!(
                    "the node `{}` has neither kind = \"host\" nor \"switch\", while others do: give all nodes a kind, \
                     or none",
                    id.shown
                );
                return Err(Wrong::offset(element.at, message));
            }
            None => neighbours[place].len() == 1,
        };
        let kind = if is_host { NodeKind::Host { rack: *rack, pod: *pod } } else { NodeKind::Switch };
        Ok(Node { name: name.clone().unwrap_or_else(|| id.shown.clone()), kind })
    };
    document.nodes.iter().enumerate().map(node).collect()
}

/// The layers, in order of appearance, and the ports: one for each edge of a directed graph, otherwise two.
fn ports(
    document: &Document,
    ends: &[[usize; 2]],
    nodes: &[Node],
    f: &Fabric,
) -> Result<(Vec<Arc<str>>, Vec<GraphPort>), Wrong> {
    let (mut layers, mut ports) = (Vec::<Arc<str>>::new(), Vec::new());
    for (&[from, to], (_, element)) in ends.iter().zip(&document.edges) {
        let own = LinkAttributes::new([&*nodes[from].name, &*nodes[to].name], element)?;
        let name = own.layer.as_deref().unwrap_or("link");
        let layer = layers.iter().position(|l| **l == *name).unwrap_or_else(|| {
            layers.push(name.into());
            layers.len() - 1
        });
        let layer = u8::try_from(layer).map_err(|_| own.wrong("more than 256 layers"))?;
        let missing = |key: &str, example: &str| {
            own.wrong(&format!(
                "no {key}: add an attribute `{key}` such as \"{example}\", or `{key}` in [fabric]"
            ))
        };
        let rate = own.rate.or_else(|| of(&f.rate, name)).ok_or_else(|| missing("rate", "10Gbps"))?;
        let delay = own.delay.or_else(|| of(&f.delay, name)).ok_or_else(|| missing("delay", "20us"))?;
        let loss = own.loss.or_else(|| f.loss.of(name)).unwrap_or(Probability::ZERO);
        let both = [[from, to], [to, from]];
        for ends in &both[..if document.directed { 1 } else { 2 }] {
            // An edge of an undirected graph speaks of its switches' ports.
            let is_nic = nodes[ends[0]].kind != NodeKind::Switch;
            let speaks = document.directed || !is_nic;
            let queue = own.queue.filter(|_| speaks);
            let limit = match (queue, is_nic) {
                (Some(queue), _) => queue,
                (None, true) => f.host_queue,
                (None, false) => of(&f.queue, name).ok_or_else(|| missing("queue", "100pkt"))?,
            };
            let usual = if is_nic { f.host_mark } else { f.mark.of(name).unwrap_or(Queue::Unlimited) };
            let mark = own.mark.filter(|_| speaks).unwrap_or(usual);
            let config = PortConfig {
                rate: rate.0,
                delay: delay.0,
                limit: limit.into(),
                mark: mark.into(),
                non_ect: f.non_ect.into(),
                drop_until: None,
                processing: Processing::NONE,
                red: None,
                loss: Loss::new(loss.into(), 0, 0),
            };
            ports.push(GraphPort { ends: *ends, layer, config });
        }
    }
    check_keys(f, &layers)?;
    Ok((layers, ports))
}

/// The values of `[fabric]` for a layer.
fn of<T: Copy>(layered: &Option<Layered<T>>, layer: &str) -> Option<T> {
    layered.as_ref().and_then(|l| l.of(layer))
}

/// Values of `[fabric]` by layer must name existing layers, but need not name all of them.
fn check_keys(f: &Fabric, layers: &[Arc<str>]) -> Result<(), Wrong> {
    fn check<T: Copy>(key: &str, value: Option<&Layered<T>>, layers: &[Arc<str>]) -> Result<(), Wrong> {
        value.map_or(Ok(()), |v| v.known(layers).map_err(|e| wrong(key, e)))
    }
    check("rate", f.rate.as_ref(), layers)?;
    check("delay", f.delay.as_ref(), layers)?;
    check("queue", f.queue.as_ref(), layers)?;
    check("mark", Some(&f.mark), layers)?;
    check("loss", Some(&f.loss), layers)
}

/// The location in the file at which a graph is not a network.
fn misread(document: &Document, error: GraphError) -> Wrong {
    let edge = |port: usize| document.edges[if document.directed { port } else { port / 2 }].1.at;
    let at = match error {
        GraphError::NoNode { port }
        | GraphError::Loop { port, .. }
        | GraphError::OneWay { port, .. }
        | GraphError::Layers { port, .. } => edge(port),
        GraphError::Twice { node, .. }
        | GraphError::Racks { node, .. }
        | GraphError::NoLink { node, .. }
        | GraphError::Unreachable { node, .. } => document.nodes[node].1.at,
        GraphError::Hosts { .. } | GraphError::Ports { .. } => 0,
    };
    let mend = match error {
        GraphError::OneWay { .. } => ": a link of a directed graph is two edges, one for each direction",
        GraphError::Hosts { .. } => {
            ": hosts are nodes with kind = \"host\" or, if no node has a `kind`, those with one neighbour"
        }
        _ => "",
    };
    Wrong::offset(at, format!("{error}{mend}"))
}
