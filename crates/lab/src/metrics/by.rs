//! The metrics of parts.

use indexmap::IndexMap;
use tresse_fabric::Locality;

use super::{By, of_flows, of_rtts, runs};
use crate::layers;
use crate::unit::{Flow, Outcome};

/// The distances between two hosts, the shortest first.
pub(crate) const DISTANCES: [Locality; 3] = [Locality::InnerRack, Locality::InterRack, Locality::InterPod];

/// The size classes of results: a name, the size that a flow must exceed, and the largest, bytes. Four that share
/// all flows out among them (OPN Table 2), and what the papers call short (OPN, THESIS) and huge (THESIS).
pub(crate) const SIZES: [(&str, u64, u64); 6] = [
    ("up to 10kB", 0, 10_000),
    ("10kB to 100kB", 10_000, 100_000),
    ("100kB to 1MB", 100_000, 1_000_000),
    ("above 1MB", 1_000_000, u64::MAX),
    ("up to 100kB", 0, 100_000),
    ("above 10MB", 10_000_000, u64::MAX),
];

/// The metrics of parts of the flows, and of the ports by layer. Parts without a flow are left out, and groups if all
/// flows are in one.
pub fn by(groups: &[String], outcomes: &[Outcome]) -> By {
    let in_class = |place: usize, f: &Flow| {
        let (_, above, most) = SIZES[place];
        f.begun.start.bytes.is_some_and(|bytes| above < bytes && bytes <= most)
    };
    let mut by = By::new();
    if groups.len() > 1 {
        let names = groups.iter().map(String::as_str);
        let mut parts = divide(names, outcomes, |place, f| f.begun.member.group == place);
        for (place, name) in groups.iter().enumerate() {
            let rtts = outcomes.iter().filter_map(|o| o.rtts.get(place));
            if let Some(metrics) = parts.get_mut(name) {
                metrics.extend(of_rtts(rtts));
            }
        }
        by.insert("group", parts);
    }
    let names = DISTANCES.into_iter().map(Locality::name);
    by.insert("distance", divide(names, outcomes, |place, f| f.locality == DISTANCES[place]));
    by.insert("size", divide(SIZES.into_iter().map(|(name, ..)| name), outcomes, in_class));
    by.insert("layer", layers::by(runs(outcomes)));
    by.retain(|_, parts| !parts.is_empty());
    by
}

/// The metrics of the flows of each of `names`; `belongs` says whether a flow is one of those at that place.
fn divide<'a>(
    names: impl Iterator<Item = &'a str>,
    outcomes: &[Outcome],
    belongs: impl Fn(usize, &Flow) -> bool,
) -> IndexMap<String, super::Metrics> {
    let flows = |place| -> Vec<&Flow> {
        outcomes.iter().flat_map(|o| &o.flows).filter(|f| belongs(place, f)).collect()
    };
    let parts = names.enumerate().map(|(place, name)| (name, flows(place)));
    let parts = parts.filter(|(_, flows)| !flows.is_empty());
    parts.map(|(name, flows)| (name.to_owned(), of_flows(&flows))).collect()
}
