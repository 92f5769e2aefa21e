//! Checks a balancer against its contract: the rules of `balancer.h` and its own declaration.
//!
//! Random scripts of packets and feedback are played until one breaks an invariant; that one is then made as
//! short as possible. The same balancer always gets the same scripts.

mod generate;
mod play;
mod script;
mod shrink;

use std::fmt;
use std::io;
use std::sync::Arc;

use tresse_controllers::check::search::{Broken, Contract, Played as Searched, search, search_apart};
use tresse_controllers::check::{changed, settings};
use tresse_controllers::sandbox::End;

use crate::{Balancer, ConfiguredBalancer};

use generate::{Kind, script};
use play::{Played, play, reaches};
pub use script::{Event, ReportedPacket, Script};

/// What must hold for a balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Every hook returns: no division by 0, no endless loop.
    Returns,
    /// A hook writes only its own memory and the random stream; `alive` writes nothing.
    OwnMemory,
    /// `pick` returns a path that exists.
    BelowPaths,
    /// A path that is not alive gets no packets as long as another one is.
    OnlyAlive,
    /// The same script gives the same paths: there is no memory elsewhere.
    Determinism,
    /// The same holds at another time: only differences of times have a meaning.
    AnyTime,
    /// Every path that is alive is taken again if all packets arrive well; if the balancer recycles, even
    /// without feedback.
    Reaches,
    /// The flag FLOW_LEVEL: without feedback the next packet takes the last one's path.
    FlowLevel,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Returns,
        Self::OwnMemory,
        Self::BelowPaths,
        Self::OnlyAlive,
        Self::Determinism,
        Self::AnyTime,
        Self::Reaches,
        Self::FlowLevel,
    ];

    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Returns => "returns",
            Self::OwnMemory => "own_memory",
            Self::BelowPaths => "below_paths",
            Self::OnlyAlive => "only_alive",
            Self::Determinism => "determinism",
            Self::AnyTime => "any_time",
            Self::Reaches => "reaches",
            Self::FlowLevel => "flow_level",
        }
    }

    /// Whether it applies to `balancer`.
    pub fn applies_to(self, balancer: &Balancer) -> bool {
        match self {
            Self::Reaches => !balancer.is_flow_level(),
            Self::FlowLevel => balancer.is_flow_level(),
            _ => true,
        }
    }
}

/// An invariant that does not hold, with the shortest script found that shows it.
#[derive(Debug, Clone)]
pub struct Breach {
    /// The invariant.
    pub invariant: Invariant,
    /// What happened.
    pub message: String,
    /// The script.
    pub script: Script,
    /// The paths that its packets took, as far as it was played.
    pub picks: Vec<u32>,
    /// The parameters with values other than their defaults.
    pub settings: Vec<(&'static str, u64)>,
}

/// The number of tests, if everything holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Combinations of parameters: the defaults, both ends of each range, and some random ones of all.
    pub settings: usize,
    /// Scripts.
    pub scripts: usize,
    /// Packets that were given a path.
    pub picks: u64,
}

/// Scripts that `tresse balancer check` plays with the default parameters: a few seconds' worth.
pub const SCRIPTS: usize = 4_000;

/// Every other combination of parameters gets the scripts divided by this.
const SHARE: usize = 10;

/// Plays `scripts` scripts with the default parameters, and a tenth of that at each end of every parameter's range and
/// with each of some random combinations of all.
///
/// # Errors
/// The first invariant that is broken.
pub fn check(balancer: Balancer, scripts: usize) -> Result<Statistics, Box<Breach>> {
    result(balancer, search(&Scripts { balancer, scripts }))
}

/// Like [`check`], but for unknown code: it first runs in a separate process, so that code that divides by 0 or never
/// returns is a breach and does not end this process.
///
/// # Errors
/// Like [`check`]; also if no process can be made.
pub fn check_apart(balancer: Balancer, scripts: usize) -> Result<Result<Statistics, Box<Breach>>, io::Error> {
    Ok(result(balancer, search_apart(&Scripts { balancer, scripts })?))
}

fn result(
    balancer: Balancer,
    searched: Result<Searched, Broken<Scripts>>,
) -> Result<Statistics, Box<Breach>> {
    match searched {
        Ok(Searched { scripts, work }) => {
            Ok(Statistics { settings: settings(&balancer.parameters()).len(), scripts, picks: work })
        }
        Err(Broken { scheme, script, found }) => Err(Box::new(found.with(script, &scheme))),
    }
}

