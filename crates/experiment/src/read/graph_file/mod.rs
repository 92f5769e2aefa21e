//! Networks from files: node-link JSON as networkx writes it, and GraphML (`tresse explain file`).

mod attributes;
mod foreign;
mod graphml;
mod json;
mod parallel;

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_fabric::{
    Graph, GraphError, GraphPort, Loss, Node, NodeKind, NonEct, PortConfig, Processing, Threshold, Topology,
};
use tresse_units::{Mark, Probability};

use crate::diagnostic::{Diagnostic, Location, Wrong, did_you_mean, wrong};
use crate::read::files::beside;
use crate::read::loaded::{Loaded, Source};
use crate::schema::fabric::{Fabric, Layered};
use attributes::{Heard, LinkAttributes, LinkValues, NodeAttributes};

/// A file, in a form common to both formats.
struct Document {
    /// Whether an edge is one direction of a link.
    directed: bool,
    /// Whether a pair of nodes may have several links, if the file says so.
    multigraph: Option<bool>,
    /// What is in the file beside nodes and edges, and is not read.
    ignored: Vec<String>,
    nodes: Vec<(Id, Element)>,
    /// Edges, by the ids of their ends.
    edges: Vec<([Id; 2], Element)>,
}

impl Document {
    /// Edges with a `key` are those of a multigraph: networkx numbers parallel links with it.
    fn has_keys(&self) -> Option<bool> {
        let has_key = |element: &Element| element.attributes.iter().any(|a| a.name == "key");
        self.edges.iter().any(|(_, element)| has_key(element)).then_some(true)
    }
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
    let path = beside(&loaded.source.name, file);
    let name = path.display().to_string();
    let text = loaded
        .files
        .read(&path)
        .map_err(|e| loaded.error_at(&["fabric", "file"], &format!("{name}: cannot be read: {e}")))?;
    match graph(&text, Some(fabric)) {
        Ok((graph, notes)) => {
            notes.iter().for_each(|note| loaded.files.note(&path, note));
            loaded.experiment.fabric.graph = Some(Arc::new(graph));
        }
        Err(wrong) if matches!(wrong.at, Location::Keys(_)) => return Err(loaded.error(wrong)),
        Err(wrong) => return Err(Source { name, text }.error(wrong, &loaded.meaning)),
    }
    Ok(())
}

/// The nodes of the network that `text` describes, and its links with their layers. The ports have no values.
///
/// # Errors
/// The first error, with its location in the text.
pub(crate) fn layout(text: &str) -> Result<Graph, Wrong> {
    graph(text, None).map(|(graph, _)| graph)
}

/// The graph that `text` describes, in either format, with notes on what is not read as it is written; values that its
/// links leave out come from `[fabric]`. Without `[fabric]` they have none.
fn graph(text: &str, f: Option<&Fabric>) -> Result<(Graph, Vec<String>), Wrong> {
    let start = text.find(|c: char| !c.is_whitespace()).unwrap_or(0);
    let mut document = match text[start..].chars().next() {
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
            let mut hint = did_you_mean(&id.shown, known);
            if id.shown.parse().is_ok_and(|place: usize| place < document.nodes.len()) {
                hint += "; are links' ends places in the list of nodes, as d3 wrote them? Here they are ids";
            }
            Err(Wrong::offset(id.at, format!("no node has the id `{}`{hint}", id.shown)))
        }
    };
    let mut ends = Vec::new();
    for (ids, element) in &document.edges {
        let pair = [place(&ids[0])?, place(&ids[1])?];
        if pair[0] == pair[1] {
            // Before hosts are told by their number of neighbours.
            return Err(Wrong::offset(element.at, format!("a link from `{}` to itself", ids[0].shown)));
        }
        ends.push(pair);
    }
    let mut heard = Heard::default();
    let nodes = nodes(&document, &ends, &mut heard)?;
    let own = |(&[from, to], (_, element)): (&[usize; 2], &([Id; 2], Element))| {
        LinkAttributes::new([&*nodes[from].name, &*nodes[to].name], element, &mut heard)
    };
    let mut own: Vec<LinkAttributes> = ends.iter().zip(&document.edges).map(own).collect::<Result<_, _>>()?;
    let mut notes = heard.notes(ends.len());
    let (kept, twice) = parallel::kept(&document, &ends, &own)?;
    notes.extend(twice);
    if !document.ignored.is_empty() {
        notes.push(format!("not read: {}", document.ignored.join(", ")));
    }
    keep(&mut ends, &kept);
    keep(&mut own, &kept);
    keep(&mut document.edges, &kept);
    let (layers, ports) = ports(document.directed, &ends, &own, &nodes, f)?;
    let mut graph = Graph { nodes, layers, ports };
    let topology = graph.topology().map_err(|error| misread(&document, error))?;
    sort_layers(&mut graph, &topology);
    Ok((graph, notes))
}

