//! Pairs of nodes that a file lists more than once: parallel links, or one link said twice.

use std::collections::BTreeMap;

use super::attributes::{LinkAttributes, several};
use super::{Document, Id};
use crate::diagnostic::Wrong;

/// By edge, whether it is kept; and a note on what was decided.
///
/// A multigraph says that its edges are parallel links; a file that says that it is none has one link a pair, as in
/// networkx. If the file says neither, a pair of an undirected graph that is listed as often in one direction as in the
/// other is listed in both directions; otherwise its edges are parallel.
///
/// # Errors
/// If what would be one link has different values.
pub fn kept(
    document: &Document,
    ends: &[[usize; 2]],
    own: &[LinkAttributes],
) -> Result<(Vec<bool>, Option<String>), Wrong> {
    let mut kept = vec![true; ends.len()];
    if document.multigraph == Some(true) {
        return Ok((kept, None));
    }
    let mut pairs: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for (edge, &[a, b]) in ends.iter().enumerate() {
        let pair = if document.directed { [a, b] } else { [a.min(b), a.max(b)] };
        pairs.entry(pair).or_default().push(edge);
    }
    pairs.retain(|_, edges| edges.len() > 1);
    let (mut merged, mut parallel) = (Vec::new(), Vec::new());
    for edges in pairs.values() {
        let (there, back): (Vec<usize>, Vec<usize>) = edges.iter().partition(|&&e| ends[e] == ends[edges[0]]);
        let (stay, go) = match document.multigraph {
            Some(_) => (vec![edges[0]; edges.len() - 1], edges[1..].to_vec()),
            None if !document.directed && there.len() == back.len() => (there, back),
            None => {
                parallel.push(edges[0]);
                continue;
            }
        };
        for (&one, &other) in stay.iter().zip(&go) {
            if own[one].values != own[other].values {
                return Err(own[other].wrong(
                    "it is listed twice, with different values: a graph whose links differ by direction is directed, \
                     one with parallel links is a multigraph",
                ));
            }
            kept[other] = false;
        }
        merged.push(edges[0]);
    }
    Ok((kept, note(document, &merged, &parallel)))
}

fn note(document: &Document, merged: &[usize], parallel: &[usize]) -> Option<String> {
    let name = |edge: usize| {
        let [Id { shown: from, .. }, Id { shown: to, .. }] = &document.edges[edge].0;
        format!("`{from}` and `{to}`")
    };
    let say = |edges: &[usize], what: &str| {
        let first = name(*edges.first()?);
        Some(format!("{} of nodes {what} (the first: {first})", several(edges.len(), "pair")))
    };
    let merged = say(merged, "listed more than once: one link each");
    let parallel = say(
        parallel,
        "with several links: they are parallel links, each with its own rate; `\"multigraph\": false` makes them one",
    );
    match (merged, parallel) {
        (Some(merged), Some(parallel)) => Some(format!("{merged}; {parallel}")),
        (merged, parallel) => merged.or(parallel),
    }
}
