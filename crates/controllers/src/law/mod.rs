//! What a controller declares that it maximises, and the law that its windows follow: `MAXIMISES` and `FOLLOWS` of
//! `controllers/law.h`. The numbers depend on the values of parameters; `tresse_optimum` computes with them.

mod declared;
pub(crate) mod raw;

use raw::{RawLaw, RawObjective};

pub use declared::{ByPath, Quantity};

use crate::parameters::declared_text;
use crate::{ConfiguredController, Controller};

/// A word of a declaration: its value in `controllers/law.h` is its place in `ALL`.
pub(crate) trait Word: Copy + 'static {
    const ALL: &'static [Self];

    fn of(value: u32) -> Option<Self> {
        Self::ALL.get(value as usize).copied()
    }
}

/// `enum utility`: the family of a utility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// None is known.
    None,
    /// x^(1-α)/(1-α), THESIS (2.7).
    AlphaFair,
    /// Reno's, THESIS (2.22).
    Tcp,
    /// BOS's, XMP (4).
    Bos,
}

impl Word for Family {
    const ALL: &'static [Self] = &[Self::None, Self::AlphaFair, Self::Tcp, Self::Bos];
}

/// `enum standing`: how much a source proves or claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It names no utility. If there is one here, it is only for comparison.
    None,
    /// It names the utility or the principle; the steps to the controller are approximations or are not shown.
    Claimed,
    /// It derives the controller from the utility, for its model.
    Proved,
}

impl Word for Standing {
    const ALL: &'static [Self] = &[Self::None, Self::Claimed, Self::Proved];
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

/// `enum price`: what a flow pays for its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payment {
    /// Rounds with a loss, or with a mark, once each.
    Rounds,
    /// Every lost packet separately; rounds with a mark once each.
    Packets,
    /// The time that packets wait in queues.
    Delay,
}

impl Word for Payment {
    const ALL: &'static [Self] = &[Self::Rounds, Self::Packets, Self::Delay];
}

/// `enum rate_unit`: the unit of the rate in an alpha-fair utility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateUnit {
    /// bit/s.
    Bit,
    /// Packets/s.
    Packet,
    /// Packets in the least RTT.
    Window,
}

impl Word for RateUnit {
    const ALL: &'static [Self] = &[Self::Bit, Self::Packet, Self::Window];
}

/// `enum law_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LawKind {
    /// Growth less cuts.
    Window,
    /// The law is not known.
    Unknown,
    /// HOLNET's CC, THESIS (2.19).
    SlidingAlphaFair,
    /// HOLNET's MCC, THESIS (2.20).
    SlidingLog,
    /// HOLNET-UTA, THESIS (2.25).
    SlidingTcp,
}

impl Word for LawKind {
    const ALL: &'static [Self] =
        &[Self::Window, Self::Unknown, Self::SlidingAlphaFair, Self::SlidingLog, Self::SlidingTcp];
}

/// `enum growth`: what a round without a signal adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrowthKind {
    /// A weight.
    Separate,
    /// RFC 6356's.
    Linked,
    /// Khalili et al.'s (2012).
    Opportunistic,
    /// Peng et al.'s (2016).
    Balanced,
    /// The path's share of the rate.
    Shared,
    /// The larger of the share and a weight.
    Larger,
    /// XMP (9).
    ByShortest,
    /// The path's share of the windows.
    ByWindow,
}

impl Word for GrowthKind {
    const ALL: &'static [Self] = &[
        Self::Separate,
        Self::Linked,
        Self::Opportunistic,
        Self::Balanced,
        Self::Shared,
        Self::Larger,
        Self::ByShortest,
        Self::ByWindow,
    ];
}

/// `enum cut`: what a signal takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutKind {
    /// A constant part of the window.
    Part,
    /// Peng et al.'s (2016).
    Balanced,
    /// Half of the mean part of marked packets.
    Marked,
}

impl Word for CutKind {
    const ALL: &'static [Self] = &[Self::Part, Self::Balanced, Self::Marked];
}

/// `enum answers`: which signals are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Every one.
    Signals,
    /// Marks at most once a round, without growth in it; a loss halves the window.
    Rounds,
}

impl Word for Answers {
    const ALL: &'static [Self] = &[Self::Signals, Self::Rounds];
}

/// What a controller maximises: `struct objective`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Maximises {
    /// The utility's family.
    pub family: Family,
    /// Whether the paths are one resource.
    pub pooled: bool,
    /// How much the source says.
    pub standing: Standing,
    /// What the flow pays.
    pub payment: Payment,
    /// The unit of the rate, if `reference` does not say it.
    pub unit: RateUnit,
    /// α of the alpha-fair family.
    pub alpha: Quantity,
    /// The rate that is the unit of the alpha-fair family, bit/s.
    pub reference: Quantity,
    /// The part that a cut takes of a window (TCP), or XMP's β (BOS).
    pub beta: Quantity,
    /// A factor of the utility.
    pub weight: Quantity,
    /// Another one.
    pub scale: Quantity,
    /// The coefficients of the paths.
    pub coefficients: ByPath,
    /// The least rate, bit/s.
    pub min_rate: Quantity,
    /// The largest rate, bit/s.
    pub max_rate: Quantity,
    /// Paper and equation.
    pub source: &'static str,
    /// What the source leaves out, in one sentence; empty if it leaves out nothing.
    pub caveat: &'static str,
    /// By how much the code's mean rate may differ from the one that the utility asks for at a price, 1/1000; `None`: not
    /// judged.
    pub tolerance: Option<u32>,
}

