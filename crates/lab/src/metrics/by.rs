//! The metrics of parts.

use indexmap::IndexMap;
use tresse_fabric::Locality;

use super::{By, of_flows, of_rtts, runs};
use crate::layers;
use crate::unit::{Flow, Outcome};

/// The distances between two hosts, the shortest first.
pub(crate) const DISTANCES: [Locality; 3] = [Locality::InnerRack, Locality::InterRack, Locality::InterPod];

/// The size classes of results, by their largest size, bytes.
pub(crate) const SIZES: [(&str, u64); 4] = [
    ("up to 10kB", 10_000),
    ("10kB to 100kB", 100_000),
    ("100kB to 1MB", 1_000_000),
    ("above 1MB", u64::MAX),
];

/// The metrics of parts of the flows, and of the ports by layer. Parts without a flow are left out, and groups if all
/// flows are in one.
pub fn by(groups: &[String], outcomes: &[Outcome]) -> By {
    let size = |f: &Flow| {
        let bytes = f.begun.start.bytes?;
        SIZES.iter().position(|(_, most)| bytes <= *most)
    };
    let mut by = By::new();
    if groups.len() > 1 {
        let names = groups.iter().map(String::as_str);
        let mut parts = divide(names, outcomes, |f| Some(f.begun.member.group));
        for (place, name) in groups.iter().enumerate() {
            let rtts = outcomes.iter().filter_map(|o| o.rtts.get(place));
            if let Some(metrics) = parts.get_mut(name) {
                metrics.extend(of_rtts(rtts));
            }
        }
        by.insert("group", parts);
    }
    let names = DISTANCES.into_iter().map(Locality::name);
    by.insert("distance", divide(names, outcomes, |f| DISTANCES.iter().position(|d| *d == f.locality)));
    by.insert("size", divide(SIZES.into_iter().map(|(name, _)| name), outcomes, size));
    by.insert("layer", layers::by(runs(outcomes)));
    by.retain(|_, parts| !parts.is_empty());
    by
}

/// The metrics of the flows at each place of `names`; `place` has that of a flow, if it has one.
fn divide<'a>(
    names: impl Iterator<Item = &'a str>,
    outcomes: &[Outcome],
    place: impl Fn(&Flow) -> Option<usize>,
) -> IndexMap<String, super::Metrics> {
    let mut parts: Vec<(&str, Vec<&Flow>)> = names.map(|name| (name, Vec::new())).collect();
    for flow in outcomes.iter().flat_map(|o| &o.flows) {
        if let Some(place) = place(flow) {
            parts[place].1.push(flow);
        }
    }
    let parts = parts.into_iter().filter(|(_, flows)| !flows.is_empty());
    parts.map(|(name, flows)| (name.to_owned(), of_flows(&flows))).collect()
}
