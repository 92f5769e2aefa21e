//! GraphML (Brandes et al., GD 2001), as networkx, yEd and others write it.

use std::collections::BTreeMap;

use roxmltree::{Document as Xml, Node, ParsingOptions};

use super::{Attribute, Document, Element, Id};
use crate::diagnostic::Wrong;

/// What a `<key>` declares.
struct Key<'a> {
    name: &'a str,
    default: Option<String>,
    at: usize,
}

/// Reads GraphML.
pub fn read(text: &str) -> Result<Document, Wrong> {
    check_doctype(text)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let xml = Xml::parse_with_options(text, options).map_err(|e| {
        let place = e.pos();
        let before = text.split_inclusive('\n').take(place.row as usize - 1).map(str::len).sum::<usize>();
        let message = e.to_string();
        Wrong::offset(before + place.col as usize - 1, message.split(" at ").next().unwrap_or("").to_owned())
    })?;
    let root = xml.root_element();
    if root.tag_name().name() != "graphml" {
        let message = format!("<{}> is not GraphML: expected <graphml>", root.tag_name().name());
        return Err(Wrong::offset(root.range().start, message));
    }
    let mut graphs = children(root, "graph");
    let graph = graphs.next().ok_or_else(|| Wrong::offset(root.range().start, "no <graph>".to_owned()))?;
    if let Some(second) = graphs.next() {
        return Err(Wrong::offset(
            second.range().start,
            "a second <graph>: a network has only one".to_owned(),
        ));
    }
    let directed = match graph.attribute("edgedefault") {
        Some("directed") => true,
        Some("undirected") => false,
        _ => {
            let message = "expected edgedefault = \"directed\" or \"undirected\"";
            return Err(Wrong::offset(graph.range().start, message.to_owned()));
        }
    };
    if let Some(edge) = children(graph, "hyperedge").next() {
        let message =
            "a <hyperedge>, which no link of two nodes is: write a node and an <edge> to each of its ends";
        return Err(Wrong::offset(edge.range().start, message.to_owned()));
    }
    let (nodes, edges) = (Vec::new(), Vec::new());
    let mut document = Document { directed, multigraph: None, ignored: Vec::new(), nodes, edges };
    let keys = keys(root, "node")?;
    for node in children(graph, "node") {
        if let Some(nested) = children(node, "graph").next() {
            return Err(Wrong::offset(
                nested.range().start,
                "a <graph> in a node: a network is flat".to_owned(),
            ));
        }
        document.nodes.push((id(node, "id")?, element(node, &keys)?));
    }
    let keys = self::keys(root, "edge")?;
    for edge in children(graph, "edge") {
        let own = edge.attribute("directed").map(|text| text == "true");
        if own.is_some_and(|own| own != directed) {
            let message = "some edges are directed and others are not: make all of them directed, or none";
            return Err(Wrong::offset(edge.range().start, message.to_owned()));
        }
        document.edges.push(([id(edge, "source")?, id(edge, "target")?], element(edge, &keys)?));
    }
    document.multigraph = document.has_keys();
    Ok(document)
}

/// A DOCTYPE that only names GraphML's own definition says nothing; one that declares entities or default values
/// would change what follows.
///
/// # Errors
/// If it declares something.
fn check_doctype(text: &str) -> Result<(), Wrong> {
    let Some(start) = text.find("<!DOCTYPE") else { return Ok(()) };
    let end = text[start..].find(['[', '>']).map(|at| start + at);
    match end {
        Some(end) if text[end..].starts_with('[') => {
            let message = "this DOCTYPE declares entities or default values, which are not read: delete it, and write \
                           out what it declares";
            Err(Wrong::offset(start, message.to_owned()))
        }
        _ => Ok(()),
    }
}

fn children<'a, 'x>(node: Node<'a, 'x>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'x>> {
    node.children().filter(move |child| child.tag_name().name() == tag)
}

/// The keys for nodes or edges, by id.
fn keys<'a>(root: Node<'a, '_>, of: &str) -> Result<BTreeMap<&'a str, Key<'a>>, Wrong> {
    let mut keys = BTreeMap::new();
    for key in children(root, "key") {
        let at = key.range().start;
        let id = key.attribute("id").ok_or_else(|| Wrong::offset(at, "a <key> without `id`".to_owned()))?;
        // Without `attr.name` it is a drawing program's own.
        let name = key.attribute("attr.name").unwrap_or("");
        if [of, "all"].contains(&key.attribute("for").unwrap_or("all")) {
            let default = children(key, "default").next().and_then(|d| d.text());
            keys.insert(id, Key { name, default: default.map(|text| text.trim().to_owned()), at });
        }
    }
    Ok(keys)
}

fn id(node: Node, attribute: &str) -> Result<Id, Wrong> {
    let start = node.range().start;
    let missing = || Wrong::offset(start, format!("a <{}> without `{attribute}`", node.tag_name().name()));
    let found = node.attribute_node(attribute).ok_or_else(missing)?;
    let text = found.value().to_owned();
    Ok(Id { key: text.clone(), shown: text, at: found.range().start })
}

/// A node or an edge with its data, and defaults for missing data.
fn element(node: Node, keys: &BTreeMap<&str, Key>) -> Result<Element, Wrong> {
    let mut attributes = Vec::new();
    let mut said = Vec::new();
    for data in children(node, "data") {
        let at = data.range().start;
        let key = data.attribute("key").unwrap_or("");
        let tag = node.tag_name().name();
        let Some(declared) = keys.get(key) else {
            return Err(Wrong::offset(
                at,
                format!("there is no <key> for data of a {tag} with the id `{key}`"),
            ));
        };
        said.push(key);
        let is_text = !data.has_children() || data.children().all(|child| child.is_text());
        let value = is_text.then(|| data.text().unwrap_or("").trim().to_owned());
        attributes.push(Attribute { name: declared.name.to_owned(), value, at });
    }
    for (_, key) in keys.iter().filter(|(id, _)| !said.contains(id)) {
        if let Some(default) = &key.default {
            attributes.push(Attribute {
                name: key.name.to_owned(),
                value: Some(default.clone()),
                at: key.at,
            });
        }
    }
    Ok(Element { at: node.range().start, attributes })
}
