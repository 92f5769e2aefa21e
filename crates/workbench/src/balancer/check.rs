//! Checks a balancer against its contract.

use serde_json::{Map, Value, json};
use tresse_balancers::Balancer;
use tresse_balancers::check::{Breach, Invariant, SCRIPTS, Statistics, check_apart};

use crate::failure::Failure;

/// What the check of a balancer found.
#[derive(Debug)]
pub struct Checked {
    pub balancer: Balancer,
    /// The statistics of the scripts, if everything holds.
    pub held: Result<Statistics, Box<Breach>>,
}

/// Checks a built-in balancer, or the one that a C file declares.
///
/// # Errors
/// If there is none, if the compiler refuses it, or if the machine cannot run it.
pub fn check(asked: &str) -> Result<Checked, Failure> {
    let balancer = super::find(asked)?;
    let held = check_apart(balancer, SCRIPTS)
        .map_err(|error| Failure::Machine(format!("cannot start a process for the balancer: {error}")))?;
    Ok(Checked { balancer, held })
}

impl Checked {
    /// Fails if something that was checked does not hold.
    ///
    /// # Errors
    /// [`Failure::Check`].
    pub fn verdict(&self) -> Result<(), Failure> {
        let Err(breach) = &self.held else { return Ok(()) };
        let (name, invariant) = (self.balancer.name(), breach.invariant.name());
        Err(Failure::Check(format!("{name} breaks `{invariant}`: {}", breach.message)))
    }

    /// Notes on what is not wrong, but good to know.
    pub fn notes(&self) -> Vec<String> {
        let Self { balancer, .. } = self;
        let fields = [(".title", balancer.title()), (".source", balancer.source())];
        let empty = fields.iter().filter(|(_, text)| text.is_empty());
        empty
            .map(|(field, _)| format!("{} has no {field}; lists and pages show it", balancer.name()))
            .collect()
    }

    /// The names of the invariants that it must keep.
    pub fn held_to(&self) -> Vec<&'static str> {
        Invariant::ALL.iter().filter(|i| i.applies_to(&self.balancer)).map(|i| i.name()).collect()
    }

    /// Everything as one JSON object.
    pub fn json(&self) -> Value {
        let statistics = self.held.as_ref().ok();
        json!({
            "schema": "tresse/balancer-check/1",
            "balancer": self.balancer.name(),
            "checked": self.held_to(),
            "scripts": statistics.map(|s| s.scripts),
            "packets": statistics.map(|s| s.picks),
            "settings": statistics.map(|s| s.settings),
            "broken": self.held.as_ref().err().map(|breach| breach_json(breach)),
        })
    }
}

fn breach_json(breach: &Breach) -> Value {
    let parameters: Map<_, _> =
        breach.settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    json!({
        "invariant": breach.invariant.name(),
        "message": breach.message,
        "parameters": parameters,
        "script": breach.script.to_string(),
        "paths": breach.picks,
    })
}
