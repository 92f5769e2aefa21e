//! The existing path managers.

use tresse_units::{MICROSECOND, Parameter, Range, Value, Values, Whole};

use crate::fixed::Fixed;
use crate::mmptcp::Mmptcp;
use crate::nstar::{CAP, NStar, STEPS};
use crate::opn::{Opn, Shifting, Silence, Tuning};
use crate::path_sharing::{Closes, PathSharing};
use crate::{
    By, Declaration, MAX_SUBFLOWS, Memory, Opening, PathManager, Scope, SettingError, fixed, mmptcp, opn,
    path_sharing,
};

/// A path manager with values for its parameters, in the form for its machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Config {
    /// `fixed`.
    Fixed(fixed::Config),
    /// `mmptcp`.
    Mmptcp(mmptcp::Config),
    /// `opn`, `opn-tuning` and `opn-shifting`.
    Opn(opn::Config),
    /// `path-sharing`.
    PathSharing(path_sharing::Config),
}

/// A path manager with values for its parameters.
#[derive(Debug, Clone)]
pub struct ConfiguredManager {
    declaration: &'static Declaration,
    config: Config,
}

impl ConfiguredManager {
    /// `declaration` with its defaults, overridden by `settings`.
    ///
    /// # Errors
    /// A parameter that it does not have, a value that the parameter cannot have, or a missing empirical
    /// table.
    pub fn new<'a>(
        declaration: &'static Declaration,
        settings: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> Result<Self, SettingError> {
        let config =
            (declaration.configure)(&Values::new(declaration.name, declaration.parameters, settings)?)?;
        Ok(Self { declaration, config })
    }

    /// The path manager.
    pub fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    /// The values.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Which connections share this one's memory of its paths, by path numbers; `None` if it remembers
    /// nothing.
    pub fn remembers(&self) -> Option<Scope> {
        match &self.config {
            Config::Opn(opn) => Some(opn.scope),
            Config::Fixed(_) | Config::Mmptcp(_) | Config::PathSharing(_) => None,
        }
    }

    /// The path manager for a connection that opens now; its first action opens subflow 0.
    ///
    /// # Panics
    /// If there are no addresses or no paths.
    pub fn open(&self, opening: &Opening, memory: &mut Memory) -> Box<dyn PathManager> {
        assert!(opening.locals > 0 && opening.remotes > 0, "each host has an address");
        assert!(opening.paths > 0, "there is a path between them");
        match &self.config {
            Config::Fixed(config) => Box::new(Fixed::new(config, opening)),
            Config::Mmptcp(config) => Box::new(Mmptcp::new(config, opening)),
            Config::Opn(config) => Box::new(Opn::new(config, opening, memory)),
            Config::PathSharing(config) => Box::new(PathSharing::new(config, opening)),
        }
    }
}

/// The path managers, by name.
pub fn all() -> &'static [Declaration] {
    ALL
}

/// The path manager with this name.
pub fn find(name: &str) -> Option<&'static Declaration> {
    ALL.iter().find(|d| d.name == name)
}

const SUBFLOWS: Parameter = Parameter {
    name: "subflows",
    range: Range::Whole(Whole { default: 2, min: 1, max: MAX_SUBFLOWS }),
    unit: "",
    meaning: "the number of subflows; by address, at most the number of address pairs",
};

const BY: Parameter = Parameter {
    name: "by",
    range: Range::Choice(&["address", "port"]),
    unit: "",
    meaning: "address: one subflow per address pair, disjoint pairs first; port: one per source port",
};

const N_STAR: Parameter = Parameter {
    name: "nstar",
    range: Range::Choice(&["eq11", "eq7", "product", "empirical"]),
    unit: "",
    meaning: "n* from eq. (11) as printed, the best n of eq. (7), (11) with pW for p^W, or `table`",
};

const TABLE: Parameter = Parameter {
    name: "table",
    range: Range::List { longest: STEPS + 1, min: 1, max: CAP as u64 },
    unit: "",
    meaning: "for nstar = empirical: n* at the loss rates 0, 0.01, 0.02 ...; the last one applies beyond",
};

const TIMER_3: Parameter = Parameter {
    name: "timer_3",
    range: Range::Whole(Whole { default: 10_000, min: 1, max: LONGEST }),
    unit: "us",
    meaning: "the period over which losses are counted",
};

const MEMORY: Parameter = Parameter {
    name: "memory",
    range: Range::Choice(&["host", "pair"]),
    unit: "",
    meaning: "scope of loss rate and SLOW paths: all connections of the host, or those to the same receiver",
};

const TIMER_1: Parameter = Parameter {
    name: "timer_1",
    range: Range::Choice(&["srtt", "fixed"]),
    unit: "",
    meaning: "how long a path may be silent before it is SLOW: twice the subflows' mean srtt, or `delta`",
};

const DELTA: Parameter = Parameter {
    name: "delta",
    range: Range::Whole(Whole { default: 200, min: 1, max: LONGEST }),
    unit: "us",
    meaning: "for timer_1 = fixed: its period",
};

const TIMER_2: Parameter = Parameter {
    name: "timer_2",
    range: Range::Whole(Whole { default: 200_000, min: 1, max: LONGEST }),
    unit: "us",
    meaning: "the period after which all paths are FAST again",
};

/// The longest period of a timer, us: a minute.
const LONGEST: u64 = 60_000_000;

