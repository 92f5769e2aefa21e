//! Checks a controller against its contract: the rules of `controller.h` and its own declarations.
//!
//! Random scripts in the language of `tresse controller trace` are played until one breaks an invariant; that
//! script is then made as short as possible. The same controller always gets the same scripts.

mod compare;
mod generate;
mod reports;
mod shrink;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tresse_units::{Parameter, Whole};

use crate::apart::{ALL_SCRIPTS, End, Told, try_apart};
use crate::trace::Script;
use crate::{Claim, ConfiguredController, Controller};

use generate::{Kind, Random, script};

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

/// CPU time for one script while it is made shorter, over and over.
const ONE_SCRIPT: Duration = Duration::from_millis(200);

/// Combinations of random values of all parameters.
const RANDOM_SETTINGS: usize = 8;

/// Plays `scripts` scripts with the default parameters, and a tenth of that at each end of every
/// parameter's range and with each of some random combinations of all.
///
/// # Errors
/// The first invariant that is broken.
pub fn check(controller: Controller, scripts: usize) -> Result<Statistics, Box<Breach>> {
    let mut statistics = Statistics::default();
    for case in cases(controller, scripts) {
        statistics.scripts += 1;
        match inspect(&case.scheme, &case.script) {
            Ok(hooks) => statistics.hooks += hooks,
            Err(found) => return Err(Box::new(shortest(&case, found))),
        }
    }
    statistics.settings = settings(&controller.parameters()).len();
    Ok(statistics)
}

/// Like [`check`], but for unknown code: it first runs in a separate process, so that code that divides by 0 or
/// never returns is a breach and does not end this process.
///
/// # Errors
/// Like [`check`]; also if no process can be made.
pub fn check_apart(
    controller: Controller,
    scripts: usize,
) -> Result<Result<Statistics, Box<Breach>>, std::io::Error> {
    let run = |k: &dyn Fn(usize)| {
        for (i, case) in cases(controller, scripts).enumerate() {
            k(i);
            if inspect(&case.scheme, &case.script).is_err() {
                return; // found again, and told, by `check`
            }
        }
    };
    let Some((place, end)) = try_apart(ALL_SCRIPTS, run)? else {
        return Ok(check(controller, scripts));
    };
    let case = cases(controller, scripts).nth(place).expect("the case that was being played");
    let ends_badly = |script: &Script| {
        let one = |_: &dyn Fn(usize)| drop(inspect(&case.scheme, script));
        try_apart(ONE_SCRIPT, one).ok().flatten().map(|(_, end)| end)
    };
    let script = shrink::shrink(case.script.clone(), &mut |script| ends_badly(script).is_some());
    let end = ends_badly(&script).unwrap_or(end);
    let found =
        Found { invariant: Invariant::Returns, message: message(end, controller), events: 0, other: None };
    Ok(Err(Box::new(found.with(script, &case.scheme))))
}

/// How a hook of `controller` ended its process, with the line if it is known.
fn message(end: End, controller: Controller) -> String {
    match end.told(&[controller]) {
        Some(Told { file, line: Some(line), what, .. }) => format!("{what}, {}:{line}", file.display()),
        Some(Told { what, .. }) => what,
        None => end.to_string(),
    }
}

/// Plays one script under every invariant that it can check; returns the number of hook calls.
///
/// # Errors
/// The first invariant that it breaks.
pub fn examine(scheme: &Arc<ConfiguredController>, script: &Script) -> Result<u64, Box<Breach>> {
    inspect(scheme, script).map_err(|found| Box::new(found.with(script.clone(), scheme)))
}

/// One script with its parameter values.
struct Case {
    scheme: Arc<ConfiguredController>,
    script: Script,
}

/// Every case, always the same ones, short scripts first.
fn cases(controller: Controller, scripts: usize) -> impl Iterator<Item = Case> {
    settings(&controller.parameters()).into_iter().enumerate().flat_map(move |(k, settings)| {
        let scheme =
            Arc::new(ConfiguredController::new(controller, settings).expect("values lie in their ranges"));
        let scripts = if k == 0 { scripts } else { scripts / SHARE };
        let mut random = Random::new(k as u64);
        (0..scripts).map(move |i| {
            let kind = Kind::ALL[i % Kind::ALL.len()];
            let script = match controller.reports() {
                true => reports::script(&mut random, kind, i, scripts),
                false => script(&mut random, kind, i, scripts),
            };
            Case { scheme: Arc::clone(&scheme), script }
        })
    })
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
        let declared = scheme.controller().parameters();
        let changed = declared.iter().zip(scheme.values()).filter(|(p, value)| p.range.default != **value);
        Breach {
            invariant: self.invariant,
            message: self.message,
            script,
            other: self.other,
            settings: changed.map(|(p, value)| (p.name, *value)).collect(),
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

/// The breach for `found`, with its script made as short as possible.
fn shortest(case: &Case, found: Found) -> Breach {
    let again = |script: &Script| {
        let found_again = inspect(&case.scheme, script).err()?;
        (found_again.invariant == found.invariant).then_some(found_again)
    };
    let mut script = case.script.clone();
    script.events.truncate(found.events);
    if again(&script).is_none() {
        script = case.script.clone();
    }
    let script = shrink::shrink(script, &mut |script| again(script).is_some());
    again(&script).unwrap_or(found).with(script, &case.scheme)
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
