//! What each controller is claimed to maximise, by which paper, and how far this is proved: its own declaration
//! (`MAXIMISES` in its C file) in numbers.
//!
//! A claim is the paper's, not a finding: whether simulations come close to it is a separate question.

use tresse_controllers::ConfiguredController;
use tresse_controllers::law::{Family, Maximises, Payment, RateUnit};

pub use tresse_controllers::law::Standing;

use crate::problem::{Bounded, Flow, Pooling};
use crate::utility::{Utility, bos_scale, tcp_mu};

/// What a flow pays for its links. Utilities can be added only if all flows pay the same kind of price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// Rounds in which something is lost, once each.
    Losses,
    /// Rounds in which something is marked, once each.
    Marks,
    /// Every lost packet separately: the larger flow gets more signals.
    LostPackets,
    /// The time that packets wait in queues.
    Delay,
}

impl Price {
    /// The signal that the flow answers, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Losses => "losses",
            Self::Marks => "marks",
            Self::LostPackets => "each lost packet",
            Self::Delay => "queueing delay",
        }
    }
}

/// The price that a controller answers, depending on whether its packets are ECN-capable. One that declares none
/// answers rounds.
pub fn price(scheme: &ConfiguredController, ecn: bool) -> Price {
    match (scheme.maximises().map_or(Payment::Rounds, |declared| declared.payment), ecn) {
        (Payment::Delay, _) => Price::Delay,
        (Payment::Packets, false) => Price::LostPackets,
        (_, true) => Price::Marks,
        (_, false) => Price::Losses,
    }
}

/// The utility of one flow: what [`crate::problem::Flow`] needs in addition to names, paths and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// The utility; rates in bit/s.
    pub utility: Utility,
    /// How the paths are combined.
    pub pooling: Pooling,
    /// γ or ω by path.
    pub coefficients: Vec<f64>,
    /// The utility of each path, if they differ ([`crate::problem::Path::utility`]); otherwise empty.
    pub by_path: Vec<Utility>,
    /// w.
    pub weight: f64,
    /// θ and Θ of (2.11), bit/s: for the flow if it is pooled, otherwise for each path, because a controller
    /// that does not look at its siblings knows only its own rate.
    pub limits: (f64, f64),
}

/// A controller's claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// How much its paper proves or claims.
    pub standing: Standing,
    /// Paper and equation, of the claim or of its absence.
    pub source: &'static str,
    /// What the claim leaves out, in one sentence; empty if it leaves out nothing.
    pub caveat: &'static str,
    /// The utility; `None` if the paper names none and none is known.
    pub objective: Option<Objective>,
}

/// The subflows of the flow whose objective is requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subflows<'a> {
    /// Smoothed RTTs by path, seconds; at least one.
    pub rtts: &'a [f64],
    /// The size of a packet, bits.
    pub packet: f64,
}

