//! What each controller is claimed to maximise, by which paper, and how far this is proved.
//!
//! A claim is the paper's, not a finding: whether simulations come close to it is a separate question.

use tresse_controllers::ConfiguredController;

use crate::problem::{Bounded, Flow, Pooling};
use crate::utility::{Utility, bos_scale, tcp_mu};

/// How much a paper proves or claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It derives the controller from the utility, for its model.
    Proved,
    /// It names the utility or the principle; the steps to the controller are approximations or are not
    /// shown.
    Claimed,
    /// It names none. If there is a utility here, it is only for comparison.
    None,
}

impl Standing {
    /// The word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Claimed => "claimed",
            Self::None => "none",
        }
    }
}

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

/// The price that the controller called `name` answers, depending on whether its packets are ECN-capable.
pub fn price(name: &str, ecn: bool) -> Price {
    match (name, ecn) {
        ("wvegas" | "swift" | "hpcc" | "powertcp", _) => Price::Delay,
        ("coupled_t31", false) => Price::LostPackets,
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

/// The claim of a controller with its parameters; `None` if nothing is known about a controller with this
/// name (a user's own).
pub fn claim(scheme: &ConfiguredController, subflows: Subflows) -> Option<Claim> {
    let controller = scheme.controller();
    let declared = controller.parameters();
    let parameter = |name: &str| declared.iter().position(|p| p.name == name).map(|i| scheme.values()[i]);
    claim_of(controller.name(), &parameter, subflows)
}

/// The claim of the controller called `name`; `parameter` gives the value of a parameter if the controller
/// has one with this name.
pub fn claim_of(name: &str, parameter: &dyn Fn(&str) -> Option<u64>, subflows: Subflows) -> Option<Claim> {
    use Standing::{Claimed, None as Unclaimed, Proved};
    let at = At { parameter, subflows };
    let tcp = || at.pooled(at.tcp_of(at.least_rtt()));
    // Controllers that do not look at their siblings.
    let tcps = || at.separate(at.ones(), |rtt| at.tcp_of(rtt));
    let weighted_tcps = || at.separate(at.omegas(), |rtt| at.tcp_of(rtt));
    let log = || at.pooled(Utility::AlphaFair { alpha: 1.0 });
    let (standing, source, caveat, objective) = match name {
        "reno" | "newreno" => (Proved, "THESIS (2.22), after Wang et al. [56]", TCP_CAVEAT, Some(tcps())),
        "uncoupled" => (Proved, "THESIS (3.11) with every ω = 1", TCP_CAVEAT, Some(tcps())),
        "bos" => (Proved, "XMP (2)-(4)", BOS_CAVEAT, Some(at.separate(at.ones(), |rtt| at.bos_of(rtt, 4)))),
        "halving" => {
            (Proved, "XMP (2)-(4)", BOS_CAVEAT, Some(at.separate(at.ones(), |rtt| at.bos_of(rtt, 2))))
        }
        "xmp" if (parameter)("slides_delta") == Some(1) => {
            (Unclaimed, "KH slides", SLIDES_CAVEAT, Some(at.pooled(at.bos_of(at.least_rtt(), 4))))
        }
        "xmp" => (Claimed, "XMP (5)-(9)", XMP_CAVEAT, Some(at.pooled(at.bos_of(at.least_rtt(), 4)))),
        // (3.8) approximates growth and cut by one factor, which does not change the equilibrium.
        "semicoupled" | "emptcp" | "eutcp1" => {
            (Proved, "THESIS (3.4), (3.10) with every γ = 1", POOLED_CAVEAT, Some(tcp()))
        }
        "eutcp" => {
            let gamma = at.thousandths("gamma").unwrap_or(1.0);
            let objective = Objective { coefficients: vec![gamma; subflows.rtts.len()], ..tcp() };
            let exact = (parameter)("exact") == Some(1);
            let (standing, caveat) = if exact { (Proved, EXACT_CAVEAT) } else { (Claimed, EUTCP_CAVEAT) };
            (standing, "THESIS (3.4)-(3.10)", caveat, Some(objective))
        }
        "wutcp" => (Claimed, "THESIS (3.11)-(3.17)", WEIGHT_CAVEAT, Some(weighted_tcps())),
        "ewtcp" => (Claimed, "THESIS §3.4.1, (3.11)", WEIGHT_CAVEAT, Some(weighted_tcps())),
        "wmptcp" => (Claimed, "THESIS (4.2), as (3.17)", WEIGHT_CAVEAT, Some(weighted_tcps())),
        "hmptcp" => (Unclaimed, "THESIS (4.3)-(4.5)", HMPTCP_CAVEAT, None),
        "holnet_cc" | "holnet_cc_ecn" | "holnet_cc_cos" | "holnet_cc_cos_ecn" => {
            let alpha = at.thousandths("alpha").unwrap_or(0.5);
            // w = weight price X^α, with x and X in bit/s (holnet_cc.c).
            let reference = (parameter)("reference").unwrap_or(10_000) as f64 * 1000.0;
            let price = at.thousandths("price").unwrap_or(0.1);
            let weight = at.thousandths("weight").unwrap_or(1.0) * price * libm::pow(reference, alpha);
            let objective = at.separate(at.ones(), |_| Utility::AlphaFair { alpha });
            let objective = Objective { weight, limits: at.limits(), ..objective };
            (Proved, "THESIS (2.5), (2.7), (2.19)", SLIDING_CAVEAT, Some(objective))
        }
        "holnet_mcc" | "holnet_mcc_ecn" | "holnet_mcc_cos" | "holnet_mcc_cos_ecn" => {
            // ε log x, ε = 2 packets an RTT.
            let weight = 2.0 * subflows.packet / at.least_rtt();
            let objective = Objective { weight, limits: at.limits(), ..log() };
            (Proved, "THESIS §2.4.2, (2.20)", MCC_CAVEAT, Some(objective))
        }
        "holnet_uta" | "holnet_uta_ecn" => {
            let weight = at.thousandths("weight").unwrap_or(1.0);
            let objective = Objective { weight, limits: at.limits(), ..tcps() };
            (Proved, "THESIS (2.21)-(2.25)", SLIDING_CAVEAT, Some(objective))
        }
        "odctcp" => (Proved, "THESIS (5.2), (5.14)", ODCTCP_CAVEAT, Some(tcps())),
        "dctcp" => (Unclaimed, "THESIS §5.3: the z-function is discontinuous", REFERENCE, Some(tcps())),
        "cubic" => (Unclaimed, "RFC 9438", REFERENCE, Some(tcps())),
        "lia" => (Unclaimed, "RFC 6356 §2 has goals but no utility; THESIS §3.1", REFERENCE, Some(tcp())),
        "olia" => (Unclaimed, "THESIS §3.1, of Khalili et al. (CoNEXT 2012)", REFERENCE, Some(tcp())),
        "balia" => (Unclaimed, "THESIS §3.2, of Peng et al. (ToN 2016)", REFERENCE, Some(tcp())),
        "dcm" | "dcmptcp" => (Unclaimed, "KH slides", REFERENCE, Some(tcp())),
        "amp" => (Unclaimed, "Kheirkhah and Lee (2019)", REFERENCE, Some(tcp())),
        "vmcc" => (Unclaimed, "VMCC Theorem 1 is about fairness", REFERENCE, Some(tcp())),
        "coupled_t31" => {
            // From w/y² = p/2 at equilibrium, in packets: 2/(T² y²) = p.
            let packets = subflows.packet / at.least_rtt();
            let alpha_two = at.pooled(Utility::AlphaFair { alpha: 2.0 });
            let objective = Objective { weight: 2.0 * packets * packets, ..alpha_two };
            (
                Claimed,
                "THESIS Table 3.1 (LIA, coupled), after Kelly and Voice [17]",
                COUPLED_CAVEAT,
                Some(objective),
            )
        }
        "wvegas" => {
            let backlog = (parameter)("total_alpha").unwrap_or(10) as f64;
            let objective = Objective { weight: backlog * subflows.packet, ..log() };
            (Claimed, "Cao, Xu, Fu (ICNP 2012): congestion equality", WVEGAS_CAVEAT, Some(objective))
        }
        "nscc" => (Unclaimed, "uet-htsim, uec.cpp", PROPORTIONAL, Some(log())),
        "swift" => (Unclaimed, "Kumar et al. (SIGCOMM 2020)", PROPORTIONAL, Some(log())),
        "hpcc" => (Unclaimed, "Li et al. (SIGCOMM 2019)", PROPORTIONAL, Some(log())),
        "powertcp" => (Unclaimed, "Addanki et al. (NSDI 2022)", PROPORTIONAL, Some(log())),
        "mprdma" => (Unclaimed, "Lu et al. (NSDI 2018)", PROPORTIONAL, Some(log())),
        "dcqcn" => (Unclaimed, "Zhu et al. (SIGCOMM 2015)", PROPORTIONAL, Some(log())),
        _ => return None,
    };
    Some(Claim { standing, source, caveat, objective })
}

const REFERENCE: &str = "Reno's utility is used instead: the aim is fairness to TCP.";
const PROPORTIONAL: &str = "Proportional fairness is used instead.";
const TCP_CAVEAT: &str = "For one binary signal per round. With independent packet losses the price is 2/(T² x²), a different utility.";
const POOLED_CAVEAT: &str = "For one binary signal per round and equal RTTs. With independent packet losses path \
     l's price is 2/(T² x_l y), y the total: such derivatives are not symmetric, so no utility has them.";
const EXACT_CAVEAT: &str =
    "For one binary signal per round and equal RTTs; if βx is much larger than μ, an equal γ cancels.";
const EUTCP_CAVEAT: &str =
    "(3.7) drops the chain rule's exponent γ: the measured law does not have the equilibrium of (3.4).";
const BOS_CAVEAT: &str = "The price is the probability that a round is marked; RTTs are constant.";
const XMP_CAVEAT: &str =
    "(9) is the equilibrium of (7) and (8); that both nested loops converge to it is argued, not proved.";
const SLIDES_CAVEAT: &str =
    "Without T_r/T_s of (9) the equilibrium is that of (6) only if all RTTs are equal.";
const WEIGHT_CAVEAT: &str = "(3.15) approximates for large windows. Rates are proportional to ω if all flows at a \
     link lose at once, and to its square root with independent losses.";
const HMPTCP_CAVEAT: &str = "The larger of two increases; §6 leaves a NUM-optimal hybrid to future work.";
const SLIDING_CAVEAT: &str = "Proved for rates in sliding mode; windows and feedback delays are not covered.";
const MCC_CAVEAT: &str = "Proved for rates in sliding mode and equal RTTs, because each subflow's ε is two \
     packets in its own RTT; windows and feedback delays are not covered.";
const ODCTCP_CAVEAT: &str =
    "Congestion means that at least half of the packets are marked; feedback delays are not covered.";
const COUPLED_CAVEAT: &str = "For independent losses and equal RTTs; only the best paths are used.";
const WVEGAS_CAVEAT: &str = "The price is the queueing delay.";

struct At<'a> {
    parameter: &'a dyn Fn(&str) -> Option<u64>,
    subflows: Subflows<'a>,
}

impl At<'_> {
    fn thousandths(&self, name: &str) -> Option<f64> {
        (self.parameter)(name).map(|v| v as f64 / 1000.0)
    }

    fn least_rtt(&self) -> f64 {
        self.subflows.rtts.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn ones(&self) -> Vec<f64> {
        vec![1.0; self.subflows.rtts.len()]
    }

    /// Reno's: one packet more per RTT, half on a loss.
    fn tcp_of(&self, rtt: f64) -> Utility {
        Utility::Tcp { mu: tcp_mu(rtt, self.subflows.packet), beta: 0.5 }
    }

    fn bos_of(&self, rtt: f64, beta: u64) -> Utility {
        let beta = (self.parameter)("beta").unwrap_or(beta) as f64;
        Utility::Bos { scale: bos_scale(1.0, beta, rtt, self.subflows.packet) }
    }

    fn pooled(&self, utility: Utility) -> Objective {
        Objective {
            utility,
            pooling: Pooling::Pooled,
            coefficients: self.ones(),
            by_path: Vec::new(),
            weight: 1.0,
            limits: (0.0, f64::INFINITY),
        }
    }

    /// Every path with its own RTT.
    fn separate(&self, coefficients: Vec<f64>, utility: impl Fn(f64) -> Utility) -> Objective {
        Objective {
            pooling: Pooling::Separate,
            coefficients,
            by_path: self.subflows.rtts.iter().map(|&rtt| utility(rtt)).collect(),
            ..self.pooled(utility(self.least_rtt()))
        }
    }

    /// ω by path: given by place, for all, or by the rule 1/√m, 1/m, 1/m² (weights.h).
    fn omegas(&self) -> Vec<f64> {
        let m = self.subflows.rtts.len() as f64;
        let by_rule = match (self.parameter)("rule") {
            Some(1) => 1.0 / m.sqrt(),
            Some(3) => 1.0 / (m * m),
            _ => 1.0 / m,
        };
        let given = |name: &str| self.thousandths(name).filter(|&omega| omega > 0.0);
        (0..self.subflows.rtts.len())
            .map(|i| given(&format!("omega_{i}")).or_else(|| given("omega")).unwrap_or(by_rule))
            .collect()
    }

    /// θ and Θ of a HOLNET controller with classes of service; 0 means none.
    fn limits(&self) -> (f64, f64) {
        let rate = |name: &str| (self.parameter)(name).filter(|&v| v > 0).map(|v| v as f64 * 1000.0);
        (rate("min_rate").unwrap_or(0.0), rate("max_rate").unwrap_or(f64::INFINITY))
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
}
