//! The existing controllers and their declarations.

use std::ffi::c_char;
use std::path::Path;
use std::sync::RwLock;

use tresse_units::{Parameter, Whole};

use crate::CWND_LIMIT;
use crate::header;
use crate::parameters::{declared_parameters, declared_text};
use crate::raw::{Cause, IGNORE_MARK, RawAlias, RawController};
use crate::user_file::{Build, Code, UserFile};

/// The contents of a `CONTROLLER(…)` or `ALIAS(…)` declaration.
#[derive(Clone, Copy)]
pub(crate) enum Declaration {
    Controller(&'static RawController),
    Alias(&'static RawAlias),
}

pub(crate) struct BuiltIn {
    declaration: Declaration,
    source_file: &'static str,
    text: &'static str,
}

pub(crate) mod generated {
    use super::{BuiltIn, Declaration, RawAlias, RawController};
    include!(concat!(env!("OUT_DIR"), "/registry.rs"));
}

/// A controller under its own name or a second one: its declaration and its hooks.
#[derive(Clone, Copy)]
pub struct Controller {
    pub(crate) raw: &'static RawController,
    pub(crate) alias: Option<&'static RawAlias>,
    text: &'static str,
    file: Option<&'static UserFile>,
}

/// A signal that a controller needs from its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Losses and timeouts.
    Loss,
    /// At least one mark in a window is reported.
    Ecn,
    /// Every CE mark is counted.
    CeExact,
    /// The congestion of the next hop.
    NextHop,
    /// The fate of every packet.
    Packets,
    /// The hops of packets.
    Telemetry,
}

impl Signal {
    pub(crate) const ALL: [(u32, Self); 6] = [
        (1, Self::Loss),
        (2, Self::Ecn),
        (4, Self::CeExact),
        (8, Self::NextHop),
        (16, Self::Packets),
        (32, Self::Telemetry),
    ];

    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Ecn => "ecn",
            Self::CeExact => "ce_exact",
            Self::NextHop => "next_hop",
            Self::Packets => "packets",
            Self::Telemetry => "telemetry",
        }
    }
}

/// A departure of a controller from the contract, because its paper's rule departs from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exception {
    /// `grow` may lower the window.
    Lowers,
    /// `congestion` may ignore a mark.
    IgnoresMark,
    /// Below ssthresh, a delivered packet may add up to three packets.
    FastStart,
    /// `grow` may add more packets than were delivered if the subflows' RTTs differ.
    Leaps,
}

impl Exception {
    pub(crate) const ALL: [(u32, Self); 4] =
        [(1, Self::Lowers), (2, Self::IgnoresMark), (4, Self::FastStart), (8, Self::Leaps)];

    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lowers => "lowers",
            Self::IgnoresMark => "ignores_mark",
            Self::FastStart => "fast_start",
            Self::Leaps => "leaps",
        }
    }

    /// A readable description of what it allows.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Lowers => "an ACK may lower the window",
            Self::IgnoresMark => "a mark may leave the window unchanged and growing",
            Self::FastStart => "in slow start a delivered packet may add up to three",
            Self::Leaps => "if RTTs differ, an ACK may add more packets than it delivers",
        }
    }
}

/// A property that a paper proves about its controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// On no path does an ACK raise the window by more than Reno would.
    NotAboveReno,
    /// If all RTTs are multiplied by one factor, nothing changes.
    RttRatios,
}

impl Claim {
    pub(crate) const ALL: [(u32, Self); 2] = [(1, Self::NotAboveReno), (2, Self::RttRatios)];

    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAboveReno => "not_above_reno",
            Self::RttRatios => "rtt_ratios",
        }
    }

    /// A readable description of the property.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::NotAboveReno => "on no path does an ACK raise the window more than in Reno",
            Self::RttRatios => "if all RTTs are multiplied by one factor, nothing changes",
        }
    }
}

