//! The search for a breach of a contract, for controllers and balancers alike.
//!
//! Random scripts are played until one breaks an invariant. That script is then made as short as possible: greedily,
//! until no single step is possible.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::sandbox::{ALL_SCRIPTS, End, Steps, try_apart};

/// The maximum number of scripts to try while one is made shorter.
const MOST_TRIALS: usize = 20_000;

/// CPU time for one script while it is made shorter, over and over. It needs less than a millisecond.
const ONE_SCRIPT: Duration = Duration::from_millis(50);

/// A contract, and code that should keep it.
pub trait Contract {
    /// The code with values of its parameters.
    type Scheme;
    /// What happens to it.
    type Script: Script;
    /// An invariant that a script breaks, and how.
    type Found;

    /// Every script, with the values to play it with: always the same ones, short scripts first.
    fn cases(&self) -> impl Iterator<Item = (Arc<Self::Scheme>, Self::Script)>;

    /// Plays one script under every invariant; returns how much work that was.
    ///
    /// # Errors
    /// The first invariant that it breaks.
    fn inspect(scheme: &Arc<Self::Scheme>, script: &Self::Script) -> Result<u64, Self::Found>;

    /// Whether both are breaches of the same invariant.
    fn same(a: &Self::Found, b: &Self::Found) -> bool;

    /// The number of events that led to the breach; later ones happened after it.
    fn events(found: &Self::Found) -> usize;

    /// The breach if a hook ends its process.
    fn ended(&self, end: End) -> Self::Found;
}

/// A script that can be made shorter.
pub trait Script: Clone + PartialEq {
    /// One thing that happens.
    type Event: Copy;

    /// Its events.
    fn events(&self) -> &Vec<Self::Event>;

    /// The same, to be changed.
    fn events_mut(&mut self) -> &mut Vec<Self::Event>;

    /// Simpler events, the simplest first.
    fn simpler(event: Self::Event) -> Vec<Self::Event>;

    /// Steps beyond leaving out and simplifying events: each candidate goes to `accept`.
    fn simplify(&mut self, accept: &mut Accept<'_, Self>);
}

/// Takes a candidate in place of the best script so far, if it still shows the breach; returns whether it does.
pub type Accept<'a, S> = dyn FnMut(&mut S, S) -> bool + 'a;

/// What was played, if everything holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Played {
    /// Scripts.
    pub scripts: usize,
    /// The work that all of them were.
    pub work: u64,
}

/// A breach, with the shortest script found that shows it.
#[derive(Debug)]
pub struct Broken<C: Contract> {
    /// The code, with the values for which it was found.
    pub scheme: Arc<C::Scheme>,
    /// The script.
    pub script: C::Script,
    /// What it breaks.
    pub found: C::Found,
}

/// Plays all scripts.
///
/// # Errors
/// The first breach.
pub fn search<C: Contract>(contract: &C) -> Result<Played, Broken<C>> {
    search_among(contract, &|_, _| true)
}

/// Like [`search`], but for unknown code: it first runs in a separate process, so that code that divides by 0 or
/// never returns is a breach and does not end this process.
///
/// # Errors
/// Like [`search`]; also if no process can be made.
pub fn search_apart<C: Contract>(contract: &C) -> io::Result<Result<Played, Broken<C>>> {
    let run = |steps: &Steps| {
        for (scheme, script) in contract.cases() {
            steps.begin();
            match C::inspect(&scheme, &script) {
                Ok(work) => steps.pass(work),
                Err(_) => return, // found again below
            }
        }
    };
    let tried = try_apart(ALL_SCRIPTS, run)?;
    let Some(end) = tried.end else {
        if tried.passed == tried.begun {
            return Ok(Ok(Played { scripts: tried.passed, work: tried.work }));
        }
        // These scripts end well; a shortened one need not.
        return Ok(search_among(contract, &|scheme, script| ends_badly::<C>(scheme, script).is_none()));
    };
    let last = tried.begun.saturating_sub(1);
    let (scheme, script) = contract.cases().nth(last).expect("the case that was being played");
    let script = shrink(script, &mut |script| ends_badly::<C>(&scheme, script).is_some());
    let end = ends_badly::<C>(&scheme, &script).unwrap_or(end);
    Ok(Err(Broken { scheme, script, found: contract.ended(end) }))
}

/// How a hook ends a process in which one script is played; `None` if none does.
fn ends_badly<C: Contract>(scheme: &Arc<C::Scheme>, script: &C::Script) -> Option<End> {
    try_apart(ONE_SCRIPT, |_| drop(C::inspect(scheme, script))).ok()?.end
}

/// Whether a script ends well.
type Returns<'a, C> = dyn Fn(&Arc<<C as Contract>::Scheme>, &<C as Contract>::Script) -> bool + 'a;

/// Like [`search`]; while a script is made shorter, only those are played that `returns` says end well.
fn search_among<C: Contract>(contract: &C, returns: &Returns<'_, C>) -> Result<Played, Broken<C>> {
    let mut played = Played::default();
    for (scheme, script) in contract.cases() {
        played.scripts += 1;
        match C::inspect(&scheme, &script) {
            Ok(work) => played.work += work,
            Err(found) => return Err(shortest(scheme, script, found, returns)),
        }
    }
    Ok(played)
}

/// The same breach, with a script as short as possible.
fn shortest<C: Contract>(
    scheme: Arc<C::Scheme>,
    script: C::Script,
    found: C::Found,
    returns: &Returns<'_, C>,
) -> Broken<C> {
    let again = |script: &C::Script| {
        if !returns(&scheme, script) {
            return None;
        }
        C::inspect(&scheme, script).err().filter(|again| C::same(again, &found))
    };
    let mut start = script.clone();
    start.events_mut().truncate(C::events(&found));
    let start = if again(&start).is_some() { start } else { script };
    let script = shrink(start, &mut |script| again(script).is_some());
    let found = again(&script).unwrap_or(found);
    Broken { scheme, script, found }
}

/// A script that `breaks` and in which nothing can be left out or simplified.
fn shrink<S: Script>(script: S, breaks: &mut dyn FnMut(&S) -> bool) -> S {
    let mut left = MOST_TRIALS;
    let mut best = script;
    let mut accept = |best: &mut S, candidate: S| {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let better = breaks(&candidate);
        if better {
            *best = candidate;
        }
        better
    };
    loop {
        let before = best.clone();
        fewer_events(&mut best, &mut accept);
        best.simplify(&mut accept);
        for k in 0..best.events().len() {
            // The simplest first; an accepted one is simplified again.
            while S::simpler(best.events()[k]).into_iter().any(|event| {
                let mut candidate = best.clone();
                candidate.events_mut()[k] = event;
                accept(&mut best, candidate)
            }) {}
        }
        if best == before {
            return best;
        }
    }
}

/// Leaves out runs of events, from long runs to single ones.
fn fewer_events<S: Script>(best: &mut S, accept: &mut Accept<'_, S>) {
    let mut run = best.events().len().max(1);
    while run > 0 {
        let mut from = 0;
        while from < best.events().len() {
            let mut candidate = best.clone();
            candidate.events_mut().drain(from..(from + run).min(best.events().len()));
            if !accept(best, candidate) {
                from += run;
            }
        }
        run /= 2;
    }
}
