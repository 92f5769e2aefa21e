//! Checks a controller against its contract: the rules of `controller.h` and its own declarations.
//!
//! Random scripts in the language of `tresse controller trace` are played until one breaks an invariant; that
//! script is then made as short as possible. The same controller always gets the same scripts.

mod compare;
mod generate;
pub mod rates;
mod reports;
pub mod search;
mod shrink;
mod verdict;
mod watch;

use std::fmt;
use std::sync::Arc;

use tresse_units::{Parameter, Whole};

use crate::sandbox::End;
use crate::trace::Script;
use crate::{Claim, ConfiguredController, Controller};

use generate::{Kind, Random, script};
use search::{Broken, Contract, Played, search};

pub use verdict::check_apart;

/// An invariant of controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every hook returns: no division by 0, no endless loop.
    Returns,
    /// A hook writes only to its own subflow.
    OwnSubflow,
    /// Of its own subflow, a hook writes private state, `word` and `alone`; `grow` and `report` write cwnd too.
    OwnFields,
    /// `grow` never lowers the window (unless `lowers` is declared), nor below the floor.
    NeverLowers,
    /// `grow` adds at most the delivered packets (except with `fast_start` and `leaps`).
    Growth,
    /// `congestion` never answers more than the window: a mark or a loss never raises it.
    NeverRaisedByCongestion,
    /// `congestion` never answers less than the floor; 0 to a mark only if `ignores_mark` is declared.
    Floor,
    /// `report` sets a window from 1 packet to 2^20.
    Window,
    /// `report` answers no pace above the rate of the host's link.
    Pace,
    /// An empty report, at the time of the last one, changes neither window nor pace.
    Nothing,
    /// The same script gives the same windows: there is no memory outside the subflow.
    Determinism,
    /// A subflow's number means nothing: permuting the subflows permutes the windows.
    Permutation,
    /// The claim `not_above_reno`.
    NotAboveReno,
    /// The claim `rtt_ratios`.
    RttRatios,
    /// With one subflow, it behaves like the controller that `.single` names.
    Single,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::Returns,
        Self::OwnSubflow,
        Self::OwnFields,
        Self::NeverLowers,
        Self::Growth,
        Self::NeverRaisedByCongestion,
        Self::Floor,
        Self::Window,
        Self::Pace,
        Self::Nothing,
        Self::Determinism,
        Self::Permutation,
        Self::NotAboveReno,
        Self::RttRatios,
        Self::Single,
    ];

    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Returns => "returns",
            Self::OwnSubflow => "own_subflow",
            Self::OwnFields => "own_fields",
            Self::NeverLowers => "never_lowers",
            Self::Growth => "growth",
            Self::NeverRaisedByCongestion => "never_raised_by_congestion",
            Self::Floor => "floor",
            Self::Window => "window",
            Self::Pace => "pace",
            Self::Nothing => "nothing",
            Self::Determinism => "determinism",
            Self::Permutation => "permutation",
            Self::NotAboveReno => "not_above_reno",
            Self::RttRatios => "rtt_ratios",
            Self::Single => "single",
        }
    }

    /// Whether it applies to `controller`. It does, unless it is about a property that the controller does not
    /// claim, or about hooks that it does not have.
    pub fn applies_to(self, controller: &Controller) -> bool {
        match self {
            Self::NeverLowers | Self::Growth | Self::NeverRaisedByCongestion | Self::Floor => {
                !controller.reports()
            }
            Self::Window | Self::Pace | Self::Nothing => controller.reports(),
            Self::NotAboveReno => controller.claims().contains(&Claim::NotAboveReno),
            Self::RttRatios => controller.claims().contains(&Claim::RttRatios),
            Self::Single => controller.single().is_some(),
            _ => true,
        }
    }
}

/// A broken invariant, with the shortest script found that shows it.
#[derive(Debug, Clone)]
pub struct Breach {
    /// Which.
    pub invariant: Invariant,
    /// What happened.
    pub message: String,
    /// The script; every subflow begins with [`INITIAL_WINDOW`] packets.
    pub script: Script,
    /// The script that should have given the same result, if the invariant compares two.
    pub other: Option<Script>,
    /// The parameters that have other values than their defaults.
    pub settings: Vec<(&'static str, u64)>,
}

impl Breach {
    /// `--param NAME=VALUE` for each of the settings, each after a space.
    pub fn arguments(&self) -> String {
        self.settings.iter().map(|(name, value)| format!(" --param {name}={value}")).collect()
    }
}

/// The amount of checking, if everything holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Combinations of parameters: the defaults, both ends of each range, and some of all at random.
    pub settings: usize,
    /// Scripts.
    pub scripts: usize,
    /// Hooks called.
    pub hooks: u64,
}

/// The window with which every subflow of a script begins, packets: `tresse controller trace`'s.
pub const INITIAL_WINDOW: u32 = 10;

/// The number of scripts that `tresse controller check` plays with the default parameters: a few seconds of work.
pub const SCRIPTS: usize = 20_000;

/// The share of the scripts that every other combination of parameters gets.
const SHARE: usize = 10;

/// Combinations of random values of all parameters.
const RANDOM_SETTINGS: usize = 8;

/// Plays `scripts` scripts with the default parameters, and a tenth of that at each end of every
/// parameter's range and with each of some random combinations of all.
///
/// # Errors
/// The first invariant that is broken.
pub fn check(controller: Controller, scripts: usize) -> Result<Statistics, Box<Breach>> {
    result(controller, search(&Scripts { controller, scripts }))
}