static ALL: &[Declaration] = &[
    Declaration {
        name: "fixed",
        title: "a fixed number of subflows, by address or by port",
        source: "RFC 8684 §3; XMP §5.2.1; the old MPTCP kernel's fullmesh and ndiffports",
        parameters: &[SUBFLOWS, BY],
        configure: |values| {
            Ok(Config::Fixed(fixed::Config {
                subflows: values.whole("subflows") as usize,
                by: by(values),
                starts: Vec::new(),
            }))
        },
    },
    Declaration {
        name: "mmptcp",
        title: "packet spraying for a flow's first bytes, then subflows",
        source: "Kheirkhah et al., INFOCOM 2016; OPN §Performance evaluation",
        parameters: &[
            Parameter {
                name: "threshold",
                range: Range::Whole(Whole { default: 100_000, min: 0, max: 1_000_000_000_000 }),
                unit: "B",
                meaning: "the bytes of new data after which the subflows are opened",
            },
            Parameter {
                name: "subflows",
                range: Range::Whole(Whole { default: 8, min: 1, max: MAX_SUBFLOWS - 1 }),
                unit: "",
                meaning: "how many are then opened, in addition to the sprayed one",
            },
        ],
        configure: |values| {
            let (threshold, subflows) = (values.whole("threshold"), values.whole("subflows") as usize);
            Ok(Config::Mmptcp(mmptcp::Config { threshold, subflows }))
        },
    },
    Declaration {
        name: "opn",
        title: "MPTCP_OPN: as many subflows as the loss rate suggests; traffic moves away from silent paths",
        source: "OPN §MPTCP_OPN design, eq. (1)-(11), Alg. 1",
        parameters: &[N_STAR, TABLE, TIMER_3, TIMER_1, DELTA, TIMER_2, MEMORY],
        configure: |values| {
            let (tuning, shifting) = (Some(tuning(values)?), Some(shifting(values)));
            Ok(Config::Opn(opn::Config { tuning, shifting, scope: scope(values) }))
        },
    },
    Declaration {
        name: "opn-shifting",
        title: "MPTCP_OPN's traffic shifting alone, over all paths",
        source: "OPN §Traffic shifting, Alg. 1 l. 1-12",
        parameters: &[TIMER_1, DELTA, TIMER_2, MEMORY],
        configure: |values| {
            let shifting = Some(shifting(values));
            Ok(Config::Opn(opn::Config { tuning: None, shifting, scope: scope(values) }))
        },
    },
    Declaration {
        name: "opn-tuning",
        title: "MPTCP_OPN's concurrency tuning alone",
        source: "OPN §Concurrency tuning, eq. (1)-(11), Alg. 1 l. 14-20",
        parameters: &[N_STAR, TABLE, TIMER_3, MEMORY],
        configure: |values| {
            let tuning = Some(tuning(values)?);
            Ok(Config::Opn(opn::Config { tuning, shifting: None, scope: scope(values) }))
        },
    },
    Declaration {
        name: "path-sharing",
        title: "vMCC's path-sharing detection: closes one of two subflows that behave alike",
        source: "VMCC §V-C, Alg. 1 and 2",
        parameters: &[
            SUBFLOWS,
            BY,
            Parameter {
                name: "gamma",
                range: Range::Whole(Whole { default: 10, min: 1, max: 1_000_000 }),
                unit: "ACKs",
                meaning: "marked ACKs on one subflow that trigger the detection, once per connection",
            },
            Parameter {
                name: "theta",
                range: Range::Whole(Whole { default: 3, min: 1, max: 1_000_000 }),
                unit: "ACKs",
                meaning: "subflows are alike if their marked ACKs differ by less than this (Table IV: 5)",
            },
            Parameter {
                name: "delta",
                range: Range::Whole(Whole { default: 10, min: 1, max: 100 }),
                unit: "%",
                meaning: "and if their srtts differ by less than this share of the larger (Table IV: 14)",
            },
            Parameter {
                name: "close",
                range: Range::Choice(&["recent", "second"]),
                unit: "",
                meaning: "which subflow is closed: the one marked last (the text), or the second (Algorithm 2)",
            },
        ],
        configure: |values| {
            Ok(Config::PathSharing(path_sharing::Config {
                subflows: values.whole("subflows") as usize,
                by: by(values),
                gamma: values.whole("gamma"),
                theta: values.whole("theta"),
                delta_percent: values.whole("delta"),
                closes: if values.choice("close") == "second" { Closes::Second } else { Closes::Recent },
            }))
        },
    },
];

fn by(values: &Values) -> By {
    if values.choice("by") == "port" { By::Port } else { By::Address }
}

fn tuning(values: &Values) -> Result<Tuning, SettingError> {
    let n_star = match values.choice("nstar") {
        "eq7" => NStar::Eq7,
        "product" => NStar::Product,
        "empirical" if values.list("table").is_empty() => return Err(SettingError::NeedsTable),
        "empirical" => NStar::Empirical(values.list("table").iter().map(|&n| n as u8).collect()),
        _ => NStar::Eq11,
    };
    Ok(Tuning { n_star, timer_3: values.whole("timer_3") * MICROSECOND })
}

fn scope(values: &Values) -> Scope {
    if values.choice("memory") == "pair" { Scope::Pair } else { Scope::Host }
}

fn shifting(values: &Values) -> Shifting {
    let timer_1 = match values.choice("timer_1") {
        "fixed" => Silence::Fixed(values.whole("delta") * MICROSECOND),
        _ => Silence::TwiceSrtt,
    };
    Shifting { timer_1, timer_2: values.whole("timer_2") * MICROSECOND }
}
