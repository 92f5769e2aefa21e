//! The existing load balancers, with source and parameters: they decide which of several paths a packet
//! takes.
//!
//! The keys in experiment files and the lists of balancers are both derived from these declarations.

use tresse_units::{MICROSECOND, Parameter, Range, Values, Whole};

use crate::balance::Balancing;
use crate::flag::{Feedback, FlagConfig};
use crate::holnet::HolnetConfig;
use crate::threshold::Threshold;

/// A load balancer, as it appears in lists and experiment files.
#[derive(Debug)]
pub struct Declaration {
    /// Its name in files and on the command line.
    pub name: &'static str,
    /// One line on what it does.
    pub title: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// Its parameters, in the order in which they are shown.
    pub parameters: &'static [Parameter],
    /// The basis of its choice.
    pub follows: Follows,
}

/// The basis of the choice among several paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// The destination's address: each address is one path.
    Address,
    /// The sender: each subflow has its own fixed path.
    Route,
    /// A hash of the flow: all its packets take one path until the hash changes.
    Hash,
    /// Chance or queues, separately for each packet.
    Packet,
    /// The flags of congested ports, for all traffic to one destination together.
    Flags,
    /// Nothing itself: the host changes the hash that the switches follow.
    Host,
}

impl Declaration {
    /// The switches' part; nothing if the hosts choose.
    pub fn balancing(&self, values: &Values) -> Option<Balancing> {
        let whole = |name| values.whole(name) as u32;
        let holnet = || HolnetConfig {
            r_min: whole("r_min"),
            r_max: whole("r_max"),
            kappa: whole("kappa"),
            period: values.whole("period") * MICROSECOND,
            flowlet_gap: (values.choice("by") == "flowlet").then(|| values.whole("gap") * MICROSECOND),
        };
        Some(match self.name {
            "ecmp" => Balancing::Ecmp,
            "spray" => Balancing::Spray,
            "drill" => Balancing::Drill { samples: whole("samples"), memory: whole("memory") },
            "holnet-percentage" => Balancing::HolnetPercentage(holnet()),
            "holnet-rate" => Balancing::HolnetRate(holnet()),
            _ => return None,
        })
    }

    /// The flags of congested ports, if it follows them.
    pub fn flags(&self, values: &Values) -> Option<FlagConfig> {
        (self.follows == Follows::Flags).then(|| FlagConfig {
            fraction: values.whole("flag") as u32 * 10,
            unlimited: Threshold::UNLIMITED,
            feedback: match values.choice("feedback") {
                "backward" => Feedback::Backward,
                _ => Feedback::OneHop,
            },
        })
    }
}

/// The load balancers, by name.
pub fn all() -> &'static [Declaration] {
    ALL
}

/// The load balancer with this name.
pub fn find(name: &str) -> Option<&'static Declaration> {
    ALL.iter().find(|d| d.name == name)
}

/// Thousandths, of a parameter whose papers write it as a decimal.
const THOUSANDTHS: &str = "1/1000";

const R_MIN: Parameter = Parameter {
    name: "r_min",
    range: Range::Whole(Whole { default: 100, min: 0, max: 999 }),
    unit: THOUSANDTHS,
    meaning: "r^out of a port whose next hop is congested (Table 2.1)",
};

const R_MAX: Parameter = Parameter {
    name: "r_max",
    range: Range::Whole(Whole { default: 1500, min: 1001, max: 1_000_000 }),
    unit: THOUSANDTHS,
    meaning: "r^in of a node with a congested port or next hop (Table 2.1)",
};

const FLAG: Parameter = Parameter {
    name: "flag",
    range: Range::Whole(Whole { default: 80, min: 1, max: 100 }),
    unit: "%",
    meaning: "p_q: the share of its queue's limit from which on a port is congested",
};

const PERIOD: Parameter = Parameter {
    name: "period",
    range: Range::Whole(Whole { default: 40, min: 1, max: 1_000_000 }),
    unit: "us",
    meaning: "the time between two updates: a quarter of the RTT",
};

const KAPPA: Parameter = Parameter {
    name: "kappa",
    range: Range::Whole(Whole { default: 50, min: 1, max: 1000 }),
    unit: THOUSANDTHS,
    meaning: "the step of an update, which combines z(.) and the time step of the differential equation",
};

const BY: Parameter = Parameter {
    name: "by",
    range: Range::Choice(&["packet", "flowlet"]),
    unit: "",
    meaning: "whether a port is drawn for each packet, or for a flow's packets until a pause of `gap`",
};