/// The controller of a subflow that an agent outside the simulator controls. Neither [`all`] nor [`find`] returns
/// it.
///
/// The agent sets `cwnd`, `ssthresh`, and `word`: the growth per round in 1/256 packet, plus 2^32 if marks and
/// losses are to halve the window.
pub fn agent() -> Controller {
    // SAFETY: constant data of `agent.c`.
    let declaration = Declaration::Controller(unsafe { &generated::tresse_agent });
    Controller::new(declaration, include_str!("agent.c"), None)
}

impl Controller {
    pub(crate) fn new(declaration: Declaration, text: &'static str, file: Option<&'static UserFile>) -> Self {
        let (raw, alias) = match declaration {
            Declaration::Controller(raw) => (raw, None),
            Declaration::Alias(alias) => (alias.of, Some(alias)),
        };
        Self { raw, alias, text, file }
    }

    /// The name, as in `CONTROLLER(name, …)` or `ALIAS(name, of, …)`.
    pub fn name(&self) -> &'static str {
        string(self.alias.map_or(self.raw.name, |alias| alias.name))
    }

    /// A one-line description.
    pub fn title(&self) -> &'static str {
        string(self.alias.map_or(self.raw.title, |alias| alias.title))
    }

    /// Paper and equation.
    pub fn source(&self) -> &'static str {
        string(self.alias.map_or(self.raw.source, |alias| alias.source))
    }

    /// Whether its increase takes the siblings into account.
    pub fn coupled(&self) -> bool {
        self.raw.coupled != 0
    }

    /// The window's floor, packets; a timeout sets 1 below it.
    pub fn min_cwnd(&self) -> u32 {
        self.raw.min_cwnd
    }

    /// The window that a host makes from `answer`, which `congestion` gave for a window of `cwnd` packets: at least
    /// 1, and at most the window, or the floor if the window was below it. `None` if the mark is ignored.
    pub fn bound_cut(&self, cause: Cause, cwnd: u32, answer: u32) -> Option<u32> {
        let ignores = cause == Cause::Mark && answer == IGNORE_MARK;
        if ignores && self.exceptions().contains(&Exception::IgnoresMark) {
            return None;
        }
        Some(answer.clamp(1, cwnd.max(self.min_cwnd()).clamp(1, CWND_LIMIT - 1)))
    }

    /// Its departures from the contract.
    pub fn exceptions(&self) -> Vec<Exception> {
        Exception::ALL.iter().filter(|(bit, _)| self.raw.exceptions & bit != 0).map(|&(_, e)| e).collect()
    }

    /// The properties that its paper proves.
    pub fn claims(&self) -> Vec<Claim> {
        Claim::ALL.iter().filter(|(bit, _)| self.raw.claims & bit != 0).map(|&(_, c)| c).collect()
    }

    /// The controller that it is with one subflow and its default parameters, if any.
    pub fn single(&self) -> Option<&'static str> {
        Some(string(self.raw.single)).filter(|name| !name.is_empty())
    }

    /// The signals that it needs.
    pub fn signals(&self) -> Vec<Signal> {
        Signal::ALL.iter().filter(|(bit, _)| self.raw.signals & bit != 0).map(|&(_, s)| s).collect()
    }

    /// Whether it uses the fate of every packet: it has the hook `report`, and none of TCP's hooks.
    pub fn reports(&self) -> bool {
        self.raw.report.is_some()
    }

    /// Whether its packets must be ECN-capable.
    pub fn needs_ecn(&self) -> bool {
        self.signals().contains(&Signal::Ecn)
    }

    /// Whether it needs every CE mark counted, not just one per window.
    pub fn needs_exact_ce(&self) -> bool {
        self.signals().contains(&Signal::CeExact)
    }

    /// Whether a Linux kernel provides every signal that it needs.
    pub fn attachable(&self) -> bool {
        self.why_not_attachable().is_none()
    }

    /// The signals it needs that a Linux kernel lacks, if any.
    pub fn why_not_attachable(&self) -> Option<&'static str> {
        let signals = self.signals();
        if signals.contains(&Signal::Packets) {
            return Some("TCP does not report the fate of every packet");
        }
        signals.contains(&Signal::NextHop).then_some("no Linux kernel reports the congestion of the next hop")
    }

    /// Its parameters, in the order of their declaration.
    pub fn parameters(&self) -> Vec<Parameter<Whole>> {
        // SAFETY: `WITH_PARAMETERS` sets the pointer and the count from one static table.
        unsafe { declared_parameters(self.raw.parameters, self.raw.parameter_count) }
    }

    /// The controller of which this is a second name (`ALIAS(name, of, …)`).
    pub fn alias_of(&self) -> Option<&'static str> {
        self.alias.map(|_| string(self.raw.name))
    }

    /// Its source text, as it was read.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// The comment at the start of its source: what it is, the equations and the deviations.
    pub fn header(&self) -> String {
        header::header(self.text)
    }

    /// The file that declares it: the user's file, or its path in Tresse's source tree.
    pub fn source_file(&self) -> &'static Path {
        self.file().unwrap_or_else(|| {
            let built_in = generated::BUILT_IN.iter().find(|b| b.text == self.text);
            Path::new(built_in.expect("what has no file is built in").source_file)
        })
    }

    /// The file that it was loaded from; `None` if it is built in.
    pub fn file(&self) -> Option<&'static Path> {
        self.file.map(|file| &*file.path)
    }

    /// Its code, if a user wrote it.
    pub fn code(&self) -> Option<Code> {
        let file = self.file?;
        Some(Code { what: "controller", name: self.name(), text: self.text, file, hooks: self.hooks() })
    }

    /// Whether it declares the hook with this name, such as `grow`.
    pub fn has_hook(&self, name: &str) -> bool {
        self.hooks().iter().any(|(hook, _)| *hook == name)
    }

    /// Its hooks, with the addresses of their code.
    fn hooks(&self) -> Vec<(&'static str, usize)> {
        let &RawController { init, ack, grow, congestion, timeout, report, .. } = self.raw;
        let hooks = [
            ("init", init.map(|f| f as usize)),
            ("ack", ack.map(|f| f as usize)),
            ("grow", grow.map(|f| f as usize)),
            ("congestion", congestion.map(|f| f as usize)),
            ("timeout", timeout.map(|f| f as usize)),
            ("report", report.map(|f| f as usize)),
        ];
        hooks.into_iter().filter_map(|(name, address)| Some((name, address?))).collect()
    }

    /// How its file was compiled; `None` if it is built in.
    pub fn build(&self) -> Option<&'static Build> {
        self.file.map(|file| &file.build)
    }
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Controller").field(&self.name()).finish()
    }
}