fn keep<T>(all: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    all.retain(|_| kept.next() == Some(&true));
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
fn nodes(document: &Document, ends: &[[usize; 2]], heard: &mut Heard) -> Result<Vec<Node>, Wrong> {
    let mut neighbours = vec![Vec::new(); document.nodes.len()];
    for &[a, b] in ends {
        for [own, other] in [[a, b], [b, a]] {
            if !neighbours[own].contains(&other) && neighbours[own].len() < 2 {
                neighbours[own].push(other);
            }
        }
    }
    let mut all = Vec::with_capacity(document.nodes.len());
    for (id, element) in &document.nodes {
        all.push((id.shown.clone(), NodeAttributes::new(&id.shown, element, heard)?));
    }
    NodeAttributes::check_labels(&all, heard)?;
    let some_say = all.iter().any(|(_, a)| a.is_host.is_some());
    let node = |(place, (id, element)): (usize, &(Id, Element))| {
        let NodeAttributes { is_host, name, rack, pod, .. } = &all[place].1;
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
    directed: bool,
    ends: &[[usize; 2]],
    links: &[LinkAttributes],
    nodes: &[Node],
    f: Option<&Fabric>,
) -> Result<(Vec<Arc<str>>, Vec<GraphPort>), Wrong> {
    let (mut layers, mut ports) = (Vec::<Arc<str>>::new(), Vec::new());
    for (&[from, to], own) in ends.iter().zip(links) {
        let name = own.values.layer.as_deref().unwrap_or("link");
        let layer = layers.iter().position(|l| **l == *name).unwrap_or_else(|| {
            layers.push(name.into());
            layers.len() - 1
        });
        let layer = u8::try_from(layer).map_err(|_| own.wrong("more than 256 layers"))?;
        let both = [[from, to], [to, from]];
        for ends in &both[..if directed { 1 } else { 2 }] {
            // An edge of an undirected graph speaks of its switches' ports.
            let is_nic = nodes[ends[0]].kind != NodeKind::Switch;
            let config = f.map_or(Ok(PLAIN), |f| config(own, name, is_nic, directed || !is_nic, f))?;
            ports.push(GraphPort { ends: *ends, layer, config });
        }
    }
    f.map_or(Ok(()), |f| check_keys(f, &layers))?;
    Ok((layers, ports))
}

/// A port without values.
const PLAIN: PortConfig = PortConfig {
    rate: 1,
    delay: 0,
    limit: Threshold::UNLIMITED,
    mark: Threshold::UNLIMITED,
    non_ect: NonEct::Queue,
    drop_until: None,
    processing: Processing::NONE,
    red: None,
    loss: Loss::NONE,
};

/// A port of a link in `layer`: a host's or a switch's. `speaks`: queue and threshold of the link are the port's.
fn config(
    own: &LinkAttributes,
    layer: &str,
    is_nic: bool,
    speaks: bool,
    f: &Fabric,
) -> Result<PortConfig, Wrong> {
    let LinkValues { rate, delay, queue, mark, loss, .. } = &own.values;
    let missing = |key: &str, example: &str| {
        own.wrong(&format!(
            "no {key}: add an attribute `{key}` such as \"{example}\", or `{key}` in [fabric]"
        ))
    };
    let rate = rate.or_else(|| of(&f.rate, layer)).ok_or_else(|| missing("rate", "10Gbps"))?;
    let delay = delay.or_else(|| of(&f.delay, layer)).ok_or_else(|| missing("delay", "20us"))?;
    let loss = loss.or_else(|| f.loss.of(layer)).unwrap_or(Probability::ZERO);
    let limit = match (queue.filter(|_| speaks), is_nic) {
        (Some(queue), _) => queue,
        (None, true) => f.host_limit(),
        (None, false) => of(&f.queue, layer).ok_or_else(|| missing("queue", "100pkt"))?,
    };
    let usual = if is_nic { f.host_mark } else { f.mark.of(layer).unwrap_or(Mark::UNLIMITED) };
    let mark = mark.filter(|_| speaks).unwrap_or(usual.length());
    Ok(PortConfig {
        rate: rate.0,
        delay: delay.0,
        limit: limit.into(),
        mark: mark.into(),
        non_ect: f.non_ect.into(),
        loss: Loss::new(loss.into(), 0, 0),
        ..PLAIN
    })
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
