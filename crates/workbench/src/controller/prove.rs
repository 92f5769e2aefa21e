//! What can be proved of a controller for all inputs within the contract's bounds, with Frama-C's abstract
//! interpreter Eva.

mod frama;
mod recorded;
mod source;

use serde::Serialize;
use serde_json::{Value, json};
use tresse_controllers::{Controller, Exception};

use crate::failure::Failure;

pub use recorded::{RECORD, entry, recorded};

/// A property that is proved, or is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// No division by 0.
    Division,
    /// No shift by as many bits as the number has, or more.
    Shift,
    /// No access outside of an object, or to what was never set.
    Memory,
    /// No sum, difference, product or conversion leaves its type, and what fix.h demands holds.
    Overflow,
    /// `grow` adds at most what was delivered, and never lowers the window.
    Growth,
    /// `congestion` answers at least the floor, `report` sets 1 to 2^20 packets.
    Window,
    /// `congestion` never answers more than the window.
    Cut,
}

impl Property {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] =
        [Self::Division, Self::Shift, Self::Memory, Self::Overflow, Self::Growth, Self::Window, Self::Cut];

    /// The name that `--json` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Division => "division",
            Self::Shift => "shift",
            Self::Memory => "memory",
            Self::Overflow => "overflow",
            Self::Growth => "growth",
            Self::Window => "window",
            Self::Cut => "cut",
        }
    }

    /// Whether the contract demands it of `controller`.
    pub fn applies_to(self, controller: &Controller) -> bool {
        let exempt = [Exception::FastStart, Exception::Leaps];
        match self {
            Self::Growth => {
                controller.has_hook("grow") && !controller.exceptions().iter().any(|e| exempt.contains(e))
            }
            Self::Window => controller.reports() || controller.has_hook("congestion"),
            Self::Cut => controller.has_hook("congestion"),
            _ => true,
        }
    }
}

/// A condition that Eva could not prove.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Open {
    /// The file as it was asked for, or its name in Tresse's source tree.
    pub file: String,
    /// The line; `None` for an answer of a hook that the file does not declare itself, or inside of a function of
    /// controller.h.
    pub line: Option<u32>,
    /// The condition, in C; or the statement that makes it doubtful.
    pub condition: String,
}

/// What is proved of a controller.
#[derive(Debug)]
pub struct Proof {
    pub controller: Controller,
    /// The properties that the contract demands, each with what is not proved of it: nothing if it is proved.
    pub properties: Vec<(Property, Vec<Open>)>,
}

/// Proves what it can of a built-in controller, or of the one that a C file declares.
///
/// # Errors
/// If there is none, if it does not compile, or if Frama-C is missing or cannot read it.
pub fn prove(asked: &str) -> Result<Proof, Failure> {
    let controller = super::find(asked)?;
    let mut found = frama::analyse(&controller)?;
    found.extend(source::direct_writes(&controller).into_iter().map(|open| (Property::Growth, open)));
    if controller.exceptions().contains(&Exception::Lowers) {
        found.retain(|(_, open)| open.condition != frama::LOWERS);
    }
    found.sort();
    found.dedup();
    let of = |property| found.iter().filter(move |(p, _)| *p == property).map(|(_, open)| open.clone());
    let applying = Property::ALL.into_iter().filter(|p| p.applies_to(&controller));
    let properties = applying.map(|property| (property, of(property).collect())).collect();
    Ok(Proof { controller, properties })
}

impl Open {
    /// `file:line`, as far as there is one.
    pub fn place(&self) -> String {
        let Self { file, line, .. } = self;
        line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }
}

impl Proof {
    /// Everything as one JSON object.
    pub fn json(&self) -> Value {
        let properties: Vec<_> = self
            .properties
            .iter()
            .map(|(property, open)| {
                json!({ "property": property.name(), "proved": open.is_empty(), "not_proved": open })
            })
            .collect();
        json!({
            "schema": "tresse/controller-proof/1",
            "controller": self.controller.name(),
            "properties": properties,
        })
    }
}