/// The law that a controller follows: `struct fluid_law`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Follows {
    /// Its kind.
    pub kind: LawKind,
    /// The growth of windows.
    pub growth: GrowthKind,
    /// Their cuts.
    pub cutting: CutKind,
    /// The signals that count.
    pub answers: Answers,
    /// The weights of growth.
    pub weights: ByPath,
    /// The factor of a cut.
    pub cut: Quantity,
    /// Its divisor.
    pub divisor: Quantity,
    /// Another factor of a path's cut.
    pub cuts: ByPath,
    /// The gain of the mean of marks, or of the alpha-fair sliding mode.
    pub gain: Quantity,
    /// r below the least rate.
    pub r_max: Quantity,
    /// r above the largest rate.
    pub r_min: Quantity,
    /// By how much the code's mean rate may differ from the law's, 1/1000; `None`: not judged.
    pub tolerance: Option<u32>,
}

/// The tolerance of an entry that declares none, 1/1000: small windows are whole packets, and a trial has
/// some thousand signals.
const TOLERANCE: u32 = 200;

/// The tolerance of an entry that means other signals than those of the trials: `NOT_JUDGED` of `controllers/law.h`.
const NOT_JUDGED: u32 = u32::MAX;

impl Controller {
    /// The entries of `MAXIMISES`, of the second name if it has its own.
    fn objectives(&self) -> &'static [RawObjective] {
        let own = self.alias.filter(|alias| alias.objective_count > 0);
        let (table, count) = match own {
            Some(alias) => (alias.objectives, alias.objective_count),
            None => (self.raw.objectives, self.raw.objective_count),
        };
        // SAFETY: `MAXIMISES` sets the pointer and the count from one constant array.
        if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(table, count as usize) } }
    }

    /// The entries of `FOLLOWS`.
    fn laws(&self) -> &'static [RawLaw] {
        let (table, count) = (self.raw.laws, self.raw.law_count);
        // SAFETY: `FOLLOWS` sets the pointer and the count from one constant array.
        if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(table, count as usize) } }
    }

    /// Whether it declares what it maximises, with `MAXIMISES`.
    pub fn declares_utility(&self) -> bool {
        !self.objectives().is_empty()
    }

    /// Whether it declares the law that it follows, with `FOLLOWS`.
    pub fn declares_law(&self) -> bool {
        !self.laws().is_empty()
    }

    /// The first mistake in the entries of `MAXIMISES` and `FOLLOWS`, in words.
    pub(crate) fn check_laws(&self) -> Result<(), String> {
        let known: Vec<&str> = self.parameters().iter().map(|p| p.name).collect();
        for raw in self.objectives() {
            declared::check_objective(raw, &known).map_err(|wrong| format!("MAXIMISES: {wrong}"))?;
        }
        for raw in self.laws() {
            declared::check_law(raw, &known).map_err(|wrong| format!("FOLLOWS: {wrong}"))?;
        }
        Ok(())
    }
}

impl ConfiguredController {
    /// The value of the parameter called `name`, if there is one.
    fn parameter(&self, name: &str) -> Option<(u64, &'static str)> {
        let declared = self.controller().parameters();
        declared.iter().position(|p| p.name == name).map(|i| (self.values()[i], declared[i].unit))
    }

    /// Whether an entry with this `.when` counts.
    fn holds(&self, when: &str) -> bool {
        when.is_empty() || self.parameter(when).is_some_and(|(value, _)| value != 0)
    }

    /// What it declares that it maximises with the values of its parameters; `None` if it declares nothing, or
    /// nothing for these values.
    pub fn maximises(&self) -> Option<Maximises> {
        let controller = self.controller();
        let raw = controller.objectives().iter().find(|o| self.holds(text(o.when)))?;
        Some(declared::maximises(raw, controller.source()))
    }

    /// The law that it declares with the values of its parameters; `None` if it declares none, or none for these
    /// values.
    pub fn follows(&self) -> Option<Follows> {
        let raw = self.controller().laws().iter().find(|law| self.holds(text(law.when)))?;
        Some(declared::follows(raw))
    }

    /// The number that `quantity` means with the values of the parameters; `None` if it was left out.
    pub fn number(&self, quantity: &Quantity) -> Option<f64> {
        quantity.value(|name| self.parameter(name))
    }

    /// The numbers of `paths` paths.
    pub fn numbers(&self, by_path: &ByPath, paths: usize) -> Vec<f64> {
        by_path.values(paths, |quantity| self.number(quantity))
    }
}

/// A string of a declaration; an omitted one is empty.
fn text(pointer: *const std::ffi::c_char) -> &'static str {
    // SAFETY: declarations hold string literals, which are NUL-terminated and live forever.
    unsafe { declared_text(pointer) }
}