fn result(
    controller: Controller,
    played: Result<Played, Broken<Scripts>>,
) -> Result<Statistics, Box<Breach>> {
    match played {
        Ok(Played { scripts, work }) => {
            Ok(Statistics { settings: settings(&controller.parameters()).len(), scripts, hooks: work })
        }
        Err(Broken { scheme, script, found }) => Err(Box::new(found.with(script, &scheme))),
    }
}

/// Plays one script under every invariant that it can check; returns the number of hook calls.
///
/// # Errors
/// The first invariant that it breaks.
pub fn examine(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<u64, Box<Breach>> {
    inspect(scheme, script).map_err(|found| Box::new(found.with(script.clone(), scheme)))
}

/// The contract of a controller; `scripts` with its defaults, and fewer with other values.
#[derive(Debug)]
struct Scripts {
    controller: Controller,
    scripts: usize,
}

impl Contract for Scripts {
    type Scheme = ConfiguredController;
    type Script = Script;
    type Found = Found;

    fn cases(&self) -> impl Iterator<Item = (Arc<ConfiguredController>, Script)> {
        let Self { controller, scripts } = *self;
        settings(&controller.parameters()).into_iter().enumerate().flat_map(move |(k, settings)| {
            let scheme = ConfiguredController::new(controller, settings);
            let scheme = Arc::new(scheme.expect("values are in their ranges"));
            let scripts = if k == 0 { scripts } else { scripts / SHARE };
            let mut random = Random::new(k as u64);
            (0..scripts).map(move |i| {
                let kind = Kind::ALL[i % Kind::ALL.len()];
                let script = match controller.reports() {
                    true => reports::script(&mut random, kind, i, scripts),
                    false => script(&mut random, kind, i, scripts),
                };
                (Arc::clone(&scheme), script)
            })
        })
    }

    fn inspect(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<u64, Found> {
        inspect(scheme, script)
    }

    fn same(a: &Found, b: &Found) -> bool {
        a.invariant == b.invariant
    }

    fn events(found: &Found) -> usize {
        found.events
    }

    fn ended(&self, end: End) -> Found {
        let message = end.message(self.controller.code());
        Found { invariant: Invariant::Returns, message, events: 0, other: None }
    }
}

/// The defaults, both ends of each parameter's range, and the random combinations.
pub fn settings(parameters: &[Parameter<Whole>]) -> Vec<Vec<(&'static str, u64)>> {
    let ends = parameters.iter().flat_map(|p| {
        let mut ends = vec![p.range.min, p.range.max];
        ends.dedup();
        ends.retain(|&end| end != p.range.default);
        ends.into_iter().map(move |end| vec![(p.name, end)])
    });
    std::iter::once(Vec::new()).chain(ends).chain(combinations(parameters)).collect()
}

/// The parameters whose values are not their defaults.
pub fn changed(parameters: &[Parameter<Whole>], values: &[u64]) -> Vec<(&'static str, u64)> {
    let changed = parameters.iter().zip(values).filter(|(p, value)| p.range.default != **value);
    changed.map(|(p, value)| (p.name, *value)).collect()
}

/// Random combinations of all of a controller's parameters, always the same ones; none if it has at most
/// one, whose ends are enough.
pub fn random_settings(controller: Controller) -> Vec<Vec<(&'static str, u64)>> {
    combinations(&controller.parameters())
}

fn combinations(parameters: &[Parameter<Whole>]) -> Vec<Vec<(&'static str, u64)>> {
    let mut random = Random::new(parameters.len() as u64);
    let count = if parameters.len() > 1 { RANDOM_SETTINGS } else { 0 };
    let mut one = || parameters.iter().map(|p| (p.name, random.within(p.range.min, p.range.max))).collect();
    (0..count).map(|_| one()).collect()
}

/// An invariant that a script breaks.
#[derive(Debug, Clone)]
struct Found {
    invariant: Invariant,
    message: String,
    /// The events of the script that were needed; later ones happened after the breach.
    events: usize,
    other: Option<Script>,
}

impl Found {
    fn with(self, script: Script, scheme: &ConfiguredController) -> Breach {
        Breach {
            invariant: self.invariant,
            message: self.message,
            script,
            other: self.other,
            settings: changed(&scheme.controller().parameters(), scheme.values()),
        }
    }
}

/// Plays one script under every invariant; returns the number of hook calls.
fn inspect(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<u64, Found> {
    let hooks = watch::watch(scheme, script)?;
    compare::determinism(scheme, script)?;
    let defaults =
        scheme.controller().parameters().iter().map(|p| p.range.default).eq(scheme.values().iter().copied());
    if defaults {
        compare::permutation(scheme, script)?;
        compare::single(scheme, script)?;
    }
    compare::rtt_ratios(scheme, script)?;
    Ok(hooks)
}

impl fmt::Display for Breach {
    /// A script that `tresse controller trace` plays, with what is broken as comments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {} is broken: {}", self.invariant.name(), self.message)?;
        write!(f, "{}", self.script)?;
        if let Some(other) = &self.other {
            writeln!(f, "# should have given the same as:")?;
            for line in other.to_string().lines() {
                writeln!(f, "#   {line}")?;
            }
        }
        Ok(())
    }
}