/// The built-in controllers under all their names, sorted by name.
pub fn built_in() -> Vec<Controller> {
    let mut all: Vec<_> =
        generated::BUILT_IN.iter().map(|b| Controller::new(b.declaration, b.text, None)).collect();
    all.sort_by_key(Controller::name);
    all
}

/// The users' controllers that this process has loaded.
static LOADED: RwLock<Vec<Controller>> = RwLock::new(Vec::new());

/// Adds `controllers` and removes those that `replaced` selects.
pub(crate) fn register(controllers: &[Controller], replaced: impl Fn(Controller) -> bool) {
    let mut loaded = LOADED.write().expect("no holder of the lock panics");
    loaded.retain(|&other| !replaced(other));
    loaded.extend_from_slice(controllers);
}

/// The built-in and the loaded controllers, sorted by name.
pub fn all() -> Vec<Controller> {
    let mut all = built_in();
    all.extend_from_slice(&LOADED.read().expect("no holder of the lock panics"));
    all.sort_by_key(Controller::name);
    all
}

/// The controller with that name, built in or loaded.
pub fn find(name: &str) -> Option<Controller> {
    all().into_iter().find(|c| c.name() == name)
}

/// A string of a declaration; an omitted one is empty.
fn string(p: *const c_char) -> &'static str {
    // SAFETY: declarations hold string literals, which are NUL-terminated and live forever.
    unsafe { declared_text(p) }
}
