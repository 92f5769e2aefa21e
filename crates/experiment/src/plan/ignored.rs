//! Which keys make no difference to a case.

use std::collections::BTreeMap;

use indexmap::{IndexMap, IndexSet};
use tresse_fabric::NonEct;

use crate::plan::{Case, Plan};

/// Why a value makes no difference to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// It belongs to another workload.
    OtherWorkload,
    /// It belongs to a scheme that carries none of its flows.
    OtherScheme,
    /// It is a threshold for marks, and none of its packets can be marked.
    Unmarkable,
}

impl Ignored {
    /// In words, about the key.
    pub fn why(self) -> &'static str {
        match self {
            Self::OtherWorkload => "of another workload",
            Self::OtherScheme => "of another scheme",
            Self::Unmarkable => "no packet can be marked",
        }
    }
}

/// Keys of a scheme that reach others: the sizes of packets, which thresholds and workloads are counted in.
const OF_ALL: [&str; 3] = ["mss", "header", "profile"];

impl Case {
    /// Why the value at `path`, such as `schemes.xmp.parameters.beta`, makes no difference to it; `None` if it may make
    /// one.
    pub fn ignores(&self, path: &str) -> Option<Ignored> {
        let keys: Vec<&str> = path.split('.').collect();
        match &keys[..] {
            ["schemes", .., last] if OF_ALL.contains(last) => None,
            ["fabric", "mark" | "host_mark", ..] => (!self.has_marks()).then_some(Ignored::Unmarkable),
            _ => self.is_of_another(&keys),
        }
    }

    /// Whether a key is of another workload, or of a scheme that carries none of its flows.
    pub(super) fn is_of_another(&self, keys: &[&str]) -> Option<Ignored> {
        match keys {
            ["workloads", name, ..] if *name != self.pattern => Some(Ignored::OtherWorkload),
            ["schemes", name, ..] if self.bound_schemes.iter().all(|bound| bound.scheme != *name) => {
                Some(Ignored::OtherScheme)
            }
            _ => None,
        }
    }

    /// Whether a threshold for marks can act: it marks ECN-capable packets, and may drop others.
    fn has_marks(&self) -> bool {
        let is_capable = self.bound_schemes.iter().any(|own| own.transport.ecn || own.transport.ect_acks);
        is_capable || self.setting.fabric.configs.iter().any(|port| port.non_ect == NonEct::Drop)
    }
}

impl Plan {
    /// For each case, the first one with its results: an earlier one if they differ only in values that make no difference
    /// to either, otherwise itself.
    pub fn same(&self) -> Vec<usize> {
        let mut first = BTreeMap::new();
        let of = |(place, case): (usize, &Case)| *first.entry(case.seen()).or_insert(place);
        self.cases.iter().enumerate().map(of).collect()
    }

    /// A sentence for each key whose values some cases share their results for.
    pub fn shared(&self) -> Vec<String> {
        let mut shared: IndexMap<(&str, Ignored), IndexSet<String>> = IndexMap::new();
        for (place, case) in self.same().into_iter().zip(&self.cases) {
            let first = &self.cases[place];
            for (own, _) in case.at.iter().zip(&first.at).filter(|(own, other)| own != other) {
                let Some(why) = case.ignores(&own.path) else { continue };
                shared.entry((&*own.name, why)).or_default().insert(case.scheme_label());
            }
        }
        let told = |((key, why), schemes): ((&str, Ignored), IndexSet<String>)| {
            let schemes: Vec<&str> = schemes.iter().map(String::as_str).collect();
            format!("computed once for all values of {key}, since {}: {}", why.why(), schemes.join(", "))
        };
        shared.into_iter().map(told).collect()
    }
}

impl Case {
    /// What distinguishes it from cases with other results.
    fn seen(&self) -> String {
        let own = format!("{:?}", (&self.scheme, self.subflows, &self.pattern, &self.variant));
        let at = self.at.iter().filter(|value| self.ignores(&value.path).is_none());
        at.fold(own, |all, value| format!("{all} {}={}", value.path, value.value))
    }
}
