//! The metrics of parts.

use indexmap::IndexMap;
use tresse_experiment::plan::Case;
use tresse_experiment::schema::metrics::{DISTANCES, SIZES};
use tresse_experiment::schema::slice::Slice;
use tresse_fabric::Locality;

use crate::metric::flows::FlowSums;
use crate::metric::{of_rtts, runs};
use crate::observe::queues;
use tresse_results::record::flow::Flow;
use tresse_results::record::metric::{By, NamedMetrics};
use tresse_results::record::outcome::Outcome;

/// The metrics of parts of the flows, and of the ports by layer. Parts without a flow are left out, and groups if all
/// flows are in one.
pub fn by(groups: &[String], outcomes: &[&Outcome]) -> By {
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
    by.insert("layer", queues::by(runs(outcomes)));
    by.retain(|_, parts| !parts.is_empty());
    by
}

/// The metrics of the flows of each slice of `case`; slices without a flow are left out.
pub fn slices<'a>(case: &'a Case, outcomes: &[&Outcome]) -> IndexMap<&'a str, NamedMetrics> {
    let of_slice = |slice: &Slice| -> FlowSums {
        let has = in_slice(slice, case);
        let mut sums = FlowSums::new();
        outcomes.iter().flat_map(|o| &o.flows).filter(|flow| has(flow)).for_each(|flow| sums.add(&flow));
        sums
    };
    let all = case.setting.slices.iter().map(|(name, slice)| (name.as_str(), of_slice(slice)));
    all.filter(|(_, sums)| !sums.is_empty()).map(|(name, sums)| (name, sums.metrics())).collect()
}

/// Whether a flow of `case` belongs to a slice.
pub fn in_slice<'a>(slice: &'a Slice, case: &Case) -> impl Fn(&Flow) -> bool + use<'a> {
    let group = slice.group.as_ref().map(|own| case.groups.iter().position(|name| name == own));
    move |f| {
        group.is_none_or(|own| own == Some(f.begun.member.group))
            && slice.size.is_none_or(|own| f.begun.start.bytes.is_some_and(|bytes| own.has(bytes)))
            && slice.starts.is_none_or(|[from, to]| (from.0..to.0).contains(&f.record.start))
            && slice.distance.as_ref().is_none_or(|own| *own == f.locality.name())
    }
}

/// The metrics of the flows of each of `names`; `belongs` says whether a flow belongs to the name with that index.
fn divide<'a>(
    names: impl Iterator<Item = &'a str>,
    outcomes: &[&Outcome],
    belongs: impl Fn(usize, &Flow) -> bool,
) -> IndexMap<String, NamedMetrics> {
    let mut parts: Vec<(&str, FlowSums)> = names.map(|name| (name, FlowSums::new())).collect();
    for flow in outcomes.iter().flat_map(|o| &o.flows) {
        let own = parts.iter_mut().enumerate().filter(|(place, _)| belongs(*place, &flow));
        own.for_each(|(_, (_, sums))| sums.add(&flow));
    }
    let parts = parts.into_iter().filter(|(_, sums)| !sums.is_empty());
    parts.map(|(name, sums)| (name.to_owned(), sums.metrics())).collect()
}
