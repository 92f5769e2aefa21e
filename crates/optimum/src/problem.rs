//! The statement of a network-utility problem: links, flows with their paths, utilities and limits.

use std::collections::BTreeSet;

use crate::utility::Utility;

/// A link in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The name in messages and results.
    pub name: String,
    /// The most that may flow over it, above 0, in the problem's unit of rate.
    pub capacity: f64,
}

/// A path of a flow: the subflow that takes it has one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Its links, indices into [`Problem::links`]; at least one, none twice.
    pub links: Vec<usize>,
    /// γ of THESIS (3.4) if the flow's utility is pooled, ω of (3.11) if it is not; above 0.
    pub coefficient: f64,
    /// The utility of this path's rate, if it is not the flow's: if paths count separately and their RTTs
    /// differ, Reno's μ differs too (THESIS (3.12)). A pooled flow has one utility.
    pub utility: Option<Utility>,
}

/// How the rates of a flow's paths determine its utility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pooling {
    /// U(Σ γ_j x_j): the paths are one resource (THESIS (3.4), XMP (5)).
    Pooled,
    /// Σ ω_j U(x_j): every path counts separately (THESIS (3.11)).
    Separate,
}

/// Whose rate a flow's minimum and maximum bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounded {
    /// The flow's, Σ x_j (THESIS (2.11)).
    Total,
    /// Each path's: the bounds of a controller that does not look at its siblings.
    EachPath,
}

/// A flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The name in messages.
    pub name: String,
    /// Its paths, at least one.
    pub paths: Vec<Path>,
    /// The utility of its rate, or of each path's.
    pub utility: Utility,
    /// How the paths' rates are combined.
    pub pooling: Pooling,
    /// w of THESIS (2.5): the factor of the whole utility, above 0.
    pub weight: f64,
    /// θ of THESIS (2.11): the minimum rate, 0 or more.
    pub min_rate: f64,
    /// Θ of THESIS (2.11): the largest rate, `f64::INFINITY` for none. An application's limit counts as one.
    pub max_rate: f64,
    /// Whose rate the two bound.
    pub bounded: Bounded,
}

impl Flow {
    /// A pooled flow over `paths` (each a list of links) with weight 1, coefficients 1 and no limits.
    pub fn new(
        name: impl Into<String>,
        utility: Utility,
        paths: impl IntoIterator<Item = Vec<usize>>,
    ) -> Self {
        Self {
            name: name.into(),
            paths: paths.into_iter().map(|links| Path { links, coefficient: 1.0, utility: None }).collect(),
            utility,
            pooling: Pooling::Pooled,
            weight: 1.0,
            min_rate: 0.0,
            max_rate: f64::INFINITY,
            bounded: Bounded::Total,
        }
    }

    /// The same flow, of whose paths an application fills at most `rate` together; `None` if each path has bounds of its
    /// own.
    pub fn limited(self, rate: f64) -> Option<Self> {
        let free = self.min_rate == 0.0 && self.max_rate == f64::INFINITY;
        (free || self.bounded == Bounded::Total).then(|| Self {
            min_rate: self.min_rate.min(rate),
            max_rate: self.max_rate.min(rate),
            bounded: Bounded::Total,
            ..self
        })
    }

    /// The rates that the limits bound, for rates by path.
    pub(crate) fn bounded_rates(&self, rates: &[f64]) -> Vec<f64> {
        match self.bounded {
            Bounded::Total => vec![rates.iter().sum()],
            Bounded::EachPath => rates.to_vec(),
        }
    }

    /// The utility that applies to a path's rate, alone or pooled.
    pub(crate) fn utility_of(&self, path: &Path) -> Utility {
        path.utility.unwrap_or(self.utility)
    }
}

/// The problem: maximise the flows' utilities over the rates of their paths, with no link above its capacity
/// and every flow, or each of its paths, between its minimum and its maximum rate.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Problem {
    /// The links.
    pub links: Vec<Link>,
    /// The flows.
    pub flows: Vec<Flow>,
}

/// An error in a problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// A link's capacity is not a number above 0.
    #[error("link `{link}`: the capacity {capacity} is not a number above 0")]
    Capacity {
        /// The link.
        link: String,
        /// Its capacity.
        capacity: f64,
    },
    /// An error in a flow.
    #[error("flow `{flow}`: {fault}")]
    Flow {
        /// The flow.
        flow: String,
        /// What it is.
        fault: String,
    },
}

impl Problem {
    /// Adds a link and returns its index.
    pub fn link(&mut self, name: impl Into<String>, capacity: f64) -> usize {
        self.links.push(Link { name: name.into(), capacity });
        self.links.len() - 1
    }

    /// Checks each part of it on its own. Whether the minimum rates fit the links is determined by solving
    /// it.
    ///
    /// # Errors
    /// The first link or flow that is invalid.
    pub fn check(&self) -> Result<(), ProblemError> {
        for link in &self.links {
            if !is_positive(link.capacity) {
                return Err(ProblemError::Capacity { link: link.name.clone(), capacity: link.capacity });
            }
        }
        for flow in &self.flows {
            if let Some(fault) = self.fault(flow) {
                return Err(ProblemError::Flow { flow: flow.name.clone(), fault });
            }
        }
        Ok(())
    }

    fn fault(&self, flow: &Flow) -> Option<String> {
        if flow.paths.is_empty() {
            return Some("it has no path".into());
        }
        for (i, path) in flow.paths.iter().enumerate() {
            if path.links.is_empty() {
                return Some(format!("path {i} has no link: nothing would limit its rate"));
            }
            if let Some(link) = path.links.iter().find(|&&l| l >= self.links.len()) {
                return Some(format!("path {i} takes link {link}, but there are {}", self.links.len()));
            }
            if path.links.iter().collect::<BTreeSet<_>>().len() < path.links.len() {
                return Some(format!("path {i} takes a link twice"));
            }
            if !is_positive(path.coefficient) {
                return Some(format!(
                    "path {i}: the coefficient {} is not a number above 0",
                    path.coefficient
                ));
            }
            if path.utility.is_some() && flow.pooling == Pooling::Pooled {
                return Some(format!("path {i} has its own utility, but the flow's paths are pooled"));
            }
            if let Some(fault) = path.utility.and_then(|u| u.fault()) {
                return Some(format!("path {i}: {fault}"));
            }
        }
        if !is_positive(flow.weight) {
            return Some(format!("the weight {} is not a number above 0", flow.weight));
        }
        if !(flow.min_rate >= 0.0 && flow.min_rate.is_finite()) {
            return Some(format!("the minimum rate {} is not a number of at least 0", flow.min_rate));
        }
        if !(flow.max_rate > 0.0 && flow.max_rate >= flow.min_rate) {
            let (min, max) = (flow.min_rate, flow.max_rate);
            return Some(format!(
                "the maximum rate {max} must be above 0 and at least the minimum rate, {min}"
            ));
        }
        flow.utility.fault()
    }
}

fn is_positive(v: f64) -> bool {
    v > 0.0 && v.is_finite()
}