impl Subflows<'_> {
    fn least_rtt(&self) -> f64 {
        self.rtts.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The claim of a controller with its parameters; `None` if its file declares none.
pub fn claim(scheme: &ConfiguredController, subflows: Subflows) -> Option<Claim> {
    let declared = scheme.maximises()?;
    let Maximises { standing, source, caveat, .. } = declared;
    Some(Claim { standing, source, caveat, objective: objective(scheme, &declared, subflows) })
}

/// The part of the window that a cut of TCP's utility takes if none is declared.
const HALF: f64 = 0.5;
/// XMP's β if none is declared: Algorithm 1's.
const BOS_BETA: f64 = 4.0;

fn objective(scheme: &ConfiguredController, declared: &Maximises, subflows: Subflows) -> Option<Objective> {
    let number = |quantity| scheme.number(quantity);
    let alpha = number(&declared.alpha).unwrap_or(1.0);
    let beta = number(&declared.beta);
    let utility = |rtt: f64| match declared.family {
        Family::None => None,
        Family::AlphaFair => Some(Utility::AlphaFair { alpha }),
        Family::Tcp => Some(Utility::Tcp { mu: tcp_mu(rtt, subflows.packet), beta: beta.unwrap_or(HALF) }),
        Family::Bos => {
            Some(Utility::Bos { scale: bos_scale(1.0, beta.unwrap_or(BOS_BETA), rtt, subflows.packet) })
        }
    };
    let unit = number(&declared.reference).unwrap_or_else(|| unit(declared.unit, subflows));
    let weight = number(&declared.weight).unwrap_or(1.0) * number(&declared.scale).unwrap_or(1.0);
    let limit = |quantity| number(quantity).filter(|&rate| rate > 0.0);
    Some(Objective {
        utility: utility(subflows.least_rtt())?,
        pooling: if declared.pooled { Pooling::Pooled } else { Pooling::Separate },
        coefficients: scheme.numbers(&declared.coefficients, subflows.rtts.len()),
        by_path: match declared.pooled {
            true => Vec::new(),
            false => subflows.rtts.iter().filter_map(|&rtt| utility(rtt)).collect(),
        },
        weight: if declared.family == Family::AlphaFair { weight * power(unit, alpha) } else { weight },
        limits: (
            limit(&declared.min_rate).unwrap_or(0.0),
            limit(&declared.max_rate).unwrap_or(f64::INFINITY),
        ),
    })
}

/// The unit in which an alpha-fair utility counts rates, bit/s.
fn unit(declared: RateUnit, subflows: Subflows) -> f64 {
    match declared {
        RateUnit::Bit => 1.0,
        RateUnit::Packet => subflows.packet,
        RateUnit::Window => subflows.packet / subflows.least_rtt(),
    }
}

/// `unit` to the power of α, by which U'(x / unit) exceeds U'(x): exact for whole α that occur.
fn power(unit: f64, alpha: f64) -> f64 {
    match alpha {
        1.0 => unit,
        2.0 => unit * unit,
        _ => libm::pow(unit, alpha),
    }
}

impl Objective {
    /// A flow with this objective over `paths`, each a list of links, one per subflow.
    ///
    /// # Panics
    /// If there are more or fewer.
    pub fn flow(&self, name: impl Into<String>, paths: impl IntoIterator<Item = Vec<usize>>) -> Flow {
        let mut flow = Flow::new(name, self.utility, paths);
        assert_eq!(flow.paths.len(), self.coefficients.len(), "a coefficient for every path");
        flow.pooling = self.pooling;
        flow.weight = self.weight;
        (flow.min_rate, flow.max_rate) = self.limits;
        flow.bounded = match self.pooling {
            Pooling::Pooled => Bounded::Total,
            Pooling::Separate => Bounded::EachPath,
        };
        for (i, path) in flow.paths.iter_mut().enumerate() {
            path.coefficient = self.coefficients[i];
            path.utility = self.by_path.get(i).copied();
        }
        flow
    }

    /// A flow with this objective whose packets may take any of `paths`, whatever subflow they belong to: its paths are
    /// one resource, divided as is best for all flows. `None` if it has subflows that count separately, or differently.
    pub fn spread_flow(
        &self,
        name: impl Into<String>,
        paths: impl IntoIterator<Item = Vec<usize>>,
    ) -> Option<Flow> {
        let (&coefficient, others) = self.coefficients.split_first()?;
        if others.iter().any(|other| *other != coefficient) {
            return None;
        }
        let mut flow = Flow::new(name, self.utility, paths);
        (flow.min_rate, flow.max_rate) = self.limits;
        flow.weight = self.weight;
        match self.pooling {
            Pooling::Pooled => flow.paths.iter_mut().for_each(|path| path.coefficient = coefficient),
            // c U(x), and there is one x.
            Pooling::Separate if others.is_empty() => flow.weight *= coefficient,
            Pooling::Separate => return None,
        }
        Some(flow)
    }
}