/// Plays one script under every invariant that it can check. Returns the number of packets that got a path.
///
/// # Errors
/// The first invariant that it breaks.
pub fn examine(scheme: &Arc<ConfiguredBalancer>, script: &Script) -> Result<u64, Box<Breach>> {
    inspect(scheme, script).map_err(|found| Box::new(found.with(script.clone(), scheme)))
}

/// The contract of a balancer; `scripts` with its defaults, and fewer with other values.
#[derive(Debug)]
struct Scripts {
    balancer: Balancer,
    scripts: usize,
}

impl Contract for Scripts {
    type Scheme = ConfiguredBalancer;
    type Script = Script;
    type Found = Found;

    fn cases(&self) -> impl Iterator<Item = (Arc<ConfiguredBalancer>, Script)> {
        let Self { balancer, scripts } = *self;
        settings(&balancer.parameters()).into_iter().enumerate().flat_map(move |(k, settings)| {
            let scheme = ConfiguredBalancer::new(balancer, settings);
            let scheme = Arc::new(scheme.expect("values are in their ranges"));
            let scripts = if k == 0 { scripts } else { scripts / SHARE };
            (0..scripts).map(move |i| {
                let script = script((k, i), Kind::ALL[i % Kind::ALL.len()], scripts);
                (Arc::clone(&scheme), script)
            })
        })
    }

    fn inspect(scheme: &Arc<ConfiguredBalancer>, script: &Script) -> Result<u64, Found> {
        inspect(scheme, script)
    }

    fn same(a: &Found, b: &Found) -> bool {
        a.invariant == b.invariant
    }

    fn events(found: &Found) -> usize {
        found.events
    }

    fn ended(&self, end: End) -> Found {
        let message = end.message(self.balancer.code());
        Found { invariant: Invariant::Returns, message, events: 0, picks: Vec::new() }
    }
}

/// An invariant that a script breaks.
#[derive(Debug, Clone)]
struct Found {
    invariant: Invariant,
    message: String,
    /// The events of the script that were needed; later ones happened after the breach.
    events: usize,
    picks: Vec<u32>,
}

impl Found {
    fn with(self, script: Script, scheme: &ConfiguredBalancer) -> Breach {
        Breach {
            invariant: self.invariant,
            message: self.message,
            script,
            picks: self.picks,
            settings: changed(&scheme.balancer().parameters(), scheme.values()),
        }
    }
}

/// A time that is not a round number.
const LATER: u64 = (1 << 45) + 12_345_678_901;

/// Plays one script under every invariant. Returns the number of packets that got a path.
fn inspect(scheme: &Arc<ConfiguredBalancer>, script: &Script) -> Result<u64, Found> {
    let first = play(scheme, script, 0)?;
    same(&first, play(scheme, script, 0)?, script, Invariant::Determinism, "played twice")?;
    same(&first, play(scheme, script, LATER)?, script, Invariant::AnyTime, "played at another time")?;
    let more = if scheme.balancer().is_flow_level() { 0 } else { reaches(&first, script)? };
    Ok(3 * first.picks.len() as u64 + more)
}

/// Two plays of a script must be the same.
fn same(
    first: &Played,
    second: Played,
    script: &Script,
    invariant: Invariant,
    how: &str,
) -> Result<(), Found> {
    let Some(k) = first.picks.iter().zip(&second.picks).position(|(a, b)| a != b) else { return Ok(()) };
    let picks = script.events.iter().enumerate().filter(|(_, event)| **event == Event::Pick);
    Err(Found {
        invariant,
        message: format!("{how}, packet {} takes path {}, then {}", k + 1, first.picks[k], second.picks[k]),
        events: picks.map(|(i, _)| i + 1).nth(k).unwrap_or(script.events.len()),
        picks: first.picks.clone(),
    })
}

impl fmt::Display for Breach {
    /// The script, with the broken invariant and the paths taken as comments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {} is broken: {}", self.invariant.name(), self.message)?;
        for (name, value) in &self.settings {
            writeln!(f, "# with {name} = {value}")?;
        }
        self.script.write(f, &self.picks)
    }
}