const GAP: Parameter = Parameter {
    name: "gap",
    range: Range::Whole(Whole { default: 100, min: 1, max: 1_000_000 }),
    unit: "us",
    meaning: "for by = flowlet: the pause that ends a flowlet",
};

const FEEDBACK: Parameter = Parameter {
    name: "feedback",
    range: Range::Choice(&["backward", "one_hop"]),
    unit: "",
    meaning: "how far a flag goes: to the node in front of the port, or from node to node back to the hosts",
};

static ALL: &[Declaration] = &[
    Declaration {
        name: "two-level",
        title: "two-level routing: an address stands for a core switch",
        source: "Al-Fares et al., SIGCOMM 2008; XMP §5.2.1",
        parameters: &[],
        follows: Follows::Address,
    },
    Declaration {
        name: "shortest",
        title: "fixed shortest paths: each subflow of a connection has its own",
        source: "OPN §Introduction: \"different source and destination port pairs … different paths\"",
        parameters: &[],
        follows: Follows::Route,
    },
    Declaration {
        name: "ecmp",
        title: "ECMP: a hash of the flow chooses among the shortest paths",
        source: "RFC 2992; OPN §Introduction; THESIS §2.5",
        parameters: &[],
        follows: Follows::Hash,
    },
    Declaration {
        name: "spray",
        title: "random packet spraying (RPS): each packet takes any of the shortest paths",
        source: "Dixit et al., INFOCOM 2013; OPN §Performance evaluation",
        parameters: &[],
        follows: Follows::Packet,
    },
    Declaration {
        name: "drill",
        title: "DRILL(d, m): each packet takes the shortest of a few random queues",
        source: "Ghorbani et al., SIGCOMM 2017; THESIS §2.5",
        parameters: &[
            Parameter {
                name: "samples",
                range: Range::Whole(Whole { default: 2, min: 1, max: 128 }),
                unit: "ports",
                meaning: "d: ports that are drawn at random for each packet",
            },
            Parameter {
                name: "memory",
                range: Range::Whole(Whole { default: 1, min: 0, max: 128 }),
                unit: "ports",
                meaning: "m: further ports to compare, whose queues were the shortest last time",
            },
        ],
        follows: Follows::Packet,
    },
    Declaration {
        name: "holnet-percentage",
        title: "HOLNET's load balancer for leaves: percentages that move away from congested ports",
        source: "THESIS (2.16)-(2.18), §2.5",
        parameters: &[R_MIN, R_MAX, FLAG, PERIOD, KAPPA, BY, GAP, FEEDBACK],
        follows: Follows::Flags,
    },
    Declaration {
        name: "holnet-rate",
        title: "HOLNET's load balancer for every node: rates that move away from congested ports",
        source: "THESIS (2.15), Table 2.1",
        parameters: &[R_MIN, R_MAX, FLAG, PERIOD, KAPPA, BY, GAP, FEEDBACK],
        follows: Follows::Flags,
    },
    Declaration {
        name: "plb",
        title: "PLB (`plb` in `[transport]`): a host changes the hash of a flow that stays congested",
        source: "Qureshi et al., SIGCOMM 2022; Linux 6.2, net/ipv4/tcp_plb.c",
        parameters: PLB,
        follows: Follows::Host,
    },
];

/// Names, ranges and defaults are those of Linux's `tcp_plb_*` (`suspend_rto`: `tcp_plb_suspend_rto_sec`),
/// except that Linux also allows 0 rounds or marks, with which a flow would change its hash in every round.
const PLB: &[Parameter] = &[
    Parameter {
        name: "cong_thresh",
        range: Range::Whole(Whole { default: 128, min: 1, max: 256 }),
        unit: "1/256",
        meaning: "K: a round is congested if this share of its packets was marked",
    },
    Parameter {
        name: "rehash_rounds",
        range: Range::Whole(Whole { default: 12, min: 1, max: 31 }),
        unit: "rounds",
        meaning: "N: consecutive congested rounds after which the hash changes",
    },
    Parameter {
        name: "idle_rehash_rounds",
        range: Range::Whole(Whole { default: 3, min: 0, max: 31 }),
        unit: "rounds",
        meaning: "M: the same while nothing is in flight; 0: only after `rehash_rounds` in that case too",
    },
    Parameter {
        name: "suspend_rto",
        range: Range::Whole(Whole { default: 60, min: 0, max: 255 }),
        unit: "s",
        meaning: "after a retransmission timeout, congestion changes nothing for 1 to 2 times this time",
    },
];
